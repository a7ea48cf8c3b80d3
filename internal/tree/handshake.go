package tree

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Roles of the end that dials. The other end is a relay.
const (
	roleClient = "client" // asks
	roleParent = "parent" // passes questions on
	roleChild  = "child"  // a relay that gets questions
	roleMember = "member" // a process of the host
	roleStream = "stream" // a process whose bytes pass to rmctl
)

// handshakeLimit bounds the handshake on sockets. Processes take as long as their launch may.
const handshakeLimit = 10 * time.Second

var errSecret = errors.New("the other end does not have the secret of the job")

// helloStart begins the first line of a relay, after the noise of shells and launchers.
var helloStart = []byte(`{"type":"hello"`)

// dial proves the secret to a relay, and checks that the relay has it. With noise, lines
// before the first one of the relay are skipped.
func (l *link) dial(ctx context.Context, secret []byte, hello message, noise bool) error {
	defer l.closeAtEnd(ctx)()
	hello.Kind, hello.Nonce = kindHello, newNonce()
	if err := l.writeNow(hello); err != nil {
		return handshakeError(ctx, err)
	}
	answer, err := l.readHello(noise)
	if err != nil {
		return handshakeError(ctx, err)
	}
	if !isProof(answer.Proof, secret, "accept", hello.Role, hello.Nonce, answer.Nonce) {
		return errSecret
	}
	return handshakeError(ctx, l.writeNow(message{Kind: kindProof, Proof: proof(secret, "dial", hello.Role, hello.Nonce, answer.Nonce)}))
}

// accept is the other end of dial. It returns the first message of the other end, once that has proved
// the secret.
func (l *link) accept(ctx context.Context, secret []byte, roles ...string) (message, error) {
	defer l.closeAtEnd(ctx)()
	hello, err := l.readHello(false)
	if err != nil {
		return message{}, handshakeError(ctx, err)
	}
	isAllowed := false
	for _, role := range roles {
		isAllowed = isAllowed || hello.Role == role
	}
	if !isAllowed {
		return message{}, fmt.Errorf("handshake failed: unexpected role %.20q", hello.Role)
	}
	nonce := newNonce()
	if err := l.writeNow(message{Kind: kindHello, Nonce: nonce, Proof: proof(secret, "accept", hello.Role, hello.Nonce, nonce)}); err != nil {
		return message{}, handshakeError(ctx, err)
	}
	line, err := l.readLine(mostHandshakeBytes)
	if err != nil {
		return message{}, handshakeError(ctx, err)
	}
	answer, err := decode(line)
	if err != nil || answer.Kind != kindProof || !isProof(answer.Proof, secret, "dial", hello.Role, hello.Nonce, nonce) {
		return message{}, errSecret
	}
	return hello, nil
}

// closeAtEnd closes the link when the context ends before the function it returns is called.
func (l *link) closeAtEnd(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })
}

// writeNow writes a message of the handshake, before start.
func (l *link) writeNow(m message) error {
	line, err := encode(m)
	if err == nil {
		_, err = l.stream.Write(line)
	}
	return err
}

// readHello returns the first message, and skips other lines before it if it may.
func (l *link) readHello(noise bool) (message, error) {
	for range mostNoiseLines {
		line, err := l.readLine(mostHandshakeBytes * 4)
		start := bytes.Index(line, helloStart) // a message may end without a line break
		switch {
		case err != nil:
			return message{}, err
		case noise && start < 0:
			continue
		case noise:
			line = line[start:]
		}
		if len(line) > mostHandshakeBytes {
			return message{}, errors.New("the first line is too long")
		}
		hello, err := decode(line)
		if err == nil && (hello.Kind != kindHello || len(hello.Nonce) != 2*sha256.Size) {
			err = errors.New("the other end is not a relay")
		}
		return hello, err
	}
	return message{}, fmt.Errorf("no relay in the first %d lines", mostNoiseLines)
}

func newNonce() string {
	nonce := make([]byte, sha256.Size)
	_, _ = rand.Read(nonce) // never fails
	return hex.EncodeToString(nonce)
}

// proof shows that one end, "dial" or "accept", has the secret.
func proof(secret []byte, end, role, dialed, accepted string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.Join([]string{"rmctl tree 1", end, role, dialed, accepted}, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

func isProof(given string, secret []byte, end, role, dialed, accepted string) bool {
	return hmac.Equal([]byte(given), []byte(proof(secret, end, role, dialed, accepted)))
}

// handshakeError returns why a handshake failed.
func handshakeError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("handshake failed: %w", err)
}
