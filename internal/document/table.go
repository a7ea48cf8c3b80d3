// Package document reads and writes submissions in TOML and JSON: saved submissions, requests to
// the server, cases, and lines of a batch.
package document

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
)

// A Table has the keys of a document in JSON or TOML, or of a table in one, with their values
// and places. Its methods read keys and collect errors. Err returns these, and errors for
// keys that were not read.
type Table struct {
	entries    map[string]entry
	order      []string         // keys, as the document has them
	members    []*Table         // that Members returned
	place      Place            // of a member
	read, left []string         // the keys that were read, and those of Leave
	attributes map[string]entry // values of attributes by name, once Submission has read them
	problems   []error
}

// An entry is a key with its value.
type entry struct {
	key   Place
	value *value
}

// A Place is a line and a column of a document, both from 1; zero if unknown.
type Place struct{ Line, Column int }

// A value is one value of a document.
type value struct {
	kind  kind
	text  string // of a scalar
	items []*value
	table *Table
	place Place
}

// A kind is the kind of a value, as named in messages.
type kind string

const (
	kindNull     kind = "null"
	kindText     kind = "a string"
	kindBoolean  kind = "true or false"
	kindInteger  kind = "an integer"
	kindDecimal  kind = "a number"
	kindFraction kind = "a number with a fraction" // as TOML has it, with infinities
	kindMoment   kind = "a date or time"
	kindList     kind = "a list"
	kindTables   kind = "a list of tables, in double brackets"
	kindTable    kind = "a table"
)

// An Error is an error in a document, with its place if that is known.
type Error struct {
	Place
	Reason string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// maxDepth bounds how deeply values may be nested.
const maxDepth = 100

func newTable() *Table { return &Table{entries: map[string]entry{}} }

// put adds a key with its value.
func (t *Table) put(key string, e entry) {
	if _, again := t.entries[key]; !again {
		t.order = append(t.order, key)
	}
	t.entries[key] = e
}

func (t *Table) refuse(at Place, format string, arguments ...any) {
	t.problems = append(t.problems, &Error{at, fmt.Sprintf(format, arguments...)})
}

// Refuse adds an error at a key, or at a member without that key.
func (t *Table) Refuse(key, reason string) {
	at := t.Place(key)
	if at.Line == 0 {
		at = t.place
	}
	t.refuse(at, "%s", reason)
}

// Leave marks keys as known, for another reader.
func (t *Table) Leave(keys ...string) { t.left = append(t.left, keys...) }

// IsRead reports whether a method has read a key, whether or not it exists.
func (t *Table) IsRead(key string) bool { return slices.Contains(t.read, key) }

// get reads a key. A null counts as no value.
func (t *Table) get(key string) (entry, bool) {
	if !t.IsRead(key) {
		t.read = append(t.read, key)
	}
	found, has := t.entries[key]
	return found, has && found.value.kind != kindNull
}

// Has reports whether a key has a value.
func (t *Table) Has(key string) bool {
	_, has := t.get(key)
	return has
}

// Text reads a key whose value is a text.
func (t *Table) Text(key string) string {
	found, has := t.get(key)
	if !has || !t.is(key, found, kindText, "a string") {
		return ""
	}
	return t.scalar(found.value)
}

// Flag reads a key whose value is true or false.
func (t *Table) Flag(key string) bool {
	found, has := t.get(key)
	return has && t.is(key, found, kindBoolean, "true or false") && found.value.text == "true"
}

// Texts reads a key whose value is a list of strings.
func (t *Table) Texts(key string) []string {
	found, has := t.get(key)
	if !has || !t.is(key, found, kindList, "a list of strings") {
		return nil
	}
	before := len(t.problems)
	var texts []string
	for _, item := range found.value.items {
		texts = append(texts, t.scalar(item))
	}
	if len(t.problems) > before {
		return nil
	}
	return texts
}

// Tables reads a key whose value is a list of tables.
func (t *Table) Tables(key string) []*Table {
	found, has := t.get(key)
	if !has || found.value.kind != kindTables && !t.is(key, found, kindList, "a list of tables") {
		return nil
	}
	var all []*Table
	for _, item := range found.value.items {
		if item.kind != kindTable {
			t.refuse(item.place, "%q must be a list of tables, but contains %s", key, item.kind)
			continue
		}
		all = append(all, item.table)
	}
	return all
}

// is reports whether a value is of a kind, and refuses it otherwise.
func (t *Table) is(key string, found entry, wanted kind, wantedText string) bool {
	if found.value.kind != wanted {
		t.refuse(found.value.place, "%q is %s, but must be %s", key, found.value.kind, wantedText)
	}
	return found.value.kind == wanted
}

// scalar returns the text of a value that is neither list nor table.
func (t *Table) scalar(v *value) string {
	switch v.kind {
	case kindList, kindTables, kindTable:
		t.refuse(v.place, "a value cannot be %s here", v.kind)
	case kindFraction, kindMoment:
		t.refuse(v.place, "a value cannot be %s: write it in quotes, %q", v.kind, v.text)
	}
	if strings.ContainsRune(v.text, 0) {
		t.refuse(v.place, "%.200q holds a zero byte, which no program can be given", v.text)
	}
	return v.text
}

// Place returns the place of a key.
func (t *Table) Place(key string) Place {
	if t == nil {
		return Place{}
	}
	return t.entries[key].key
}

// maxProblems bounds how many errors are reported at once.
const maxProblems = 50

// Err returns all errors of the table and its members in the order of the document, each an
// *[Error]. Keys that were not read are unknown.
func (t *Table) Err() error {
	problems := t.collect()
	slices.SortStableFunc(problems, func(a, b error) int {
		x, y := a.(*Error).Place, b.(*Error).Place
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
	problems = slices.CompactFunc(problems, func(a, b error) bool { return *a.(*Error) == *b.(*Error) })
	return errors.Join(problems[:min(len(problems), maxProblems)]...)
}

func (t *Table) collect() []error {
	known, problems := slices.Concat(t.left, t.read), slices.Clone(t.problems)
	for _, key := range slices.Sorted(maps.Keys(t.entries)) {
		if slices.Contains(known, key) || len(problems) >= maxProblems {
			continue
		}
		hint := "choose one of " + strings.Join(known, ", ")
		if near := wording.Nearest(key, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		problems = append(problems, &Error{t.entries[key].key, fmt.Sprintf("unknown setting %.200q\n%s", key, hint)})
	}
	for _, member := range t.members {
		problems = append(problems, member.collect()...)
	}
	return problems
}
