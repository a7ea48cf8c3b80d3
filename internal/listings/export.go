package listings

import (
	"context"
	"errors"
	"io"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// exportedJob is a job with everything on record about it.
type exportedJob struct {
	job.Document
	Definition string         `json:"definition"`
	Connection string         `json:"connection"`
	Directory  string         `json:"directory,omitempty"`
	Arguments  []string       `json:"arguments,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
	Script     string         `json:"script,omitempty"`
	Request    string         `json:"request,omitempty"`
	History    []job.Event    `json:"history"`
}

// Export prints the whole record of a target, or of all, oldest job first. What cannot be read is
// left out, and an error.
func Export(ctx context.Context, w io.Writer, store *jobstore.Store, target string) error {
	jobs, err := store.List(ctx, jobstore.Filter{Target: target, All: true})
	if err != nil {
		return err
	}
	var unreadable []error
	for i := len(jobs) - 1; i >= 0; i-- {
		j, err := store.ByTag(ctx, jobs[i].Tag)
		if err != nil {
			unreadable = append(unreadable, err)
		}
		if j.Tag == "" {
			continue
		}
		exported := exportedJob{
			Document: j.Document(), Definition: j.Definition, Connection: j.Connection, Directory: j.Directory,
			Arguments: j.Arguments, Attributes: j.Attributes, Script: j.Script, Request: j.Request, History: []job.Event{},
		}
		err = store.History(ctx, j.Tag, func(event job.Event) error {
			exported.History = append(exported.History, event)
			return nil
		})
		if err != nil {
			unreadable = append(unreadable, err)
		}
		if err := terminal.JSON(w, exported); err != nil {
			return err
		}
	}
	return errors.Join(append(unreadable, store.Damaged())...)
}
