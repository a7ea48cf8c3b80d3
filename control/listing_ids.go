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

// batchBytes bounds the text of the ids that one listing gets, far below the limit of any
// system for one argument.
const batchBytes = 16 << 10

// idSeparator separates the ids of a batch.
const idSeparator = ","

// namesIDs reports whether the listing of a definition is limited to the jobs whose ids
// it gets, directly or by way of other attributes.
func namesIDs(c *session) bool {
	list := c.definition.Command(config.ListJobs)
	if list == nil {
		return false
	}
	env, err := c.resolver.InitialEnvironment()
	if err != nil {
		return false // listing returns the error
	}
	const id = "66f1dc87c0af2a4f4c8d9f"
	env.SetVariable(submission.AttributeIDs, id)
	text, err := resolvedText(list, config.Scope{Environment: env})
	return err == nil && strings.Contains(text, id)
}

// resolvedText returns what a command is resolved to as one text.
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
	return fmt.Sprintf("%q", parts), nil // encoding/json would look at all types of a definition first
}

// batches returns the ids of open jobs for listings, in texts of bounded length. It
// leaves out ids that contain the separator or are unsafe on a command line: these jobs
// are queried one by one.
func (c *tracker) batches(ctx context.Context, open jobstore.Roll) (texts []string, err error) {
	var text strings.Builder
	err = c.store.EachOf(ctx, open, func(job *job.Job) error {
		if strings.HasPrefix(job.ID, "-") || strings.ContainsFunc(job.ID, isUnsafeInBatch) || len(job.ID) > batchBytes {
			return nil
		}
		if text.Len() > 0 && text.Len()+len(idSeparator)+len(job.ID) > batchBytes {
			texts = append(texts, text.String())
			text.Reset()
		}
		if text.Len() > 0 {
			text.WriteString(idSeparator)
		}
		text.WriteString(job.ID)
		return nil
	})
	if text.Len() > 0 {
		texts = append(texts, text.String())
	}
	return texts, err
}

// isUnsafeInBatch reports whether a character separates ids or words, or quotes them.
func isUnsafeInBatch(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(",'\"\\`$", r)
}

// listOpen lists the jobs of a poll: all jobs of this user with one command or, if the
// definition uses ids, the open ones in batches. With an error it returns what the earlier
// commands listed.
func (c *tracker) listOpen(ctx context.Context, list *config.Command, turn *poller.Turn, open jobstore.Roll) (*listing.Listing, error) {
	if !c.listsByID() {
		return c.listJobs(ctx, list, "")
	}
	whole := c.newListing(list)
	texts, err := c.batches(ctx, open)
	if err != nil {
		return whole, err
	}
	for i, ids := range texts {
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

// errTakenOver says that a poll took so long that another process makes it now.
var errTakenOver = errors.New("listing the jobs took longer than the other processes wait")
