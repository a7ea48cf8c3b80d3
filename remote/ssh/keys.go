package ssh

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// candidate is a key to authenticate with.
type candidate struct {
	name    string // for people
	signer  ssh.Signer
	prepare func() (ssh.Signer, error) // instead of signer, for a file that does not show its public key
}

// identity is a key of ssh_config's IdentityFile. It may have only the public half, if an
// agent holds the private one.
type identity struct {
	path         string
	public       ssh.PublicKey // nil if it is not known before the passphrase is
	certificates []*ssh.Certificate
	private      func() (ssh.Signer, error) // may be nil; may prompt for the passphrase
}

const maxKeyBytes = 1 << 20

// readIdentity reads a key file. Notes say why a key cannot be used.
func (a *authenticator) readIdentity(path string) (id identity, found bool) {
	id.path = path
	content, err := readKeyFile(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) || !slices.Contains(defaultIdentities, filepath.Base(path)) {
			a.note("key %s: %s", path, reasonOf(err))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return identity{}, false
		}
		id.public = readPublicKey(path + ".pub")
		id.certificates = a.certificatesFor(id)
		return id, id.public != nil
	}
	if id.public, _, _, _, err = ssh.ParseAuthorizedKey(content); err == nil {
		id.certificates = a.certificatesFor(id)
		return id, true // a public key only
	}
	signer, err := ssh.ParsePrivateKey(content)
	var locked *ssh.PassphraseMissingError
	switch {
	case err == nil:
		id.public = signer.PublicKey()
		id.private = func() (ssh.Signer, error) { return signer, nil }
	case errors.As(err, &locked):
		id.public = locked.PublicKey
		if id.public == nil {
			id.public = readPublicKey(path + ".pub")
		}
		id.private = func() (ssh.Signer, error) { return a.unlock(path, content) }
	default:
		a.note("key %s: %s", path, visible(err.Error(), 200))
		a.hardware = a.hardware || bytes.Contains(content, []byte("OPENSSH PRIVATE KEY"))
		return identity{}, false
	}
	id.certificates = a.certificatesFor(id)
	return id, true
}

// readKeyFile reads a file that only its owner may read, as OpenSSH demands of
// private keys.
func readKeyFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxKeyBytes))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if bytes.Contains(content, []byte("PRIVATE KEY")) && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others can read it (mode %04o): run chmod 600", info.Mode().Perm())
	}
	return content, nil
}

func readPublicKey(path string) ssh.PublicKey {
	content, err := readKeyFile(path)
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(content)
	if err != nil {
		return nil
	}
	return key
}

// certificatesFor returns the certificates of a key: those of CertificateFile
// and the one next to it.
func (a *authenticator) certificatesFor(id identity) []*ssh.Certificate {
	if id.public == nil {
		return nil
	}
	var certificates []*ssh.Certificate
	for _, path := range append(slices.Clone(a.settings.certificateFiles), id.path+"-cert.pub") {
		certificate, isOne := readPublicKey(path).(*ssh.Certificate)
		if isOne && certificate.CertType == ssh.UserCert && sameKey(certificate.Key, id.public) {
			certificates = append(certificates, certificate)
		}
	}
	return certificates
}

// unlock asks for the passphrase of a key.
func (a *authenticator) unlock(path string, content []byte) (ssh.Signer, error) {
	for range a.settings.passwordPrompts {
		passphrase, err := a.ask(fmt.Sprintf("Passphrase of the key %s: ", path), true)
		if err != nil {
			return nil, err
		}
		signer, err := ssh.ParsePrivateKeyWithPassphrase(content, []byte(passphrase))
		if errors.Is(err, x509.IncorrectPasswordError) {
			continue
		}
		return signer, err
	}
	return nil, errors.New("wrong passphrase")
}

// candidates returns the keys in the order in which OpenSSH tries them: those
// of ssh_config that the agent holds, the others of the agent, those of files.
func (a *authenticator) candidates() []candidate {
	held := a.agentSigners()
	used := make([]bool, len(held))
	var first, others, last []candidate
	for _, path := range a.settings.identityFiles {
		id, found := a.readIdentity(path)
		if !found {
			continue
		}
		index := slices.IndexFunc(held, func(signer ssh.Signer) bool { return id.public != nil && sameKey(signer.PublicKey(), id.public) })
		switch {
		case index >= 0:
			used[index] = true
			first = append(first, a.withCertificates("agent key "+path, id, held[index])...)
		case id.private == nil:
			a.note("key %s: the private key is neither there nor in the agent", path)
		case id.public == nil:
			last = append(last, candidate{name: "key " + path, prepare: id.private})
		default:
			last = append(last, a.withCertificates("key "+path, id, &keySigner{public: id.public, kinds: a.settings.publicKeyKinds, private: id.private, failed: a.signingFailed})...)
		}
	}
	for index, signer := range held {
		if !used[index] && !a.settings.identitiesOnly {
			others = append(others, candidate{name: "agent key " + ssh.FingerprintSHA256(signer.PublicKey()), signer: signer})
		}
	}
	return slices.Concat(first, others, last)
}

// withCertificates puts the certificates of a key before the key.
func (a *authenticator) withCertificates(name string, id identity, signer ssh.Signer) []candidate {
	var all []candidate
	for _, certificate := range id.certificates {
		certified, err := ssh.NewCertSigner(certificate, signer)
		if err != nil {
			a.note("certificate of %s: %s", name, visible(err.Error(), 200))
			continue
		}
		all = append(all, candidate{name: "certificate of " + name, signer: certified})
	}
	return append(all, candidate{name: name, signer: signer})
}

// agentSigners returns the keys that the agent holds.
func (a *authenticator) agentSigners() []ssh.Signer {
	socket := a.settings.identityAgent
	if socket == "" {
		return nil
	}
	var dialer net.Dialer
	connection, err := dialer.DialContext(a.limit.ctx, "unix", socket)
	if err != nil {
		a.note("agent: %s", reasonOf(err))
		return nil
	}
	// An agent that hangs is left when the connection is given up.
	stop := context.AfterFunc(a.limit.ctx, func() { connection.Close() })
	a.closeAgent = func() {
		stop()
		connection.Close()
	}
	signers, err := agent.NewClient(connection).Signers()
	if err != nil {
		a.note("agent: %s", visible(err.Error(), 200))
		return nil
	}
	if len(signers) == 0 {
		a.note("agent: holds no keys")
	}
	wrapped := make([]ssh.Signer, 0, len(signers))
	for _, signer := range signers {
		wrapped = append(wrapped, &keySigner{
			public: signer.PublicKey(), kinds: a.settings.publicKeyKinds,
			private: func() (ssh.Signer, error) { return signer, nil },
			// The agent may ask its user before it signs.
			during: a.limit.asking,
			failed: a.signingFailed,
		})
	}
	return wrapped
}

// keySigner signs with a key that it fetches or unlocks only when the server accepts it.
type keySigner struct {
	public  ssh.PublicKey
	kinds   []string // signature algorithms that may be used; nil for all
	private func() (ssh.Signer, error)
	during  func(func() error) error // nil to sign at once
	failed  func(error)              // gets why signing failed, which x/crypto keeps to itself while there is more to try
}

// PublicKey returns the public half.
func (k *keySigner) PublicKey() ssh.PublicKey { return k.public }

// Algorithms returns the signature algorithms, the best first.
func (k *keySigner) Algorithms() []string {
	kind := k.public.Type()
	if certificate, isOne := k.public.(*ssh.Certificate); isOne {
		kind = certificate.Key.Type()
	}
	if kind != ssh.KeyAlgoRSA {
		return []string{kind}
	}
	algorithms := []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	if len(k.kinds) > 0 {
		algorithms = append(algorithms, ssh.KeyAlgoRSA)
		algorithms = slices.DeleteFunc(algorithms, func(name string) bool { return !slices.Contains(k.kinds, name) })
	}
	return algorithms
}

// Sign signs with the best algorithm.
func (k *keySigner) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	algorithms := k.Algorithms()
	if len(algorithms) == 0 {
		return nil, errors.New("PubkeyAcceptedAlgorithms in ssh_config excludes the algorithms of the key")
	}
	return k.SignWithAlgorithm(rand, data, algorithms[0])
}

// SignWithAlgorithm signs with an algorithm.
func (k *keySigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (signature *ssh.Signature, err error) {
	defer func() { k.failed(err) }()
	signer, err := k.private()
	if err != nil {
		return nil, err
	}
	sign := func() error {
		if able, isAble := signer.(ssh.AlgorithmSigner); isAble {
			signature, err = able.SignWithAlgorithm(rand, data, algorithm)
		} else {
			signature, err = signer.Sign(rand, data)
		}
		return err
	}
	if k.during == nil {
		err = sign()
	} else {
		err = k.during(sign)
	}
	return signature, err
}

func (a *authenticator) signingFailed(err error) { a.refusal = err }

// reasonOf returns the text of an error without the path, which the message has already.
func reasonOf(err error) string {
	if path, hasPath := errors.AsType[*fs.PathError](err); hasPath {
		err = path.Err
	}
	return visible(err.Error(), 200)
}
