package relay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/relay"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

func TestConformance(t *testing.T) {
	options := remotetest.Options{Volume: 16 << 20, Commands: 200, Values: 300, Impatient: func(t *testing.T) remote.Connection {
		place := local(t)
		place.Grace, place.Linger = 300*time.Millisecond, patience
		return dial(t, serve(t, &provider{connection: place}), nil)
	}}
	remotetest.RunWith(t, func(t *testing.T) remote.Connection {
		return dial(t, serve(t, &provider{connection: local(t)}), nil)
	}, options)
}

// provider provides one connection, or fails.
type provider struct {
	connection remote.Connection
	provide    func(ctx context.Context, place relay.Place, prompter remote.Prompter) error // may be nil

	mutex sync.Mutex
	users int
}

func (p *provider) Connection(ctx context.Context, place relay.Place, prompter remote.Prompter) (remote.Connection, func(), error) {
	if p.provide != nil {
		if err := p.provide(ctx, place, prompter); err != nil {
			return nil, nil, err
		}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.users++
	return p.connection, func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.users--
	}, nil
}

func (p *provider) inUse() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.users
}

func local(t *testing.T) *remote.Local {
	t.Helper()
	connection, err := remote.NewLocal()
	require.NoError(t, err)
	connection.Grace, connection.Linger = 6*time.Second, 500*time.Millisecond
	return connection
}

// serve serves a provider until the test ends, and returns the socket.
func serve(t *testing.T, p relay.Provider) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "relay")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	socket := filepath.Join(folder, "socket")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- relay.Serve(ctx, listener, p) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return socket
}

func dial(t *testing.T, socket string, prompter remote.Prompter) remote.Connection {
	t.Helper()
	connection, err := relay.Dial(t.Context(), relay.Socket(socket), relay.Place{Transport: "ssh", Host: "there"}, prompter)
	require.NoError(t, err)
	return connection
}

// prompterFunc is a prompter.
type prompterFunc func(ctx context.Context, question remote.Question) (string, error)

func (f prompterFunc) Ask(ctx context.Context, question remote.Question) (string, error) {
	return f(ctx, question)
}

func TestAPlaceReachesTheProviderAsItIs(t *testing.T) {
	wanted := relay.Place{Transport: "openssh", Host: "a b\xff", SSHConfig: "/c\n", Environment: map[string]string{"A=B": "\xfe", "SSH_AUTH_SOCK": ""}}
	got := make(chan relay.Place, 1)
	socket := serve(t, &provider{connection: local(t), provide: func(_ context.Context, place relay.Place, _ remote.Prompter) error {
		got <- place
		return nil
	}})
	connection, err := relay.Dial(t.Context(), relay.Socket(socket), wanted, nil)
	require.NoError(t, err)
	require.Equal(t, wanted, <-got)
	require.NoError(t, connection.Close())
}

func TestQuestionsReachTheClient(t *testing.T) {
	socket := serve(t, &provider{connection: local(t), provide: func(ctx context.Context, _ relay.Place, prompter remote.Prompter) error {
		answer, err := prompter.Ask(ctx, remote.Question{Host: "there", Text: "Password\x1b:\xff", Secret: true})
		if err == nil && answer != "s3cr\xe9t" {
			err = errors.New("wrong answer")
		}
		return err
	}})
	t.Run("and its answers the place", func(t *testing.T) {
		var asked remote.Question
		connection := dial(t, socket, prompterFunc(func(_ context.Context, question remote.Question) (string, error) {
			asked = question
			return "s3cr\xe9t", nil
		}))
		require.Equal(t, remote.Question{Host: "there", Text: "Password\x1b:\xff", Secret: true}, asked)
		require.NoError(t, connection.Close())
	})
	t.Run("a client that has nobody to ask says so", func(t *testing.T) {
		_, err := relay.Dial(t.Context(), relay.Socket(socket), relay.Place{}, nil)
		require.ErrorIs(t, err, remote.ErrNobodyToAsk)
	})
	t.Run("a client that goes away is not waited for", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := relay.Dial(ctx, relay.Socket(socket), relay.Place{}, prompterFunc(func(ctx context.Context, _ remote.Question) (string, error) {
			cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestAQuestionThatIsGivenUpIsTakenBack(t *testing.T) {
	shown := make(chan struct{})
	socket := serve(t, &provider{connection: local(t), provide: func(ctx context.Context, _ relay.Place, prompter remote.Prompter) error {
		asking, giveUp := context.WithCancel(ctx)
		defer giveUp()
		go func() {
			defer giveUp()
			select {
			case <-shown: // one that was given up before would not be asked at all
			case <-asking.Done():
			}
		}()
		_, err := prompter.Ask(asking, remote.Question{Text: "Still there?"})
		if !errors.Is(err, context.Canceled) {
			return errors.New("the question was not given up")
		}
		return nil
	}})
	forgotten := make(chan struct{})
	connection := dial(t, socket, prompterFunc(func(ctx context.Context, _ remote.Question) (string, error) {
		close(shown)
		<-ctx.Done()
		close(forgotten)
		return "", ctx.Err()
	}))
	<-forgotten
	require.NoError(t, connection.Close())
}

func TestErrorsOfConnectingKeepTheirMeaning(t *testing.T) {
	cause := errors.New("the key is another one\xff")
	socket := serve(t, &provider{provide: func(context.Context, relay.Place, remote.Prompter) error {
		return &remote.ConnectError{Host: "there", Reason: remote.ChangedHostKey, Help: "Look twice.", Err: cause}
	}})
	_, err := relay.Dial(t.Context(), relay.Socket(socket), relay.Place{}, nil)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	var connect *remote.ConnectError
	require.ErrorAs(t, err, &connect)
	require.Equal(t, remote.ChangedHostKey, connect.Reason)
	require.Equal(t, "there", connect.Host)
	require.Equal(t, "Look twice.", connect.Help)
	require.Equal(t, cause.Error(), connect.Err.Error())
	require.EqualError(t, err, "connecting to there: "+cause.Error()+"\nLook twice.")
}

func TestWithoutAServerNothingIsAsked(t *testing.T) {
	var failed *relay.DialError
	_, err := relay.Dial(t.Context(), relay.Socket(filepath.Join(t.TempDir(), "absent")), relay.Place{}, nil)
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAProcessEndsWithItsClient(t *testing.T) {
	p := &provider{connection: local(t)}
	socket := serve(t, p)
	connection := dial(t, socket, nil)
	var cut net.Conn // of the last conversation
	cutting, err := relay.Dial(t.Context(), func(ctx context.Context) (net.Conn, error) {
		var err error
		cut, err = relay.Socket(socket)(ctx)
		return cut, err
	}, relay.Place{Host: "there"}, nil)
	require.NoError(t, err)
	reader, writer := io.Pipe()
	process, err := cutting.Start(t.Context(), remote.Command{Arguments: []string{"sh", "-c", "echo $$; exec sleep 300"}, Stdout: writer})
	require.NoError(t, err)
	id := make([]byte, 32)
	impatience := time.AfterFunc(patience, func() { reader.CloseWithError(errors.New("the process prints nothing")) })
	count, err := reader.Read(id)
	impatience.Stop()
	require.NoError(t, err)
	require.NoError(t, cut.Close())

	code, err := process.Wait()
	require.Equal(t, -1, code)
	var lost *remote.ConnectError
	require.ErrorAs(t, err, &lost)
	require.Equal(t, remote.Disconnected, lost.Reason)
	require.NoError(t, cutting.Close())
	require.Eventually(t, func() bool { return p.inUse() == 1 }, patience, 5*time.Millisecond, "the process was not given up")
	kill, err := connection.Start(t.Context(), remote.Command{Arguments: []string{"kill", "-0", strings.TrimSpace(string(id[:count]))}})
	require.NoError(t, err)
	code, err = kill.Wait()
	require.NoError(t, err)
	require.Equal(t, 1, code, "the process lives on")
	require.NoError(t, connection.Close())
	require.Eventually(t, func() bool { return p.inUse() == 0 }, patience, 5*time.Millisecond, "the connection is still held")
}

func TestTheEndOfTheServerIsALostConnection(t *testing.T) {
	folder := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- relay.Serve(ctx, listener, &provider{connection: local(t)}) }()
	connection := dial(t, filepath.Join(folder, "s"), nil)
	process, err := connection.Start(t.Context(), remote.Command{Arguments: []string{"sleep", "300"}})
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
	code, err := process.Wait()
	require.Equal(t, -1, code)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	_, err = connection.Stat(t.Context(), "/")
	var failed *relay.DialError
	require.ErrorAs(t, err, &failed)
	require.NoError(t, connection.Close())
}

func TestAWriterThatWaitsHoldsUpNothingElse(t *testing.T) {
	const printed = 100_000 // less than may be under way, so that the complaint is reached
	place := local(t)
	place.Grace, place.Linger = patience, patience // nothing that was printed is given up
	connection := dial(t, serve(t, &provider{connection: place}), nil)
	slow, output := io.Pipe()
	var complaints bytes.Buffer
	done := make(chan struct{})
	process, err := connection.Start(t.Context(), remote.Command{
		Arguments: []string{"sh", "-c", `head -c "$1" /dev/zero; echo complaint >&2; head -c 2000000 /dev/zero; sleep 300`, "sh", strconv.Itoa(printed)},
		Stdout:    output,
		Stderr: writerFunc(func(data []byte) (int, error) {
			complaints.Write(data)
			close(done)
			return len(data), nil
		}),
		Stdin: neverEnding{},
	})
	require.NoError(t, err)
	impatience := time.AfterFunc(patience, func() { slow.CloseWithError(errors.New("the output does not come")) })
	defer impatience.Stop()
	select {
	case <-done: // while nothing of the standard output is read, and more input is sent than anybody reads
	case <-time.After(patience):
		require.FailNow(t, "the complaint is held up")
	}
	process.Terminate()
	copied, err := io.CopyN(io.Discard, slow, printed/2)
	require.NoError(t, err)
	require.EqualValues(t, printed/2, copied)
	require.NoError(t, slow.Close())
	code, err := process.Wait()
	require.Equal(t, 128+15, code)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Equal(t, "complaint\n", complaints.String())
	require.NoError(t, connection.Close())
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(data []byte) (int, error) { return f(data) }

type neverEnding struct{}

func (neverEnding) Read(data []byte) (int, error) { return len(data), nil }

func BenchmarkCommand(b *testing.B) {
	connection, err := remote.NewLocal()
	require.NoError(b, err)
	folder, err := os.MkdirTemp("", "relay")
	require.NoError(b, err)
	defer os.RemoveAll(folder)
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- relay.Serve(ctx, listener, &provider{connection: connection}) }()
	relayed, err := relay.Dial(ctx, relay.Socket(filepath.Join(folder, "s")), relay.Place{}, nil)
	require.NoError(b, err)
	for name, place := range map[string]remote.Connection{"direct": connection, "relayed": relayed} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				process, err := place.Start(ctx, remote.Command{Arguments: []string{"true"}})
				require.NoError(b, err)
				_, err = process.Wait()
				require.NoError(b, err)
			}
		})
	}
	require.NoError(b, relayed.Close())
	cancel()
	require.NoError(b, <-ended)
}
