package document

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/job"
)

// Keys of documents that hold a submission.
const (
	keyTab         = "tab"
	keyExecutable  = "executable"
	keyArguments   = "arguments"
	keyDirectory   = "directory"
	keyScript      = "script"
	keyDebug       = "debug"
	keyTrack       = "track"
	keyRankFrom    = "rank_from"
	keyAttributes  = "attributes"
	keySet         = "set"
	keyEnvironment = "environment"
)

// Submission reads the keys of a submission. Attributes and variables are tables, or lists of texts of
// the form name=value.
func (t *Table) Submission() job.Submission {
	s := job.Submission{
		Tab: t.Text(keyTab), Executable: t.Text(keyExecutable), Arguments: t.Texts(keyArguments),
		Directory: t.Text(keyDirectory), Script: t.Text(keyScript), Debug: t.Flag(keyDebug), Track: t.Flag(keyTrack), RankFrom: t.Text(keyRankFrom),
	}
	t.attributes = map[string]entry{}
	for _, key := range []string{keyAttributes, keySet} {
		for _, given := range t.assignments(key, "attribute") {
			for _, item := range given.value.texts() {
				s.Values = append(s.Values, job.Assignment{Name: given.name, Value: t.scalar(item)})
			}
			t.locate(given)
		}
	}
	for _, given := range t.assignments(keyEnvironment, "variable") {
		if given.name == "" || strings.ContainsAny(given.name, "=\x00") {
			t.refuse(given.key, "%q cannot name a variable", given.name)
			continue
		}
		s.Environment.Variables = append(s.Environment.Variables, job.Variable{Name: given.name, Value: t.scalar(given.value)})
	}
	return s
}

// A named is a name with a value.
type named struct {
	name string
	entry
}

// locate records the place of a value of an attribute. Several values make a list at the place
// of the first.
func (t *Table) locate(given named) {
	before, again := t.attributes[given.name]
	if again {
		items := append(before.value.texts(), given.value.texts()...)
		given.entry = entry{before.key, &value{kind: kindList, items: items, place: before.value.place}}
	}
	t.attributes[given.name] = given.entry
}

// assignments reads a key whose value is a table, in the order of names, or a list of
// name=value.
func (t *Table) assignments(key, what string) []named {
	found, has := t.get(key)
	switch {
	case !has:
		return nil
	case found.value.kind == kindTable:
		values := map[string]entry{}
		t.flatten(values, "", found.value.table, what)
		var all []named
		for _, name := range slices.Sorted(maps.Keys(values)) {
			all = append(all, named{name, values[name]})
		}
		return all
	case t.is(key, found, kindList, "a table or a list of name=value"):
		return t.listed(found.value.items)
	}
	return nil
}

// flatten collects the values in a table by name. Names may contain dots, which separate keys
// in TOML.
func (t *Table) flatten(values map[string]entry, prefix string, in *Table, what string) {
	for _, key := range slices.Sorted(maps.Keys(in.entries)) {
		name, found := prefix+key, in.entries[key]
		before, twice := values[name]
		switch {
		case found.value.kind == kindTable && len(found.value.table.entries) > 0:
			t.flatten(values, name+".", found.value.table, what)
		case twice && before.key.Line > 0:
			t.refuse(found.key, "%s %q has a value already, on line %d", what, name, before.key.Line)
		case twice:
			t.refuse(found.key, "%s %q has a value already", what, name)
		default:
			values[name] = found
		}
	}
}

// listed returns the values of a list of name=value.
func (t *Table) listed(items []*value) []named {
	var all []named
	for _, item := range items {
		name, assigned, found := strings.Cut(t.scalar(item), "=")
		if !found || name == "" {
			t.refuse(item.place, "%.200q: write name=value", item.text)
			continue
		}
		all = append(all, named{name, entry{item.place, &value{kind: kindText, text: assigned, place: item.place}}})
	}
	return all
}

// texts returns the values of an attribute. An empty list is an empty text.
func (v *value) texts() []*value {
	switch {
	case v.kind != kindList:
		return []*value{v}
	case len(v.items) == 0:
		return []*value{{kind: kindText}}
	}
	return v.items
}

// Attribute returns the places of an attribute and of its value, if it has these values in the
// document.
func (t *Table) Attribute(name string, values []string) (key, value Place) {
	if found, has := t.attribute(name, values); has {
		return found.key, found.value.place
	}
	return Place{}, Place{}
}

func (t *Table) attribute(name string, values []string) (entry, bool) {
	if t == nil {
		return entry{}, false
	}
	found, has := t.attributes[name]
	if !has {
		return entry{}, false
	}
	var texts []string
	for _, item := range found.value.texts() {
		texts = append(texts, item.text)
	}
	return found, slices.Equal(texts, values)
}

// native returns a value with its type in the document: a text, a bool, an integer, or a list
// of texts.
func (v *value) native() any {
	switch v.kind {
	case kindBoolean:
		return v.text == "true"
	case kindInteger:
		if number, err := strconv.ParseInt(v.text, 10, 64); err == nil {
			return number
		}
	case kindList:
		texts := []string{}
		for _, item := range v.items {
			texts = append(texts, item.text)
		}
		return texts
	}
	return v.text
}
