package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/remote"
)

// defaultIdle is after how long without use connections are closed, and the
// process ends.
const defaultIdle = 10 * time.Minute

// Options of the background process.
type Options struct {
	// Folder is where the process has its socket, lock and log: see Folder. It
	// is made, and has to be this user's alone.
	Folder string
	// Build identifies the build of the program.
	Build string
	// Idle is after how long without use connections are closed and, without
	// clients and sessions, the process ends; defaultIdle if 0.
	Idle time.Duration
	// Connect makes a connection. Prompter asks the client that waits for it.
	Connect func(ctx context.Context, place Place, prompter remote.Prompter) (remote.Connection, error)
	// Hoster runs sessions; nil to host none.
	Hoster Hoster
	// Begin returns sessions to start with the process, such as those that yielded to it; may be nil.
	Begin func(ctx context.Context) ([]Launch, error)
	// Log may be nil. No secrets are logged, nor commands.
	Log *slog.Logger
}

// Serve is the background process: it serves clients until it was idle for
// long enough, a client stops it, or ctx is canceled. Sessions and commands that
// are alive then end. The error is ErrRunning when the folder has a process
// already.
func Serve(ctx context.Context, o Options) error {
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	socket, held, err := Occupy(o.Folder)
	if err != nil {
		return err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// The listener removes its socket: afterwards another process may have one there.
	closeSocket := sync.OnceValue(socket.Close)
	// A client that is cut off reconnects, and must not reach this process again.
	end := func() {
		if err := closeSocket(); err != nil {
			o.Log.Warn("closing the socket", "error", err)
		}
		cancel()
	}
	defer context.AfterFunc(ctx, end)()
	p := newProcess(serving, o)
	p.listener, p.end = socket, end
	p.leave = sync.OnceValue(func() error { return errors.Join(closeSocket(), held.Close()) })
	var watching sync.WaitGroup
	watching.Go(func() { p.watch(serving) })
	watching.Go(func() { p.begin(serving) })
	o.Log.Info("background process started", "pid", os.Getpid(), "build", o.Build)

	err = p.serve(serving)
	cancel()
	watching.Wait()
	p.sessions.close()
	p.pool.close()
	err = errors.Join(err, p.leave())
	o.Log.Info("background process ends", "error", err)
	return err
}

// Occupy makes a folder below a state folder this process's own, private to its
// user, and listens there; see SocketPath. The folder is free again when the lock is
// closed. The error is ErrRunning when another process has it.
func Occupy(folder string) (listener net.Listener, held io.Closer, err error) {
	if err := makePrivate(folder); err != nil {
		return nil, nil, err
	}
	if held, err = awaitLock(folder); err != nil {
		return nil, nil, err
	}
	listener, err = listen(folder)
	if err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	return listener, held, nil
}

// listen makes the socket. The lock is held.
func listen(folder string) (net.Listener, error) {
	path := SocketPath(folder)
	if filepath.Dir(path) != folder {
		if err := makePrivate(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("creating the socket: %w", err)
	}
	// Only this user can enter the directory; the permissions of the socket repeat that.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("making the socket private: %w", err), listener.Close())
	}
	return listener, nil
}

// process is the background process.
type process struct {
	options  Options
	began    time.Time
	pool     *pool
	sessions *sessions
	listener net.Listener
	end      func()
	leave    func() error // stops listening, and frees the directory for the next process

	clients chan struct{} // holds something for each client
	used    atomic.Int64  // when the last one left, in nanoseconds since 1970
}

func newProcess(serving context.Context, o Options) *process {
	p := &process{
		options: o, began: time.Now(), pool: newPool(serving, o), sessions: newSessions(serving, o),
		clients: make(chan struct{}, mostClients),
	}
	p.used.Store(p.began.UnixNano())
	return p
}

// retire frees the folder for another process. Serve ends when its last client has left.
func (p *process) retire() {
	if err := p.leave(); err != nil {
		p.options.Log.Warn("leaving the directory", "error", err)
	}
}

// begin starts the sessions with which the process begins.
func (p *process) begin(ctx context.Context) {
	if p.options.Begin == nil {
		return
	}
	launches, err := p.options.Begin(ctx)
	if err != nil && ctx.Err() == nil {
		p.options.Log.Warn("finding sessions to start", "error", err)
	}
	p.sessions.begin(launches)
}

// watch closes idle connections, and ends an idle process.
func (p *process) watch(ctx context.Context) {
	ticker := time.NewTicker(max(p.options.Idle/20, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.pool.closeIdle(p.options.Idle)
		if p.idle() {
			p.options.Log.Info("the background process is idle")
			p.end()
			return
		}
	}
}

func (p *process) idle() bool {
	return len(p.clients) == 0 && p.sessions.count() == 0 && !p.pool.isBusy() && time.Since(time.Unix(0, p.used.Load())) > p.options.Idle
}
