package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/listing"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// namesIDs reports whether a listing is limited to the jobs with given ids, directly or
// through other attributes.
func namesIDs(c *session, list *config.Command) bool {
	if list == nil {
		return false
	}
	env, err := c.resolver.InitialEnvironment()
	if err != nil {
		return false // listing returns the error
	}
	const id = "66f1dc87c0af2a4f4c8d9f"
	submission.SetIDs(env, list, id)
	text, err := resolvedText(list, config.Scope{Environment: env})
	return err == nil && strings.Contains(text, id)
}

// resolvedText returns the resolved command as one text.
func resolvedText(which *config.Command, scope config.Scope) (string, error) {
	invocation, err := command.Resolve(which, scope, job.Environment{})
	if err != nil {
		return "", err
	}
	parts := []any{
		invocation.Arguments, invocation.Directory, invocation.Environment, invocation.Unset, invocation.ReplaceEnvironment,
		invocation.Keep, invocation.Input, invocation.HasInput, invocation.InputFile,
	}
	for _, simple := range slices.Concat(invocation.PreLaunch, invocation.PostLaunch) {
		parts = append(parts, simple.Arguments, simple.Directory)
	}
	return fmt.Sprintf("%q", parts), nil // encoding/json would analyze all types of a definition first
}

// listOpen lists the jobs of a poll: all jobs of this user with one command or, if the
// definition uses ids, the open ones in batches. With an error it returns the rows of the
// earlier commands.
func (c *tracker) listOpen(ctx context.Context, list *config.Command, turn *poller.Turn, open jobstore.Roll) (*listing.Listing, error) {
	if !c.listsByID() {
		return c.listJobs(ctx, list, "")
	}
	whole := c.newListing(list)
	var batches submission.IDBatches
	err := c.store.EachOf(ctx, open, func(job *job.Job) error {
		batches.Add(job.ID)
		return nil
	})
	if err != nil {
		return whole, err
	}
	for i, ids := range batches.Texts {
		if i > 0 {
			held, err := turn.Renew(ctx)
			if err == nil && !held {
				err = errTakenOver
			}
			if err != nil {
				return whole, err
			}
		}
		listed, err := c.listJobs(ctx, list, ids)
		if err != nil {
			return whole, err
		}
		whole.AddAll(listed)
	}
	return whole, nil
}

// errTakenOver reports that a poll took so long that another process took it over.
var errTakenOver = errors.New("listing the jobs took longer than the other processes wait")
