package document

import (
	"reflect"
	"slices"

	"github.com/rmctl/rmctl/job"
)

// A Setting is a key of a document and its value: a text, a bool, a list of strings,
// or a table, which is a map of any of these by texts.
type Setting struct {
	Key   string
	Value any
}

func (s Setting) isEmpty() bool {
	value := reflect.ValueOf(s.Value)
	switch value.Kind() {
	case reflect.Slice, reflect.Map:
		return value.Len() == 0
	}
	return value.IsZero()
}

func (s Setting) isTable() bool { return reflect.TypeOf(s.Value).Kind() == reflect.Map }

// Lists is Settings with lists of name=value in place of tables.
func Lists(s job.Submission) []Setting {
	var values, variables []string
	for _, value := range s.Values {
		values = append(values, value.Name+"="+value.Value)
	}
	for _, variable := range s.Environment.Variables {
		variables = append(variables, variable.Name+"="+variable.Value)
	}
	return slices.Insert(plain(s), 3, Setting{keySet, values}, Setting{keyEnvironment, variables})
}

// plain returns the settings that are the same in all documents.
func plain(s job.Submission) []Setting {
	return []Setting{
		{keyTab, s.Tab}, {keyExecutable, s.Executable}, {keyArguments, s.Arguments}, {keyDirectory, s.Directory}, {keyScript, s.Script},
		{keyDebug, s.Debug}, {keyTrack, s.Track}, {keyRankFrom, s.RankFrom},
	}
}

// Settings returns a submission as settings of a document. Values that equal those
// of source, the document that the submission was read from, keep their kinds; source
// may be nil. Tag, Hosted, Invisible, Wrapper and Environment.Replace are left out.
func Settings(s job.Submission, source *Table) []Setting {
	texts := map[string][]string{}
	for _, value := range s.Values {
		texts[value.Name] = append(texts[value.Name], value.Value)
	}
	attributes := map[string]any{}
	for name, values := range texts {
		attributes[name] = values
		if len(values) == 1 {
			attributes[name] = values[0]
		}
		if found, same := source.attribute(name, values); same {
			attributes[name] = found.value.native()
		}
	}
	environment := map[string]any{}
	for _, variable := range s.Environment.Variables {
		environment[variable.Name] = variable.Value
	}
	return append(plain(s), Setting{keyAttributes, attributes}, Setting{keyEnvironment, environment})
}
