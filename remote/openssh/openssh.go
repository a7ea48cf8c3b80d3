// Package openssh connects to hosts with the user's ssh program, for sites that need GSSAPI,
// hardware tokens, control masters or wrappers of ssh. A [remote.Prompter] answers its prompts.
package openssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// Time limits, without the time in which the user is asked.
const (
	defaultStartLimit = time.Minute
	queryLimit        = 20 * time.Second // ssh -G, which may run the commands of Match exec; ssh -O
	endGrace          = 2 * time.Second  // between SIGTERM and SIGKILL
)

// Options of a connection.
type Options struct {
	Host       string // as ssh knows it; a name of ssh_config or user@host
	ConfigFile string // instead of the user's ssh_config; the user's own if empty
	Program    string // ssh, or a wrapper that takes its options; "ssh" if empty
	// Prompter answers the questions of ssh. Without one ssh runs with BatchMode=yes,
	// and a connection that needs an answer fails.
	Prompter remote.Prompter
	// StateFolder is the parent of the private folder for sockets; the system's folder
	// for temporary files if empty, or if its path is too long for sockets.
	StateFolder string
	// StartLimit is how long ssh may take to open a connection or a channel, without
	// the time in which the user is asked; a minute if zero.
	StartLimit time.Duration
	Log        *slog.Logger // nil for none
}

// Connect connects to a host for commands and files. It uses a control master of
// the user's own that is alive, and leaves it alone afterwards; otherwise it starts
// one that ends with Close, or with this process. Where ssh cannot share connections,
// each channel is a connection that authenticates again.
//
// The error is a *remote.ConnectError if the host cannot be reached.
func Connect(ctx context.Context, options Options) (remote.Connection, error) {
	dialer, err := dial(ctx, options)
	if err != nil {
		return nil, err
	}
	return channel.New(ctx, dialer, channel.Settings{Transport: "openssh", Host: options.Host})
}

func dial(ctx context.Context, options Options) (channel.Dialer, error) {
	options.Program = cmp.Or(options.Program, "ssh")
	options.StartLimit = cmp.Or(options.StartLimit, defaultStartLimit)
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	bad := func(err error) (channel.Dialer, error) {
		return nil, &remote.ConnectError{Host: options.Host, Reason: remote.BadConfiguration, Err: err}
	}
	if err := checkHost(options.Host); err != nil {
		return bad(err)
	}
	program, err := exec.LookPath(options.Program)
	if err != nil {
		return bad(fmt.Errorf("finding the ssh program: %w", err))
	}
	options.Program = program
	folder, err := makeFolder(options.StateFolder)
	if err != nil {
		return nil, err
	}
	d := &dialer{options: options, folder: folder, open: map[*invocation]struct{}{}}
	if err := d.connect(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// checkHost refuses options and invalid names.
func checkHost(host string) error {
	switch {
	case host == "":
		return errors.New("no host given")
	case strings.HasPrefix(host, "-"):
		return fmt.Errorf("the host name %q begins with a dash", host)
	case strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("the host name %q contains a space or control character", host)
	}
	return nil
}

// way is how channels reach the host.
type way int

const (
	throughOwnMaster way = iota
	throughUsersMaster
	directly // each channel is a connection of its own
)

// dialer opens channels; each is an ssh process.
type dialer struct {
	options  Options
	settings settings
	folder   string // private; holds the socket of the master and the pipes for messages
	way      way

	master        *invocation   // set with throughOwnMaster
	masterSays    *os.File      // our end of its standard error stream
	masterErrors  *tail         // the end of it
	masterDrained chan struct{} // closed at the end of it

	mutex  sync.Mutex
	closed bool
	open   map[*invocation]struct{} // all that were started and have not ended, the master too
	made   int                      // processes and sockets, for their names

	listeners []*execution.Listener // some may have ended
	following sync.WaitGroup        // goroutines that follow listeners

	closeOnce sync.Once
	closeErr  error
}

var _ channel.Dialer = (*dialer)(nil)

// connect reads the settings of ssh, and chooses the best way.
func (d *dialer) connect(ctx context.Context) error {
	var err error
	if d.settings, err = d.readSettings(ctx); err != nil {
		return err
	}
	if d.settings.hasControlPath() && d.masterAnswers(ctx, throughUsersMaster) {
		d.options.Log.Debug("using the user's own control master", "host", d.options.Host)
		d.way = throughUsersMaster
		return nil
	}
	d.way = throughOwnMaster
	err = d.startMaster(ctx)
	if errors.Is(err, errNoMultiplexing) {
		d.options.Log.Info("ssh cannot share a connection: each command opens one", "host", d.options.Host, "reason", err)
		d.way = directly
		return nil
	}
	return err
}

// Ended returns a channel that is closed once our master has ended, and with it the
// connection. It is nil for a master of the user, whose end cannot be noticed.
func (d *dialer) Ended() <-chan struct{} {
	if d.way != throughOwnMaster {
		return nil
	}
	return d.master.ended
}

// Close ends the connection, all its processes, and removes its sockets.
func (d *dialer) Close() error {
	d.closeOnce.Do(func() {
		d.mutex.Lock()
		d.closed = true
		open, listeners := slices.Collect(maps.Keys(d.open)), d.listeners
		d.mutex.Unlock()
		for _, listener := range listeners {
			_ = listener.End(d.lost(errClosed)) // its own Close returns the error
		}
		// Close has no context of the caller.
		ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
		defer cancel()
		var ending sync.WaitGroup
		for _, p := range open {
			ending.Go(p.end)
		}
		ending.Wait()
		d.following.Wait()
		// Signals may not reach a master that a wrapper has started.
		if _, err := os.Lstat(d.socket()); err == nil {
			_, _, _ = d.query(ctx, d.endMasterArguments()) // masterAnswers shows whether it has ended
			if d.masterAnswers(ctx, throughOwnMaster) {
				d.closeErr = fmt.Errorf("ending the connection to %s: its control master is still running", d.options.Host)
			}
		}
		d.closeErr = errors.Join(d.closeErr, os.RemoveAll(d.folder))
	})
	return d.closeErr
}

// forget removes a process that has ended.
func (d *dialer) forget(p *invocation) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.open, p)
}

var errClosed = errors.New("it was closed")

func (d *dialer) isClosed() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.closed
}
