package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
)

// maxBannerBytes bounds the banners of a server.
const maxBannerBytes = 64 << 10

// attempt is one handshake: it checks the host's key and authenticates the user.
type attempt struct {
	settings      settings
	config        *ssh.ClientConfig
	wire          *wire
	limit         *patience
	hostKeys      hostKeys
	authenticator authenticator
	narrowed      knownHosts // the keys of the host, if only their algorithms are offered
	callbacks     sync.WaitGroup
	banners       int
	flood         bool
}

// prepare reads the files that a handshake needs, before it asks the user anything.
func prepare(limit *patience, options Options, s settings) (*attempt, error) {
	known, err := readKnownHosts(slices.Concat(s.userKnownHosts, s.globalKnownHosts))
	if err != nil {
		return nil, err
	}
	a := &attempt{
		settings: s, limit: limit,
		hostKeys: hostKeys{settings: s, known: known, limit: limit, prompter: options.Prompter, log: options.Log},
		authenticator: authenticator{
			settings: s, limit: limit, prompter: options.Prompter,
			banner: func(text string) {
				if options.Banner != nil {
					options.Banner(s.alias, text)
				}
			},
		},
	}
	a.config, err = a.configuration(known)
	return a, err
}

// handshake makes a connection of a wire, and closes the wire if that fails.
func (a *attempt) handshake(wire *wire) (*ssh.Client, error) {
	a.wire, a.authenticator.wire = wire, wire
	stop := context.AfterFunc(a.limit.ctx, func() { wire.Close() })
	connection, channels, requests, err := ssh.NewClientConn(wire, a.settings.address(), a.config)
	if err == nil && !stop() {
		connection.Close()
		err = context.Cause(a.limit.ctx)
	}
	a.callbacks.Wait()
	a.authenticator.stop()
	if err != nil {
		wire.Close()
		return nil, a.explain(err)
	}
	return ssh.NewClient(connection, channels, requests), nil
}

func (a *attempt) configuration(known knownHosts) (*ssh.ClientConfig, error) {
	names := a.settings.knownNames()
	supported, insecure := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	config := &ssh.ClientConfig{User: a.settings.user, ClientVersion: "SSH-2.0-rmctl"}
	hostKeyAlgorithms := []string{}
	for _, choice := range []struct {
		name           string
		configured     []string
		safe, insecure []string
		chosen         *[]string
	}{
		{"Ciphers", a.settings.ciphers, supported.Ciphers, insecure.Ciphers, &config.Ciphers},
		{"MACs", a.settings.macs, supported.MACs, insecure.MACs, &config.MACs},
		{"KexAlgorithms", a.settings.keyExchanges, supported.KeyExchanges, insecure.KeyExchanges, &config.KeyExchanges},
		{"HostKeyAlgorithms", a.settings.hostKeyAlgorithms, supported.HostKeys, insecure.HostKeys, &hostKeyAlgorithms},
	} {
		*choice.chosen = choice.safe
		if len(choice.configured) == 0 {
			continue
		}
		*choice.chosen = slices.DeleteFunc(slices.Clone(choice.configured), func(name string) bool {
			return !slices.Contains(choice.safe, name) && !slices.Contains(choice.insecure, name)
		})
		if len(*choice.chosen) == 0 {
			return nil, fmt.Errorf("%s in ssh_config names no algorithm that this transport supports: %s", choice.name, visible(strings.Join(choice.configured, ","), 300))
		}
	}
	config.HostKeyAlgorithms = known.algorithms(names, hostKeyAlgorithms)
	a.narrowed = known.about(names[0], "")
	if len(config.HostKeyAlgorithms) == 0 {
		return nil, fmt.Errorf("HostKeyAlgorithms in ssh_config excludes its keys in %s", a.narrowed[0].place())
	}
	config.HostKeyCallback = a.during(a.hostKeys.check)
	config.AuthCallback = a.authenticator.next
	config.BannerCallback = a.banner
	return config, nil
}

// during counts a running callback: x/crypto may end a handshake while the user is still
// being asked.
func (a *attempt) during(check ssh.HostKeyCallback) ssh.HostKeyCallback {
	return func(host string, from net.Addr, key ssh.PublicKey) error {
		a.callbacks.Add(1)
		defer a.callbacks.Done()
		return check(host, from, key)
	}
}

func (a *attempt) banner(text string) error {
	if a.banners += len(text) + 1; a.banners > maxBannerBytes {
		a.flood = true
		return errors.New("endless banner")
	}
	a.authenticator.banner(text)
	return nil
}

// explain turns the end of a handshake into a ConnectError.
func (a *attempt) explain(err error) error {
	var known *remote.ConnectError
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &known), errors.As(a.hostKeys.failure, &known):
		return known
	case a.limit.ctx.Err() != nil:
		return overtime(a.limit.ctx, a.settings)
	case a.hostKeys.failure != nil:
		return a.settings.failure(remote.UnknownHostKey, a.hostKeys.failure, "")
	case a.flood:
		return a.settings.failure(remote.BadProtocol, fmt.Errorf("the server sends a banner of more than %d bytes", maxBannerBytes), "")
	case errors.As(err, &negotiation):
		return a.explainNegotiation(negotiation)
	case a.authenticator.failure != nil:
		return a.settings.failure(remote.NotAuthenticated, a.authenticator.failure, "")
	}
	said := saidAtTheEnd(err)
	switch {
	case a.authenticator.started && (errors.Is(err, errNothingLeft) || said != ""):
		return a.authenticator.refused(said)
	case a.authenticator.started && a.wire.failure() != nil:
		return a.authenticator.refused("it closed the connection")
	}
	return a.explainUnauthenticated(err, said)
}

// explainNegotiation explains the end of a handshake without a common algorithm.
func (a *attempt) explainNegotiation(negotiation *ssh.AlgorithmNegotiationError) error {
	if strings.Contains(negotiation.What, "host key") && len(a.narrowed) > 0 {
		return a.hostKeys.refuseMissing(a.narrowed)
	}
	offered := visible(strings.Join(negotiation.RequestedAlgorithms, ", "), 500)
	return a.settings.failure(remote.BadProtocol, fmt.Errorf("no common %s: the server supports %s", negotiation.What, offered),
		"The server's SSH may be too old or too new for this transport; transport = \"openssh\" uses your own ssh program.")
}

// explainUnauthenticated explains the end of a handshake before the authentication. Said
// is the reason that the server gave, if any.
func (a *attempt) explainUnauthenticated(err error, said string) error {
	const wrongPort = "Check that the port belongs to an SSH server."
	address := a.settings.address()
	switch {
	case said != "":
		return a.settings.failure(remote.Refused, fmt.Errorf("%s ended the connection: %s", address, said), "")
	case a.wire.received.Load() == 0 && a.wire.failure() != nil:
		return a.silent()
	case isEnd(a.wire.failure()):
		return a.settings.failure(remote.BadProtocol, fmt.Errorf("%s closed the connection during the handshake", address), wrongPort)
	case strings.Contains(err.Error(), "overflow reading version string"):
		return a.settings.failure(remote.BadProtocol, fmt.Errorf("%s does not speak SSH", address), wrongPort)
	}
	return a.settings.failure(remote.BadProtocol, errors.New(visible(err.Error(), 500)), "")
}

// silent returns the error for a connection that ended without a byte.
func (a *attempt) silent() error {
	if a.wire.said == nil {
		return a.settings.failure(remote.Refused, fmt.Errorf("%s ended the connection at once", a.settings.address()),
			"Try again later: the server may have too many connections, or refuse this machine.")
	}
	err := errors.New("the ProxyCommand in ssh_config ended")
	if said := a.wire.said(); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return a.settings.failure(remote.Refused, err, "")
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// saidAtTheEnd returns the visible text of a server's disconnect message. The type of the
// error is private to x/crypto, which quotes the text.
func saidAtTheEnd(err error) string {
	const sign = "ssh: disconnect, reason "
	text := err.Error()
	start := strings.Index(text, sign)
	if start < 0 {
		return ""
	}
	_, said, _ := strings.Cut(text[start+len(sign):], ": ")
	return visible(strings.Trim(said, `"`), 300)
}
