// Package hooks runs the user's commands for events of jobs.
package hooks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// limit is how long the command of a hook may run.
const limit = time.Minute

// Hooks are shell commands for events of jobs; they may be empty.
type Hooks struct {
	OnChange, OnEnd string
}

// Run runs the commands for an event, one after the other. It reports commands that fail.
func (h *Hooks) Run(ctx context.Context, messages io.Writer, event job.Event) error {
	changed := event.Kind == job.EventState || event.Kind == job.EventReturned || event.Kind == job.EventAccepted
	ended := changed && event.Detail.Ended() && !event.Before.Ended()
	for _, hook := range []struct {
		line   string
		wanted bool
	}{{h.OnChange, changed}, {h.OnEnd, ended}} {
		if hook.line == "" || !hook.wanted {
			continue
		}
		if err := run(ctx, messages, hook.line, event); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			reportFailure(messages, event.ID, err)
		}
	}
	return nil
}

func reportFailure(messages io.Writer, id string, err error) {
	fmt.Fprintf(messages, "rmctl: the hook for job %s failed: %s\n", tui.OneLine(id), tui.Printable(err.Error()))
}

// run runs the user's command with the shell. Texts of schedulers and jobs are only in
// variables, which the shell does not interpret.
func run(ctx context.Context, messages io.Writer, line string, event job.Event) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	command.Env = append(os.Environ(),
		"RMCTL_JOB_ID="+oneLine(event.ID), "RMCTL_JOB_TARGET="+event.Target, "RMCTL_JOB_TAG="+event.Tag,
		"RMCTL_JOB_ENSEMBLE="+event.Ensemble, "RMCTL_JOB_PART="+oneLine(event.Part),
		"RMCTL_JOB_STATE="+string(event.Detail), "RMCTL_JOB_PRIMARY_STATE="+string(event.Detail.Primary()), "RMCTL_JOB_BEFORE="+string(cmp.Or(event.Before, job.Undetermined)),
		"RMCTL_JOB_NATIVE="+oneLine(event.Native), "RMCTL_JOB_REASON="+oneLine(event.Reason),
		"RMCTL_JOB_EXIT_CODE="+numberText(event.ExitCode), "RMCTL_JOB_SIGNAL="+numberText(event.Signal),
		"RMCTL_JOB_SEEN="+job.Timestamp(event.Observed), "RMCTL_JOB_CURSOR="+strconv.FormatInt(event.Sequence, 10))
	command.Stdout, command.Stderr = messages, messages
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = limit // a process that the command left may keep its output open
	return command.Run()
}

// longestText bounds a text of a scheduler in a variable: systems do not start programs whose
// variables are too large.
const longestText = 4096

// oneLine returns a text of a scheduler on one line, safe for a mail or terminal, and without
// zero bytes, which variables cannot contain.
func oneLine(text string) string {
	return terminal.AtMost(tui.OneLine(text), longestText)
}

func numberText(number *int) string {
	if number == nil {
		return ""
	}
	return strconv.Itoa(*number)
}
