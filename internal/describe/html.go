package describe

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

//go:embed page.html
var pageText string

// WritePage writes the description as a page that needs nothing else: no
// scripts, styles inside, readable on a screen, bright or dark, and on paper.
// All that stands in it may be hostile; html/template escapes it by its place.
func (d Description) WritePage(w io.Writer) error {
	p := page{Description: d, anchors: map[string]string{}}
	for i, a := range d.Attributes {
		p.anchors[a.Name] = fmt.Sprintf("attribute-%d", i+1)
	}
	parsed, err := template.New("describe").Funcs(template.FuncMap{
		"anchor": p.anchor, "place": p.place, "pieces": p.pieces, "number": func(i int) int { return i + 1 },
		"joined": strings.Join, "line": line,
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	if err := parsed.Execute(w, p); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

type page struct {
	Description
	anchors map[string]string // of attributes, by name
}

// Settable returns the attributes that users set.
func (p page) Settable() []attributeDescription { return p.attributes(true) }

// Internal returns the attributes that users do not set.
func (p page) Internal() []attributeDescription { return p.attributes(false) }

func (p page) attributes(settable bool) []attributeDescription {
	var chosen []attributeDescription
	for _, a := range p.Attributes {
		if a.Settable() == settable {
			chosen = append(chosen, a)
		}
	}
	return chosen
}

// anchor returns the place of an attribute in the page, empty for one that the
// definition does not have.
func (p page) anchor(name string) string { return p.anchors[name] }

// place shortens a position: to its line where it is in the definition's own file.
func (p page) place(position string) string {
	file, line := position, ""
	for range 2 { // the column, then the line
		colon := strings.LastIndexByte(file, ':')
		if colon < 0 {
			return position
		}
		file, line = file[:colon], file[colon+1:]
	}
	if file == p.File {
		return "line " + line
	}
	return path.Base(file) + ":" + line
}

// A piece is a part of a text: plain, or a reference.
type piece struct {
	Text   string // of a reference the attribute, and the field unless it is the value
	Anchor string // of the attribute, empty where the definition does not have it
	Full   string // the reference as written; empty for plain text
}

var referencePattern = lazyregexp.New(`\$\{ptp_rm:([^${}#]+)(?:#([^${}]*))?\}`)

// pieces takes references out of a text, so that they can be shown as what they are.
func (p page) pieces(text string) []piece {
	var all []piece
	at := 0
	for _, found := range referencePattern.FindAllStringSubmatchIndex(text, -1) {
		if found[0] > at {
			all = append(all, piece{Text: text[at:found[0]]})
		}
		name := text[found[2]:found[3]]
		shown := name
		if found[4] >= 0 && text[found[4]:found[5]] != "value" {
			shown += "#" + text[found[4]:found[5]]
		}
		all = append(all, piece{Text: shown, Anchor: p.anchors[name], Full: text[found[0]:found[1]]})
		at = found[1]
	}
	if at < len(text) {
		all = append(all, piece{Text: text[at:]})
	}
	return all
}

// Rule returns what values have to be, beside the message for users.
func (v validatorDescription) Rule() string {
	v.Message = ""
	return v.text(true)
}
