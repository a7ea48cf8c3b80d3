package wire

import (
	"bytes"
	"context"
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

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

const patience = time.Minute

var errOwn = errors.New("an error of the conversation")

// pair returns the two ends of a conversation over a unix socket.
func pair(t testing.TB) (*Link, *Link) {
	t.Helper()
	folder, err := os.MkdirTemp("", "wire")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	accepted := make(chan net.Conn, 1)
	go func() {
		defer close(accepted)
		if conn, err := listener.Accept(); err == nil {
			accepted <- conn
		}
	}()
	dialed, err := Dial(t.Context(), filepath.Join(folder, "s"))
	require.NoError(t, err)
	served, open := <-accepted
	require.True(t, open)
	require.NoError(t, listener.Close())
	t.Cleanup(func() { dialed.Close(); served.Close() })
	own := map[string]error{"own": errOwn}
	return NewLink(dialed, own), NewLink(served, own)
}

func TestStreamsArriveWholeAndApart(t *testing.T) {
	here, there := pair(t)
	const size = 5 * Window
	inlets := []*Inlet{there.Inlet(1), there.Inlet(2)}
	outlets := []*Outlet{here.Outlet(1), here.Outlet(2)}
	_, stopHere := here.Listen(t.Context(), nil, RefuseFrame)
	_, stopThere := there.Listen(t.Context(), nil, RefuseFrame)
	defer stopHere()
	defer stopThere()

	var group sync.WaitGroup
	failures := make([]error, 2)
	for i, outlet := range outlets {
		group.Go(func() {
			_, err := outlet.Write(bytes.Repeat([]byte{byte(i)}, size))
			failures[i] = errors.Join(err, outlet.Close())
		})
	}
	// The second is read first: the first, whose window is full, does not hold it up.
	for _, i := range []int{1, 0} {
		received, err := io.ReadAll(inlets[i])
		require.NoError(t, err)
		require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(i)}, size), received))
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
}

func TestAStreamTellsWhyItEnded(t *testing.T) {
	here, there := pair(t)
	inlet, outlet := there.Inlet(0), here.Outlet(0)
	_, stop := there.Listen(t.Context(), nil, RefuseFrame)
	defer stop()
	_, err := outlet.Write([]byte("some"))
	require.NoError(t, err)
	require.NoError(t, outlet.CloseWithError(errors.New("broken source")))
	require.NoError(t, outlet.Close())
	received, err := io.ReadAll(inlet)
	require.ErrorContains(t, err, "broken source")
	require.Equal(t, "some", string(received))
	_, err = outlet.Write([]byte("more"))
	require.ErrorIs(t, err, ErrStreamClosed)
}

func TestLosingTheLinkEndsStreamsAndQuestions(t *testing.T) {
	here, there := pair(t)
	inlet, outlet := here.Inlet(0), here.Outlet(1)
	listening, stop := here.Listen(t.Context(), nil, RefuseFrame)
	defer stop()
	asked := make(chan error, 1)
	go func() {
		_, err := here.Ask(t.Context(), remote.Question{Text: "?"})
		asked <- err
	}()
	filled := make(chan error, 1)
	go func() {
		_, err := outlet.Write(make([]byte, 2*Window))
		filled <- err
	}()
	_, err := io.ReadFull(there.reader, make([]byte, Window+1)) // both are under way
	require.NoError(t, err)
	require.NoError(t, there.Close())
	_, err = inlet.Read(make([]byte, 1))
	require.ErrorIs(t, err, ErrLost)
	require.Error(t, <-filled)
	require.ErrorIs(t, <-asked, remote.ErrNobodyToAsk)
	<-listening.Done()
	require.Error(t, context.Cause(listening))
	_, err = here.Inlet(7).Read(make([]byte, 1))
	require.ErrorIs(t, err, ErrLost)
	_, err = here.Outlet(7).Write([]byte("x"))
	require.ErrorIs(t, err, ErrLost)
}

func TestWhatIsNotAgreedEndsTheLink(t *testing.T) {
	frame := func(kind Kind, payload string) []byte {
		return append([]byte{byte(kind), 0, 0, byte(len(payload) >> 8), byte(len(payload))}, payload...)
	}
	cases := map[string][]byte{
		"a frame that is too long":            {byte(kindData), 0, 1, 0, 1},
		"a frame of 4 GiB":                    {byte(kindData), 255, 255, 255, 255},
		"an unknown kind":                     frame(99, ""),
		"a stream without a number":           frame(kindData, ""),
		"a stream that is not there":          frame(kindData, "\x09data"),
		"more taken than sent":                frame(kindTaken, "\x01\x00\x00\x00\x01"),
		"a number cut short":                  frame(kindTaken, "\x01\x00"),
		"data after the end":                  append(frame(kindEnd, "\x00"), frame(kindData, "\x00x")...),
		"more than the window":                bytes.Repeat(append([]byte{byte(kindData), 0, 0, 128, 0}, make([]byte, 1<<15)...), Window>>15+2),
		"a question that is none":             frame(kindQuestion, "{"),
		"an answer that is none":              frame(kindAnswer, "[]"),
		"a question that is asked once more":  append(frame(kindQuestion, `{"Number":1}`), frame(kindQuestion, `{"Number":1}`)...),
		"a failure that is none":              frame(kindFailure, "nothing"),
		"a question forgotten without number": frame(kindForget, "{}"),
	}
	for name, sent := range cases {
		t.Run(name, func(t *testing.T) {
			here, there := pair(t)
			here.Inlet(0)
			here.Outlet(1)
			waiting := blockingPrompter{}
			listening, stop := here.Listen(t.Context(), waiting, RefuseFrame)
			defer stop()
			written := make(chan struct{})
			go func() {
				defer close(written)
				_, _ = there.conn.Write(sent) // which may be refused before its end
			}()
			select {
			case <-listening.Done():
			case <-time.After(patience):
				require.Fail(t, "it was accepted")
			}
			require.ErrorIs(t, context.Cause(listening), ErrProtocol)
			<-written
		})
	}
}

// blockingPrompter is a user who never answers.
type blockingPrompter struct{}

func (blockingPrompter) Ask(ctx context.Context, _ remote.Question) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestHeadersAreBounded(t *testing.T) {
	here, there := pair(t)
	go func() {
		line := bytes.Repeat([]byte("x"), 1<<20)
		for range MaxHeader>>20 + 1 {
			if _, err := here.conn.Write(line); err != nil {
				return
			}
		}
		here.Close()
	}()
	_, err := there.ReceiveHeader()
	require.ErrorIs(t, err, ErrProtocol)
	require.NoError(t, there.Close())
	require.Error(t, here.SendHeader(strings.Repeat("x", MaxHeader)))
	require.Error(t, here.Send('x', make([]byte, MaxFrame+1)))
}

func TestErrorsKeepWhatTheyMatch(t *testing.T) {
	link, _ := pair(t)
	inner := fmt.Errorf("looking: %w", fs.ErrNotExist)
	for name, err := range map[string]error{
		"absent":     inner,
		"permission": &fs.PathError{Op: "open", Path: "/x\xff", Err: fs.ErrPermission},
		"own":        fmt.Errorf("so: %w", errOwn),
		"cancelled":  context.Canceled,
		"start":      &remote.StartError{Program: "p\xff", Directory: "/d", Err: fmt.Errorf("%w in PATH", remote.ErrCommandNotFound)},
		"place":      &remote.StartError{Program: "p", Err: &remote.ConnectError{Host: "h", Reason: remote.Refused, Help: "Try.", Err: errors.New("no")}},
		"long":       errors.New(strings.Repeat("ÿ", maxText)),
		"empty":      &remote.ConnectError{},
	} {
		t.Run(name, func(t *testing.T) {
			packed := link.Pack(err)
			require.Less(t, len(packed), MaxFrame)
			got := link.Unpack(packed)
			for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, errOwn, context.Canceled, remote.ErrCommandNotFound, remote.ErrUnreachable} {
				require.Equal(t, errors.Is(err, known), errors.Is(got, known), "%v", known)
			}
			if len(err.Error()) < maxText && name != "empty" {
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

func TestAServerTakesNoMoreClientsThanItMay(t *testing.T) {
	folder := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{}, 1)
	server := Server{Clients: 1, Own: map[string]error{"many": ErrTooManyClients}, Handle: func(ctx context.Context, link *Link, _ []byte) {
		served <- struct{}{}
		<-ctx.Done()
	}}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	begin := func() *Link {
		conn, err := Dial(t.Context(), filepath.Join(folder, "s"))
		require.NoError(t, err)
		link := NewLink(conn, server.Own)
		require.NoError(t, link.SendHeader(struct{}{}))
		return link
	}
	first := begin()
	<-served
	listening, stop := begin().Listen(t.Context(), nil, RefuseFrame)
	<-listening.Done()
	require.ErrorIs(t, context.Cause(listening), ErrTooManyClients)
	stop()
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, first.Close())
}

func TestOnlyThisUserIsAtTheOtherEnd(t *testing.T) {
	here, _ := pair(t)
	require.NoError(t, CheckPeer(here.conn))
	require.Error(t, checkUser(os.Geteuid()+1))
	a, b := net.Pipe()
	require.Error(t, CheckPeer(a), "a pipe does not tell who is there")
	require.NoError(t, errors.Join(a.Close(), b.Close()))
}

// FuzzFrames sends anything to a listening end, which must neither crash, nor
// hang, nor keep more than its bounds.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{byte(kindData), 0, 0, 0, 3, 0, 'h', 'i'})
	f.Add([]byte{byte(kindEnd), 0, 0, 0, 2, 0, 'x', byte(kindTaken), 0, 0, 0, 5, 1, 0, 0, 0, 1})
	f.Add(append([]byte{byte(kindQuestion), 0, 0, 0, 25}, `{"Number":1,"Text":"eHg="}`[:25]...))
	f.Add(append([]byte{byte(kindFailure), 0, 0, 0, 43}, `{"Message":"eA==","Is":["exist","own",""]}  `[:43]...))
	f.Add([]byte{'d', 0, 0, 0, 0, byte(kindForget), 0, 0, 0, 1, '1', byte(kindAnswer), 0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, sent []byte) {
		here, there := net.Pipe()
		link := NewLink(here, map[string]error{"own": errOwn})
		inlet := link.Inlet(0)
		link.Outlet(1)
		listening, stop := link.Listen(t.Context(), nil, func(Kind, []byte) error { return nil })
		go func() { _, _ = io.Copy(io.Discard, there) }()
		_, _ = there.Write(sent)
		require.NoError(t, there.Close())
		<-listening.Done()
		received, err := io.ReadAll(inlet)
		require.LessOrEqual(t, len(received), min(len(sent), Window))
		if err == nil {
			require.Contains(t, string(sent), string([]byte{byte(kindEnd), 0, 0, 0, 1, 0}))
		}
		stop()
	})
}

// FuzzHeader reads anything as the line that begins a conversation.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte("no line"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		here, there := net.Pipe()
		go func() {
			_, _ = there.Write(sent)
			there.Close()
		}()
		header, err := NewLink(here, nil).ReceiveHeader()
		line, _, ended := bytes.Cut(sent, []byte("\n"))
		require.Equal(t, ended, err == nil)
		if ended {
			require.Equal(t, string(line), string(header))
		}
		require.NoError(t, here.Close())
	})
}
