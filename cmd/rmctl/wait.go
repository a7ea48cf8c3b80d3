package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// jobExit returns an error with the exit code of a job. A job that failed with an unknown
// code gives 1.
func jobExit(j job.Job) error {
	code := exitDone
	if j.Detail != job.Completed && j.Detail != job.OutputReady {
		code = exitFailed
	}
	if j.ExitCode != nil && *j.ExitCode != 0 {
		code = *j.ExitCode
	}
	if j.Signal != nil && *j.Signal != 0 && (j.ExitCode == nil || *j.ExitCode == 0) {
		code = 128 + *j.Signal // as a shell would say it
	}
	if code == exitDone {
		return nil
	}
	return &exitError{code: code & 0xff}
}

func newWait(a *app) *cobra.Command {
	var flags selectionFlags
	var timeout time.Duration
	var until, onEnd string
	c := &cobra.Command{
		Use:   "wait [JOB...]",
		Short: "Wait until jobs have ended, or have reached a state",
		Long: `wait returns when all jobs have ended, or have reached the state of --until, and exits
with the code of the first job that failed. It prints changes of state on standard error.

` + selectionHelp,
		Example: `  rmctl wait 4711
  rmctl wait --timeout 2h slurm/4711 slurm/4712
  rmctl wait --until RUNNING last
  rmctl wait --all -t slurm
  rmctl wait --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"' 4711`,
		ValidArgsFunction: a.completeJobs(openJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			wanted, err := waitedFor(until)
			if err != nil {
				return err
			}
			choice, err := flags.choice(c, arguments)
			if err != nil {
				return err
			}
			choice.Open, choice.Suits = flags.state == "", hasID
			chosen, err := a.choose(c, choice)
			if err != nil || len(chosen) == 0 {
				return err
			}
			jobs, err := a.awaitedJobs(c.Context(), chosen)
			if err != nil {
				return err
			}
			if err := a.await(c.Context(), jobs, wanted, timeout, onEnd); err != nil {
				return err
			}
			if err := a.printAwaited(c.Context(), jobs); err != nil {
				return err
			}
			return a.firstExit(c.Context(), jobs, wanted)
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after `TIME`, such as 90s or 2h, with exit code 124")
	addOnEnd(c, &onEnd)
	c.Flags().StringVar(&until, "until", "", "wait for `STATE` instead of the end, such as RUNNING")
	completeFlag(c, "until", completeStates)
	flags.add(c, "all jobs on record that have not ended")
	return c
}

// waitedFor returns the state to wait for: a word, a detail or a primary state.
func waitedFor(text string) (job.Detail, error) {
	state := job.Detail(strings.ToUpper(text))
	known := text == "" || slices.ContainsFunc(job.Details(), func(detail job.Detail) bool { return isAt(detail, state) })
	if !known {
		return "", usage("--until %q: states are %s", text, strings.Join(selection.Words(), ", "))
	}
	return state, nil
}

// isAt reports whether a job in a state has reached another one.
func isAt(now, until job.Detail) bool {
	return until != "" && slices.Contains([]string{now.Word(), string(now), string(now.Primary())}, string(until))
}

// await waits until jobs have ended or have reached a state, at most for a time unless that is
// zero, and runs a command for each job that has ended.
func (a *app) await(ctx context.Context, jobs []awaited, until job.Detail, timeout time.Duration, onEnd string) error {
	if err := a.showAwaited(ctx, jobs, until); err != nil {
		return err
	}
	ends := hooks.AtEnd(ctx, a.client().Store, a.stderr, onEnd, len(jobs))
	defer ends.Finish()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return a.waitForAll(ctx, jobs, until, ends)
}

// shownAtFirst is the most jobs whose states are printed when a wait begins.
const shownAtFirst = 10

// showAwaited prints the states of jobs on a terminal when a wait begins: the next change may
// be hours away.
func (a *app) showAwaited(ctx context.Context, jobs []awaited, until job.Detail) error {
	if !isTerminal(a.stderr) || len(jobs) > shownAtFirst {
		return nil
	}
	return a.eachAwaited(ctx, jobs, func(job job.Job) error {
		if !job.Detail.Ended() && job.ID != "" && !isAt(job.DetailOrUndetermined(), until) {
			a.showChange(job)
		}
		return nil
	})
}

// waitForAll waits for jobs of any targets.
func (a *app) waitForAll(ctx context.Context, jobs []awaited, until job.Detail, ends *hooks.Ends) error {
	report := &waitReport{app: a, until: until, ends: ends}
	if terminal.CountsInLine(a.stderr) && len(jobs) > shownAtFirst {
		report.counts(len(jobs))
		defer report.progress.Stop()
	}
	if !ends.IsEmpty() || report.progress != nil {
		// Even if the time is up: stillOpen needs the jobs.
		if err := a.eachAwaited(context.WithoutCancel(ctx), jobs, report.observe); err != nil {
			return err
		}
	}
	var group errgroup.Group
	for controller, these := range awaitedBy(jobs) {
		group.Go(func() error { return waitFor(ctx, controller, these, until, report.changed) })
	}
	err := group.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		return a.stillOpen(context.WithoutCancel(ctx), jobs, until)
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("waiting for jobs, which go on: %w", ctx.Err())
	}
	return err
}

// A waitReport shows what becomes of jobs that are waited for: each change of state or, of many
// jobs on a terminal, a line that counts, and the jobs that failed.
type waitReport struct {
	app   *app
	until job.Detail
	ends  *hooks.Ends

	lock     sync.Mutex
	progress *terminal.Progress // nil to show each change
	over     map[string]bool    // by tag or id, the jobs that are waited for no longer
}

func (r *waitReport) counts(all int) {
	r.over = map[string]bool{}
	r.progress = terminal.StartProgress(r.app.stderr, false, "waiting for jobs", all)
}

// observe takes note of a job as it is.
func (r *waitReport) observe(j job.Job) error {
	r.ends.Observe(j)
	if r.progress != nil && (j.Detail.Ended() || isAt(j.DetailOrUndetermined(), r.until)) {
		r.over[cmp.Or(j.Tag, j.Target+"/"+j.ID)] = true
		r.progress.Set(len(r.over))
	}
	return nil
}

// changed takes note of a job that has changed, and shows it.
func (r *waitReport) changed(j job.Job) {
	r.lock.Lock()
	defer r.lock.Unlock()
	_ = r.observe(j) // which returns nil
	switch {
	case r.progress == nil:
		r.app.showChange(j)
	case j.Detail.Ended() && jobExit(j) != nil:
		r.progress.Print(func() { r.app.showChange(j) })
	}
}

// waitFor waits for jobs of one target.
func waitFor(ctx context.Context, controller *control.Controller, jobs []awaited, until job.Detail, changed func(job.Job)) error {
	var tags []string
	var others []job.Job
	for _, job := range jobs {
		if job.tag != "" {
			tags = append(tags, job.tag)
		} else {
			others = append(others, *job.other)
		}
	}
	var group errgroup.Group
	if len(tags) > 0 {
		group.Go(func() error { return controller.WaitRecorded(ctx, tags, until, changed) })
	}
	if len(others) > 0 {
		group.Go(func() error {
			ended, err := controller.WaitAll(ctx, others, until, changed)
			for _, job := range jobs {
				if job.tag == "" {
					*job.other, ended = ended[0], ended[1:]
				}
			}
			return err
		})
	}
	return group.Wait()
}

// stillOpen returns the error of a wait that timed out, which names the open jobs.
func (a *app) stillOpen(ctx context.Context, jobs []awaited, until job.Detail) error {
	var open []error
	err := a.eachAwaited(ctx, jobs, func(job job.Job) error {
		if !job.Detail.Ended() && !isAt(job.DetailOrUndetermined(), until) {
			open = append(open, fmt.Errorf("job %s is still %s", job.ID, job.Detail.Word()))
		}
		return nil
	})
	return &exitError{exitTimeout, errors.Join(append(open, err)...)}
}

// printAwaited prints the jobs with --json.
func (a *app) printAwaited(ctx context.Context, jobs []awaited) error {
	if !a.json {
		return nil
	}
	return a.eachAwaited(ctx, jobs, func(job job.Job) error { return terminal.JSON(a.stdout, job.Document()) })
}

// firstExit returns the exit code of the first job that failed.
func (a *app) firstExit(ctx context.Context, jobs []awaited, until job.Detail) error {
	var exit error
	err := a.eachAwaited(ctx, jobs, func(job job.Job) error {
		if exit == nil && (until == "" || job.Detail.Ended()) {
			exit = jobExit(job)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return exit
}

// addOnEnd adds the flag of commands that wait for the end of jobs.
func addOnEnd(c *cobra.Command, line *string) {
	c.Flags().StringVar(line, "on-end", "", "shell command `CMD` to run when a job has ended, with RMCTL_JOB_… in its environment")
}

// hookEnd runs the command of --on-end for the job of a submission, if it was made and
// has ended.
func (a *app) hookEnd(ctx context.Context, line, tag string) error {
	if line == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a request to end rmctl also ends the job
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	job, err := store.ByTag(ctx, tag)
	if errors.Is(err, jobstore.ErrNotFound) {
		return nil // the submission failed
	}
	if err != nil {
		return err
	}
	ends := hooks.AtEnd(ctx, a.client().Store, a.stderr, line, 1)
	ends.Observe(job)
	ends.Finish()
	return nil
}

// An awaited job is one that is waited for. For a job on record, as nearly all are, it keeps
// only the tag: there may be tens of thousands.
type awaited struct {
	tag        string   // of the submission; empty for a job that is not on record
	other      *job.Job // a job that is not on record
	controller *control.Controller
}

// awaitedJobs finds the jobs to wait for.
func (a *app) awaitedJobs(ctx context.Context, chosen []selection.Chosen) ([]awaited, error) {
	jobs := make([]awaited, 0, len(chosen))
	for _, one := range chosen {
		job, err := a.awaitedJob(ctx, one.Name)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func (a *app) awaitedJob(ctx context.Context, name string) (awaited, error) {
	job, err := a.finder().RecordedBrief(ctx, name)
	if errors.Is(err, jobstore.ErrNotFound) {
		other, err := a.finder().Listed(ctx, name)
		return awaited{other: &other.Job, controller: other.Controller}, err
	}
	if err != nil {
		return awaited{}, err
	}
	controller, err := a.finder().ControllerOf(ctx, job)
	return awaited{tag: job.Tag, controller: controller}, err
}

// awaitedBy groups jobs by controller.
func awaitedBy(jobs []awaited) map[*control.Controller][]awaited {
	groups := map[*control.Controller][]awaited{}
	for _, job := range jobs {
		groups[job.controller] = append(groups[job.controller], job)
	}
	return groups
}

// readAtOnce is how many jobs are read from the store at once, which bounds the memory for it.
const readAtOnce = 256

// eachAwaited calls a function with each job, as it is on record now, in order.
func (a *app) eachAwaited(ctx context.Context, jobs []awaited, do func(job.Job) error) error {
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(jobs, readAtOnce) {
		var tags []string
		for _, job := range some {
			if job.tag != "" {
				tags = append(tags, job.tag)
			}
		}
		recorded, err := store.ByTags(ctx, tags)
		if err != nil {
			return err
		}
		for _, job := range some {
			now, isRecorded := recorded[job.tag]
			switch {
			case job.tag == "":
				now = *job.other
			case !isRecorded:
				return fmt.Errorf("looking up submission %s: %w", job.tag, jobstore.ErrNotFound)
			}
			if err := do(now); err != nil {
				return err
			}
		}
	}
	return nil
}
