package daemon_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/remote"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

// place is the host of the test connections.
var place = daemon.Place{Transport: "ssh", Host: "there"}

// shortFolder returns a directory whose path leaves room for a socket.
func shortFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "bg")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	return filepath.Join(folder, "host")
}

// connector makes connections to this machine, and counts them.
type connector struct {
	mutex sync.Mutex
	made  []*breakable
	wait  func(ctx context.Context, place daemon.Place, prompter remote.Prompter) error // may be nil
}

func (c *connector) connect(ctx context.Context, place daemon.Place, prompter remote.Prompter) (remote.Connection, error) {
	if c.wait != nil {
		if err := c.wait(ctx, place, prompter); err != nil {
			return nil, err
		}
	}
	local, err := remote.NewLocalWith(time.Second, 500*time.Millisecond)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	made := &breakable{Connection: local, closed: make(chan struct{}), broken: make(chan struct{}), ended: make(chan struct{})}
	c.made = append(c.made, made)
	return made, nil
}

func (c *connector) all() []*breakable {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return append([]*breakable(nil), c.made...)
}

// breakable is a connection that can be lost.
type breakable struct {
	remote.Connection
	closed, broken chan struct{}
	ended          chan struct{} // closed when it has detected the break
	once           sync.Once
}

func (b *breakable) Ended() <-chan struct{} { return b.ended }

func (b *breakable) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func (b *breakable) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	select {
	case <-b.broken:
		return nil, &remote.StartError{Err: &remote.ConnectError{Host: "there", Reason: remote.Disconnected, Err: errors.New("cut")}}
	default:
		return b.Connection.Start(ctx, command)
	}
}

// served is a background process in this process.
type served struct {
	options daemon.Options
	end     context.CancelFunc
	ended   chan struct{}
	err     error
}

// serve serves until the test ends.
func serve(t testing.TB, o daemon.Options) *served {
	t.Helper()
	if o.Folder == "" {
		o.Folder = shortFolder(t)
	}
	if o.Connect == nil {
		o.Connect = (&connector{}).connect
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{options: o, end: cancel, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = daemon.Serve(ctx, o)
	}()
	t.Cleanup(func() {
		cancel()
		s.wait(t)
		require.NoError(t, s.err)
	})
	require.Eventually(t, func() bool {
		_, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: o.Folder, Build: o.Build})
		return err == nil || s.isOver()
	}, patience, time.Millisecond)
	return s
}

// serveUsed is serve for a process that ends soon when unused. On a slow machine it may end
// before its first use: then another process serves.
func serveUsed(t testing.TB, o daemon.Options, use func(client *daemon.Client) error) *served {
	t.Helper()
	o.Folder = shortFolder(t)
	for {
		s := serve(t, o)
		client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: o.Folder, Build: o.Build})
		if err == nil {
			err = use(client)
		}
		if err == nil {
			return s
		}
		var gone *daemon.GoneError // before it answered
		if !errors.As(err, &gone) {
			require.ErrorIs(t, err, daemon.ErrNotRunning)
		}
		s.wait(t)
	}
}

func (s *served) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *served) wait(t testing.TB) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		require.Fail(t, "the background process does not end")
	}
}

func (s *served) client(t testing.TB) *daemon.Client {
	t.Helper()
	client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: s.options.Folder, Build: s.options.Build})
	require.NoError(t, err)
	return client
}

// await waits for an expected value; the name is for the failure.
func await[T any](t testing.TB, from <-chan T, what string) (came T) {
	t.Helper()
	impatience := time.NewTimer(patience)
	defer impatience.Stop()
	select {
	case came = <-from:
	case <-impatience.C:
		require.FailNow(t, what+" does not come")
	}
	return came
}

func connect(t *testing.T, client *daemon.Client) remote.Connection {
	t.Helper()
	connection, err := client.Connect(t.Context(), place, nil)
	require.NoError(t, err)
	return connection
}

func run(t *testing.T, connection remote.Connection, arguments ...string) (int, error) {
	t.Helper()
	process, err := connection.Start(t.Context(), remote.Command{Arguments: arguments})
	if err != nil {
		return -1, err
	}
	return process.Wait()
}

// prompterFunc is a prompter.
type prompterFunc func(ctx context.Context, question remote.Question) (string, error)

func (f prompterFunc) Ask(ctx context.Context, question remote.Question) (string, error) {
	return f(ctx, question)
}
