package channel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/execution"
)

// Signal sends a signal to the process's group, through another channel.
func (p *handle) Signal(number syscall.Signal) error {
	if execution.IsClosed(p.Done) {
		return nil
	}
	name := strings.TrimPrefix(unix.SignalName(number), "SIG")
	if name == "" {
		return fmt.Errorf("sending signal %d: unknown number", number)
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.connection.settings.Patience)
	defer cancel()
	if _, err := p.signal(ctx, theGroup, name); err != nil {
		return fmt.Errorf("sending signal %v: %w", number, err)
	}
	return nil
}

// reach is the target of a signal, as rmctl_terminal names it.
type reach string

const (
	theGroup   reach = "group"   // the group of the running process
	everything reach = "session" // all processes that were started with it
	whatIsLeft reach = "rest"    // those of them that outlive it
)

// signal sends signals. It reports whether a process got them.
func (p *handle) signal(ctx context.Context, whom reach, names ...string) (reached bool, err error) {
	if p.shared {
		return p.signalShared(names)
	}
	id := p.reported.process
	if id == 0 {
		return false, errors.New("the host did not report the id of the process")
	}
	parent := p.reported.parent
	if whom == whatIsLeft {
		parent = 0
	}
	code := fmt.Sprintf("rmctl_signal %d %d ", id, parent)
	if p.command.Terminal != nil {
		code = fmt.Sprintf("rmctl_terminal %d %s ", id, whom)
	}
	status, err := p.connection.call(ctx, p.session, code+strings.Join(names, " "))
	return status == 0, err
}

// signalShared lets the server signal the group of the channel. Only the end of all
// output shows that the group has ended.
func (p *handle) signalShared(names []string) (reached bool, err error) {
	if execution.IsClosed(p.task.ended) {
		return false, nil
	}
	for _, name := range names {
		if name == "0" {
			continue
		}
		if err := p.session.channel.Signal(unix.SignalNum("SIG" + name)); err != nil {
			return false, fmt.Errorf("the host opens one channel at a time and refuses to signal the command: %w", err)
		}
	}
	return true, nil
}

// call runs shell code of ours in an idle shell or a new one. If the host opens no
// further usable shell, a shell that runs a command does it meanwhile, the preferred one
// if it can.
func (c *connection) call(ctx context.Context, preferred *session, code string) (status int, err error) {
	if c.pool.oneShot {
		return c.callOneShot(ctx, code)
	}
	for {
		s, err := c.pool.shell(ctx, forSignals)
		if err == nil {
			status, err = c.callAlone(ctx, s, code)
			if ctx.Err() == nil && errors.Is(err, errDeaf) {
				continue // it ended while it was idle
			}
			return status, err
		}
		if ctx.Err() != nil {
			return -1, err
		}
		busy, changed := c.pool.borrow(preferred)
		if busy != nil {
			status, err = busy.aside(ctx, code)
			c.pool.giveBack(busy, err)
			if ctx.Err() == nil && (errors.Is(err, errDeaf) || busy != preferred && errors.Is(err, errShellEnded)) {
				continue // it ended with what it ran, which is not ours
			}
			return status, err
		}
		if !errors.Is(err, errNoRoom) {
			return -1, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return -1, ctx.Err()
		}
	}
}

// callOneShot runs shell code in a shell of its own.
func (c *connection) callOneShot(ctx context.Context, code string) (status int, err error) {
	s, _, err := c.pool.session(ctx, forSignals, plainLine, Options{})
	if err != nil {
		return -1, err
	}
	return c.callAlone(ctx, s, code)
}

// callAlone runs shell code of ours in a shell that does nothing else.
func (c *connection) callAlone(ctx context.Context, s *session, code string) (status int, err error) {
	m := newMarker()
	line := callLine(m, code)
	if c.pool.oneShot {
		line = openLine(m) + "; " + line
	}
	t := s.setTask(m, nil, nil, c.pool.oneShot, 2)
	if whole, err := s.send(ctx, line); !whole {
		c.pool.release(s, false)
		return -1, fmt.Errorf("%w: %w", errDeaf, err)
	}
	select {
	case <-t.ended:
	case <-ctx.Done():
		c.pool.release(s, false)
		return -1, ctx.Err()
	}
	c.pool.release(s, s.alive())
	select {
	case status = <-t.exited:
		return status, nil
	default:
		return -1, s.lost()
	}
}

// end ends the process and its group, and returns its code.
func (p *handle) end(ctx context.Context) (code int, err error) {
	select {
	case code = <-p.task.exited:
		return code, nil
	default:
	}
	settings := p.connection.settings
	grace := time.NewTimer(settings.Grace)
	defer grace.Stop()

	if p.reported.process == 0 {
		if err := p.awaitReport(ctx, grace.C); err != nil {
			return -1, err
		}
	}
	// A stopped process would not see the request before it is continued.
	failure := p.signalSoon(ctx, everything, "TERM", "CONT")
	grace.Reset(settings.Grace) // it begins when the signals were sent
	var hangUp <-chan time.Time
	if p.command.Terminal != nil {
		// The request means nothing to an interactive shell; that its terminal
		// has gone does.
		hangUp = time.After(settings.Grace / 2)
	}
	for waiting := true; waiting; {
		select {
		case code = <-p.task.exited:
			p.endRest(ctx, grace.C)
			return code, nil
		case <-p.task.ended:
			if code, err = p.outcome(false); err == nil {
				p.endRest(ctx, grace.C)
			}
			return code, err
		case <-hangUp:
			failure = p.signalSoon(ctx, everything, "HUP")
			grace.Reset(settings.Grace / 2)
		case <-grace.C:
			waiting = false
		}
	}
	killing := p.signalSoon(ctx, everything, "KILL")
	select {
	case code = <-p.task.exited:
		return code, nil
	case <-p.task.ended:
		code, err = p.outcome(killing == nil)
		return code, err
	case <-time.After(settings.Linger):
		return -1, errors.Join(execution.ErrUnkillable, failure, killing)
	}
}

// awaitReport waits until the shell has reported the id of the process, without which the
// process cannot be ended.
func (p *handle) awaitReport(ctx context.Context, grace <-chan time.Time) error {
	select {
	case p.reported = <-p.task.started:
	case <-grace:
		p.session.close()
		return p.connection.pool.silence()
	}
	if p.reported.failure != "" {
		return errors.Join(errNotStarted, ctx.Err())
	}
	return nil
}

// signalSoon sends signals within a time limit that is its own: a busy machine may take long
// for one of them, which must not keep the next from being sent.
func (p *handle) signalSoon(ctx context.Context, whom reach, names ...string) error {
	settings := p.connection.settings
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settings.Grace+settings.Linger)
	defer cancel()
	_, err := p.signal(ctx, whom, names...)
	return err
}

// endRest gives what is left of the group, or on the terminal, the rest of the
// grace period, then kills it.
func (p *handle) endRest(ctx context.Context, grace <-chan time.Time) {
	settings := p.connection.settings
	signals, cancel := context.WithTimeout(context.WithoutCancel(ctx), settings.Grace+settings.Linger)
	defer cancel()
	pause, first := groupPoll, "0"
	if p.command.Terminal != nil {
		pause, first = sessPoll, "HUP"
	}
	poll := time.NewTicker(pause)
	defer poll.Stop()
	for name := first; ; name = "0" {
		reached, err := p.signal(signals, whatIsLeft, name)
		if err == nil && !reached {
			return
		}
		if signals.Err() == nil {
			if err != nil {
				return // the host cannot be reached any more
			}
			select {
			case <-poll.C:
				continue
			case <-grace:
			}
		}
		// Where this fails, too, nothing can be ended.
		_ = p.signalSoon(ctx, whatIsLeft, "KILL")
		return
	}
}
