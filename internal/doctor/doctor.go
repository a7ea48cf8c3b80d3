// Package doctor finds out why jobs cannot run at a target: it examines the definition, the
// state directory, the connection, and the host that commands run on.
package doctor

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/remote"
)

// A Verdict is what a finding means for jobs.
type Verdict string

// The verdicts.
const (
	Fine    Verdict = "ok"
	Warning Verdict = "warning" // jobs can run, but something is wrong
	Problem Verdict = "problem" // jobs cannot run
)

// A Finding is the result of one examination. All texts are one line each, though
// what programs printed may hold characters that no terminal should see. The names of JSON
// are a contract.
type Finding struct {
	Name    string  `json:"name"` // of what was examined
	Verdict Verdict `json:"verdict"`
	Seen    string  `json:"found"`
	Impact  string  `json:"impact,omitempty"` // what users notice of it; empty if it is fine
	Fix     string  `json:"fix,omitempty"`    // how to fix it; empty if it is fine
}

// MarshalJSON also writes the old name of found, for one release.
func (f Finding) MarshalJSON() ([]byte, error) {
	type document Finding
	return json.Marshal(struct {
		document
		Old string `json:"seen"`
	}{document(f), f.Seen})
}

// Time limits of an examination. Nothing takes long unless it hangs.
const (
	examinationTimeout = 2 * time.Minute
	questionTimeout    = 20 * time.Second
)

// questionsAtOnce bounds how many commands an examination runs at a time.
const questionsAtOnce = 4

// Examine examines everything that jobs need besides the definition: the host, its programs,
// the staging folders. It submits no job, starts no session and writes no file. It takes at
// most two minutes. If the host cannot be reached, the error matches
// [remote.ErrUnreachable], and the findings say so.
func Examine(ctx context.Context, o control.Options) ([]Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, examinationTimeout)
	defer cancel()
	e := newExaminer(o)
	findings, err := e.examineConnection(ctx)
	if err != nil {
		return findings, err
	}
	examinations := []func(context.Context) []Finding{
		e.examinePath, e.examineLocale, e.examineClock, e.examineStaging, e.examinePrograms,
	}
	for _, probe := range e.definition.Probes {
		examinations = append(examinations, func(ctx context.Context) []Finding { return []Finding{e.examineProbe(ctx, probe)} })
	}
	examinations = append(examinations, e.examineNames, e.examineOutput)
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

// An examiner examines one target.
type examiner struct {
	controller *control.Controller
	resolver   *submission.Resolver
	definition *config.Definition
	connection remote.Connection
	place      remote.Info
	now        func() time.Time
}

func newExaminer(o control.Options) *examiner {
	e := &examiner{
		controller: control.New(o), definition: o.Definition, connection: o.Connection, place: o.Connection.Info(), now: o.Now,
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.resolver = &submission.Resolver{Definition: o.Definition, Target: e.controller.Target, Place: e.place, Defaults: o.Defaults, Log: slog.New(slog.DiscardHandler)}
	return e
}

// CanRun reports whether jobs can run: no finding is a problem.
func CanRun(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict == Problem })
}
