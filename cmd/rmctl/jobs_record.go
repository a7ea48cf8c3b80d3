package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// pruneJobs forgets jobs that are over and older than an age.
func (a *app) pruneJobs(ctx context.Context, store *jobstore.Store, text string) error {
	age, err := parseAge(text)
	if err != nil {
		return err
	}
	count, err := store.Prune(ctx, time.Now().Add(-age), a.target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%d forgotten\n", count)
	return err
}

// parseAge reads a length of time, which may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		number, err := strconv.Atoi(days)
		if err != nil || number < 0 || number > 100*365 {
			return 0, usage("--prune %q: write a number of days, such as 90d", text)
		}
		return time.Duration(number) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, usage("--prune %q: write a length of time, such as 12h or 90d", text)
	}
	return age, nil
}

// exportedJob is a job with all that is on record of it.
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

// exportJobs prints all that is on record, oldest first.
func (a *app) exportJobs(ctx context.Context, store *jobstore.Store) error {
	jobs, err := store.List(ctx, jobstore.Filter{Target: a.target, All: true})
	if err != nil {
		return err
	}
	for i := len(jobs) - 1; i >= 0; i-- {
		j, err := store.ByTag(ctx, jobs[i].Tag)
		if err != nil {
			return err
		}
		exported := exportedJob{
			Document: j.Document(), Definition: j.Definition, Connection: j.Connection, Directory: j.Directory,
			Arguments: j.Arguments, Attributes: j.Attributes, Script: j.Script, Request: j.Request, History: []job.Event{},
		}
		err = store.History(ctx, j.Tag, func(event job.Event) error {
			exported.History = append(exported.History, event)
			return nil
		})
		if err == nil {
			err = terminal.JSON(a.stdout, exported)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
