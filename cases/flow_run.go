package cases

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/tokenizer"
)

// runFlow tries a flow that was read: a controller does what its steps say, and
// gets the recorded answers.
func (r *Runner) runFlow(ctx context.Context, f *Flow) Result {
	began := time.Now()
	result := Result{Folder: f.Folder, Definition: f.Definition, Flow: f}
	var err error
	result.Differences, err = r.play(ctx, f, r.Update)
	r.conclude(&result, err, func() error { return writeFlowFile(f) })
	if result.Verdict == Updated {
		// no expectation can fix what ran otherwise than recorded
		if left, err := r.play(ctx, f, false); err != nil || len(left) > 0 {
			result.Differences = left
			result.Verdict, result.Err = Differing, err
		}
	}
	result.Duration = time.Since(began)
	return result
}

// play does the steps of a flow and returns in what they came out otherwise than
// expected; with update they then expect what came out.
func (r *Runner) play(ctx context.Context, f *Flow, update bool) (found []Difference, err error) {
	file := filepath.Join(f.Folder, flowFile)
	definition, err := r.Load(f.Definition, f.Folder)
	if err != nil {
		return nil, fmt.Errorf("%s: definition %q: %w", file, f.Definition, err)
	}
	folder, err := os.MkdirTemp("", "rmctl-flow-*")
	if err != nil {
		return nil, fmt.Errorf("%s: creating a record: %w", file, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	connection, err := newPlayback(f, filepath.Join(folder, "files"))
	if err != nil {
		return nil, fmt.Errorf("%s: creating a folder for its files: %w", file, err)
	}
	defer func() { err = errors.Join(err, connection.files.Close()) }()
	store, err := jobstore.Open(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	// A flow asks for its own jobs, one by one; a listing depends on what else there was.
	asking := *definition
	asking.Commands = slices.DeleteFunc(slices.Clone(definition.Commands), func(c *config.Command) bool { return c.Element == config.ListJobs || c.Element == config.ListEnded })

	p := &player{begins: time.Now().Add(time.Hour), connection: connection, jobs: map[string]job.Job{}}
	options := control.Options{
		Definition: &asking, Connection: p.connection, Store: store, Types: r.Types,
		Now: p.now, Pause: p.pause,
	}
	if r.Trace != nil {
		options.Trace = func(parser *config.Parser, event tokenizer.TraceEvent) {
			r.Trace(Reading{Folder: p.connection.answering(), Definition: definition, Parser: parser}, event)
		}
	}
	p.controller = control.New(options)
	for i := range f.Steps {
		different, err := p.try(ctx, i+1, &f.Steps[i], update)
		if err != nil {
			return nil, err
		}
		found = append(found, different...)
	}
	for _, left := range p.connection.unused() {
		found = append(found, Difference{Where: filepath.Base(left.Folder) + ": a recorded command that was not run", Expected: left.Arguments})
	}
	return found, nil
}

// A player does the steps of one flow.
type player struct {
	controller *control.Controller
	connection *playback
	begins     time.Time     // by the clock of the flow, which is ahead of the real one, by which the store goes
	ahead      time.Duration // what was waited for
	looked     atomic.Int64  // how often the clock was looked at
	pauses     int
	jobs       map[string]job.Job
	last       string // id of the job that was submitted last
}

// maxPauses ends a wait that recordings can never end.
const maxPauses = 10_000

// now is the time of the flow, in which its steps take no time, however slow this
// machine is; but its clock never shows the same time twice.
func (p *player) now() time.Time {
	return p.begins.Add(p.ahead + time.Duration(p.looked.Add(1))*time.Millisecond)
}

// pause lets time pass without waiting for it.
func (p *player) pause(ctx context.Context, length time.Duration) error {
	p.ahead += length
	if p.pauses++; p.pauses > maxPauses {
		return errors.New("the wait does not end")
	}
	return ctx.Err()
}

// try does one step and returns in what it came out otherwise than expected; with update
// it then expects what came out.
func (p *player) try(ctx context.Context, number int, step *Step, update bool) ([]Difference, error) {
	where := fmt.Sprintf("step %d (%s)", number, step.Do)
	got, err := p.do(ctx, *step)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := step.Expect.compare(where, got, err)
	refused, next := p.connection.collectRefused()
	for _, arguments := range refused {
		difference := Difference{Where: where + ": a command that was not recorded", Actual: arguments}
		if next != nil {
			difference.Expected = next.Arguments
		}
		found = append(found, difference)
	}
	if update && step.Expect.isEmpty() && step.hasResult() {
		found = append(found, Difference{Where: where + ": expect", Actual: "what came out"})
	}
	if update && len(found) > 0 {
		step.Expect = step.Expect.renewed(got, err)
	}
	return found, nil
}

// A stepResult is what a step leaves.
type stepResult struct {
	job    job.Job
	states []job.Detail // that the job went through while its process ran
	shown  string       // to the user, by an interactive job
	rows   map[string]map[string]string
}

// do does one step and returns what it leaves. The error is the one that a user
// would see.
func (p *player) do(ctx context.Context, step Step) (stepResult, error) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	p.connection.giveUp = giveUp
	p.ahead += time.Duration(step.After)
	switch step.Do {
	case doStart:
		return stepResult{}, p.controller.Start(ctx, true)
	case doStop:
		return stepResult{}, p.controller.Stop(ctx)
	case doQueues:
		return p.list(ctx, config.ListQueues)
	case doNodes:
		return p.list(ctx, config.ListNodes)
	case doSubmit, doAction, doRun:
		submission := step.submission()
		switch step.Do {
		case doAction:
			_, err := p.controller.Action(ctx, step.Name, submission)
			return stepResult{}, err
		case doRun:
			return p.run(ctx, submission)
		}
		job, err := p.controller.Submit(ctx, submission)
		return stepResult{job: p.keep(job)}, err
	}
	id := cmp.Or(step.Job, p.last)
	if id == "" {
		return stepResult{}, errors.New("no job yet: submit one, or set job")
	}
	j, known := p.jobs[id]
	if !known {
		j = job.Job{ID: id, ShortID: id}
	}
	var err error
	switch step.Do {
	case doStatus:
		j, err = p.controller.Status(ctx, j, true)
	case doWait:
		j, err = p.controller.Wait(ctx, j, step.Until, nil)
	default:
		return stepResult{}, p.controller.Operate(ctx, control.Operation(step.Do), j)
	}
	return stepResult{job: p.keep(j)}, err
}

// run runs an interactive job to the end of its process, whose recorded output
// comes all at once.
func (p *player) run(ctx context.Context, submission job.Submission) (stepResult, error) {
	var got stepResult
	var shown bytes.Buffer
	job, err := p.controller.RunInteractive(ctx, submission, control.Terminal{Stdout: &shown, Stderr: &shown, Terminal: &remote.Terminal{}, Changed: func(job job.Job) {
		if detail := job.Detail; detail != "" && (len(got.states) == 0 || got.states[len(got.states)-1] != detail) {
			got.states = append(got.states, detail)
		}
	}})
	got.job, got.shown = p.keep(job), shown.String()
	return got, err
}

// list lists queues or nodes, as the commands of these names do.
func (p *player) list(ctx context.Context, kind config.CommandElement) (stepResult, error) {
	rows := map[string]map[string]string{}
	_, err := p.controller.Rows(ctx, kind, "", func(row command.Row) error {
		if rows[row.ID] == nil {
			rows[row.ID] = map[string]string{}
		}
		for key, fact := range row.Facts.All() {
			if fact != "" {
				rows[row.ID][key] = fact
			}
		}
		return nil
	})
	var unsupported *control.UnsupportedError
	if kind == config.ListQueues && errors.As(err, &unsupported) {
		var names []string
		names, err = p.controller.Queues(ctx)
		for _, name := range names {
			rows[name] = map[string]string{}
		}
	}
	if err != nil {
		return stepResult{}, err
	}
	return stepResult{rows: rows}, nil
}

// hasResult reports whether the step leaves something that an expectation can name.
func (s Step) hasResult() bool {
	return slices.Contains([]string{doSubmit, doRun, doStatus, doWait, doQueues, doNodes}, s.Do)
}

// keep remembers a job as it is now.
func (p *player) keep(job job.Job) job.Job {
	if job.ID != "" {
		p.jobs[job.ID] = job
		p.last = job.ID
	}
	return job
}

// submission returns what the step submits or runs.
func (s Step) submission() job.Submission {
	submission := s.Submission
	if submission.Script == "" {
		submission.Executable = cmp.Or(submission.Executable, "true")
	}
	submission.Invisible = s.Do == doAction
	return submission
}
