// Package hooks runs commands of the user's when something happens to jobs.
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

// Hooks are shell commands for events of jobs; those that are empty are not run.
type Hooks struct {
	OnChange, OnEnd string
}

// Run runs the commands for an event, one after the other. A command that fails
// is reported and changes nothing.
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

// run runs the user's own text by the shell. What schedulers and jobs said
// stands in variables only, which no shell interprets.
func run(ctx context.Context, messages io.Writer, line string, event job.Event) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	command.Env = append(os.Environ(),
		"RMCTL_JOB_ID="+oneLine(event.ID), "RMCTL_JOB_TARGET="+event.Target, "RMCTL_JOB_TAG="+event.Tag,
		"RMCTL_JOB_STATE="+string(event.Detail), "RMCTL_JOB_PRIMARY_STATE="+string(event.Detail.Primary()), "RMCTL_JOB_BEFORE="+string(cmp.Or(event.Before, job.Undetermined)),
		"RMCTL_JOB_NATIVE="+oneLine(event.Native), "RMCTL_JOB_REASON="+oneLine(event.Reason),
		"RMCTL_JOB_EXIT_CODE="+numberText(event.ExitCode), "RMCTL_JOB_SIGNAL="+numberText(event.Signal),
		"RMCTL_JOB_SEEN="+job.Timestamp(event.Observed), "RMCTL_JOB_CURSOR="+strconv.FormatInt(event.Sequence, 10))
	command.Stdout, command.Stderr = messages, messages
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = limit // what it printed may be read late, and a process that it left may print for ever
	return command.Run()
}

// longestText bounds what a scheduler said in a variable: systems refuse to
// start a program whose variables are too large, and no hook would be run.
const longestText = 4096

// oneLine is what a scheduler said, on one line, as it may stand in a mail or on
// a terminal. A zero byte would keep the hook from being run.
func oneLine(text string) string {
	return terminal.AtMost(tui.OneLine(text), longestText)
}

func numberText(number *int) string {
	if number == nil {
		return ""
	}
	return strconv.Itoa(*number)
}
