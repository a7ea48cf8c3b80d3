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

// Causes that are told apart on the way to a ConnectError.
var (
	errNoAnswer     = errors.New("no answer in time")
	errTooManyJumps = fmt.Errorf("there are more than %d jump hosts one behind the other; does ProxyJump of ssh_config lead in a circle?", maxJumps)
)

func badConfiguration(host string, err error) error {
	return &remote.ConnectError{Host: host, Reason: remote.BadConfiguration, Err: err}
}

// throughJump tells that a place was not reached because its jump host was not.
func throughJump(host string, jump destination, err error) error {
	var failure *remote.ConnectError
	if !errors.As(err, &failure) {
		return badConfiguration(host, err)
	}
	if errors.Is(err, errTooManyJumps) {
		return badConfiguration(host, errTooManyJumps)
	}
	return &remote.ConnectError{
		Host: host, Reason: failure.Reason, Help: failure.Help,
		Err: fmt.Errorf("its jump host %s: %w", hostOf(jump.host), failure.Err),
	}
}

// explainRoute turns what stopped the way to a host into a ConnectError.
func explainRoute(ctx context.Context, s settings, err error) error {
	failure := &remote.ConnectError{Host: s.alias, Err: err}
	var lookup *net.DNSError
	var rejected *ssh.OpenChannelError
	switch {
	case ctx.Err() != nil:
		return overtime(ctx, s)
	case errors.As(err, &lookup) && lookup.IsNotFound:
		failure.Reason = remote.UnknownHost
		failure.Err = fmt.Errorf("there is no host %s: %w", s.host, withoutName(lookup))
		failure.Help = "Check the name, and HostName in ssh_config."
	case errors.As(err, &lookup):
		failure.Reason = remote.UnknownHost
		failure.Err = fmt.Errorf("looking up %s: %w", s.host, withoutName(lookup))
		failure.Help = "Is this machine on the network?"
	case errors.Is(err, syscall.ECONNREFUSED):
		failure.Reason = remote.Refused
		failure.Err = fmt.Errorf("%s refuses it: %w", s.address(), syscall.ECONNREFUSED)
		failure.Help = "Does an SSH server run there, on that port?"
	case errors.As(err, &rejected):
		failure.Reason = remote.Refused
		failure.Err = fmt.Errorf("its jump host does not reach %s: %s", s.address(), visible(rejected.Message, 300))
		failure.Help = "The address is one that the jump host has to know, and its server must allow forwarding (AllowTcpForwarding)."
		if rejected.Reason == ssh.Prohibited {
			failure.Err = fmt.Errorf("its jump host may not forward to %s: %s", s.address(), visible(rejected.Message, 300))
		}
	case isTimeout(err):
		failure.Reason = remote.NoAnswer
		failure.Help = "Is a firewall in the way, or a VPN off?"
	default:
		failure.Reason = remote.Refused
	}
	return failure
}

// overtime tells that the context ended before the connection was made.
func overtime(ctx context.Context, s settings) error {
	cause := context.Cause(ctx)
	failure := &remote.ConnectError{Host: s.alias, Reason: remote.NoAnswer, Err: cause}
	if errors.Is(cause, errNoAnswer) {
		failure.Err = fmt.Errorf("%s gave no answer within %s", s.address(), s.connectTimeout)
		failure.Help = "Is a firewall in the way, or a VPN off? ConnectTimeout in ssh_config sets how long to wait."
	}
	return failure
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || errors.Is(err, syscall.ETIMEDOUT)
}

// withoutName is the error of a lookup without the name, which is told beside it.
func withoutName(lookup *net.DNSError) error { return errors.New(lookup.Err) }

// address is where a host is in the network, for people.
func (s settings) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// visible is a text of the other side as it may be shown: of bounded length,
// on one line, with everything that would move a cursor or change a colour
// spelled out.
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
