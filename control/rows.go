package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/jobstore"
)

// Rows runs x:list-jobs, x:list-nodes or x:list-queues and calls each with one row
// after the other while the command prints, as soon as nothing that follows can change
// the row (see docs/write/listings.md). The command waits meanwhile. Rows have no origins.
// Scope says whose jobs are listed; nodes and queues ignore it. A definition that uses job.ids or query.ids lists the jobs with ids.
//
// If there is an error, the listing proves nothing, least of all that something is
// gone, though each may have been called before. For a definition without such a command
// the error is an *UnsupportedError. An error of each ends the command, and Rows returns
// it unchanged.
func (c *session) Rows(ctx context.Context, kind config.CommandElement, scope config.ListScope, each func(command.Row) error, ids ...string) (command.Listed, error) {
	list, err := c.listingOf(kind)
	if err != nil {
		return command.Listed{}, err
	}
	var refused error
	listed, err := c.rows(ctx, listRequest{command: list, scope: scope, ids: strings.Join(ids, ",")}, func(row command.Row) error {
		refused = each(row)
		return refused
	})
	if err != nil && refused == nil {
		err = fmt.Errorf("asking for the %s: %w", strings.TrimPrefix(string(kind), "list-"), err)
	}
	if err == nil && c.onListed != nil {
		c.onListed(kind, listed)
	}
	return listed, err
}

// listingOf returns the command that lists jobs, nodes or queues.
func (c *session) listingOf(kind config.CommandElement) (*config.Command, error) {
	if list := c.definition.Command(kind); list != nil {
		return list, nil
	}
	return nil, &UnsupportedError{Of: c.definition, Lacks: "x:" + string(kind)}
}

// A listRequest holds the parameters of a listing.
type listRequest struct {
	command *config.Command
	scope   config.ListScope // whose jobs; empty for nodes and queues
	ids     string           // of the jobs, for a definition that names them
	origins string           // see tokenizer.Options

	earliest time.Time // submission of the jobs, of x:list-ended only
}

func (c *session) rows(ctx context.Context, request listRequest, each func(command.Row) error) (command.Listed, error) {
	env, err := c.environment(ctx, anyAge)
	if err != nil {
		return command.Listed{}, err
	}
	for _, name := range env.Discovered() {
		env.Remove(name) // found by the start-up commands, not by this listing
	}
	switch request.command.Element {
	case config.ListJobs:
		env.SetVariable(submission.AttributeScope, string(request.scope))
		submission.SetIDs(env, request.command, request.ids)
	case config.ListEnded:
		submission.SetIDs(env, request.command, request.ids)
		submission.SetCreated(env, request.earliest, c.now(), c.zoneOf(request.command).OrLocal())
	}
	var refused error // by the receiver of the rows
	take := func(row command.Row) error {
		refused = each(row)
		return refused
	}
	listed, outcome, err := c.rowsBy(ctx, request.command, env, request.origins, take)
	for _, fallback := range request.command.Fallbacks {
		if refused == nil && listed.Rows == 0 && triedAfter(fallback, outcome) {
			listed, outcome, err = c.rowsBy(ctx, fallback, env, request.origins, take)
		}
	}
	return listed, err
}

// rowsBy lists with one command, and returns its outcome, too.
func (c *session) rowsBy(ctx context.Context, list *config.Command, env *attribute.Environment, origins string, each func(command.Row) error) (command.Listed, config.OutcomeKind, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var refused error
	result, err := c.runRequest(ctx, command.Request{Command: list, Scope: config.Scope{Environment: env}, Origins: origins, Rows: func(row command.Row) {
		if refused != nil {
			return
		}
		if refused = each(row); refused != nil {
			cancel(refused)
		}
	}})
	if refused != nil {
		return result.Listed, "", refused
	}
	if lines := result.Listed.NotUnderstood; err == nil && lines > 0 {
		c.countNotUnderstood(context.WithoutCancel(ctx), list, jobstore.NotUnderstood{Count: lines, Seen: "lines of a listing"})
	}
	outcome, err := outcomeOf(result, err) // some commands report an error if a job does not exist
	return result.Listed, outcome, err
}
