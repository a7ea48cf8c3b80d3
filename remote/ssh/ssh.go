// Package ssh connects to hosts with golang.org/x/crypto/ssh. It reads ssh_config, keys, agents
// and known_hosts as OpenSSH does.
//
// It lacks GSSAPI, hardware keys outside an agent, and ControlPath. Package openssh has them.
package ssh

import (
	"context"
	"log/slog"
	"time"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// Options of a connection.
type Options struct {
	// Host is the host as ssh_config knows it, and may be user@host or
	// ssh://user@host:port.
	Host string
	// ConfigFile is read instead of the user's and the machine's ssh_config.
	ConfigFile string
	// Program is the ssh program that reads ssh_config: a name or path, "ssh" if
	// empty. If it is missing or "none", this package reads the files, with less
	// support for Match.
	Program string
	// Prompter answers questions about passwords, passphrases and unknown host
	// keys; nil without a user.
	Prompter remote.Prompter
	// Banner gets the banners of servers. It has to escape control characters. May
	// be nil.
	Banner func(host, text string)
	// Log gets what is tried, but no secrets; may be nil.
	Log *slog.Logger
}

var _ channel.Dialer = (*dialer)(nil)

// Connect connects to a host and authenticates the user. Errors are
// *remote.ConnectError. ConnectTimeout of ssh_config bounds the time that the host
// may take, 15 seconds by default; the time for questions to the user does not count.
func Connect(ctx context.Context, options Options) (remote.Connection, error) {
	dialed, err := dial(ctx, options)
	if err != nil {
		return nil, err
	}
	return channel.New(ctx, dialed, channel.Settings{Transport: "ssh", Host: dialed.settings.alias})
}

// dial connects to a host.
func dial(ctx context.Context, options Options) (*dialer, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	to := parseDestination(options.Host, false)
	if err := checkHost(options.Host); err != nil {
		return nil, badConfiguration(to.host, err)
	}
	return dialDestination(ctx, options, to, "", 0)
}

// maxJumps bounds a chain of jump hosts, which may lead in a circle.
const maxJumps = 8

// dialDestination connects to a destination. Jumps, if not empty, replace those that
// ssh_config has for it.
func dialDestination(ctx context.Context, options Options, to destination, jumps string, depth int) (*dialer, error) {
	if depth > maxJumps {
		return nil, badConfiguration(to.host, errTooManyJumps)
	}
	s, err := readSettings(ctx, options, to)
	if err != nil {
		return nil, badConfiguration(to.host, err)
	}
	if jumps != "" {
		s.proxyJump, s.proxyCommand = jumps, ""
	}
	options.Log.Debug("connecting", "host", to.host, "address", s.address(), "user", s.user, "jump", s.proxyJump)

	var through *dialer
	if s.proxyJump != "" {
		before, last, err := lastJump(s.proxyJump)
		if err != nil {
			return nil, badConfiguration(to.host, err)
		}
		if through, err = dialDestination(ctx, options, last, before, depth+1); err != nil {
			return nil, throughJump(to.host, last, err)
		}
	}
	client, err := dialThrough(ctx, options, s, through)
	if err != nil && through != nil {
		through.Close()
	}
	return client, err
}

// dialThrough makes a connection to a host, through the one to its jump host
// if that is not nil.
func dialThrough(ctx context.Context, options Options, s settings, through *dialer) (*dialer, error) {
	limit := newPatience(ctx, s.connectTimeout)
	defer limit.stop()
	attempt, err := prepare(limit, options, s)
	if err != nil {
		return nil, badConfiguration(s.alias, err)
	}
	wire, err := openWire(limit.ctx, s, through)
	if err != nil {
		return nil, explainRoute(limit.ctx, s, err)
	}
	connected, err := attempt.handshake(wire)
	if err != nil {
		return nil, err
	}
	return newDialer(options, s, wire, through, connected), nil
}

// patience limits the time that a host may take, without the time in which the user is
// asked.
type patience struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
}

func newPatience(ctx context.Context, limit time.Duration) *patience {
	ctx, cancel := context.WithCancelCause(ctx)
	return &patience{
		ctx: ctx, cancel: cancel, limit: limit,
		timer: time.AfterFunc(limit, func() { cancel(errNoAnswer) }),
	}
}

// asking stops the clock while the user is asked. Afterwards the host has its whole time
// again, as it can only then go on.
func (p *patience) asking(ask func() error) error {
	if !p.timer.Stop() {
		<-p.ctx.Done()
		return context.Cause(p.ctx)
	}
	defer p.timer.Reset(p.limit)
	return ask()
}

func (p *patience) stop() {
	p.timer.Stop()
	p.cancel(nil)
}
