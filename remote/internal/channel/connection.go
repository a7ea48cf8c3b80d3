package channel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/remote"
)

// Settings of a connection. What is zero has a default.
type Settings struct {
	Transport string // for Info
	Host      string // as the user calls the host, for errors

	Grace    time.Duration // how long processes may take to end before they are killed; 3 s
	Linger   time.Duration // how long output of what outlives a process is waited for; 2 s
	Patience time.Duration // how long the first answer of a shell may take; 30 s

	Channels int // most channels open at once, less when the host says so; 10
}

// connection is a [remote.Connection] over channels.
type connection struct {
	settings Settings
	pool     *pool
	info     remote.Info
	files    fileService

	mutex sync.Mutex
	known map[string]bool // programs that were started before
}

var _ remote.Connection = (*connection)(nil)

// knownLimit bounds the memory of programs.
const knownLimit = 1000

// New makes a connection of a dialer, which it closes when it fails. It runs one
// command, which describes the host. Errors that the host causes are a
// *remote.ConnectError.
func New(ctx context.Context, dialer Dialer, settings Settings) (remote.Connection, error) {
	settings.Grace = cmp.Or(settings.Grace, 3*time.Second)
	settings.Linger = cmp.Or(settings.Linger, 2*time.Second)
	settings.Patience = cmp.Or(settings.Patience, 30*time.Second)
	settings.Channels = cmp.Or(settings.Channels, usualChannels)
	c := &connection{settings: settings, pool: newPool(dialer, settings), known: map[string]bool{}}
	c.files.connection = c
	if err := c.describe(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Info describes the host.
func (c *connection) Info() remote.Info { return c.info }

// Ended returns what [Dialer] says.
func (c *connection) Ended() <-chan struct{} { return c.pool.dialer.Ended() }

// Listen accepts connections of processes of the host.
func (c *connection) Listen(ctx context.Context) (net.Listener, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("listening at %s: %w", c.settings.Host, err)
	}
	return c.pool.dialer.Listen(ctx)
}

// Close ends the connection. Processes that need no connection run on.
func (c *connection) Close() error {
	err := c.pool.close()
	if !execution.ClosesWithin(c.pool.crew.gone(), c.settings.Grace+c.settings.Linger) {
		err = errors.Join(err, fmt.Errorf("closing the connection to %s: the output of a process is still being read", c.settings.Host))
	}
	return err
}

const descriptionScript = `printf '%s\n' "$(id -un)" "$(uname -n)" "$(uname -s)" "$(uname -m)" "$(uname -r)" ` +
	`"$(date +%z)" "${TZ-$(readlink /etc/localtime 2>/dev/null)}" "$HOME"; cd && pwd`

// descriptionLines is how many lines that prints.
const descriptionLines = 9

// describe runs the first command.
func (c *connection) describe(ctx context.Context) error {
	command := remote.Command{Arguments: []string{"/bin/sh", "-c", descriptionScript}, Directory: "/"}
	answer, err := c.run(ctx, command)
	if connect, isRefused := errors.AsType[*remote.ConnectError](err); isRefused && connect.Reason == remote.BadProtocol && ctx.Err() == nil {
		// Some gateways pass output on only when a command has ended.
		c.pool.oneShot = true
		var again error
		if answer, again = c.run(ctx, command); again != nil {
			return err
		}
		err = nil
	}
	if err != nil {
		return err
	}
	lines := strings.SplitN(answer.stdout, "\n", descriptionLines)
	if len(lines) < descriptionLines || answer.code != 0 {
		return c.pool.badProtocol(fmt.Sprintf("finding the user and host: exit code %d: %q", answer.code, answer.stderr))
	}
	home := lines[7]
	if !path.IsAbs(home) {
		home = strings.TrimSuffix(lines[8], "\n")
	}
	if !path.IsAbs(home) {
		return c.pool.badProtocol(fmt.Sprintf("the home directory %q is not an absolute path", home))
	}
	c.info = remote.Info{
		Transport: c.settings.Transport, User: lines[0], Host: lines[1], Home: path.Clean(home),
		System: strings.ToLower(lines[2]), Arch: lines[3], Version: lines[4],
		Zone: timezone.Name(lines[6], lines[5], time.Now()),
	}
	return nil
}

// answer is the result of a short command.
type answer struct {
	stdout, stderr string
	code           int
}

// answerLimit bounds what is kept of a short command's output.
const answerLimit = 2 << 20

// run runs a command whose output is short.
func (c *connection) run(ctx context.Context, command remote.Command) (answer, error) {
	var stdout, stderr limitedBuffer
	command.Stdout, command.Stderr = &stdout, &stderr
	process, err := c.Start(ctx, command)
	if err != nil {
		return answer{}, err
	}
	code, err := process.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return answer{stdout.String(), stderr.String(), code}, err
}

var errTooMuch = errors.New("the answer is too long")

type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(data []byte) (int, error) {
	if b.Len()+len(data) > answerLimit {
		return 0, errTooMuch
	}
	return b.Buffer.Write(data)
}

// absolute resolves a path relative to the home directory.
func (c *connection) absolute(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(c.info.Home, name)
}

// knows reports whether the same program was started before.
func (c *connection) knows(command remote.Command) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.known[programKey(command)]
}

func (c *connection) remember(command remote.Command) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.known) >= knownLimit {
		clear(c.known)
	}
	c.known[programKey(command)] = true
}

func programKey(command remote.Command) string {
	key := command.Arguments[0] + "\x00" + command.Environment["PATH"]
	if strings.Contains(command.Arguments[0], "/") {
		key += "\x00" + command.Directory
	}
	return key
}
