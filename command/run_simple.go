package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// backgroundCommands are helpers that live as long as the command they belong to.
type backgroundCommands struct {
	cancel []context.CancelFunc
	done   sync.WaitGroup
}

func (b *backgroundCommands) end() {
	for _, cancel := range b.cancel {
		cancel()
	}
	b.done.Wait()
}

// simpleCommandsWhileOpen starts the post-launch commands of a command that
// stays open beside it, and returns how to wait for those that are waited for.
func (r *run) simpleCommandsWhileOpen(ctx context.Context, process remote.Handle) func() error {
	if !r.staysOpen() || len(r.invocation.PostLaunch) == 0 {
		return func() error { return nil }
	}
	failed := make(chan error, 1)
	go func() {
		if !r.awaitState(ctx) {
			failed <- nil
			return
		}
		err := r.simpleCommands(ctx, r.invocation.PostLaunch)
		if err != nil {
			process.Terminate()
		}
		failed <- err
	}()
	return func() error { return <-failed }
}

// simpleCommands runs commands one after the other; those that are not waited
// for are ended together with the command they belong to.
func (r *run) simpleCommands(ctx context.Context, commands []simpleInvocation) error {
	for _, simple := range commands {
		if simple.Command.Wait {
			if err := r.simpleCommand(ctx, simple); err != nil {
				return err
			}
			continue
		}
		background, cancel := context.WithCancel(ctx)
		r.background.cancel = append(r.background.cancel, cancel)
		process, err := r.connection.Start(background, r.simpleStart(simple, io.Discard))
		if err != nil {
			if simple.Command.IgnoreExitStatus {
				continue
			}
			return fmt.Errorf("%q: %w", simple.Command.Name, causeOf(ctx, err))
		}
		r.background.done.Go(func() { _, _ = process.Wait() }) // how a helper ends is of no account
	}
	return nil
}

func (r *run) simpleCommand(ctx context.Context, simple simpleInvocation) error {
	var stderr tail
	process, err := r.connection.Start(ctx, r.simpleStart(simple, &stderr))
	if err != nil {
		if simple.Command.IgnoreExitStatus {
			return nil
		}
		return fmt.Errorf("%q: %w", simple.Command.Name, causeOf(ctx, err))
	}
	code, err := process.Wait()
	if err = causeOf(ctx, err); err != nil {
		return fmt.Errorf("%q: %w", simple.Command.Name, err)
	}
	if code != 0 && !simple.Command.IgnoreExitStatus {
		err := fmt.Errorf("%q exited with code %d", simple.Command.Name, code)
		if printed := strings.TrimSpace(stderr.String()); printed != "" {
			err = fmt.Errorf("%w: %s", err, printed)
		}
		return err
	}
	return nil
}

// causeOf returns why a helper was not started, or has ended: a time limit wins over its
// consequences.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (r *run) simpleStart(simple simpleInvocation, stderr io.Writer) remote.Command {
	start := r.invocation.process(simple.Arguments, simple.Directory)
	start.Stderr = stderr
	if simple.Command.RedirectStderr {
		start.Stdout = stderr
	}
	return start
}
