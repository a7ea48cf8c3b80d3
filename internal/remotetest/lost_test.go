package remotetest_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
)

func TestAConnectionThatIsLostAsItShouldBePasses(t *testing.T) {
	remotetest.RunLost(t, func(t *testing.T) (remote.Connection, func()) {
		m := newMortal(t)
		return m, m.lose
	})
}

func TestAConnectionThatIsSilencedAsItShouldBePasses(t *testing.T) {
	remotetest.RunSilent(t, func(t *testing.T) (remote.Connection, func()) {
		m := newMortal(t)
		return m, m.silence
	})
}

// mortal is this machine, as if it could vanish or fall silent.
type mortal struct {
	remote.Connection
	gone, silent  chan struct{}
	lose, silence func()
}

func newMortal(t *testing.T) *mortal {
	local, err := remote.NewLocalWith(100*time.Millisecond, 100*time.Millisecond)
	require.NoError(t, err)
	m := &mortal{Connection: local, gone: make(chan struct{}), silent: make(chan struct{})}
	m.lose = sync.OnceFunc(func() { close(m.gone) })
	m.silence = sync.OnceFunc(func() { close(m.silent) })
	return m
}

func (m *mortal) lost() error {
	return &remote.ConnectError{Host: "here", Reason: remote.Disconnected, Err: errors.New("it vanished")}
}

// reach waits for an answer of the place.
func (m *mortal) reach(ctx context.Context) error {
	select {
	case <-m.gone:
		return m.lost()
	case <-ctx.Done():
		return ctx.Err()
	case <-m.silent:
	default:
		return nil
	}
	select {
	case <-m.gone:
		return m.lost()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *mortal) Close() error {
	m.lose()
	return nil
}

func (m *mortal) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	if err := m.reach(ctx); err != nil {
		return nil, &remote.StartError{Program: command.Arguments[0], Err: err}
	}
	process, err := m.Connection.Start(context.WithoutCancel(ctx), command)
	if err != nil {
		return nil, err
	}
	p := &mortalProcess{Handle: process, mortal: m, ended: make(chan struct{})}
	go p.follow(ctx)
	return p, nil
}

type mortalProcess struct {
	remote.Handle
	mortal *mortal
	ended  chan struct{}
	code   int
	err    error
}

func (p *mortalProcess) follow(ctx context.Context) {
	defer close(p.ended)
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		p.code, p.err = p.Handle.Wait()
	}()
	var lost error
	select {
	case <-exited:
		return
	case <-p.mortal.gone:
		lost = p.mortal.lost()
	case <-ctx.Done():
		if lost = p.mortal.reach(ctx); lost == nil {
			lost = ctx.Err()
		}
	}
	p.Handle.Terminate()
	<-exited
	p.code, p.err = -1, lost
}

func (p *mortalProcess) Wait() (int, error) {
	<-p.ended
	return p.code, p.err
}

func (m *mortal) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if err := m.reach(ctx); err != nil {
		return nil, err
	}
	return m.Connection.Stat(ctx, path)
}

func (m *mortal) Open(ctx context.Context, path string) (remote.File, error) {
	if err := m.reach(ctx); err != nil {
		return nil, err
	}
	file, err := m.Connection.Open(ctx, path)
	return mortalFile{file, m}, err
}

type mortalFile struct {
	remote.File
	mortal *mortal
}

func (f mortalFile) Read(buffer []byte) (int, error) {
	if err := f.mortal.reach(context.Background()); err != nil {
		return 0, err
	}
	return f.File.Read(buffer)
}

func (m *mortal) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	if err := m.reach(ctx); err != nil {
		return err
	}
	return m.Connection.WriteFile(ctx, path, mortalContent{content, m}, mode)
}

type mortalContent struct {
	io.Reader
	mortal *mortal
}

func (c mortalContent) Read(buffer []byte) (int, error) {
	count, err := c.Reader.Read(buffer)
	if lost := c.mortal.reach(context.Background()); lost != nil {
		return 0, lost
	}
	return count, err
}

func (m *mortal) MkdirAll(ctx context.Context, path string, mode fs.FileMode) error {
	if err := m.reach(ctx); err != nil {
		return err
	}
	return m.Connection.MkdirAll(ctx, path, mode)
}

func (m *mortal) Chmod(ctx context.Context, path string, mode fs.FileMode) error {
	if err := m.reach(ctx); err != nil {
		return err
	}
	return m.Connection.Chmod(ctx, path, mode)
}

func (m *mortal) Remove(ctx context.Context, path string) error {
	if err := m.reach(ctx); err != nil {
		return err
	}
	return m.Connection.Remove(ctx, path)
}

func (m *mortal) Listen(ctx context.Context) (net.Listener, error) {
	if err := m.reach(ctx); err != nil {
		return nil, err
	}
	local, err := m.Connection.Listen(ctx)
	if err != nil {
		return nil, err
	}
	listener := execution.NewListener(ctx, local, local.Addr(), func() error { return nil })
	go func() {
		select {
		case <-m.gone:
			_ = listener.End(m.lost()) // Close returns the error
		case <-listener.Ended():
		}
	}()
	return listener, nil
}
