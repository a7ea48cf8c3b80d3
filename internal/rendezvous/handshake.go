package rendezvous

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// ErrDenied says that the co-allocator does not accept the credentials. It does not say why.
var ErrDenied = errors.New("the co-allocator denies access")

// Words in proofs keep one end from sending back what the other sent.
const (
	proofOfProcess     = "process"
	proofOfCoAllocator = "co-allocator"
)

const nonceSize = 32

func newNonce() []byte {
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // it never fails
	return nonce
}

// proof binds both nonces to the secret of the part and to the TLS connection.
func proof(secret []byte, whose string, serial int, binding, ofProcess, ofCoAllocator []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("rmctl rendezvous " + strconv.Itoa(protocolVersion) + " " + whose + " " + strconv.Itoa(serial) + " "))
	for _, part := range [][]byte{binding, ofProcess, ofCoAllocator} {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// bindingOf returns what only the two ends of a TLS connection know.
func bindingOf(conn *tls.Conn) ([]byte, error) {
	state := conn.ConnectionState()
	return state.ExportKeyingMaterial("EXPORTER-rmctl-rendezvous", nil, 32)
}

// serverTLS is the configuration of the co-allocator. One curve and no tickets keep handshakes
// fast: the key of an ensemble lives for days, not for decades.
func serverTLS(key *Key) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{key.certificate}, MinVersion: tls.VersionTLS13,
		CurvePreferences: []tls.CurveID{tls.X25519}, SessionTicketsDisabled: true,
	}
}

// clientTLS accepts the certificate with the fingerprint, and no other one.
func clientTLS(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.X25519},
		InsecureSkipVerify: true, // the fingerprint is checked instead
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errors.New("the co-allocator has no certificate")
			}
			found := fingerprintOf(state.PeerCertificates[0].Raw)
			if subtle.ConstantTimeCompare([]byte(found), []byte(fingerprint)) != 1 {
				return errors.New("the co-allocator has another certificate")
			}
			return nil
		},
	}
}

// prove is the handshake of a process. It returns the connection and the answer.
func prove(ctx context.Context, conn net.Conn, pass *Pass, want frame) (*tls.Conn, *frame, error) {
	secured := tls.Client(conn, clientTLS(pass.Fingerprint))
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("encrypting the connection to the co-allocator: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	binding, err := bindingOf(secured)
	if err != nil {
		return nil, nil, err
	}
	own := newNonce()
	if err := write(secured, &frame{Kind: kindHello, Version: protocolVersion, Ensemble: pass.Ensemble, Serial: pass.Serial, Nonce: own}); err != nil {
		return nil, nil, err
	}
	challenge, err := readFrame(secured, 0)
	if err != nil {
		return nil, nil, err
	}
	if challenge.Kind != kindChallenge || len(challenge.Nonce) != nonceSize {
		return nil, nil, ErrDenied
	}
	want.Kind, want.Proof = kindProve, proof(pass.Secret, proofOfProcess, pass.Serial, binding, own, challenge.Nonce)
	if err := write(secured, &want); err != nil {
		return nil, nil, err
	}
	answer, err := readFrame(secured, 0)
	if err != nil {
		return nil, nil, err
	}
	if answer.Kind == kindDenied {
		return nil, nil, ErrDenied
	}
	if !hmac.Equal(answer.Proof, proof(pass.Secret, proofOfCoAllocator, pass.Serial, binding, own, challenge.Nonce)) {
		return nil, nil, errors.New("the co-allocator does not know the secret of the part")
	}
	return secured, answer, nil
}

func write(conn net.Conn, f *frame) error {
	encoded, err := f.encode()
	if err == nil {
		_, err = conn.Write(encoded)
	}
	return err
}

// A proven is a connection of a process that knows the secret of its part.
type proven struct {
	conn   *tls.Conn
	serial int
	want   *frame
	proof  []byte // of the co-allocator, for the answer
}

// verify is the handshake of the co-allocator. Every wrong credential gets the same answer.
func (s *Server) verify(ctx context.Context, conn net.Conn) (*proven, error) {
	secured := tls.Server(conn, s.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	binding, err := bindingOf(secured)
	if err != nil {
		return nil, err
	}
	hello, err := readFrame(secured, 0)
	if err != nil {
		return nil, err
	}
	own := newNonce()
	if err := write(secured, &frame{Kind: kindChallenge, Version: protocolVersion, Nonce: own}); err != nil {
		return nil, err
	}
	want, err := readFrame(secured, 0)
	if err != nil {
		return nil, err
	}
	secret, isRight := s.judgeProof(hello, want, binding, own)
	if !isRight {
		_ = write(secured, &frame{Kind: kindDenied}) // it is closed anyway
		return nil, ErrDenied
	}
	return &proven{
		conn: secured, serial: hello.Serial, want: want,
		proof: proof(secret, proofOfCoAllocator, hello.Serial, binding, hello.Nonce, own),
	}, nil
}

// judgeProof checks the proof of a process, and returns the secret of its part. Every wrong credential takes the same work.
func (s *Server) judgeProof(hello, want *frame, binding, own []byte) (secret []byte, isRight bool) {
	isValid := hello.Kind == kindHello && hello.Version == protocolVersion && want.Kind == kindProve &&
		hello.Ensemble == s.ensemble && len(hello.Nonce) == nonceSize
	secret = s.key.PartSecret(hello.Serial)
	expected := proof(secret, proofOfProcess, hello.Serial, binding, hello.Nonce, own)
	return secret, hmac.Equal(expected, want.Proof) && isValid
}
