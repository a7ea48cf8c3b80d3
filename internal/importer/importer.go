// Package importer converts other programs' configuration into definitions and targets: PTP
// definitions, Open OnDemand clusters and Troika sites.
//
// [Import] reads a file and returns what to write, with a report; [Result.Save] writes it.
package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/rms"
)

// A Format is a kind of file that can be imported.
type Format string

// The formats.
const (
	PTP          Format = "ptp"           // a definition of a resource manager, in XML
	OpenOnDemand Format = "open-ondemand" // a cluster of Open OnDemand, in YAML
	Troika       Format = "troika"        // sites of Troika, in YAML
)

// Formats returns all formats.
func Formats() []Format { return []Format{PTP, OpenOnDemand, Troika} }

// maxBytes is how large a file may be that is no XML; real ones have a few kilobytes.
const maxBytes = 1 << 20

// A Result is what an import makes of a file. The names in JSON are a contract
// with scripts.
type Result struct {
	Format  Format
	Files   []File
	Targets []Target
	Report  []Remark
}

// A File is a definition to be written.
type File struct {
	Name string `json:"name"` // in the folder of the targets file
	Text string `json:"text,omitempty"`
}

// A Target is an entry of targets.toml.
type Target struct {
	Name       string `toml:"-" json:"-"`
	Definition string `toml:"definition" json:"definition"` // a shipped name or one of the files
	Transport  string `toml:"transport,omitempty" json:"transport"`
	Host       string `toml:"host,omitempty" json:"host,omitempty"`

	Attributes  map[string]string `toml:"attributes,omitempty" json:"attributes,omitempty"`   // of all submissions
	Environment map[string]string `toml:"environment,omitempty" json:"environment,omitempty"` // of all commands
}

// A Kind is the kind of a remark about a part of the file.
type Kind string

// The kinds of remarks.
const (
	carried Kind = "carried" // it is in the result
	added   Kind = "added"   // it comes from the shipped definition
	changed Kind = "changed" // it was translated, and may need a check
	Lost    Kind = "lost"    // it is not in the result
)

// A Remark says how the import handled a part of the file.
type Remark struct {
	Kind    Kind   `json:"kind"`
	Line    int    `json:"line,omitempty"` // in the file, from 1; 0 for no place
	Column  int    `json:"column,omitempty"`
	Subject string `json:"subject"` // the part
	Text    string `json:"text"`
}

// An Error is the reason why a file cannot be imported, with its position.
type Error struct {
	File         string
	Line, Column int // from 1; 0 if unknown
	Reason       string
}

// Error begins with the position in the file, if it is known.
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.File + ": " + e.Reason
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// Import reads a file. An empty format is detected from the text; an empty name is derived
// from the file's content or name. Errors are *Error.
func Import(file string, source []byte, format Format, name string) (*Result, error) {
	if format == "" {
		format = formatOf(source)
	}
	if format != PTP && len(source) > maxBytes {
		return nil, &Error{File: file, Reason: fmt.Sprintf("larger than %d bytes", maxBytes)}
	}
	if format != PTP && !utf8.Valid(source) {
		return nil, &Error{File: file, Reason: "not UTF-8"}
	}
	if name != "" && nameOf(name) != name {
		return nil, &Error{File: file, Reason: fmt.Sprintf("invalid target name %q: use letters, digits, dots, hyphens and underscores", name)}
	}
	i := &importing{file: file, source: source, name: name, result: &Result{Format: format}}
	switch format {
	case PTP:
		i.ptp()
	case OpenOnDemand:
		i.openOnDemand()
	case Troika:
		i.troika()
	default:
		i.fail(0, 0, "unknown format: neither a definition in XML, a cluster of Open OnDemand nor sites of Troika")
	}
	if i.err == nil {
		i.checkResult()
	}
	if i.err != nil {
		return nil, i.err
	}
	return i.result, nil
}

type importing struct {
	file   string
	source []byte
	name   string // that the user gave; may be empty
	result *Result
	err    error // the first
}

func (i *importing) remark(kind Kind, line, column int, subject, format string, arguments ...any) {
	i.result.Report = append(i.result.Report, Remark{kind, line, column, subject, fmt.Sprintf(format, arguments...)})
}

// fail notes an error. Later code must not depend on the failed part.
func (i *importing) fail(line, column int, format string, arguments ...any) {
	if i.err == nil {
		i.err = &Error{File: i.file, Line: line, Column: column, Reason: fmt.Sprintf(format, arguments...)}
	}
}

var formatMarks = []struct {
	format Format
	mark   *lazyregexp.Regexp
}{
	{PTP, lazyregexp.New(`(?s)^(?:\xef\xbb\xbf)?\s*<|^\xff\xfe|^\xfe\xff`)},
	{OpenOnDemand, lazyregexp.New(`(?m)^["']?v2["']?\s*:`)},
	{Troika, lazyregexp.New(`(?m)^["']?sites["']?\s*:`)},
}

func formatOf(source []byte) Format {
	for _, known := range formatMarks {
		if known.mark.Match(source[:min(len(source), maxBytes)]) {
			return known.format
		}
	}
	return ""
}

var outsideNames = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// nameOf makes a name of a target, and of a file, of a text.
func nameOf(text string) string {
	name := strings.Trim(outsideNames.ReplaceAllString(text, "-"), "-._")
	if len(name) > 64 {
		name = strings.TrimRight(name[:64], "-._")
	}
	return name
}

// called returns the name that the user gave or, without one, a name made of the first
// text that gives one, the last being the file's name.
func (i *importing) called(texts ...string) string {
	base := filepath.Base(i.file)
	for _, text := range append(append([]string{i.name}, texts...), strings.TrimSuffix(base, filepath.Ext(base)), "imported") {
		if name := nameOf(text); name != "" && name == i.name {
			return name
		} else if name != "" {
			return free(name, i.result.Format)
		}
	}
	return "imported"
}

// free keeps a target from taking the name of a shipped definition unless the user
// wants that.
func free(name string, format Format) string {
	if _, taken := rms.Source(name); taken {
		return name + "-" + string(format)
	}
	return name
}

// checkResult loads the definitions of the new targets and their bases, and returns an error
// if one is unusable.
func (i *importing) checkResult() {
	names := map[string]bool{}
	for _, target := range i.result.Targets {
		if names[target.Name] {
			i.fail(0, 0, "two targets would have the name %q", target.Name)
		}
		names[target.Name] = true
	}
	for _, file := range i.result.Files {
		if !slices.ContainsFunc(i.result.Targets, func(target Target) bool { return target.Definition == file.Name }) {
			continue
		}
		_, problems := check.Load(file.Name, []byte(file.Text), i.base)
		if err := problems.Err(); err != nil {
			i.fail(0, 0, "the result is invalid: %v", err)
		}
	}
}

// base reads what a definition of the result extends: another file of the result,
// or a shipped one.
func (i *importing) base(name, from string) (string, []byte, error) {
	at := slices.IndexFunc(i.result.Files, func(file File) bool { return file.Name == name })
	if at >= 0 {
		return name, []byte(i.result.Files[at].Text), nil
	}
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".xml") {
		return "", nil, errors.New("the file is not imported")
	}
	return check.ReadBase(name, from)
}
