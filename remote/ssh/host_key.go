package ssh

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
)

// hostKeys decides whether to trust the key of a server.
type hostKeys struct {
	settings settings
	known    knownHosts
	limit    *patience
	prompter remote.Prompter
	log      *slog.Logger
	trusted  ssh.PublicKey // once decided; the key of later exchanges must be the same
	failure  error
}

// check is the callback of x/crypto for each key exchange. The first decision holds for
// the connection.
func (h *hostKeys) check(_ string, _ net.Addr, key ssh.PublicKey) error {
	if h.trusted != nil {
		if !sameKey(h.trusted, key) {
			return fmt.Errorf("the server changed its host key during the connection")
		}
		return nil
	}
	if h.failure = h.judge(key); h.failure == nil {
		h.trusted = key
	}
	return h.failure
}

// judge returns nil for a trusted key.
func (h *hostKeys) judge(key ssh.PublicKey) error {
	names := h.settings.knownNames()
	if certificate, certified := key.(*ssh.Certificate); certified {
		for _, part := range []ssh.PublicKey{certificate.Key, certificate.SignatureKey} {
			if line, found := h.known.revoked(part); found {
				return h.refuseRevoked(part, line)
			}
		}
		err := h.checkCertificate(certificate, names)
		if err == nil {
			return nil
		}
		h.log.Debug("the certificate of the host key does not count", "host", h.settings.alias, "reason", err)
		key = certificate.Key
	}
	if line, found := h.known.revoked(key); found {
		return h.refuseRevoked(key, line)
	}
	lines := h.known.about(names[0], "")
	for _, name := range names {
		for _, line := range h.known.about(name, "") {
			if sameKey(line.key, key) {
				return nil
			}
		}
	}
	if len(lines) > 0 {
		return h.refuseChanged(key, lines)
	}
	return h.meet(key, names[0])
}

// checkCertificate checks that an authority of known_hosts vouches for the key.
func (h *hostKeys) checkCertificate(certificate *ssh.Certificate, names []string) error {
	checker := ssh.CertChecker{
		IsHostAuthority: func(key ssh.PublicKey, _ string) bool { return h.known.isAuthority(names, key) },
	}
	host := cmp.Or(h.settings.hostKeyAlias, h.settings.host)
	return checker.CheckHostKey(net.JoinHostPort(strings.ToLower(host), strconv.Itoa(h.settings.port)), nil, certificate)
}

// meet decides about a key that is not in known_hosts.
func (h *hostKeys) meet(key ssh.PublicKey, name string) error {
	switch h.settings.strictHostKeyCheck {
	case "accept-new", "no":
	case "ask":
		if h.prompter == nil || h.settings.batch {
			return h.refuseUnknown(key, "nobody can confirm it")
		}
		accepted, err := h.ask(key)
		if errors.Is(err, remote.ErrNobodyToAsk) {
			return h.refuseUnknown(key, "nobody can confirm it")
		}
		if err != nil {
			return fmt.Errorf("asking about the host key of %s: %w", h.settings.alias, err)
		}
		if !accepted {
			return h.refuseUnknown(key, "it was not accepted")
		}
	default:
		return h.refuseUnknown(key, "StrictHostKeyChecking requires a known key")
	}
	if len(h.settings.userKnownHosts) == 0 {
		return nil
	}
	if err := remember(h.settings.userKnownHosts[0], name, h.settings.hashKnownHosts, key); err != nil {
		h.log.Warn("the key will be asked about again", "host", h.settings.alias, "error", err)
	}
	return nil
}

// ask shows a key to the user. Both yes and the fingerprint accept it.
func (h *hostKeys) ask(key ssh.PublicKey) (accepted bool, err error) {
	fingerprint := ssh.FingerprintSHA256(key)
	text := fmt.Sprintf("The host %s (%s) is not in known_hosts yet.\nIts %s key has the fingerprint %s\nCompare it with the one that the site publishes. Trust this key from now on (yes, no or the fingerprint)? ",
		h.settings.alias, h.settings.address(), keyKind(key), fingerprint)
	err = h.limit.asking(func() error {
		const tries = 3
		for range tries {
			answer, err := h.prompter.Ask(h.limit.ctx, remote.Question{Host: h.settings.alias, Text: text})
			if err != nil {
				return err
			}
			switch answer = strings.TrimSpace(answer); {
			case strings.EqualFold(answer, "yes") || answer == fingerprint:
				accepted = true
				return nil
			case strings.EqualFold(answer, "no"):
				return nil
			}
			text = "Please answer yes, no or the fingerprint as the site gives it: "
		}
		return nil
	})
	return accepted, err
}

func (h *hostKeys) refuseUnknown(key ssh.PublicKey, why string) error {
	port := strconv.Itoa(h.settings.port)
	file := "~/.ssh/known_hosts"
	if len(h.settings.userKnownHosts) > 0 {
		file = h.settings.userKnownHosts[0]
	}
	scan := shellescape.QuoteCommand([]string{"ssh-keyscan", "-p", port, h.settings.host})
	return h.settings.failure(remote.UnknownHostKey,
		fmt.Errorf("its %s key %s is not in known_hosts, and %s", keyKind(key), ssh.FingerprintSHA256(key), why),
		fmt.Sprintf("Compare the fingerprint with the one that the site publishes. To show it again:\n  %s | ssh-keygen -lf -\nIf it matches, add the output of the first command to %s.",
			scan, shellescape.Quote(file)))
}

func (h *hostKeys) refuseChanged(key ssh.PublicKey, lines knownHosts) error {
	line := lines[0]
	for _, candidate := range lines {
		if candidate.key.Type() == key.Type() {
			line = candidate
			break
		}
	}
	return h.settings.failure(remote.ChangedHostKey,
		fmt.Errorf("its host key has changed: the server shows the %s key %s, but %s has %s",
			keyKind(key), ssh.FingerprintSHA256(key), line.place(), ssh.FingerprintSHA256(line.key)),
		h.changedHelp(line))
}

// refuseMissing reports that a server has none of the kinds of key that
// known_hosts has for it.
func (h *hostKeys) refuseMissing(lines knownHosts) error {
	return h.settings.failure(remote.ChangedHostKey,
		fmt.Errorf("its host key has changed: the server no longer has a key of the kind that %s has (%s %s)",
			lines[0].place(), keyKind(lines[0].key), ssh.FingerprintSHA256(lines[0].key)),
		h.changedHelp(lines[0]))
}

func (h *hostKeys) changedHelp(line knownLine) string {
	remove := shellescape.QuoteCommand([]string{"ssh-keygen", "-R", h.settings.knownNames()[0], "-f", line.file})
	return "Either the host was reinstalled, or somebody intercepts the connection. Ask the site.\n" +
		"If the new key is correct, remove the old one and connect again:\n  " + remove
}

func (h *hostKeys) refuseRevoked(key ssh.PublicKey, line knownLine) error {
	return h.settings.failure(remote.ChangedHostKey,
		fmt.Errorf("its %s key %s is revoked by %s", keyKind(key), ssh.FingerprintSHA256(key), line.place()),
		"Ask the site: somebody else may have this key.")
}

// keyKind is what people call a type of key.
func keyKind(key ssh.PublicKey) string {
	switch key.Type() {
	case ssh.KeyAlgoED25519:
		return "ED25519"
	case ssh.KeyAlgoRSA:
		return "RSA"
	case ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return "ECDSA"
	}
	return key.Type()
}
