package tree

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// ends returns both ends of a link within this process.
func ends() (near, far *link) {
	a, b := net.Pipe()
	return newLink(a), newLink(b)
}

func TestBothEndsProveTheSecret(t *testing.T) {
	other := []byte("another secret of the same length")
	for name, test := range map[string]struct {
		dials, accepts []byte
		dialed         error
		accepted       string
	}{
		"the same":     {testSecret, testSecret, nil, ""},
		"of a dialer":  {other, testSecret, errSecret, "handshake failed"},
		"of a relay":   {testSecret, other, errSecret, "handshake failed"},
		"of no dialer": {nil, testSecret, errSecret, "handshake failed"},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := ends()
			accepted := make(chan error, 1)
			go func() {
				hello, err := far.accept(context.Background(), test.accepts, roleClient)
				if err == nil && hello.Role != roleClient {
					err = errors.New("another role")
				}
				far.end(err)
				accepted <- err
			}()
			err := near.dial(t.Context(), test.dials, message{Role: roleClient}, false)
			near.end(err)
			require.Equal(t, test.dialed, err)
			if test.accepted == "" {
				require.NoError(t, <-accepted)
			} else {
				require.ErrorContains(t, <-accepted, test.accepted)
			}
		})
	}
}

// A stranger sends lines and gets those of a relay.
type stranger struct {
	t    *testing.T
	conn net.Conn
	link *link
	done chan error
}

func newStranger(t *testing.T, roles ...string) *stranger {
	t.Helper()
	near, far := net.Pipe()
	s := &stranger{t: t, conn: near, link: newLink(near), done: make(chan error, 1)}
	go func() {
		l := newLink(far)
		ctx, cancel := context.WithTimeout(context.Background(), handshakeLimit)
		defer cancel()
		_, err := l.accept(ctx, testSecret, roles...)
		l.end(err)
		s.done <- err
	}()
	return s
}

func (s *stranger) hello(role, nonce string) message {
	require.NoError(s.t, s.link.writeNow(message{Kind: kindHello, Role: role, Nonce: nonce}))
	answer, err := s.link.readHello(false)
	require.NoError(s.t, err)
	return answer
}

func TestStrangersAreRefused(t *testing.T) {
	t.Run("replay", func(t *testing.T) {
		nonce := newNonce()
		honest := newStranger(t, roleChild)
		answer := honest.hello(roleChild, nonce)
		line := message{Kind: kindProof, Proof: proof(testSecret, "dial", roleChild, nonce, answer.Nonce)}
		require.NoError(t, honest.link.writeNow(line))
		require.NoError(t, <-honest.done)

		replayed := newStranger(t, roleChild)
		replayed.hello(roleChild, nonce)
		require.NoError(t, replayed.link.writeNow(line))
		require.Equal(t, errSecret, <-replayed.done)
	})
	t.Run("reflection", func(t *testing.T) {
		first, second := newStranger(t, roleChild), newStranger(t, roleChild)
		answer := first.hello(roleChild, newNonce())
		reflected := second.hello(roleChild, answer.Nonce)
		require.NoError(t, first.link.writeNow(message{Kind: kindProof, Proof: reflected.Proof}))
		require.Equal(t, errSecret, <-first.done)
		require.NoError(t, second.conn.Close())
		require.Error(t, <-second.done)
	})
	t.Run("another role", func(t *testing.T) {
		s := newStranger(t, roleMember)
		require.NoError(t, s.link.writeNow(message{Kind: kindHello, Role: roleParent, Nonce: newNonce()}))
		require.EqualError(t, <-s.done, `handshake failed: unexpected role "parent"`)
	})
	for name, text := range map[string]string{
		"flood":      strings.Repeat("x", 1<<20),
		"web":        "GET / HTTP/1.1\r\n\r\n",
		"no nonce":   `{"type":"hello","role":"child"}` + "\n",
		"other kind": `{"type":"ask","role":"child"}` + "\n",
		"long hello": `{"type":"hello","x":"` + strings.Repeat("x", mostHandshakeBytes) + `"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStranger(t, roleChild)
			_, _ = io.WriteString(s.conn, text) // the relay hangs up
			require.ErrorContains(t, <-s.done, "handshake failed")
		})
	}
	t.Run("half a line", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStranger(t, roleChild)
			_, err := io.WriteString(s.conn, `{"type":"hello"`)
			require.NoError(t, err)
			begun := time.Now()
			require.Equal(t, context.DeadlineExceeded, <-s.done)
			require.Equal(t, handshakeLimit, time.Since(begun))
		})
	})
}

func TestALinkPingsAndNoticesSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := ends()
		near.start()
		begun := time.Now()
		for range 4 { // the far end only listens
			m, err := far.receive()
			require.NoError(t, err)
			require.Equal(t, kindPing, m.Kind)
		}
		require.Equal(t, 4*pingInterval, time.Since(begun))
		require.True(t, near.isOpen())
		go func() { _, _ = io.Copy(io.Discard, far.stream) }()
		_, err := near.receive()
		require.EqualError(t, err, "connection lost: no message for 30s")
		near.wait()
		far.end(errEnded)
	})
}

func TestLinesAreBounded(t *testing.T) {
	near, far := ends()
	go func() {
		_, _ = io.Copy(near.stream, io.LimitReader(endless{}, 2*mostLineBytes)) // the far end hangs up
	}()
	_, err := far.receive()
	require.EqualError(t, err, "a line is longer than 8388608 bytes")
	near.end(errEnded)

	_, err = encode(message{Kind: kindPart, Problem: strings.Repeat("x", mostLineBytes)})
	require.ErrorContains(t, err, "is longer than")
}

type endless struct{}

func (endless) Read(buffer []byte) (int, error) {
	for i := range buffer {
		buffer[i] = 'x'
	}
	return len(buffer), nil
}

func TestInvalidMessagesAreRefused(t *testing.T) {
	for line, problem := range map[string]string{
		`{}`:                             "no type",
		`[1]`:                            "cannot unmarshal",
		`{"type":"part","ranks":"3-1"}`:  "invalid ranks",
		`{"type":"ask","timeout":-1}`:    "timeout out of range",
		`{"type":"ask","timeout":1e300}`: "cannot unmarshal",
		`{"type":"members","height":99}`: "too many levels",
		`{"type":"members","members":[{"groups":[{"ranks":"x"}]}]}`:            "invalid ranks",
		`{"type":"members","members":[{"groups":[{"ranks":"0-1073741824"}]}]}`: "too many ranks",
		`{"type":"` + strings.Repeat("x", mostNameBytes+1) + `"}`:              "a name is too long",
	} {
		_, err := decode([]byte(line))
		require.ErrorContains(t, err, problem, line)
	}
	m, err := decode([]byte(`{"type":"part","problem":"a\u001b]0;x\u0007\nb","unknown":1}`))
	require.NoError(t, err)
	require.Equal(t, "a]0;x b", m.Problem)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"members","members":[{"id":"a","node":"n","groups":[{"ranks":"0-3,7"}]}],"height":1}`))
	f.Add([]byte(`{"type":"part","id":"q","ranks":"1","body":{"a":[1,2]},"nodes":["n"]}`))
	f.Add([]byte(`{"type":"launch","launches":[{"node":"n","words":["srun"],"environment":{"A":"b"}}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := decode(line)
		if err != nil {
			return
		}
		again, err := encode(m)
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(again, []byte("\n")))
		same, err := decode(again)
		require.NoError(t, err)
		first, err := json.Marshal(m)
		require.NoError(t, err)
		second, err := json.Marshal(same)
		require.NoError(t, err)
		require.JSONEq(t, string(first), string(second))
	})
}

// A relay gets arbitrary bytes from a peer with the secret. It ends the connection or continues, and answers the
// next one.
func FuzzRelay(f *testing.F) {
	f.Add([]byte(`{"type":"ask","id":"1","topic":"same"}` + "\n" + `{"type":"list","id":"2"}` + "\n"))
	f.Add([]byte(`{"type":"cancel","id":"1"}` + "\n" + `{"type":"launch","id":"1","launches":[{"node":"x"}]}` + "\n"))
	f.Add([]byte(`{"type":"listen"}` + "\n" + `{"type":"redirect","addresses":["x"]}` + "\n" + `{"type":"ask","id":"1","topic":"hang","timeout":1}`))
	f.Fuzz(func(t *testing.T, lines []byte) {
		if bytes.Contains(lines, []byte("exit")) || bytes.Contains(lines, []byte("words")) {
			return // the fake would end the test, a launch could do anything
		}
		relay := NewRelay(Options{Node: "n", Secret: testSecret, Local: newFakeLocal("0-3"), Place: "p"})
		defer relay.Close()
		near, far := streamPair(t)
		served := make(chan error, 1)
		go func() { served <- relay.Serve(context.Background(), far) }()
		l := newLink(near)
		require.NoError(t, l.dial(t.Context(), testSecret, message{Role: roleParent}, false))
		go func() { _, _ = io.Copy(io.Discard, near) }()
		_, _ = near.Write(lines)
		l.end(errEnded)
		require.Error(t, <-served)
	})
}

// An asker gets anything from a child that has the secret: no answer names a rank that the
// child does not serve, and each line is printable.
func FuzzAsker(f *testing.F) {
	f.Add([]byte(`{"type":"members","members":[{"id":"a","node":"n","groups":[{"ranks":"0-3"}]}]}` + "\n" + `{"type":"part","id":"ID","ranks":"0-9","body":1}` + "\n" + `{"type":"done","id":"ID"}` + "\n"))
	f.Add([]byte(`{"type":"part","id":"ID","ranks":"0","problem":"\u001b[0m"}` + "\n" + `{"type":"done","id":"ID"}` + "\n" + `{"type":"done","id":"ID"}` + "\n"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		near, far := streamPair(t)
		r := NewRelay(Options{Node: "n", Secret: testSecret, Place: "p"})
		c := newChild(newLink(near), "n")
		require.True(t, r.adopt(c))
		served := make(chan error, 1)
		go func() { served <- r.serveChild(c) }()
		go func() {
			id := newNonce()
			answered := make(chan source, 1)
			go func() {
				answered <- c.ask(context.Background(), message{Kind: kindAsk, ID: id, Topic: "x"}, time.Second)
			}()
			other := newLink(far)
			for {
				line, err := other.readLine(mostLineBytes)
				if err != nil || bytes.Contains(line, []byte(id)) {
					break
				}
			}
			_, _ = far.Write(bytes.ReplaceAll(lines, []byte("ID"), []byte(id)))
			other.end(errEnded)
			from := <-answered
			c.end(errEnded)
			for _, part := range combine(message{Topic: "x"}, []source{from}, from.members) {
				if OneLine(part.Problem) != part.Problem || len(part.Ranks.Without(ranksOf(from.members)[part.Namespace])) > 0 {
					panic(part)
				}
			}
		}()
		require.Error(t, <-served)
		r.Close()
	})
}
