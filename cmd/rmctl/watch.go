package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/jobwatch"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/tui/fill"
	"github.com/rmctl/rmctl/internal/tui/watch"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func newWatch(a *app) *cobra.Command {
	w := &jobwatch.Watch{}
	var plain bool
	c := &cobra.Command{
		Use:               "watch [JOB...]",
		ValidArgsFunction: a.completeJobs(openJob),
		Short:             "Watch queues, nodes and jobs, or print events",
		Long: `Watch targets, queues, nodes and jobs on the full screen; press ? for the keys.

With JOB, --json, --plain, --after or a hook, or without a terminal, rmctl prints the state
of each job, and then each state change on a line. It ends when all named jobs have ended,
otherwise when you interrupt it.

Each event has a cursor. --after continues behind that event, even after a restart,
without gaps and in order.`,
		Example: `  rmctl watch
  rmctl watch --json
  rmctl watch --after 1042 --json 4711
  rmctl watch --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"'`,
		RunE: func(c *cobra.Command, arguments []string) error {
			isScreen, err := a.wantsScreen(c, plain, arguments)
			if err != nil {
				return err
			}
			if isScreen {
				return a.showScreen(c.Context())
			}
			w.Resumes = c.Flags().Changed("after")
			w.Finder, w.JSON, w.Stdout, w.Messages = a.finder(), a.json, a.stdout, a.stderr
			return w.Run(c.Context(), arguments)
		},
	}
	c.Flags().Int64Var(&w.Cursor, "after", 0, "`CURSOR` of the last event to skip; 0 prints all (default: from now on)")
	c.Flags().BoolVar(&plain, "plain", false, "print events line by line, even on a terminal")
	c.Flags().StringVar(&w.Hooks.OnChange, "on-change", "", "shell command `CMD` to run at each state change, with RMCTL_JOB_… variables")
	addOnEnd(c, &w.Hooks.OnEnd)
	return c
}

// wantsScreen reports whether rmctl watch shows everything on the full screen: at a terminal,
// with no flag that prints events.
func (a *app) wantsScreen(c *cobra.Command, isPlain bool, jobs []string) (bool, error) {
	if isPlain || a.json || len(jobs) > 0 || !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return false, nil
	}
	for _, flag := range []string{"after", "on-change", "on-end"} {
		if c.Flags().Changed(flag) {
			return false, nil
		}
	}
	if term := os.Getenv("TERM"); term == "dumb" || term == "" {
		return false, usage("the terminal does not support a full screen: TERM is %q\nuse rmctl watch --plain", term)
	}
	return true, nil
}

// showScreen shows resource managers, queues, nodes and jobs until the user leaves.
func (a *app) showScreen(ctx context.Context) (err error) {
	prompter, notices := tui.NewPrompter(), &tui.Notices{}
	a.questions = tui.NewQuestions(prompter, false)
	quiet := *a
	quiet.stderr, quiet.isBrief = notices, true // messages would break the screen
	p, err := quiet.platform(ctx, a.questions, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	store, err := quiet.client().Store(ctx)
	if err != nil {
		return err
	}
	for _, manager := range p.Managers() {
		if err := p.Start(manager.Target.Name); err != nil {
			return err
		}
	}
	if err := a.startWhereJobsAre(ctx, p, store); err != nil {
		return err
	}
	err = watch.Show(ctx, watch.Options{
		Model: p.Model(), Controls: &screenControls{Views: p, app: a, store: store}, User: userName(),
		Prompter: prompter, Notices: notices, Stdin: a.stdin, Terminal: a.stdout,
	})
	return jobwatch.UnlessInterrupted(ctx, err)
}

// startWhereJobsAre starts the shipped targets with jobs that have not ended.
func (a *app) startWhereJobsAre(ctx context.Context, p *views.Views, store *jobstore.Store) error {
	if a.target != "" {
		return nil
	}
	targets, err := a.client().Targets()
	if err != nil {
		return err
	}
	for _, name := range targets.Names() {
		open, err := store.List(ctx, jobstore.Filter{Target: name, Limit: 1})
		if err != nil {
			return err
		}
		if len(open) == 0 {
			continue
		}
		if err := p.Start(name); err != nil {
			return err
		}
	}
	return nil
}

// userName returns the name of this user on this machine; empty if it is unknown.
func userName() string {
	if current, err := user.Current(); err == nil {
		return current.Username
	}
	return os.Getenv("USER")
}

// screenControls are the actions of the screen.
type screenControls struct {
	*views.Views
	app   *app
	store *jobstore.Store
}

// Retry implements [watch.Controls].
func (s *screenControls) Retry(manager string) time.Time {
	known, err := s.Manager(manager)
	if err != nil {
		return time.Time{} // it is gone
	}
	return known.Retry
}

// History implements [watch.Controls].
func (s *screenControls) History(ctx context.Context, manager, id string, each func(job.Event) error) error {
	jobs, err := s.store.Find(ctx, id, manager)
	if err != nil {
		return err
	}
	return s.store.History(ctx, jobs[0].Tag, each)
}

// followedOutput is how much of an existing output is shown, in bytes.
const followedOutput = 1 << 20

// Follow implements [watch.Controls].
func (s *screenControls) Follow(ctx context.Context, manager, id string, stderr bool, skipped func(int64), w io.Writer) error {
	controller, err := s.Controller(manager)
	if err != nil {
		return err
	}
	job, err := s.Job(ctx, manager, id)
	if err != nil {
		return err
	}
	return controller.FollowEnd(ctx, job, control.Stream{Stderr: stderr}, followedOutput, skipped, w)
}

// Ensembles implements [watch.Controls].
func (s *screenControls) Ensembles(ctx context.Context) ([]coalloc.Status, error) {
	service, err := s.app.ensembles()
	if err != nil {
		return nil, err
	}
	return service.List(ctx, false)
}

// LaunchConfigurations implements [watch.Controls].
func (s *screenControls) LaunchConfigurations() ([]string, error) {
	return s.app.launchConfigurationNames()
}

// Submit implements [watch.Controls] by the form of the target.
func (s *screenControls) Submit(ctx context.Context, manager, configuration string, stdin io.Reader, terminal io.Writer) (string, error) {
	controller, err := s.Controller(manager)
	if err != nil {
		return "", err
	}
	at := *s.app
	at.stdin, at.stdout, at.stderr, at.target = stdin, terminal, terminal, manager
	r, err := at.request(submissionFlags{configName: configuration}, nil)
	if err != nil {
		return "", err
	}
	var f *fill.Form
	err = at.questions.AskingAt(tui.Terminal(), true, func() (err error) { // the form has the terminal
		f, err = at.fillFor(ctx, controller, manager, manager, r)
		return err
	})
	if err != nil {
		return "", r.located(err)
	}
	if err := f.Show(ctx, stdin, terminal); err != nil {
		return "", err
	}
	return s.conclude(ctx, &at, f)
}

// conclude does what the user chose at the end of the form.
func (s *screenControls) conclude(ctx context.Context, at *app, f *fill.Form) (string, error) {
	switch f.Conclusion {
	case fill.Save:
		return fmt.Sprintf("saved as %s; nothing was submitted", f.Name), nil
	case fill.Print:
		return at.filledLine(f), nil
	case fill.Submit:
		submission, err := f.Submission()
		if err != nil {
			return "", err
		}
		if f.IsInteractive {
			var said string
			err := at.questions.AskingAt(nil, false, func() (err error) { // the job has the terminal
				said, err = at.runAside(ctx, f, func() error { return at.runInteractive(ctx, f.Controller, submission, false) })
				return err
			})
			return said, err
		}
		if _, err := fmt.Fprintf(at.stdout, "Submitting to %s ...\n", oneLine(f.Target)); err != nil {
			return "", err
		}
		var job job.Job
		err = at.questions.AskingAt(tui.Terminal(), true, func() (err error) {
			job, err = s.Views.Submit(ctx, f.Target, submission)
			return err
		})
		if err != nil {
			return "", at.withFilledLine(f, err)
		}
		return fmt.Sprintf("submitted job %s to %s", job.ID, f.Target), nil
	}
	return "", nil
}

// runAside runs an interactive job on the terminal, outside the screen, and lets the user read
// its output.
func (a *app) runAside(ctx context.Context, f *fill.Form, run func() error) (string, error) {
	said := "the job has ended"
	err := run()
	if isSilent(err) {
		said, err = fmt.Sprintf("the job has ended with code %d", exitCode(err)), nil
	}
	if err != nil {
		err = a.withFilledLine(f, err)
	}
	if ctx.Err() != nil {
		return said, err
	}
	if _, writeErr := fmt.Fprint(a.stdout, "\nEnter goes back: "); writeErr != nil {
		return said, errors.Join(err, writeErr)
	}
	return strings.TrimSpace(said), errors.Join(err, tui.WaitForEnter(ctx, a.stdin))
}
