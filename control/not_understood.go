package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/excerpt"
	"github.com/rmctl/rmctl/jobstore"
)

// countQuery counts an answer to a query for a job that the definition does not
// understand: an unknown word for a state, or output that nothing matches.
func (c *session) countQuery(ctx context.Context, job string, seen answer, failure error) {
	if len(seen.attempts) == 0 {
		return
	}
	switch {
	case failure == nil && seen.Detail == "" && !seen.forgotten && !seen.undecided && seen.Native != "":
		last := seen.attempts[len(seen.attempts)-1]
		c.countNotUnderstood(ctx, last.command, jobstore.NotUnderstood{Count: 1, Job: job, Seen: fmt.Sprintf("unknown state %q", excerpt.Line(seen.Native))})
	case errors.Is(failure, errNothingUnderstood):
		if printed, found := lastThatPrinted(seen.attempts); found {
			c.countNotUnderstood(ctx, printed.command, jobstore.NotUnderstood{Count: 1, Job: job, Seen: fmt.Sprintf("output that begins with %q", excerpt.First(printed.result.Stdout))})
		}
	}
}

// lastThatPrinted returns the last command that printed something.
func lastThatPrinted(attempts []attempt) (attempt, bool) {
	for i := len(attempts) - 1; i >= 0; i-- {
		if strings.TrimSpace(attempts[i].result.Stdout) != "" {
			return attempts[i], true
		}
	}
	return attempt{}, false
}

// countNotUnderstood adds to the count of a command. A failure does not stop the query.
func (c *session) countNotUnderstood(ctx context.Context, source *config.Command, added jobstore.NotUnderstood) {
	if c.store == nil {
		return
	}
	added.Target, added.Command, added.Definition, added.At = c.target, selectorOf(source), c.fingerprint(), c.now()
	if err := c.store.AddNotUnderstood(ctx, added); err != nil {
		c.log.Warn("counting output that was not understood failed", "error", err)
	}
}

// selectorOf names a command as in the arguments of rmctl replay and rmctl test.
func selectorOf(command *config.Command) string {
	return string(command.Element) + ":" + command.Name
}

// notUnderstoodFor is how long after its last increase a count is shown.
const notUnderstoodFor = 30 * 24 * time.Hour

// NotUnderstood returns, for each command, how often the definition did not understand its
// output, latest first. It leaves out commands without such output for a month.
func (c *Controller) NotUnderstood(ctx context.Context) ([]jobstore.NotUnderstood, error) {
	if c.store == nil {
		return nil, nil
	}
	return c.store.NotUnderstood(ctx, c.target, c.fingerprint(), c.now().Add(-notUnderstoodFor))
}
