package channel

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// attempts bounds the shells that end before they get the command.
const attempts = 3

// Start starts a process. An error means that it does not run and never will. If the
// connection breaks before the host has reported the start, Start succeeds and Wait
// returns the error.
func (c *connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	program := ""
	if len(command.Arguments) > 0 {
		program = command.Arguments[0]
	}
	ctx, run := execution.NewRun(ctx)
	failed := func(err error) (remote.Handle, error) {
		run.Terminate()
		return nil, &remote.StartError{Program: program, Directory: command.Directory, Err: err}
	}
	if err := cmp.Or(ctx.Err(), execution.Check(command.Arguments, command.Environment)); err != nil {
		return failed(err)
	}
	command.Stdin, command.Stdout, command.Stderr = execution.NonNil(command.Stdin), execution.NonNil(command.Stdout), execution.NonNil(command.Stderr)
	command = withTerminalType(command)
	child, err := childScript(command, c.info.Home, c.knows(command))
	if err != nil {
		return failed(err)
	}
	p, err := c.launch(ctx, command, child)
	if err != nil {
		return failed(err)
	}
	p.Run = run
	if failure := p.awaitStart(ctx); failure != nil {
		p.abandon()
		if p.reported.failure != "" {
			directory := command.Directory
			if !path.IsAbs(directory) {
				directory = path.Join(c.info.Home, directory)
			}
			failure = describeFailure(p.reported.failure, directory, program)
		}
		return failed(failure)
	}
	c.remember(command)
	p.serve(ctx)
	return p, nil
}

// withTerminalType sets TERM for a command on a terminal, whatever happens to the
// variables of the host.
func withTerminalType(command remote.Command) remote.Command {
	if command.Terminal == nil {
		return command
	}
	terminal := *command.Terminal
	terminal.Type = cmp.Or(terminal.Type, "dumb")
	command.Terminal = &terminal
	if _, isSet := command.Environment["TERM"]; !isSet {
		environment := maps.Clone(command.Environment)
		if environment == nil {
			environment = map[string]string{}
		}
		environment["TERM"] = terminal.Type
		command.Environment = environment
	}
	return command
}

// launch sends the command to a shell. An error means that it will not run.
func (c *connection) launch(ctx context.Context, command remote.Command, child string) (*handle, error) {
	for attempt := 1; ; attempt++ {
		p := &handle{connection: c, command: command}
		line, err := p.open(ctx, child)
		if err != nil {
			return nil, err
		}
		whole, err := p.session.send(ctx, line)
		if err == nil || whole {
			c.pool.lend(p.session)
			if command.Stdin == nil && command.Terminal == nil && !p.session.pooled {
				// Wait reports a channel that is broken.
				_ = p.session.channel.Stdin().Close()
			}
			return p, nil
		}
		lost := err
		if ctx.Err() == nil {
			p.session.close()
			lost = p.session.lost()
		}
		p.abandon()
		if !errors.Is(lost, errShellEnded) || attempt == attempts {
			return nil, lost
		}
	}
}

// open gets a session for the process, and returns the line to send.
func (p *handle) open(ctx context.Context, child string) (line string, err error) {
	command, pool := p.command, p.connection.pool
	m := newMarker()
	streams := outputs{stdout: command.Stdout != nil, stderr: command.Stderr != nil, merged: execution.SameWriter(command.Stdout, command.Stderr)}
	options := Options{Terminal: command.Terminal, ForwardX11: command.ForwardX11}

	if command.Terminal != nil {
		greeting := newMarker()
		p.session, _, err = pool.session(ctx, forOne, terminalLine+greeting.text(), options)
		if err != nil {
			return "", err
		}
		p.shared = pool.single()
		// What is written before the terminal is raw would be echoed and cut.
		raw := p.session.setTask(greeting, nil, nil, true, 1)
		if err := pool.await(ctx, p.session, raw.ready, raw); err != nil {
			pool.release(p.session, false)
			return "", err
		}
		p.task = p.session.setTask(m, command.Stdout, nil, true, 1)
		return openLine(m) + "; " + terminalRunLine(m, child), nil
	}

	if command.Stdin != nil || command.ForwardX11 || pool.oneShot {
		p.session, _, err = pool.session(ctx, forOne, plainLine, options)
		if err != nil {
			return "", err
		}
		// The host may only now have shown how many channels it opens.
		p.shared = pool.single()
		streams.shared = p.shared
		p.task = p.session.setTask(m, command.Stdout, command.Stderr, true, 2)
		return openLine(m) + "; " + runLine(m, child, streams, command.Stdin != nil), nil
	}

	p.session, err = pool.shell(ctx, forCommands)
	if err != nil {
		return "", err
	}
	p.task = p.session.setTask(m, command.Stdout, command.Stderr, false, 2)
	return runLine(m, child, streams, false), nil
}

// awaitStart waits until the host reports the start. An error means that the command does
// not run.
func (p *handle) awaitStart(ctx context.Context) error {
	heard := p.session.stdout.noise
	select {
	case p.reported = <-p.task.started:
	case <-p.task.ended:
		select {
		case p.reported = <-p.task.started:
		default:
			return p.neverStarted()
		}
	case <-ctx.Done():
		return nil // it may run: supervise ends it
	case <-heard.flood:
		p.session.close() // Wait reports it
	case <-time.After(p.connection.settings.Patience):
		if !execution.IsClosed(p.task.ready) && !p.session.pooled {
			p.session.close()
		}
	}
	if p.reported.failure != "" {
		return errNotStarted
	}
	return nil
}

var errNotStarted = errors.New("it was not started")

// neverStarted returns an error if a shell that ended without a report cannot have started
// the command, because it was never ready.
func (p *handle) neverStarted() error {
	lost := p.session.lost()
	if !errors.Is(lost, errShellEnded) || p.session.pooled {
		return nil
	}
	if execution.IsClosed(p.task.ready) {
		return nil
	}
	return p.connection.pool.endedUnready(p.session, lost)
}

// abandon releases the session of a process that does not run.
func (p *handle) abandon() {
	reusable := execution.ClosesWithin(p.task.ended, p.connection.settings.Linger) && p.session.alive()
	// Nothing was written for a process that does not run.
	_, _ = p.session.detach()
	p.connection.pool.release(p.session, reusable)
}
