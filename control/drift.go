package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/jobstore"
)

// The kinds of drift: how the output of a status command may be unlike what its
// definition was made for.
const (
	driftUnmatched = "unmatched lines"
	driftWord      = "unknown state"
	driftEmpty     = "nothing understood"
)

// When lines that nothing takes are an alarm. Definitions leave out most lines
// of some commands, so that only what goes far beyond everything known counts.
// What is known of a command is what the cases of its definition show; where
// there are none, what earlier runs have shown.
const (
	runsToLearn   = 20  // before there is anything usual
	runsToLearnBy = 50  // after which nothing is learned any more, and nothing written
	fewSegments   = 6   // below which a share says nothing
	farBelowUsual = 0.5 // of the smallest share that was understood
)

// noticeDrift compares how the output of a query was read with what is usual of
// it, and records what is not. That it cannot be recorded does not concern the query.
func (c *Controller) noticeDrift(ctx context.Context, job string, seen answer, failure error) {
	if c.store == nil || len(seen.attempts) == 0 {
		return
	}
	if err := c.recordDrift(ctx, job, seen, failure); err != nil {
		c.log.Warn("unfamiliar output could not be recorded", "error", err)
	}
}

func (c *Controller) recordDrift(ctx context.Context, job string, seen answer, failure error) error {
	last := seen.attempts[len(seen.attempts)-1]
	definition := c.fingerprint()
	var problems []error
	for i, each := range seen.attempts {
		told := i == len(seen.attempts)-1 && seen.Detail != ""
		problems = append(problems, c.compareReading(ctx, job, definition, each, told))
	}
	switch {
	case failure == nil && seen.Detail == "" && !seen.forgotten && !seen.undecided && seen.Native != "":
		usual, _ := c.usualOf(last.command)
		if !slices.Contains(usual.Words, seen.Native) {
			problems = append(problems, c.drifted(ctx, job, definition, driftWord, last, fmt.Sprintf("the word %q is no state that the definition knows", seenText(seen.Native))))
		}
	case errors.Is(failure, errNothingUnderstood):
		if printed, found := lastThatPrinted(seen.attempts); found {
			problems = append(problems, c.drifted(ctx, job, definition, driftEmpty, printed, fmt.Sprintf("nothing was understood of output that begins with %q", firstLine(printed.result.Stdout))))
		}
	}
	return errors.Join(problems...)
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

// compareReading compares the share of lines that nothing took with what is
// usual.
func (c *Controller) compareReading(ctx context.Context, job, definition string, read attempt, told bool) error {
	result := read.result
	if read.failed || result.Segments < fewSegments {
		return nil
	}
	share := float64(result.Unmatched) / float64(result.Segments)
	usual, known := c.usualOf(read.command)
	if !known || usual.Outputs == 0 {
		return c.compareWithRuns(ctx, job, definition, read, share, told)
	}
	if !isFarFrom(usual.Unmatched, share) {
		return nil
	}
	return c.drifted(ctx, job, definition, driftUnmatched, read,
		fmt.Sprintf("%d of %d lines were not understood; in the cases of the definition never more than %.0f%% were not", result.Unmatched, result.Segments, 100*usual.Unmatched))
}

// compareWithRuns compares with earlier runs, and learns from this one. Only
// output that told a state, and is no drift, is learned from.
func (c *Controller) compareWithRuns(ctx context.Context, job, definition string, read attempt, share float64, told bool) error {
	result, name := read.result, selectorOf(read.command)
	usual, err := c.store.Usual(ctx, definition, name)
	if err != nil {
		return err
	}
	if usual.Runs >= runsToLearn && isFarFrom(usual.Highest, share) {
		return c.drifted(ctx, job, definition, driftUnmatched, read,
			fmt.Sprintf("%d of %d lines were not understood, where never more than %.0f%% were", result.Unmatched, result.Segments, 100*usual.Highest))
	}
	if !told || usual.Runs >= runsToLearnBy {
		return nil
	}
	return c.store.AddReading(ctx, jobstore.Reading{
		Definition: definition, Command: name, Segments: result.Segments, Unmatched: result.Unmatched, Read: c.now(),
	})
}

// drifted records a drift, and tells of it where it is news.
func (c *Controller) drifted(ctx context.Context, job, definition, kind string, read attempt, what string) error {
	drift := jobstore.Drift{
		Target: c.target, Command: selectorOf(read.command), Kind: kind, Definition: definition, Seen: what, Job: job, At: c.now(),
	}
	session, err := c.store.Session(ctx, c.sessionKey())
	switch {
	case err == nil:
		drift.Session = session.Started
	case !errors.Is(err, jobstore.ErrNotFound):
		return err
	}
	isNews, err := c.store.RecordDrift(ctx, drift)
	if err == nil && isNews && c.onDrift != nil {
		c.onDrift(drift)
	}
	return err
}

// selectorOf names a command as rmctl replay and rmctl test take it.
func selectorOf(command *config.Command) string {
	return string(command.Element) + ":" + command.Name
}

// HowToRecord returns the command line that records the output that drifted. DIR
// stands for a folder of the user's choice.
func HowToRecord(drift jobstore.Drift) string {
	return "rmctl record DIR -- status --fresh " + shellescape.Quote(drift.Target+"/"+drift.Job)
}

// driftsListedFor is how long a drift is worth a finding.
const driftsListedFor = 30 * 24 * time.Hour

// examineDrifts lists output that was unlike what the definition knows.
func (c *Controller) examineDrifts(ctx context.Context) []Finding {
	const name = "output"
	if c.store == nil {
		return nil
	}
	drifts, err := c.store.Drifts(ctx, c.target, c.fingerprint())
	if err != nil {
		return notAnswered(name, err)
	}
	var findings []Finding
	for _, drift := range drifts {
		if c.now().Sub(drift.At) > driftsListedFor {
			continue
		}
		findings = append(findings, Finding{Name: name, Verdict: Warning,
			Seen:   seenText(fmt.Sprintf("%s, %s: %s", drift.Command, drift.At.Local().Format(time.DateTime), drift.Seen)),
			Effect: "the definition may not fit this release of the scheduler: states may be unknown",
			Mend:   "record it and adapt the definition: " + HowToRecord(drift)})
	}
	if _, err := c.usual(); err != nil {
		findings = append(findings, Finding{Name: name, Verdict: Warning, Seen: seenText(err.Error()),
			Effect: "what is usual of the scheduler's outputs is learned from your own runs: a change of the scheduler is noticed later",
			Mend:   "write it anew from the definition's cases: rmctl test --write-usual DIR"})
	}
	if len(findings) == 0 {
		return []Finding{{Name: name, Verdict: Fine, Seen: "no unfamiliar output was seen"}}
	}
	return findings
}
