package describe

import (
	_ "embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

//go:embed page.css
var pageStyle string

// WritePage writes the description as a self-contained page without scripts, for screens
// and paper, with dark mode. The nodes escape hostile content.
func (d Description) WritePage(w io.Writer) error {
	p := page{Description: d, anchors: map[string]string{}}
	for i, a := range d.Attributes {
		p.anchors[a.Name] = fmt.Sprintf("attribute-%d", i+1)
	}
	if _, err := io.WriteString(w, string(h.Render(p.document()))); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

type page struct {
	Description
	anchors map[string]string // of attributes, by name
}

// A section is a part of the page with an entry in its menu.
type section struct {
	id, title string
	content   h.Node // nil to omit the section
}

func (p page) document() h.Node {
	sections := p.sections()
	return h.Document(
		h.Head(
			h.Meta(h.Attr("charset", "utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Attr("http-equiv", "Content-Security-Policy"), h.Content("default-src 'none'; style-src 'unsafe-inline'")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.El("title", h.Text(p.Name+" · resource-manager definition")),
			h.El("style", h.HTML(pageStyle)),
		),
		h.Body(h.Div(h.Class("page"),
			h.Nav(h.Aria("label", "Sections"), h.Ul(h.Map(sections, section.link))),
			h.Main(
				p.header(),
				h.Map(sections, section.node),
				h.Footer(h.Text("Made by "), code("rmctl describe --html"), h.Text(".")),
			),
		)),
	)
}

func (p page) sections() []section {
	all := []section{
		{"attributes", "Attributes", p.settable()},
		{"script", "Script", p.script()},
		{"files", "Files", h.If(len(p.Files) > 0, h.Map(p.Files, p.file))},
		{"commands", "Commands", p.commands()},
		{"states", "States", p.states()},
		{"failures", "Failures", p.failures()},
		{"portable", "Portable names", p.portable()},
		{"probes", "Probes", p.probes()},
		{"form", "Form", h.If(len(p.Form) > 0, h.Map(p.Form, p.tab))},
		{"internal", "Other attributes", p.internal()},
	}
	return slices.DeleteFunc(all, func(s section) bool { return s.content == nil })
}

func (s section) link() h.Node { return h.Li(h.A(h.Href("#"+s.id), h.Text(s.title))) }

func (s section) node() h.Node {
	return h.Section(h.ID(s.id), h.H2(h.Text(s.title)), s.content)
}

func (p page) header() h.Node {
	jobs := p.Mode + " jobs"
	if p.Mode == "none" {
		jobs = "submits no jobs"
	}
	badges := []string{jobs}
	if p.SchedulerType != "" {
		badges = append(badges, p.SchedulerType)
	}
	if p.Connection != "" {
		badges = append(badges, "connection "+p.Connection)
	}
	if p.Queues != nil {
		queue := "queue: " + p.Queues.Attribute
		if p.Queues.FoundBy != "" {
			queue += ", listed by " + p.Queues.FoundBy
		}
		badges = append(badges, queue)
	}
	if p.Refresh != 0 {
		badges = append(badges, fmt.Sprintf("results count as recent for %d s", p.Refresh))
	}
	return h.Header(
		h.H1(h.Text(p.Name)),
		quiet(strings.Join(append([]string{p.File}, p.Extends...), ", extends ")),
		h.Ul(h.Class("badges"), h.Map(badges, func(badge string) h.Node { return h.Li(h.Text(badge)) })),
	)
}

func code(text string) h.Node { return h.Code(h.Text(text)) }

func quiet(text string) h.Node { return h.P(h.Class("quiet"), h.Text(text)) }

// choices shows a list of words.
func choices(words []string) h.Node {
	return h.Map(words, func(word string) h.Node { return h.Group{h.Code(h.Class("choice"), h.Text(word)), h.Text(" ")} })
}

// columns is the head of a table.
func columns(labels ...string) h.Node {
	return h.THead(h.Tr(h.Map(labels, func(label string) h.Node { return h.Th(h.Scope("col"), h.Text(label)) })))
}

// entry is an entry in a list of terms; nil for an empty description.
func entry(term, text string) h.Node {
	return h.If(text != "", h.Group{h.Dt(h.Text(term)), h.Dd(h.Text(text))})
}

// place shortens a position in the definition's own file to its line.
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

// position is a position in small print.
func (p page) position(position string) h.Node {
	return h.Span(h.Class("position"), h.Text(p.place(position)))
}

var referencePattern = lazyregexp.New(`\$\{ptp_rm:([^${}#]+)(?:#([^${}]*))?\}`)

// text highlights the references in a text.
func (p page) text(text string) h.Node {
	var all h.Group
	at := 0
	for _, found := range referencePattern.FindAllStringSubmatchIndex(text, -1) {
		all = append(all, h.Text(text[at:found[0]]))
		name := text[found[2]:found[3]]
		shown := name
		if found[4] >= 0 && text[found[4]:found[5]] != "value" {
			shown += "#" + text[found[4]:found[5]]
		}
		all = append(all, p.reference(name, shown, h.Title(text[found[0]:found[1]])))
		at = found[1]
	}
	return append(all, h.Text(text[at:]))
}

func (p page) code(text string) h.Node { return h.Code(p.text(text)) }

// codeEntry is an entry with a text that may contain references.
func (p page) codeEntry(term, text string) h.Node {
	return h.If(text != "", h.Group{h.Dt(h.Text(term)), h.Dd(p.code(text))})
}

// reference links to an attribute, if the definition has it.
func (p page) reference(name, shown string, attributes ...h.Node) h.Node {
	if anchor := p.anchors[name]; anchor != "" {
		return h.A(h.Class("ref"), h.Href("#"+anchor), h.Group(attributes), h.Text(shown))
	}
	return h.Span(h.Class("ref"), h.Group(attributes), h.Text(shown))
}

func (p page) references(names []string) h.Node {
	return h.Join(" ", h.Map(names, func(name string) h.Node { return p.reference(name, name) }))
}

func (p page) arguments(arguments []argumentDescription) h.Node {
	return h.Join(" ", h.Map(arguments, p.argument))
}

func (p page) argument(a argumentDescription) h.Node {
	text := p.text(a.Text)
	if a.Literal {
		text = h.Text(a.Text)
	}
	return h.Span(h.If(a.Vanishes != "", h.Group{h.Class("optional"), h.Title("left out " + a.Vanishes)}), text)
}

func (p page) settable() h.Node {
	attributes := p.attributes(true)
	if attributes == nil {
		return h.P(h.Text("No attributes for users."))
	}
	return h.Group{
		h.P(h.Class("quiet"), h.Text("Users set these with "), code("-s name=value"), h.Text(" or in the form.")),
		attributes,
	}
}

func (p page) internal() h.Node {
	attributes := p.attributes(false)
	return h.If(attributes != nil, h.Group{quiet("Set by parsers, by rmctl or by their defaults."), attributes})
}

// attributes is a table of the attributes that users set, or of the others; nil without any.
func (p page) attributes(settable bool) h.Node {
	var rows h.Group
	for _, a := range p.Attributes {
		if a.Settable() == settable {
			rows = append(rows, p.attribute(a))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return h.Table(h.Class("attributes"), columns("Name", "Meaning", "Default", "Allowed"), h.TBody(rows))
}

func (p page) attribute(a attributeDescription) h.Node {
	kind := func(word string) h.Node {
		return h.If(word != "", h.Group{h.Span(h.Class("kind"), h.Text(word)), h.Text(" ")})
	}
	return h.Tr(h.ID(p.anchors[a.Name]),
		h.Th(h.Scope("row"), code(a.Name),
			h.P(h.Class("facts"), kind(a.Type), h.If(a.ReadOnly, kind("read-only")), p.position(a.Position)),
		),
		h.Td(
			h.If(a.Description != "", h.P(h.Text(a.Description))),
			h.If(a.Tooltip != "", quiet(a.Tooltip)),
			h.If(a.Status != "", quiet("status: "+a.Status)),
			h.If(a.LinkedTo != "", h.P(h.Class("quiet"), h.Text("takes the value of "), p.reference(a.LinkedTo, a.LinkedTo))),
		),
		h.Td(p.value(a)),
		h.Td(p.allowed(a)),
	)
}

// value is the default value of an attribute.
func (p page) value(a attributeDescription) h.Node {
	switch {
	case a.Value != nil:
		return p.code(*a.Value)
	case a.Default != nil:
		return p.code(*a.Default)
	}
	return nil
}

// allowed describes the allowed values of an attribute, and how they are stored.
func (p page) allowed(a attributeDescription) h.Node {
	return h.Group{
		h.If(len(a.Choice) > 0, h.P(choices(a.Choice))),
		h.If(len(a.TranslateChoiceAs) > 0, h.P(h.Class("quiet"), h.Text("stored as "), choices(a.TranslateChoiceAs))),
		h.If(a.TranslateBooleanAs != "", h.P(h.Class("quiet"), h.Text("stored as "), code(a.TranslateBooleanAs))),
		h.If(a.ItemsFrom != "", h.P(h.Text("offered: what "), h.Span(h.Class("ref"), h.Text(a.ItemsFrom)), h.Text(" holds"))),
		h.If(a.Limits() != "", h.P(h.Text(a.Limits()))),
		h.Iff(a.Validator != nil, func() h.Node {
			rule := a.Validator.rule()
			return h.Group{
				h.If(a.Validator.Message != "", h.P(h.Text(a.Validator.Message))),
				h.If(rule != "", h.P(h.Class("quiet"), code(rule))),
			}
		}),
	}
}

// rule returns the rule for values, in addition to the message for users.
func (v validatorDescription) rule() string {
	v.Message = ""
	return v.text(true)
}
