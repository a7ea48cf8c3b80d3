package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newAttach(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "attach JOB",
		Short: "Attach this terminal to an interactive job",
		Long: `Attach this terminal to an interactive job that was started with run --detach or detached.

rmctl prints the last output, then new output, and exits with the job's exit code. Several
terminals can be attached to one job. Ctrl-C goes to the job; press it twice within a
second to detach.`,
		Example:           "  rmctl attach 4711",
		Args:              exactly(1, "JOB"),
		ValidArgsFunction: a.completeOneJob(attachableJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			job, err := a.finder().Job(c.Context(), arguments[0])
			if err != nil {
				return err
			}
			sessions, err := a.sessionOf(c.Context(), job)
			if err != nil {
				return err
			}
			withTerminal, err := hasTerminal(c.Context(), sessions, job.Tag)
			if err != nil {
				return err
			}
			return a.follow(c.Context(), sessions, hold{
				tag: job.Tag, withTerminal: withTerminal && isTerminal(a.stdin), endsInput: isTerminal(a.stdin),
				attach: func(ctx context.Context, attachment daemon.Attachment, _ *terminal.Console) (*daemon.Attached, error) {
					return sessions.Attach(ctx, job.Tag, attachment)
				},
			})
		},
	}
}

// hasTerminal reports whether the job of a session has a terminal.
func hasTerminal(ctx context.Context, sessions *daemon.Client, tag string) (bool, error) {
	living, err := sessions.List(ctx)
	return slices.ContainsFunc(living, func(one daemon.SessionInfo) bool {
		return one.Terminal && slices.Contains(one.Names, tag)
	}), err
}

// A notAttachableError means that a job has no session.
type notAttachableError struct {
	ID, Why string
}

func (e *notAttachableError) Error() string {
	return fmt.Sprintf("cannot attach to job %s: %s", e.ID, e.Why)
}

// sessionOf returns a client of the background process that has the session of a job.
func (a *app) sessionOf(ctx context.Context, job selection.Handle) (*daemon.Client, error) {
	why := ""
	switch held := job.Controller.Holder(job.Job); {
	case held == control.HeldByHost:
		return a.sessions(ctx)
	case !job.Interactive:
		why = "it is a batch job"
	case job.Detail.Ended():
		why = fmt.Sprintf("it has ended (%s)", job.Detail.Word())
	case held == control.HeldByProgram:
		why = "it runs in the foreground of another rmctl"
	case held == control.HeldElsewhere:
		why = "it is attached to rmctl on another machine\nrun rmctl attach there"
	default:
		why = cmp.Or(job.StaleReason, "the process that it was attached to has ended")
	}
	return nil, &notAttachableError{ID: job.ID, Why: why}
}

// sessions returns a client for the sessions of the background process, which it starts if
// necessary.
func (a *app) sessions(ctx context.Context) (*daemon.Client, error) {
	isEnabled, err := a.usesBackground()
	if err != nil {
		return nil, err
	}
	if !isEnabled {
		return nil, errors.New("cannot detach: the background process is disabled")
	}
	return a.backgroundClient(ctx)
}

// runHosted runs a job in the background process, and attaches the terminal to it unless
// detach is set.
func (a *app) runHosted(ctx context.Context, sessions *daemon.Client, controller *control.Controller, s job.Submission, detach bool) error {
	s.Tag, s.Hosted = cmp.Or(s.Tag, uuid.NewString()), true
	s.Terminal = controller.AllocatesTerminal(s.Debug) && (detach || isTerminal(a.stdin))
	if err := controller.CheckInteractive(ctx, s); err != nil {
		return err // here the type of the error is known
	}
	request, err := a.hostedRequest(hostedJob{Target: controller.Target, Submission: s})
	if err != nil {
		return err
	}
	launch := daemon.Launch{Name: s.Tag, Request: request}
	if detach {
		return a.runDetached(ctx, sessions, launch, s.Terminal, controller.NamesJobs(s.Debug))
	}
	return a.follow(ctx, sessions, hold{
		tag: s.Tag, withTerminal: s.Terminal, endsInput: true,
		attach: func(ctx context.Context, attachment daemon.Attachment, console *terminal.Console) (*daemon.Attached, error) {
			launch.Terminal = console.Terminal
			return sessions.Start(ctx, launch, &attachment)
		},
	})
}

// A hold describes how the terminal is attached to the session of a job.
type hold struct {
	tag          string
	withTerminal bool // the job has a pseudo-terminal
	endsInput    bool // the end of standard input ends the job's input
	attach       func(context.Context, daemon.Attachment, *terminal.Console) (*daemon.Attached, error)
}

// follow attaches the terminal to the session of a job until either ends. The error has the
// exit code of the job. A request to end rmctl detaches.
func (a *app) follow(ctx context.Context, sessions *daemon.Client, h hold) error {
	ctx, detach := context.WithCancel(ctx)
	defer detach()
	lasting := context.WithoutCancel(ctx)
	var canceling terminal.Cancellation
	console, err := terminal.Open(a.stdin, a.stderr, h.withTerminal, terminal.Choices{Detach: detach, Cancel: func() {
		canceling.Start(func() error { return sessions.End(lasting, h.tag) })
	}})
	if err != nil {
		return err
	}
	attachment := daemon.Attachment{
		Stdin: console.Keys(), Stdout: a.stdout, Stderr: a.stderr,
		EndInput: h.endsInput && !console.IsRaw(), // a raw terminal that ends has gone away
		Resized:  console.Sizes, Signals: console.Signals, Prompter: tui.Terminal(),
	}
	if console.Terminal != nil {
		attachment.Size = console.Terminal.Size
	}
	code, waitErr := -1, error(nil)
	attached, err := h.attach(lasting, attachment, console)
	if err == nil {
		stop := context.AfterFunc(ctx, attached.Detach)
		code, waitErr = attached.Wait()
		stop()
	}
	if err := errors.Join(err, canceling.Wait(), console.Close()); err != nil {
		return err
	}
	return a.sessionEnded(lasting, h.tag, code, waitErr)
}

// sessionEnded returns the error with which rmctl exits after a session.
func (a *app) sessionEnded(ctx context.Context, tag string, code int, err error) error {
	store, openErr := a.client().Store(ctx)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	job, findErr := store.ByTag(ctx, tag)
	switch {
	case errors.Is(err, daemon.ErrDetached), errors.Is(err, daemon.ErrTooSlow):
		a.say("detached; the job keeps running\nrun rmctl attach %s to attach again", oneLine(cmp.Or(job.ID, tag)))
		return nil
	case isA[*daemon.GoneError](err):
		return fmt.Errorf("job %s: unknown how it ended: %w", job.ID, err)
	case err != nil && code > 0:
		return &exitError{code: code & 0xff, err: err}
	case err != nil:
		return err
	case findErr != nil:
		return findErr
	}
	return attachedExit(job)
}

// namePoll is how often the record is read for the id of a job.
const namePoll = 20 * time.Millisecond

// runDetached starts a job in the background process and prints its id. If the job's output
// names it, its id is its tag until then.
func (a *app) runDetached(ctx context.Context, sessions *daemon.Client, launch daemon.Launch, withTerminal, named bool) error {
	if withTerminal {
		launch.Terminal = terminal.Unseen()
	}
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	attached, err := sessions.Start(ctx, launch, &daemon.Attachment{})
	if err != nil {
		return err
	}
	var code int
	ended := make(chan error, 1)
	go func() {
		var err error
		code, err = attached.Wait()
		ended <- err
	}()
	defer attached.Detach()
	poll := time.NewTicker(namePoll)
	defer poll.Stop()
	for {
		job, err := store.ByTag(ctx, launch.Name)
		if err != nil && !errors.Is(err, jobstore.ErrNotFound) {
			return err
		}
		if job.ID != "" && !(named && job.ID == launch.Name) {
			return a.printSubmitted(job)
		}
		select {
		case <-poll.C:
		case err := <-ended:
			if job, lookUpErr := store.ByTag(ctx, launch.Name); err == nil && lookUpErr == nil && job.ID != "" {
				return a.printSubmitted(job)
			}
			return a.sessionEnded(ctx, launch.Name, code, err)
		}
	}
}
