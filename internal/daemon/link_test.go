package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

const longWait = time.Minute

// sockets returns the two ends of a connection.
func sockets(t testing.TB) (client, server net.Conn) {
	t.Helper()
	folder, err := os.MkdirTemp("", "link")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	client, err = peer.Dial(t.Context(), filepath.Join(folder, "s"))
	require.NoError(t, err)
	server, err = listener.Accept()
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// pair returns the two ends of a conversation.
func pair(t testing.TB) (client, server *link) {
	t.Helper()
	here, there := sockets(t)
	client, err := openLink(here)
	require.NoError(t, err)
	server, err = acceptLink(t.Context(), there)
	require.NoError(t, err)
	t.Cleanup(func() { client.close(); server.close() })
	return client, server
}

// streamPair returns the two ends of a stream.
func streamPair(t testing.TB, client, server *link) (sending, receiving *stream) {
	t.Helper()
	sending, err := client.open()
	require.NoError(t, err)
	receiving, err = server.accept(t.Context())
	require.NoError(t, err)
	return sending, receiving
}

func TestStreamsArriveCompleteAndSeparate(t *testing.T) {
	client, server := pair(t)
	const size = 2 << 20
	var sending, receiving [2]*stream
	for i := range sending {
		sending[i], receiving[i] = streamPair(t, client, server)
	}
	var group sync.WaitGroup
	failures := make([]error, 2)
	for i, sink := range sending {
		group.Go(func() {
			_, err := sink.Write(bytes.Repeat([]byte{byte(i)}, size))
			failures[i] = errors.Join(err, sink.Close())
		})
	}
	// The second stream is read first: the first, whose window is full, does not block it.
	for _, i := range []int{1, 0} {
		received, err := io.ReadAll(receiving[i])
		require.NoError(t, err)
		require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(i)}, size), received))
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
}

func TestLosingTheLinkEndsStreamsAndQuestions(t *testing.T) {
	client, server := pair(t)
	filling, receiving := streamPair(t, client, server)
	asked := make(chan error, 1)
	go func() {
		_, err := server.Ask(t.Context(), remote.Question{Text: "?"})
		asked <- err
	}()
	filled := make(chan error, 1)
	go func() {
		_, err := filling.Write(make([]byte, 1<<20))
		filled <- err
	}()
	_, err := io.ReadFull(receiving, make([]byte, 1))
	require.NoError(t, err)
	_, err = client.accept(t.Context()) // so both are under way
	require.NoError(t, err)
	watched, _ := server.context(t.Context())
	client.close()
	_, err = io.Copy(io.Discard, receiving)
	require.ErrorIs(t, err, errLost)
	require.Error(t, <-filled)
	require.ErrorIs(t, <-asked, remote.ErrNobodyToAsk)
	<-watched.Done()
	_, err = server.Ask(t.Context(), remote.Question{})
	require.ErrorIs(t, err, remote.ErrNobodyToAsk)
	require.Error(t, server.receive(&request{}))
}

func TestMessagesAreBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"Content":"`), blanks{})
	require.ErrorIs(t, newMessageDecoder(endless).decode(&request{}), errProtocol)
}

// blanks are without end.
type blanks struct{}

func (blanks) Read(buffer []byte) (int, error) {
	for i := range buffer {
		buffer[i] = ' '
	}
	return len(buffer), nil
}

func TestHeadersAreBounded(t *testing.T) {
	here, there := sockets(t)
	go func() {
		line := bytes.Repeat([]byte("x"), 1<<20)
		for range longestHeader>>20 + 1 {
			if _, err := here.Write(line); err != nil {
				return
			}
		}
		here.Close()
	}()
	_, err := readHeader(there)
	require.ErrorIs(t, err, errProtocol)
	require.NoError(t, there.Close())
	require.ErrorIs(t, readReply(strings.NewReader("d\xff\xff\xff\xff"), &struct{}{}), errProtocol)
	require.ErrorIs(t, readReply(strings.NewReader("x\x00\x00\x00\x00"), &struct{}{}), errProtocol)
}

func TestErrorsKeepTheirTypes(t *testing.T) {
	inner := fmt.Errorf("looking: %w", fs.ErrNotExist)
	for name, err := range map[string]error{
		"absent":     inner,
		"permission": &fs.PathError{Op: "open", Path: "/x\xff", Err: fs.ErrPermission},
		"own":        fmt.Errorf("so: %w", ErrNoSession),
		"canceled":   context.Canceled,
		"start":      &remote.StartError{Program: "p\xff", Directory: "/d", Err: fmt.Errorf("%w in PATH", remote.ErrCommandNotFound)},
		"place":      &remote.StartError{Program: "p", Err: &remote.ConnectError{Host: "h", Reason: remote.Refused, Help: "Try.", Err: errors.New("no")}},
		"long":       errors.New(strings.Repeat("ÿ", longestText)),
		"empty":      &remote.ConnectError{},
	} {
		t.Run(name, func(t *testing.T) {
			packed, packErr := json.Marshal(pack(err))
			require.NoError(t, packErr)
			require.Less(t, len(packed), longestReply)
			var received failure
			require.NoError(t, decodeJSON(packed, &received))
			got := received.unpack()
			for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, ErrNoSession, context.Canceled, remote.ErrCommandNotFound, remote.ErrUnreachable} {
				require.Equal(t, errors.Is(err, known), errors.Is(got, known), "%v", known)
			}
			if len(err.Error()) < longestText && name != "empty" {
				require.Equal(t, err.Error(), got.Error())
			}
			var wanted, start *remote.StartError
			require.Equal(t, errors.As(err, &wanted), errors.As(got, &start))
			if wanted != nil {
				require.Equal(t, wanted.Program, start.Program)
				require.Equal(t, wanted.Directory, start.Directory)
			}
			var refused, connect *remote.ConnectError
			require.Equal(t, errors.As(err, &refused), errors.As(got, &connect))
			if refused != nil {
				require.Equal(t, refused.Reason, connect.Reason)
				require.Equal(t, refused.Help, connect.Help)
			}
		})
	}
}

// serveOne serves one conversation and returns the client's end of its connection.
func serveOne(t *testing.T, places int) net.Conn {
	t.Helper()
	here, there := sockets(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := newProcess(ctx, Options{Build: "here"})
	p.clients = make(chan struct{}, places)
	served := make(chan struct{})
	go func() {
		defer close(served)
		p.serveClient(ctx, there)
		there.Close()
	}()
	t.Cleanup(func() {
		here.Close()
		cancel()
		<-served
	})
	require.NoError(t, here.SetDeadline(time.Now().Add(longWait)))
	return here
}

func TestTheNumberOfClientsIsLimited(t *testing.T) {
	conn := serveOne(t, 0)
	require.ErrorIs(t, greet(conn, header{Protocol: protocolVersion, Operation: operationStop}, &struct{}{}), errTooManyClients)
}

func TestUnexpectedMessagesAreRefused(t *testing.T) {
	for name, line := range map[string]string{
		"an invalid header": "[]\n",
		"another version":   `{"Protocol":2,"Operation":"stop"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := serveOne(t, 1)
			_, err := io.WriteString(conn, line)
			require.NoError(t, err)
			var refused *peer.ReceivedError
			require.ErrorAs(t, readReply(conn, &struct{}{}), &refused)
		})
	}
	for name, operation := range map[string]string{"an unknown operation": "dance", "nothing to start": operationLaunch} {
		t.Run(name, func(t *testing.T) {
			conn := serveOne(t, 1)
			l, err := openConversation(t.Context(), func(context.Context) (net.Conn, error) { return conn, nil }, operation, request{}, nil)
			require.NoError(t, err)
			var refused *peer.ReceivedError
			require.ErrorAs(t, l.receiveAnswer(), &refused)
			l.close()
		})
	}
	t.Run("an invalid message", func(t *testing.T) {
		conn := serveOne(t, 1)
		require.NoError(t, greet(conn, header{Protocol: protocolVersion, Operation: operationSend}, &struct{}{}))
		session, err := yamux.Client(conn, multiplexing())
		require.NoError(t, err)
		messages, err := session.OpenStream()
		require.NoError(t, err)
		_, err = messages.Write([]byte("nonsense"))
		require.NoError(t, err)
		l := newLink(session, messages)
		var refused *peer.ReceivedError
		require.ErrorAs(t, l.receiveAnswer(), &refused)
		l.close()
	})
}

// A process of another build must understand it, whatever its version.
func TestHelloIsTheSameInAllVersions(t *testing.T) {
	conn := serveOne(t, 1)
	_, err := io.WriteString(conn, `{"Protocol":1,"Operation":"hello"}`+"\n")
	require.NoError(t, err)
	answered, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, byte('d'), answered[0])
	require.Equal(t, []byte{0, 0, 0, byte(len(answered) - 5)}, answered[1:5])
	var said map[string]any
	require.NoError(t, json.Unmarshal(answered[5:], &said))
	require.EqualValues(t, protocolVersion, said["protocol"])
	require.Equal(t, "here", said["build"])
	require.Equal(t, false, said["retires"])
	require.EqualValues(t, os.Getpid(), said["process"])
}

// FuzzHeader reads anything as the line that begins a conversation.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"Protocol":3,"Operation":"hello"}` + "\n"))
	f.Add([]byte("no line"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		_, err := readHeader(bytes.NewReader(sent))
		line, _, ended := bytes.Cut(sent, []byte("\n"))
		if !ended {
			require.Error(t, err)
		}
		require.Equal(t, ended && json.Unmarshal(line, &header{}) == nil, err == nil)
	})
}

// FuzzReply reads anything as the reply to a header.
func FuzzReply(f *testing.F) {
	f.Add([]byte("d\x00\x00\x00\x02{}"))
	f.Add([]byte("\x07\x00\x00\x00\x2b" + `{"Message":"eA==","Is":["exist","other",""]}`[:43]))
	f.Fuzz(func(t *testing.T, sent []byte) {
		var refused *peer.ReceivedError
		if err := readReply(bytes.NewReader(sent), &Greeting{}); errors.As(err, &refused) {
			require.NotPanics(t, func() { _ = refused.Error() })
		}
	})
}

// FuzzMessages reads arbitrary messages of a conversation, which must not crash, hang, or
// exceed the limits.
func FuzzMessages(f *testing.F) {
	for _, value := range []any{
		newStartRequest(Place{Host: "h"}, remote.Command{Arguments: []string{"a"}, Terminal: &remote.Terminal{}}), request{Launch: json.RawMessage("{}")},
		answer{pack(&remote.StartError{Program: "p", Err: fs.ErrNotExist})}, exit{Code: 3}, instruction{Resize: &remote.Size{Rows: 1}},
		fileRequest{Read: 1}, fileAnswer{Info: &files.Info{}}, verdict{true}, question{Text: []byte("?")}, reply{Text: []byte("t")},
		request{Places: []packedPlace{{Environment: [][]byte{[]byte("odd")}}}, Terminal: &packedTerminal{}},
		files.Info{FileName: []byte("f")}, remote.Info{Home: "/"}, []SessionInfo{{Names: []string{"s"}}},
	} {
		var sent bytes.Buffer
		require.NoError(f, json.NewEncoder(&sent).Encode(value))
		f.Add(sent.Bytes())
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, value := range []any{
			&request{}, &answer{}, &exit{}, &instruction{}, &fileRequest{}, &fileAnswer{}, &verdict{}, &question{}, &reply{}, &[]ConnectionInfo{},
			&files.Info{}, &remote.Info{}, &[]SessionInfo{},
		} {
			decoder := newMessageDecoder(bytes.NewReader(sent))
			for decoder.decode(value) == nil {
				unpackAll(t, value)
			}
		}
	})
}

// unpackAll unpacks a message as its receiver does first.
func unpackAll(t *testing.T, value any) {
	switch given := value.(type) {
	case *answer:
		require.Equal(t, given.Failed != nil, given.Failed.unpack() != nil)
	case *request:
		given.Place.unpack()
		for _, place := range given.Places {
			place.unpack()
		}
		given.command(nil)
	case *remote.Info:
		require.NotNil(t, given.Location())
	}
}
