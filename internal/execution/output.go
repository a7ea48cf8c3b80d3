package execution

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// Bounds of what Output keeps of each stream, in bytes.
const (
	longestOutput = 4 << 20
	longestErrors = 8 << 10
)

// outputPatience is how long Output waits for streams that other processes hold open. A
// busy machine takes a while to read what was printed.
const outputPatience = 10 * time.Second

// Output runs a program that prints little and ends soon, and returns the beginning of
// what it prints. A program that runs for longer than the limit is killed with all that
// it started.
func Output(ctx context.Context, limit time.Duration, environment []string, words ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	output, complaints := NewHead(longestOutput), NewHead(longestErrors)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = environment
	command.Stdout, command.Stderr = output, complaints
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = outputPatience
	if err = command.Run(); err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return output.String(), complaints.String(), err
}
