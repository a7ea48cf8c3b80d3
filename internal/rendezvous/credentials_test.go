package rendezvous

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A stranger is a process with its proof and its secret.
type stranger struct {
	hello  frame
	secret []byte
	want   string // the kind of its second frame
}

const (
	knownSerial   = 1
	removedSerial = 2
	fullSerial    = 3
	otherSerial   = 4
)

// guarded returns a server with a part that waits, one that was removed and one that has all its connections.
func guarded(tb testing.TB) *Server {
	tb.Helper()
	key, err := NewKey()
	require.NoError(tb, err)
	s := NewServer(key, "e", func(ProcessEvent) {})
	tb.Cleanup(s.Close)
	for _, serial := range []int{knownSerial, removedSerial, fullSerial} {
		s.Admit(Part{Serial: serial, Count: 1, Gate: GateHeld})
	}
	s.Remove(removedSerial, "deleted")
	s.mutex.Lock()
	s.parts[fullSerial].connections = linksOfProcess
	s.mutex.Unlock()
	return s
}

// strangers returns one for each kind of wrong credentials.
func strangers(s *Server) map[string]stranger {
	one := func(serial, of int, change func(*stranger)) stranger {
		each := stranger{
			hello:  frame{Kind: kindHello, Version: protocolVersion, Ensemble: s.ensemble, Serial: serial, Nonce: newNonce()},
			secret: s.key.PartSecret(of), want: kindProve,
		}
		if change != nil {
			change(&each)
		}
		return each
	}
	return map[string]stranger{
		"another version":        one(knownSerial, knownSerial, func(s *stranger) { s.hello.Version = 9 }),
		"no hello":               one(knownSerial, knownSerial, func(s *stranger) { s.hello.Kind = kindPong }),
		"no proof":               one(knownSerial, knownSerial, func(s *stranger) { s.want = kindPong }),
		"a short nonce":          one(knownSerial, knownSerial, func(s *stranger) { s.hello.Nonce = s.hello.Nonce[:31] }),
		"an unknown ensemble":    one(knownSerial, knownSerial, func(s *stranger) { s.hello.Ensemble = "f" }),
		"the secret of another":  one(knownSerial, otherSerial, nil),
		"a full part":            one(fullSerial, knownSerial, nil),
		"a removed part":         one(removedSerial, knownSerial, nil),
		"a part that is unknown": one(otherSerial, knownSerial, nil),
	}
}

func TestAllWrongCredentialsGetTheSameAnswer(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	answers := map[string][]string{}
	for name, each := range strangers(s) {
		_, found := each.meets(t, s)
		answers[strings.Join(found, ",")] = append(answers[strings.Join(found, ",")], name)
	}
	require.Len(t, answers, 1, "%v", answers)
	require.Contains(t, answers, "challenge,denied")
}

// Strangers get answers of the same size, since they see the size of the encrypted answers of others.
func TestAllWrongCredentialsGetAnswersOfTheSameSize(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	var sizes []int
	for _, each := range strangers(s) {
		size, _ := each.meets(t, s)
		sizes = append(sizes, size)
	}
	// A signature of ECDSA has up to three bytes less than the longest.
	require.Less(t, slices.Max(sizes)-slices.Min(sizes), 9, "%v", sizes)
}

// meets lets a stranger try to prove itself, and returns the bytes and the kinds of frames that it got.
func (each stranger) meets(t *testing.T, s *Server) (size int, kinds []string) {
	t.Helper()
	near, far := net.Pipe()
	verified := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), provingTime)
		defer cancel()
		_, err := s.verify(ctx, far)
		_ = far.Close()
		verified <- err
	}()
	counted := &counting{Conn: near}
	conn := tls.Client(counted, clientTLS(s.key.Fingerprint()))
	require.NoError(t, conn.SetDeadline(time.Now().Add(provingTime)))
	require.NoError(t, conn.Handshake())
	binding, err := bindingOf(conn)
	require.NoError(t, err)
	require.NoError(t, write(conn, &each.hello))
	challenge, err := readFrame(conn, 0)
	require.NoError(t, err)
	kinds = append(kinds, challenge.Kind)
	prove := &frame{Kind: each.want, Proof: proof(each.secret, proofOfProcess, each.hello.Serial, binding, each.hello.Nonce, challenge.Nonce)}
	require.NoError(t, write(conn, prove))
	for {
		answer, err := readFrame(conn, 0)
		if err != nil {
			break
		}
		kinds = append(kinds, answer.Kind)
	}
	require.ErrorIs(t, <-verified, ErrDenied)
	_ = near.Close()
	return counted.read, kinds
}

// counting counts the bytes that were read.
type counting struct {
	net.Conn
	read int
}

// Read implements [net.Conn].
func (c *counting) Read(buffer []byte) (int, error) {
	n, err := c.Conn.Read(buffer)
	c.read += n
	return n, err
}

func TestAllWrongCredentialsTakeTheSameWork(t *testing.T) {
	s := guarded(t)
	binding, own := newNonce(), newNonce()
	work := map[float64][]string{}
	for name, each := range strangers(s) {
		prove := &frame{Kind: each.want, Proof: proof(each.secret, proofOfProcess, each.hello.Serial, binding, each.hello.Nonce, own)}
		allocations := math.Inf(1)
		for range 10 { // the least of them: the runtime allocates now and then, too
			allocations = min(allocations, testing.AllocsPerRun(20, func() {
				_, isRight := s.judgeProof(&each.hello, prove, binding, own)
				require.False(t, isRight)
			}))
		}
		work[allocations] = append(work[allocations], name)
	}
	require.Len(t, work, 1, "allocations, most of them of HMAC: %v", work)
}

// BenchmarkWrongCredentials shows how long the answers to wrong credentials take.
func BenchmarkWrongCredentials(b *testing.B) {
	s := guarded(b)
	binding, own := newNonce(), newNonce()
	for name, each := range strangers(s) {
		prove := &frame{Kind: each.want, Proof: proof(each.secret, proofOfProcess, each.hello.Serial, binding, each.hello.Nonce, own)}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.judgeProof(&each.hello, prove, binding, own)
			}
		})
	}
}
