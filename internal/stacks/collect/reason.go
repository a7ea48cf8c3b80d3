package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/plaintext"
)

// A tracedError reports that a process has a debugger already.
type tracedError struct{ tracer int }

// Error implements error. It names the program only, so that equal problems of several
// ranks are equal texts.
func (e tracedError) Error() string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(e.tracer) + "/comm")
	if cleaned := plaintext.Clean(strings.TrimSpace(string(name)), 40); cleaned != "" {
		return "already traced by another process: " + cleaned
	}
	return "already traced by another process"
}

// problemOf returns the line for a process that could not be read.
func problemOf(ctx context.Context, err error, target Target) string {
	var missing mi.MissingError
	var refused mi.CommandError
	switch {
	case errors.As(err, &missing):
		return fmt.Sprintf("no debugger: %s not found; install gdb on the node or name it with --debugger", plaintext.Clean(missing.Name, 200))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, mi.ErrHangs) && ctx.Err() != nil:
		return "the time limit was too short"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &refused):
		return refusal(refused, target)
	case errors.Is(err, mi.ErrCrashed):
		if _, err := statusOf(target); errors.Is(err, errEnded) {
			return errEnded.Error()
		}
	}
	return plaintext.Clean(err.Error(), 300)
}

// refusal returns why the debugger could not attach. It reads the state of the process from the
// kernel first, because messages of debuggers differ.
func refusal(refused mi.CommandError, target Target) string {
	status, exists := guard.ReadStatus(target.PID)
	switch {
	case !exists || status.HasEnded() || target.Start != 0 && target.Start != status.Start:
		return errEnded.Error()
	case status.Tracer != 0:
		return tracedError{status.Tracer}.Error()
	case strings.Contains(refused.Message, "not permitted"):
		scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
		return forbidden(strings.TrimSpace(string(scope)))
	case strings.Contains(refused.Message, "No such process"), strings.Contains(refused.Message, "no threads"), strings.Contains(refused.Message, "Unable to attach"):
		return errEnded.Error()
	}
	return "the debugger failed: " + plaintext.Clean(refused.Message, 200)
}

// forbidden returns the problem for a value of kernel.yama.ptrace_scope, with a fix.
func forbidden(scope string) string {
	switch scope {
	case "1":
		return "not permitted to attach: kernel.yama.ptrace_scope is 1; submit the job with --track, or have root set it to 0 on the nodes"
	case "2":
		return "not permitted to attach: kernel.yama.ptrace_scope is 2, for root only; have root set it to 0 on the nodes, or to 1 for jobs with --track"
	case "3":
		return "not permitted to attach: kernel.yama.ptrace_scope is 3, which forbids debuggers until the node restarts"
	}
	return "not permitted to attach: the process has another user or more privileges"
}
