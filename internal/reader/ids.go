package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
)

// IDs describes the format of job ids (x:ids). The zero value accepts any text as the id of a job without
// tasks.
type IDs struct {
	form       *regexp.Regexp // nil for any text
	drop       *regexp.Regexp // nil for nothing
	own        *regexp.Regexp // nil for none
	columns    []string       // the names of the groups of form
	instead    string         // replaces what drop matches
	ignoreCase bool
}

// NewIDs compiles the format of ids; definition may be nil.
func NewIDs(definition *config.IDs) (*IDs, error) {
	if definition == nil {
		return &IDs{}, nil
	}
	ids := &IDs{
		columns:    definition.Columns,
		ignoreCase: definition.IgnoreCase,
		instead:    definition.Replacement,
	}
	var err error
	if ids.form, err = compileWhole(definition.Form); err != nil {
		return nil, err
	}
	if ids.own, err = compileWhole(definition.Own); err != nil {
		return nil, err
	}
	ids.drop, err = compile(definition.Drop, "", "")
	return ids, err
}

// hasTasks reports whether ids can be those of tasks.
func (i *IDs) hasTasks() bool { return i != nil && slices.Contains(i.columns, "task") }

// Split returns the job and the task of an id, the task empty for a whole job. It reports false for an
// invalid id.
func (i *IDs) Split(id string) (job, task string, isID bool) {
	if i.form == nil {
		return id, "", id != "" && len(id) <= longestFact
	}
	groups := i.form.FindStringSubmatch(i.Clean(id))
	if groups == nil || len(id) > longestFact {
		return "", "", false
	}
	if job = i.group(groups, "job"); !slices.Contains(i.columns, "job") {
		job = id
	}
	return job, i.group(groups, "task"), job != ""
}

// group returns the first group with a name that took part in a match.
func (i *IDs) group(groups []string, name string) string {
	for at, column := range i.columns {
		if column == name && groups[1+at] != "" {
			return groups[1+at]
		}
	}
	return ""
}

// splitListed is Split for a record of a listing: a task that is a separate job has no other job.
func (i *IDs) splitListed(id string) (job, task string, isID bool) {
	if i.own != nil && i.own.MatchString(i.Clean(id)) {
		return i.Clean(id), "", true
	}
	return i.Split(id)
}

// Clean returns an id as commands accept it: without extra parts, and in lower case if case does not
// matter.
func (i *IDs) Clean(id string) string {
	if i.ignoreCase {
		id = strings.ToLower(id)
	}
	if i.drop == nil {
		return id
	}
	return i.drop.ReplaceAllLiteralString(id, i.instead)
}
