package channel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// session returns a session for the purpose: an idle shell, or a new channel
// that runs the line.
func (p *pool) session(ctx context.Context, purpose purpose, line string, options Options) (s *session, fresh bool, err error) {
	for {
		if purpose == forOne && p.voiceless() {
			voice, err := p.shell(ctx, forCommands)
			if err != nil {
				return nil, false, err
			}
			p.release(voice, true)
		}
		idle, err := p.acquire(ctx, purpose)
		if err != nil || idle != nil {
			return idle, false, err
		}
		opened, err := p.connect(ctx, purpose, func() (Channel, error) { return p.dialer.Open(ctx, line, options) })
		if errors.Is(err, errNoRoom) && purpose != forSignals {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		p.mutex.Lock()
		s := newSession(p, opened)
		s.terminal = options.Terminal != nil
		p.sessions[s] = purpose
		s.steady = purpose != forOne && !p.oneShot
		p.settle(s.steady)
		closed := p.closed
		p.mutex.Unlock()
		if closed {
			p.release(s, false)
			continue
		}
		return s, true, nil
	}
}

// shell returns a shell that is ready for a command.
func (p *pool) shell(ctx context.Context, purpose purpose) (*session, error) {
	s, fresh, err := p.session(ctx, purpose, plainLine, Options{})
	if err != nil || !fresh {
		return s, err
	}
	ready := newMarker()
	greeting := s.setTask(ready, nil, nil, true, 2)
	if _, err = s.send(ctx, openLine(ready)+serveLine); err != nil && ctx.Err() == nil {
		// A login that takes no input has most likely ended and printed the reason.
		_ = s.channel.Stdin().Close()
		err = nil
	}
	if err == nil {
		err = p.await(ctx, s, greeting.ended, greeting)
	}
	if err != nil {
		p.release(s, false)
		return nil, err
	}
	p.mutex.Lock()
	s.pooled = true
	p.mutex.Unlock()
	return s, nil
}

// await waits until a shell has answered.
func (p *pool) await(ctx context.Context, s *session, answer <-chan struct{}, greeting *task) error {
	heard := s.stdout.noise
	var reason string
	select {
	case <-answer:
		return p.answered(s, greeting)
	case <-greeting.ended:
		return p.answered(s, greeting)
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(p.settings.Patience):
		reason = fmt.Sprintf("/bin/sh did not answer in %v; %s", p.settings.Patience, heard.words())
	case <-heard.flood:
		reason = fmt.Sprintf("the login prints more than %d bytes before /bin/sh answers; %s", noiseLimit, heard.words())
	}
	return p.badProtocol(reason)
}

// answered returns nil if the shell is ready, otherwise why it is not.
func (p *pool) answered(s *session, greeting *task) error {
	if execution.IsClosed(greeting.ready) {
		return nil
	}
	lost := s.lost()
	if errors.Is(lost, errShellEnded) {
		return p.endedUnready(s, lost)
	}
	return lost
}

// endedUnready is the error for a shell that ended before it was ready.
func (p *pool) endedUnready(s *session, lost *remote.ConnectError) error {
	return p.badProtocol(fmt.Sprintf("%v before /bin/sh answered; %s", lost.Err, s.stdout.noise.words()))
}

func (p *pool) badProtocol(text string) error {
	return &remote.ConnectError{
		Host: p.settings.Host, Reason: remote.BadProtocol, Err: errors.New(text),
		Help: "Commands run through the login shell, which must run /bin/sh and pass on its input.",
	}
}
