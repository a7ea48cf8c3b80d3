package main

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
)

// printJobsOfEveryone prints what the scheduler of the target lists, once or again
// and again.
func (a *app) printJobsOfEveryone(ctx context.Context, isWatched bool) error {
	if !isWatched {
		var wrong command.Listed
		ask := func(client *api.Client, ctx context.Context, target settings.Target) (jobs []job.Document, at time.Time, err error) {
			jobs, wrong, at, err = client.Jobs(ctx, target)
			return jobs, at, err
		}
		jobs, at, err := served(ctx, a, ask)
		if err == nil {
			a.warnOfListing()(config.ListJobs, wrong)
			return a.printEveryone(jobs, job.Timestamp(at))
		}
		a.log().Info("the scheduler is asked", "reason", err)
	}
	controller, err := a.controller(ctx, "")
	if err != nil {
		return err
	}
	print := func(rows []command.Row, seen string) error {
		return a.printEveryone(controller.JobsOf(rows), seen)
	}
	list := listInTurn(controller, config.ListJobs, print)
	if !isWatched {
		list = func(ctx context.Context) (listed, error) {
			var rows control.RowSet
			_, err := controller.Rows(ctx, config.ListJobs, config.AllJobs, rows.Add)
			return listed{print: func(seen string) error { return print(rows.Rows(), seen) }}, err
		}
	}
	return a.printListing(ctx, "jobs", controller, list, isWatched)
}

// printEveryone prints listed jobs, as of a time where that is said.
func (a *app) printEveryone(jobs []job.Document, seen string) error {
	var cells [][]string
	for _, listed := range jobs {
		if a.json {
			listed.Seen = seen
			if err := terminal.JSON(a.stdout, listed); err != nil {
				return err
			}
			continue
		}
		cells = append(cells, []string{
			terminal.OrDash(listed.ID), terminal.OrDash(listed.Owner), terminal.OrDash(listed.Detail), terminal.OrDash(listed.Queue), terminal.OrDash(listed.Name), terminal.OrDash(listed.Submitted), terminal.OrDash(listed.Nodes),
			terminal.AtMost(oneLine(listed.Reason), terminal.LongestCell),
		})
	}
	if len(cells) == 0 {
		return nil
	}
	return terminal.Table(a.stdout, []string{"JOB", "USER", "DETAIL", "QUEUE", "NAME", "SUBMITTED", "NODES", "REASON"}, cells)
}
