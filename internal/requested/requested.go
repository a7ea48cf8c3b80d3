// Package requested stores what a user requested with a job, so that it can be submitted again.
package requested

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/job"
)

// keyTarget is the key of the target in a recorded request. The other keys are those of a
// submission, so that the request can be read as a saved submission.
const keyTarget = "target"

// Encode returns a submission to a target as text to be recorded with the job. It is an error
// if the text could not be read back.
func Encode(target string, s job.Submission) (string, error) {
	settings := []document.Setting{{Key: keyTarget, Value: target}}
	text, err := document.EncodeTOML(append(settings, document.Settings(s.Over(job.Submission{}), nil)...))
	if err == nil {
		_, err = parse(text)
	}
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// Of returns the submission that was made for a job, which must be complete, as Store.ByTag
// returns it.
func Of(j job.Job) (job.Submission, error) {
	if j.Request == "" {
		return job.Submission{}, fmt.Errorf("the submission of job %q is not on record", j.ID)
	}
	s, err := parse([]byte(j.Request))
	if err != nil {
		return s, fmt.Errorf("reading the submission of job %q: %w", j.ID, err)
	}
	return s, nil
}

func parse(text []byte) (job.Submission, error) {
	table, err := document.ParseTOML(text)
	if err != nil {
		return job.Submission{}, err
	}
	table.Text(keyTarget)
	s := table.Submission()
	return s, table.Err()
}

// Again returns a submission to a definition that repeats the one of a job, with changes. The
// job must be complete, as Store.ByTag returns it. A script is the file as it is now.
func Again(j job.Job, changes job.Submission, definition *config.Definition) (job.Submission, error) {
	if j.Interactive {
		return job.Submission{}, fmt.Errorf("cannot resubmit job %q: it is interactive", cmp.Or(j.ID, j.Tag))
	}
	s, err := Of(j)
	if err != nil {
		return s, err
	}
	s.Values = slices.DeleteFunc(s.Values, func(before job.Assignment) bool {
		return slices.ContainsFunc(changes.Values, func(change job.Assignment) bool { return replaces(definition, change.Name, before.Name) })
	})
	return changes.Over(s), nil
}

// replaces reports whether one of two names is a portable name that the definition links to the
// other: then they say the same, and cannot both have a value.
func replaces(definition *config.Definition, change, before string) bool {
	links := func(portable, attribute string) bool {
		return slices.ContainsFunc(definition.PortableLinks(portable), func(link *config.PortableLink) bool { return link.Attribute == attribute })
	}
	return links(change, before) || links(before, change)
}
