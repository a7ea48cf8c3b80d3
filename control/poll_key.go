package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// connectionName identifies a connection: where commands run, and as whom.
func (c *session) connectionName() string {
	return c.place.Transport + ":" + c.place.User + "@" + c.place.Host
}

// pollKeyOf names the query for jobs that a controller shares with those of all processes
// and targets that have the same connection, definition and query commands. Values of a
// target may change these commands.
func pollKeyOf(c *session) string {
	sum := sha256.New()
	sum.Write([]byte(c.fingerprint()))
	anyJob, err := c.resolver.ScopeOfAnyJob()
	if err != nil {
		return c.sessionKey() // queries return the error
	}
	commands := []*config.Command{c.definition.Command(config.ListJobs), c.definition.Command(config.GetJobStatus), c.definition.Command(config.FindJob)}
	if commands[1] != nil {
		commands = append(commands, commands[1].Fallbacks...)
	}
	for _, each := range commands {
		if each == nil {
			continue
		}
		resolved, err := resolvedText(each, anyJob)
		if err != nil {
			resolved = err.Error()
		}
		fmt.Fprintf(sum, "\x00%s", resolved)
	}
	return fmt.Sprintf("%s by %s %s", c.connectionName(), c.definition.Name, hex.EncodeToString(sum.Sum(nil))[:16])
}

// ownJobs is the query for the jobs on record.
func (c *tracker) ownJobs() polls.PollKey {
	return polls.PollKey{Kind: polls.OwnJobs, Key: c.pollKey()}
}

// connectionOf returns the name that jobs of a target have for the connection of this
// controller.
func (c *session) connectionOf(target string) string { return target + "@" + c.connectionName() }

// openFilters selects the jobs of this controller's target, and those of the other
// targets that share its query, which may have had another connection before.
func (c *tracker) openFilters(targets []string) []jobstore.OpenFilter {
	filters := []jobstore.OpenFilter{{Target: c.target}}
	for _, target := range targets {
		if target != c.target {
			filters = append(filters, jobstore.OpenFilter{Target: target, Connection: c.connectionOf(target)})
		}
	}
	return filters
}

// openSubmissions returns the submissions of targets that have no job, including those
// that are on record as not made. Those of other targets may be of an earlier
// connection.
func (c *tracker) openSubmissions(ctx context.Context, targets []string) ([]job.Job, error) {
	var all []job.Job
	for _, filter := range c.openFilters(targets) {
		open, err := c.store.Unresolved(ctx, filter.Target)
		if err != nil {
			return nil, err
		}
		late, err := c.store.Unseen(ctx, c.now().Add(-recovery.LastLateLook), filter.Target)
		if err != nil {
			return nil, err
		}
		open = append(open, slices.DeleteFunc(late, c.isForgotten)...)
		all = append(all, slices.DeleteFunc(open, func(job job.Job) bool {
			return filter.Connection != "" && job.Connection != filter.Connection
		})...)
	}
	return all, nil
}
