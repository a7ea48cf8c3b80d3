package openssh

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// verdicts are the messages of OpenSSH when it fails, with those of the system that it
// quotes. The first match counts: a changed host key is also a failed verification, and
// one address may refuse after another one has timed out.
var verdicts = []struct {
	pattern *lazyregexp.Regexp
	reason  remote.ConnectReason
}{
	{lazyregexp.New(`REMOTE HOST IDENTIFICATION HAS CHANGED|(?m)^Host key for .* has changed|^Offending .* key in `), remote.ChangedHostKey},
	{lazyregexp.New(`host key is known for|Host key verification failed|REVOKED HOST KEY DETECTED|Certificate invalid: `), remote.UnknownHostKey},
	{lazyregexp.New(`Could not resolve hostname`), remote.UnknownHost},
	{lazyregexp.New(`Bad configuration option|terminating, \d+ bad configuration|Can't open user config file|Bad owner or permissions on|` +
		`[Bb]ad configuration|(?m)^/.* line \d+: |^command-line line \d+: |hostname contains invalid characters|` +
		`unknown option -- |illegal option -- |Cannot execute command-line and remote command`), remote.BadConfiguration},
	{lazyregexp.New(`connect to (host|address) .*: (Connection|Operation) timed out|(?m)^Connection (to .* )?timed out|Connection timed out during banner exchange|connect to .*: Timeout`), remote.NoAnswer},
	{lazyregexp.New(`connect to (host|address) .*: `), remote.Refused},
	{lazyregexp.New(`Permission denied \(|Permission denied, please|Too many authentication failures|No more authentication methods|` +
		`Authentication failed|Unable to authenticate|no authentication methods enabled`), remote.NotAuthenticated},
	{lazyregexp.New(`Unable to negotiate|Protocol mismatch|Bad packet length|Corrupted MAC|message authentication code incorrect|` +
		`invalid characters|Bad remote protocol version|Protocol major versions differ|padding error|protocol error`), remote.BadProtocol},
	{lazyregexp.New(`Timeout, server .* not responding|Connection (to .* )?closed|Connection (reset|aborted)|Broken pipe|` +
		`Read from remote host|client_loop: |ssh_exchange_identification|kex_exchange_identification|Control socket|Disconnected from|Received disconnect`), remote.Disconnected},
}

var subsystemRefused = lazyregexp.New(`subsystem request failed on channel`)

// ssh itself continues without.
var x11Refused = lazyregexp.New(`X11 forwarding request failed on channel`)

var tooManyChannels = lazyregexp.New(`Session open refused by peer|channel \d+: open failed: (resource shortage|administratively prohibited)`)

// classify returns the reason in a text of ssh, or nothing.
func classify(text string) remote.ConnectReason {
	for _, verdict := range verdicts {
		if verdict.pattern.MatchString(text) {
			return verdict.reason
		}
	}
	return ""
}

// help is advice for reasons that the messages of ssh do not explain.
var help = map[remote.ConnectReason]string{
	remote.UnknownHostKey: "Connect once with ssh on a terminal, compare the fingerprint of the host's key with one from a trusted source, and accept it.",
	remote.ChangedHostKey: "Somebody may be listening in, or the host got a new key. Ask who runs it; if the new key is right, remove the old one from known_hosts with ssh-keygen -R.",
}

func (d *dialer) failure(reason remote.ConnectReason, err error) error {
	return &remote.ConnectError{Host: d.options.Host, Reason: reason, Help: help[reason], Err: err}
}

func (d *dialer) lost(err error) error { return d.failure(remote.Disconnected, err) }

func (d *dialer) noAnswer() error {
	return d.failure(remote.NoAnswer, fmt.Errorf("%w: %s", errStartLimit, d.options.StartLimit))
}

// lastLines makes an error of the last lines of a text of ssh.
func lastLines(text string) error {
	const mostLines = 10
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-mostLines):]
	if len(lines) == 0 {
		return errors.New("ssh does not say why")
	}
	return errors.New(strings.Join(lines, "\n"))
}

// viaAnotherHost matches the message of ssh when its ProxyCommand has ended, such as the ssh
// to a jump host, whose messages go to the standard error stream.
var viaAnotherHost = lazyregexp.New(`UNKNOWN port 65535`)

// explain returns why ssh ended too early. Its standard error stream counts only if its
// messages give no reason, because a server can write to that stream.
func (d *dialer) explain(p *invocation, stderr string) error {
	if p.conversation != nil && p.conversation.err != nil {
		return p.conversation.err
	}
	own := p.messages.text.String()
	if tooManyChannels.MatchString(own) {
		return fmt.Errorf("opening a channel to %s: %w: %w", d.options.Host, channel.ErrTooManyChannels, lastLines(own))
	}
	texts := []string{own, stderr}
	if viaAnotherHost.MatchString(own) {
		texts = []string{stderr, own}
	}
	for _, text := range texts {
		if reason := classify(text); reason != "" {
			return d.failure(reason, lastLines(text))
		}
	}
	err := fmt.Errorf("ssh ended with exit code %d: %w", p.code, lastLines(own+stderr))
	if p.code != 255 {
		// It is the code of all its failures, so this is a wrapper's.
		return d.failure(remote.BadConfiguration, err)
	}
	return d.lost(err)
}
