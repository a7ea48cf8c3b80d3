package rendezvous

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// encrypted returns both ends of a TLS connection.
func encrypted(tb testing.TB, key *Key) (process, server *tls.Conn) {
	tb.Helper()
	near, far := net.Pipe()
	process, server = tls.Client(near, clientTLS(key.Fingerprint())), tls.Server(far, serverTLS(key))
	done := make(chan error, 1)
	go func() { done <- server.Handshake() }()
	require.NoError(tb, process.Handshake())
	require.NoError(tb, <-done)
	return process, server
}

// rawFrame is a frame with any text as its header.
func rawFrame(header, payload string) []byte {
	lengths := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(header))), uint32(len(payload)))
	return append(append(lengths, header...), payload...)
}

// FuzzServer plays conversations. Each line is a frame of one of three processes: a digit, the header, and after a
// bar the payload. A line "release" releases the parts. Whatever they say, the server counts right and forgets them.
func FuzzServer(f *testing.F) {
	f.Add("release\n0{\"kind\":\"structure\",\"id\":1}\n1{\"kind\":\"receive\",\"id\":1,\"tag\":\"t\"}\n0{\"kind\":\"send\",\"id\":2,\"scope\":\"intra\",\"to\":1,\"tag\":\"t\"}|data")
	f.Add("release\n0{\"kind\":\"exchange\",\"id\":1,\"tag\":\"n\"}|a\n2{\"kind\":\"exchange\",\"id\":1,\"tag\":\"n\"}|b\n1{\"kind\":\"exchange\",\"id\":7}")
	f.Add("0{\"kind\":\"pong\",\"id\":1}\n1{\"kind\":\"received\"}\n2{\"kind\":\"send\"}\nrelease")
	f.Add("release\n0{\"kind\":\"receive\",\"id\":3}\n0{\"kind\":\"forget\",\"id\":3}\n0{\"kind\":\"send\",\"id\":4,\"scope\":\"inter\",\"to\":5}|x\n1{")
	key, err := NewKey()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, script string) {
		s := NewServer(key, "e", func(ProcessEvent) {})
		defer s.Close()
		for _, each := range []Part{{Serial: 1, Count: 2}, {Serial: 2, Index: 1, Count: 1}} {
			each.Gate, each.Joins = GateHeld, true
			s.Admit(each)
		}
		ends := s.seatAll(t)
		play(s, ends, script)
		for _, each := range ends {
			_ = each.conn.NetConn().Close()
			<-each.left
		}
		requireForgotten(t, s)
	})
}

// An actor is the end of a process in a conversation.
type actor struct {
	conn *tls.Conn
	left chan struct{} // closed when the server has forgotten it
}

// seatAll checks in the three processes.
func (s *Server) seatAll(t *testing.T) []*actor {
	t.Helper()
	var ends []*actor
	for i, each := range []struct{ serial, rank int }{{1, 0}, {1, 1}, {2, 0}} {
		process, server := encrypted(t, s.key)
		a := &actor{conn: process, left: make(chan struct{})}
		go func() { // it drains what the server sends
			buffer := make([]byte, 4096)
			for {
				if _, err := process.Read(buffer); err != nil {
					return
				}
			}
		}()
		l := newLink(s, server)
		require.NoError(t, s.add(l))
		want := &frame{Purpose: purposeCheckIn, Instance: string(rune('a' + i)), HasRank: true, Rank: each.rank}
		require.NoError(t, s.checkIn(t.Context(), l, &proven{conn: server, serial: each.serial, want: want}))
		go func() {
			defer close(a.left)
			_ = s.converse(t.Context(), l)
			s.remove(l)
		}()
		ends = append(ends, a)
	}
	return ends
}

// play writes the frames of a script.
func play(s *Server, ends []*actor, script string) {
	for line := range strings.SplitSeq(script, "\n") {
		if line == "release" {
			s.Release([]Roster{{Serial: 1, Instances: []string{"a", "b"}}, {Serial: 2, Instances: []string{"c"}}})
			continue
		}
		if len(line) == 0 || line[0] < '0' || line[0] > '2' {
			continue
		}
		header, payload, _ := strings.Cut(line[1:], "|")
		_, _ = ends[line[0]-'0'].conn.Write(rawFrame(header, payload)) // the server may have closed it
	}
}

// requireForgotten requires that a server without connections keeps messages only, and knows how many.
func requireForgotten(t *testing.T, s *Server) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	require.Empty(t, s.links)
	kept := 0
	for _, p := range s.parts {
		require.Zero(t, p.connections)
		require.Zero(t, p.connected)
		for _, b := range p.boxes {
			require.Empty(t, b.receivers)
			require.LessOrEqual(t, len(b.messages), mostQueued)
			for _, m := range b.messages {
				kept += len(m.data)
			}
		}
	}
	if s.group != nil {
		require.Empty(t, s.group.waiting)
		for _, given := range s.group.rounds {
			for _, data := range given {
				kept += len(data)
			}
		}
	}
	require.Equal(t, kept, s.kept)
}

// FuzzStrangers sends any bytes in place of TLS, and any frames in place of the handshake.
func FuzzStrangers(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"), false)
	f.Add(append(rawFrame(`{"kind":"hello","version":1,"ensemble":"e","serial":1,"nonce":"AAAA"}`, ""), rawFrame(`{"kind":"prove","proof":"AAAA"}`, "")...), true)
	f.Add(rawFrame(`{"kind":"hello"`, ""), true)
	f.Add(rawFrame(`{}`, "payload"), true)
	key, err := NewKey()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, sent []byte, isEncrypted bool) {
		s := NewServer(key, "e", func(ProcessEvent) { t.Error("a stranger was observed") })
		defer s.Close()
		s.Admit(Part{Serial: 1, Count: 1, Gate: GateHeld})
		near, far := net.Pipe()
		var talking sync.WaitGroup
		talking.Go(func() {
			_, err := s.verify(t.Context(), far)
			_ = far.Close()
			if err == nil {
				t.Error("a stranger has proved itself")
			}
		})
		var conn net.Conn = near
		if isEncrypted {
			secured := tls.Client(near, clientTLS(key.Fingerprint()))
			if secured.Handshake() == nil {
				conn = secured
			}
		}
		talking.Go(func() {
			_, _ = conn.Write(sent) // the server may have closed it
			_ = near.Close()
		})
		talking.Go(func() {
			buffer := make([]byte, 4096)
			for {
				if _, err := conn.Read(buffer); err != nil {
					return
				}
			}
		})
		talking.Wait()
	})
}

// FuzzClient plays a co-allocator that knows the secret, with one frame in each line: its header, and after a
// bar its payload. Whatever it sends, the process ends with an error, or is released.
func FuzzClient(f *testing.F) {
	f.Add("{\"kind\":\"accepted\",\"hasRank\":true}\n{\"kind\":\"ping\",\"id\":1}\n{\"kind\":\"release\"}\n{\"kind\":\"reply\",\"id\":1}|{\"joined\":true}\n{\"kind\":\"reply\",\"id\":2}|data\n{\"kind\":\"reply\",\"id\":3}|[]")
	f.Add("{\"kind\":\"accepted\"}\n{\"kind\":\"abort\",\"reason\":\"x\\u001b\"}")
	f.Add("{\"kind\":\"accepted\",\"rank\":-1}\n{\"kind\":\"release\"}\n{\"kind\":\"reply\",\"id\":1,\"error\":\"e\",\"code\":\"full\"}\n{\"kind\":\"abort\"}")
	f.Add("{\"kind\":\"refused\"}")
	f.Add("{\"kind\":\"later\"}")
	key, err := NewKey()
	require.NoError(f, err)
	pass := &Pass{Version: protocolVersion, Ensemble: "e", Serial: 1, Count: 1, Gate: GateHeld, Fingerprint: key.Fingerprint(), Secret: key.PartSecret(1)}
	f.Fuzz(func(t *testing.T, script string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var playing sync.WaitGroup
		defer playing.Wait()
		dial := func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			playing.Go(func() { coAllocate(t, key, far, script) })
			return near, nil
		}
		session, err := checkInOnce(ctx, dial, pass, wantOf(purposeCheckIn, Identity{Instance: "a"}))
		if err != nil {
			require.NoError(t, ctx.Err())
			return
		}
		require.Contains(t, script, kindRelease)
		_, _ = session.Structure(ctx) // any answer is right that comes in time
		_, _ = session.Receive(ctx, Filter{Tag: "t"})
		_, _ = session.Exchange(ctx, "n", nil)
		require.NoError(t, session.Close())
		require.NoError(t, ctx.Err())
	})
}

// coAllocate plays a script to a process that proves itself. The first frame of the script gets the proof.
func coAllocate(t *testing.T, key *Key, conn net.Conn, script string) {
	defer conn.Close()
	secured := tls.Server(conn, serverTLS(key))
	if secured.Handshake() != nil {
		return
	}
	binding, err := bindingOf(secured)
	hello, failed := readFrame(secured, 0)
	if err != nil || failed != nil {
		t.Error("the process does not begin")
		return
	}
	own := newNonce()
	if write(secured, &frame{Kind: kindChallenge, Nonce: own}) != nil {
		return
	}
	if _, err := readFrame(secured, 0); err != nil {
		return
	}
	right := proof(key.PartSecret(1), proofOfCoAllocator, 1, binding, hello.Nonce, own)
	var draining sync.WaitGroup
	defer draining.Wait()
	draining.Go(func() {
		buffer := make([]byte, 4096)
		for {
			if _, err := secured.Read(buffer); err != nil {
				return
			}
		}
	})
	for i, line := range strings.Split(script, "\n") {
		header, payload, _ := strings.Cut(line, "|")
		sent := rawFrame(header, payload)
		if first, err := readFrame(bytes.NewReader(sent), mostPayload); i == 0 && err == nil {
			first.Proof = right
			if sent, err = first.encode(); err != nil {
				break
			}
		}
		if _, err := secured.Write(sent); err != nil {
			break
		}
	}
	_ = conn.Close()
}
