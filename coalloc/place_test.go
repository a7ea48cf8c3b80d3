package coalloc_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/remote"
)

// patience is how long tests wait for events that come soon on an idle machine.
const patience = 2 * time.Minute

// A site has its home directory, and targets on this machine that can fail.
type site struct {
	t       testing.TB
	home    string
	options rmctl.Options
	client  *rmctl.Client

	mutex       sync.Mutex
	failures    map[string]error // by target: why it cannot be reached
	before      func(target string, words []string) error
	after       func(target string, words []string) error
	connections map[*connection]bool
}

// newSite returns a site with targets, each with the definition local.
func newSite(t testing.TB, targets ...string) *site {
	t.Helper()
	executable, err := os.Executable()
	require.NoError(t, err)
	rmctltest.NodeProgram(t, filepath.Dir(executable))
	home, err := os.MkdirTemp("", "site") // sockets have short paths
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	s := &site{t: t, home: home, failures: map[string]error{}, connections: map[*connection]bool{}}
	configuration := filepath.Join(s.home, "config")
	require.NoError(t, os.Mkdir(configuration, 0o700))
	var text strings.Builder
	for _, target := range targets {
		fmt.Fprintf(&text, "[targets.%s]\ndefinition = \"local\"\ntransport = \"local\"\nattributes = { slots = \"1000\", grace = \"1\" }\n", target)
	}
	require.NoError(t, os.WriteFile(filepath.Join(configuration, "targets.toml"), []byte(text.String()), 0o600))
	s.options = rmctl.Options{ConfigFolder: configuration, SiteFolder: filepath.Join(s.home, "site"), StateFolder: filepath.Join(s.home, "state"), Connect: s.connect}
	s.client = s.newClient()
	return s
}

// newClient returns a client as another process of the user has it.
func (s *site) newClient() *rmctl.Client {
	s.t.Helper()
	client, err := rmctl.Open(s.t.Context(), s.options)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, client.Close()) })
	return client
}

// breaks ends the connections of a target, and makes further ones fail. A nil error lets the
// target be reached again.
func (s *site) breaks(target string, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.failures[target] = err
	for c := range s.connections {
		if c.target == target && err != nil {
			c.fail()
		}
	}
}

// refuses calls a function before each command on a target, and before it writes a file; an error of it is that of the
// command, or of the file, whose words are its path.
func (s *site) refuses(before func(target string, words []string) error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.before = before
}

// loses calls a function after each command on a target; an error of it hides how the command ended.
func (s *site) loses(after func(target string, words []string) error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.after = after
}

func (s *site) connect(ctx context.Context, target rmctl.Target) (remote.Connection, error) {
	local, err := remote.NewLocalWith(time.Second, time.Second)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.failures[target.Name]; err != nil {
		return nil, err
	}
	c := &connection{Connection: local, site: s, target: target.Name}
	c.ctx, c.fail = context.WithCancel(context.Background())
	s.connections[c] = true
	return c, nil
}

// A connection is one to this machine with another home directory, which can be lost.
type connection struct {
	remote.Connection
	site   *site
	target string
	ctx    context.Context // ends when the connection is lost
	fail   func()
}

func (c *connection) lost() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return &remote.ConnectError{Host: c.target, Reason: remote.Disconnected, Err: io.ErrUnexpectedEOF}
}

func (c *connection) Info() remote.Info {
	info := c.Connection.Info()
	info.Home = c.site.home
	return info
}

func (c *connection) at(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.site.home, path)
}

func (c *connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	c.site.mutex.Lock()
	before := c.site.before
	c.site.mutex.Unlock()
	if err := c.lost(); err != nil {
		return nil, err
	}
	if before != nil {
		if err := before(c.target, command.Arguments); err != nil {
			return nil, err
		}
	}
	environment := maps.Clone(command.Environment)
	if environment == nil {
		environment = map[string]string{}
	}
	environment["HOME"] = c.site.home
	command.Environment, command.Directory = environment, c.at(command.Directory)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	handle, err := c.Connection.Start(ctx, command)
	if err != nil {
		cancel()
		stop()
		return nil, err
	}
	return &process{handle, c, command.Arguments, cancel}, nil
}

// A process is one on a target whose connection can be lost.
type process struct {
	remote.Handle
	connection *connection
	words      []string
	cancel     func()
}

func (p *process) Wait() (int, error) {
	code, err := p.Handle.Wait()
	p.cancel()
	p.connection.site.mutex.Lock()
	after := p.connection.site.after
	p.connection.site.mutex.Unlock()
	if after != nil {
		if lost := after(p.connection.target, p.words); lost != nil {
			return -1, lost
		}
	}
	if lost := p.connection.lost(); lost != nil {
		return -1, lost
	}
	return code, err
}

func (c *connection) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if err := c.lost(); err != nil {
		return nil, err
	}
	return c.Connection.Stat(ctx, c.at(path))
}

func (c *connection) Open(ctx context.Context, path string) (remote.File, error) {
	if err := c.lost(); err != nil {
		return nil, err
	}
	return c.Connection.Open(ctx, c.at(path))
}

func (c *connection) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	if err := c.lost(); err != nil {
		return err
	}
	c.site.mutex.Lock()
	before := c.site.before
	c.site.mutex.Unlock()
	if before != nil {
		if err := before(c.target, []string{path}); err != nil {
			return err
		}
	}
	return c.Connection.WriteFile(ctx, c.at(path), content, mode)
}

func (c *connection) MkdirAll(ctx context.Context, path string, mode fs.FileMode) error {
	if err := c.lost(); err != nil {
		return err
	}
	return c.Connection.MkdirAll(ctx, c.at(path), mode)
}

func (c *connection) Chmod(ctx context.Context, path string, mode fs.FileMode) error {
	if err := c.lost(); err != nil {
		return err
	}
	return c.Connection.Chmod(ctx, c.at(path), mode)
}

func (c *connection) Remove(ctx context.Context, path string) error {
	if err := c.lost(); err != nil {
		return err
	}
	return c.Connection.Remove(ctx, c.at(path))
}

func (c *connection) Listen(ctx context.Context) (net.Listener, error) {
	if err := c.lost(); err != nil {
		return nil, err
	}
	return c.Connection.Listen(ctx)
}

func (c *connection) Close() error {
	c.site.mutex.Lock()
	delete(c.site.connections, c)
	c.site.mutex.Unlock()
	return c.Connection.Close()
}

// log returns a log that appears if the test fails.
func (s *site) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(s.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func sprint(status coalloc.Status) string { return fmt.Sprintf("%+v", status) }
