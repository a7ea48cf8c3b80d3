package control

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"
)

// A Verdict tells what a finding means for jobs.
type Verdict string

// The verdicts.
const (
	Fine    Verdict = "ok"
	Warning Verdict = "warning" // jobs can run, and something is amiss
	Problem Verdict = "problem" // jobs cannot run
)

// A Finding is what an examination saw of one thing. All texts are one line
// each, though what programs printed may hold characters that no terminal should see.
type Finding struct {
	Name    string // of what was looked at
	Verdict Verdict
	Seen    string
	Effect  string // what users notice of it; empty where it is fine
	Mend    string // what to do about it; empty where it is fine
}

// Time limits of an examination, in which nothing takes long unless it hangs.
const (
	examinationTimeout = 2 * time.Minute
	questionTimeout    = 20 * time.Second
)

// questionsAtOnce bounds what an examination asks of the place at a time.
const questionsAtOnce = 4

// Examine looks at everything beside the definition itself that jobs need: the
// place, its tools, what is staged there. It changes nothing: no job is
// submitted, no session is started, no file is written. It takes two minutes at
// most. Where the place cannot be reached, the error matches
// [remote.ErrUnreachable], and the findings say so.
func (c *Controller) Examine(ctx context.Context) ([]Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, examinationTimeout)
	defer cancel()
	findings, err := c.examineConnection(ctx)
	if err != nil {
		return findings, err
	}
	examinations := []func(context.Context) []Finding{
		c.examinePath, c.examineLocale, c.examineClock, c.examineStaging, c.examinePrograms,
	}
	for _, probe := range c.definition.Probes {
		examinations = append(examinations, func(ctx context.Context) []Finding { return []Finding{c.examineProbe(ctx, probe)} })
	}
	examinations = append(examinations, c.examineNames, c.examineOutput)
	results := make([][]Finding, len(examinations))
	var group errgroup.Group
	group.SetLimit(questionsAtOnce)
	for i, examine := range examinations {
		group.Go(func() error {
			results[i] = examine(ctx)
			return nil
		})
	}
	_ = group.Wait() // its functions return nil
	return append(findings, slices.Concat(results...)...), nil
}

// CanRun reports whether jobs can run: whether nothing found is a problem.
func CanRun(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict == Problem })
}

// maxSeen bounds what a finding tells of what was printed, in characters.
const maxSeen = 200

// seenText makes one line of what was printed, of bounded length.
func seenText(text string) string {
	line := []rune(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
	if len(line) > maxSeen {
		line = append(line[:maxSeen], '…')
	}
	return string(line)
}

// firstLine returns the first line that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return seenText(line)
		}
	}
	return ""
}
