package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
)

// Causes that differ on the way to a ConnectError.
var (
	errNoAnswer     = errors.New("no answer in time")
	errTooManyJumps = fmt.Errorf("more than %d jump hosts in a row: check ProxyJump in ssh_config for a loop", maxJumps)
)

// failure returns a ConnectError for the host.
func (s settings) failure(reason remote.ConnectReason, err error, help string) error {
	return &remote.ConnectError{Host: s.alias, Reason: reason, Err: err, Help: help}
}

func badConfiguration(host string, err error) error {
	return &remote.ConnectError{Host: host, Reason: remote.BadConfiguration, Err: err}
}

// throughJump returns the error for a host whose jump host cannot be reached.
func throughJump(host string, jump destination, err error) error {
	failure, isKnown := errors.AsType[*remote.ConnectError](err)
	if !isKnown {
		return badConfiguration(host, err)
	}
	if errors.Is(err, errTooManyJumps) {
		return badConfiguration(host, errTooManyJumps)
	}
	return &remote.ConnectError{
		Host: host, Reason: failure.Reason, Help: failure.Help,
		Err: fmt.Errorf("its jump host %s: %w", jump.host, failure.Err),
	}
}

// explainRoute turns an error of openWire into a ConnectError.
func explainRoute(ctx context.Context, s settings, err error) error {
	var lookup *net.DNSError
	var rejected *ssh.OpenChannelError
	switch {
	case ctx.Err() != nil:
		return overtime(ctx, s)
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return s.failure(remote.UnknownHost, fmt.Errorf("there is no host %s: %w", s.host, withoutName(lookup)), "Check the name, and HostName in ssh_config.")
	case errors.As(err, &lookup):
		return s.failure(remote.UnknownHost, fmt.Errorf("looking up %s: %w", s.host, withoutName(lookup)), "Check the network connection of this machine.")
	case errors.Is(err, syscall.ECONNREFUSED):
		return s.failure(remote.Refused, fmt.Errorf("%s: %w", s.address(), syscall.ECONNREFUSED), "Check that an SSH server listens on that port.")
	case errors.As(err, &rejected):
		does := "does not reach"
		if rejected.Reason == ssh.Prohibited {
			does = "may not forward to"
		}
		return s.failure(remote.Refused, fmt.Errorf("its jump host %s %s: %s", does, s.address(), visible(rejected.Message, 300)),
			"Check that the jump host knows the address and allows forwarding (AllowTcpForwarding).")
	case isTimeout(err):
		return s.failure(remote.NoAnswer, err, "Check firewalls and your VPN.")
	}
	return s.failure(remote.Refused, err, "")
}

// overtime returns the error for a context that was done before the connection was made.
func overtime(ctx context.Context, s settings) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, errNoAnswer) {
		return s.failure(remote.NoAnswer, cause, "")
	}
	return s.failure(remote.NoAnswer, fmt.Errorf("%s gave no answer within %s", s.address(), s.connectTimeout),
		"Check firewalls and your VPN. ConnectTimeout in ssh_config sets the time limit.")
}

func isTimeout(err error) bool {
	network, isNetwork := errors.AsType[net.Error](err)
	return isNetwork && network.Timeout() || errors.Is(err, syscall.ETIMEDOUT)
}

// withoutName is the error of a lookup without the name, which the message has already.
func withoutName(lookup *net.DNSError) error { return errors.New(lookup.Err) }

// address is the network address of a host for messages.
func (s settings) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// visible makes a text of the other side safe to show: of bounded length, on one line,
// with control characters escaped.
func visible(text string, limit int) string {
	var shown strings.Builder
	for position := 0; position < len(text); {
		if shown.Len() >= limit {
			shown.WriteString("…")
			break
		}
		char, size := utf8.DecodeRuneInString(text[position:])
		switch {
		case char == utf8.RuneError && size == 1:
			fmt.Fprintf(&shown, `\x%02x`, text[position])
		case unicode.IsPrint(char):
			shown.WriteRune(char)
		default:
			quoted := strconv.QuoteRune(char)
			shown.WriteString(quoted[1 : len(quoted)-1])
		}
		position += size
	}
	return shown.String()
}
