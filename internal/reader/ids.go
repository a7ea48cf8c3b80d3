package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
)

// IDs says how the ids of jobs are written (x:ids). The zero value takes any text as the
// id of a job without tasks.
type IDs struct {
	form       *regexp.Regexp // nil for any text
	drop       *regexp.Regexp // nil for nothing
	job, task  int            // the groups of form; 0 for none
	instead    string         // takes the place of what drop matches
	ignoreCase bool
}

// NewIDs compiles the form of ids; definition may be nil.
func NewIDs(definition *config.IDs) (*IDs, error) {
	if definition == nil {
		return &IDs{}, nil
	}
	ids := &IDs{
		job:        1 + slices.Index(definition.Columns, "job"),
		task:       1 + slices.Index(definition.Columns, "task"),
		ignoreCase: definition.IgnoreCase,
		instead:    definition.Replacement,
	}
	var err error
	if ids.form, err = compileWhole(definition.Form); err != nil {
		return nil, err
	}
	ids.drop, err = compile(definition.Drop, "", "")
	return ids, err
}

// hasTasks reports whether ids can be those of tasks.
func (i *IDs) hasTasks() bool { return i != nil && i.task > 0 }

// Split returns the job and the task of an id, the task empty for a whole job. It reports
// false for a text that is no id.
func (i *IDs) Split(id string) (job, task string, isID bool) {
	if i.form == nil {
		return id, "", id != ""
	}
	groups := i.form.FindStringSubmatch(i.Clean(id))
	if groups == nil {
		return "", "", false
	}
	job = id
	if i.job > 0 {
		job = groups[i.job]
	}
	if i.task > 0 {
		task = groups[i.task]
	}
	return job, task, job != ""
}

// Clean returns an id without what does not belong to it, as commands take it: in small
// letters if the case does not count.
func (i *IDs) Clean(id string) string {
	if i.ignoreCase {
		id = strings.ToLower(id)
	}
	if i.drop == nil {
		return id
	}
	return i.drop.ReplaceAllLiteralString(id, i.instead)
}
