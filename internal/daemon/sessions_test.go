package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/remote"
)

// echo answers each byte it reads with the same on its output until its input
// ends, with exit code 7, or it is ended, with 15.
var echo = daemon.Hoster(func(ctx context.Context, request []byte, session daemon.Hosted) (int, error) {
	if _, err := session.Stdout.Write(request); err != nil {
		return -1, err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(session.Stdout, session.Stdin)
		copied <- err
	}()
	select {
	case err := <-copied:
		return 7, err
	case <-ctx.Done():
		return 15, nil
	}
})

// screen is the output that a client shows.
type screen struct {
	mutex  sync.Mutex
	text   bytes.Buffer
	change chan struct{}
}

func newScreen() *screen { return &screen{change: make(chan struct{}, 1)} }

func (s *screen) Write(data []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.text.Write(data)
	select {
	case s.change <- struct{}{}:
	default:
	}
	return len(data), nil
}

func (s *screen) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

func (s *screen) requireShows(t *testing.T, wanted string) {
	t.Helper()
	limit := time.After(patience)
	for s.String() != wanted {
		select {
		case <-s.change:
		case <-limit:
			require.Equal(t, wanted, s.String())
		}
	}
}

func start(t *testing.T, client *daemon.Client, name string, attachment daemon.Attachment) *daemon.Attached {
	t.Helper()
	attached, err := client.Start(t.Context(), daemon.Launch{Name: name, Request: []byte(`"hi"`)}, &attachment)
	require.NoError(t, err)
	return attached
}

func TestASessionOutlivesItsClient(t *testing.T) {
	client := serve(t, daemon.Options{Hoster: echo}).client(t)
	shown := newScreen()
	first := start(t, client, "job", daemon.Attachment{Stdout: shown})
	shown.requireShows(t, `"hi"`)
	first.Detach()
	first.Detach()
	code, err := first.Wait()
	require.ErrorIs(t, err, daemon.ErrDetached)
	require.Equal(t, -1, code)
	require.NoError(t, client.Send(t.Context(), "job", []byte("while nobody looked")))

	again := newScreen()
	second, err := client.Attach(t.Context(), "job", daemon.Attachment{Stdin: strings.NewReader("typed"), Stdout: again})
	require.NoError(t, err)
	again.requireShows(t, `"hi"while nobody lookedtyped`)

	var listed []daemon.SessionInfo
	require.Eventually(t, func() bool { // the process may notice later that the first has gone
		listed, err = client.List(t.Context())
		return err != nil || len(listed) != 1 || listed[0].Attached == 1
	}, patience, time.Millisecond)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, []string{"job"}, listed[0].Names)

	require.NoError(t, client.End(t.Context(), "job"))
	code, err = second.Wait()
	require.NoError(t, err)
	require.Equal(t, 15, code)
	listed, err = client.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, listed)
}

func TestTheEndOfInputIsForwardedOnRequest(t *testing.T) {
	client := serve(t, daemon.Options{Hoster: echo}).client(t)
	shown := newScreen()
	attached := start(t, client, "job", daemon.Attachment{Stdin: strings.NewReader(" all"), EndInput: true, Stdout: shown})
	code, err := attached.Wait()
	require.NoError(t, err)
	require.Equal(t, 7, code)
	require.Equal(t, `"hi" all`, shown.String())
}

func TestAllAttachedClientsSeeTheSameOutput(t *testing.T) {
	client := serve(t, daemon.Options{Hoster: echo}).client(t)
	shown := []*screen{newScreen(), newScreen(), newScreen()}
	clients := []*daemon.Attached{start(t, client, "job", daemon.Attachment{Stdout: shown[0]})}
	for _, further := range shown[1:] {
		attached, err := client.Attach(t.Context(), "job", daemon.Attachment{Stdout: further})
		require.NoError(t, err)
		clients = append(clients, attached)
	}
	require.NoError(t, client.Send(t.Context(), "job", []byte("!")))
	for _, one := range shown {
		one.requireShows(t, `"hi"!`)
	}
	require.NoError(t, client.End(t.Context(), "job"))
	for _, one := range clients {
		code, err := one.Wait()
		require.NoError(t, err)
		require.Equal(t, 15, code)
	}
}

func TestNothingIsLostOrDoubledForThoseAttached(t *testing.T) {
	var wanted strings.Builder
	for i := range 40_000 {
		wanted.WriteString(strings.Repeat(string(rune('a'+i%26)), i%53) + "\n")
	}
	release := make(chan struct{})
	client := serve(t, daemon.Options{Hoster: daemon.Hoster(func(_ context.Context, _ []byte, session daemon.Hosted) (int, error) {
		<-release
		_, err := io.Copy(session.Stdout, strings.NewReader(wanted.String()))
		return 0, err
	})}).client(t)
	shown := []*screen{newScreen(), newScreen()}
	first := start(t, client, "job", daemon.Attachment{Stdout: shown[0]})
	second, err := client.Attach(t.Context(), "job", daemon.Attachment{Stdout: shown[1]})
	require.NoError(t, err)
	close(release)
	for i, one := range []*daemon.Attached{first, second} {
		code, err := one.Wait()
		require.NoError(t, err)
		require.Zero(t, code)
		require.True(t, wanted.String() == shown[i].String())
	}
}

func TestALateClientSeesTheEndOfBothStreams(t *testing.T) {
	written, end := make(chan struct{}), make(chan struct{})
	client := serve(t, daemon.Options{Hoster: daemon.Hoster(func(_ context.Context, _ []byte, session daemon.Hosted) (int, error) {
		for range 2000 {
			if _, err := io.WriteString(session.Stdout, strings.Repeat("o", 500)); err != nil {
				return -1, err
			}
			if _, err := io.WriteString(session.Stderr, "e"); err != nil {
				return -1, err
			}
		}
		close(written)
		<-end
		return 0, nil
	})}).client(t)
	nobody, err := client.Start(t.Context(), daemon.Launch{Name: "job"}, nil)
	require.NoError(t, err)
	require.Nil(t, nobody)
	await(t, written, "the output")
	output, complaints := newScreen(), newScreen()
	attached, err := client.Attach(t.Context(), "job", daemon.Attachment{Stdout: output, Stderr: complaints})
	require.NoError(t, err)
	close(end)
	_, err = attached.Wait()
	require.NoError(t, err)
	require.Equal(t, daemon.RingBytes, len(output.String())+len(complaints.String()))
	require.InDelta(t, daemon.RingBytes/501, len(complaints.String()), 2)
}

func TestSizesSignalsAndPromptsAreForwarded(t *testing.T) {
	type seen struct {
		terminal remote.Terminal
		size     remote.Size
		number   syscall.Signal
		answer   string
	}
	reported := make(chan seen, 1)
	client := serve(t, daemon.Options{Hoster: daemon.Hoster(func(ctx context.Context, _ []byte, session daemon.Hosted) (int, error) {
		var s seen
		var err error
		s.terminal = *session.Terminal
		s.terminal.Resized = nil
		for s.size.Columns != 120 {
			s.size = <-session.Terminal.Resized
		}
		s.number = <-session.Signals
		s.answer, err = session.Prompter.Ask(ctx, remote.Question{Text: "?"})
		reported <- s
		return 0, err
	})}).client(t)
	resized, signals := make(chan remote.Size, 1), make(chan syscall.Signal, 1)
	resized <- remote.Size{Columns: 120, Rows: 40}
	signals <- syscall.SIGINT
	attached, err := client.Start(t.Context(), daemon.Launch{
		Name: "job", Terminal: &remote.Terminal{Type: "xterm", Size: remote.Size{Columns: 80, Rows: 24}},
	}, &daemon.Attachment{
		Resized: resized, Signals: signals,
		Prompter: prompterFunc(func(context.Context, remote.Question) (string, error) { return "yes", nil }),
	})
	require.NoError(t, err)
	code, err := attached.Wait()
	require.NoError(t, err)
	require.Zero(t, code)
	require.Equal(t, seen{
		remote.Terminal{Type: "xterm", Size: remote.Size{Columns: 80, Rows: 24}}, remote.Size{Columns: 120, Rows: 40}, syscall.SIGINT, "yes",
	}, await(t, reported, "what reached the session"))
}

// It repeats, since a client rarely came too late.
func TestASessionCanPromptAtOnce(t *testing.T) {
	client := serve(t, daemon.Options{Hoster: daemon.Hoster(func(ctx context.Context, _ []byte, session daemon.Hosted) (int, error) {
		_, err := session.Prompter.Ask(ctx, remote.Question{Text: "?"})
		return 0, err
	})}).client(t)
	for range 200 {
		attached, err := client.Start(t.Context(), daemon.Launch{Name: "job"}, &daemon.Attachment{
			Prompter: prompterFunc(func(context.Context, remote.Question) (string, error) { return "yes", nil }),
		})
		require.NoError(t, err)
		_, err = attached.Wait()
		require.NoError(t, err)
	}
}

func TestLiveSessionsAreFoundByName(t *testing.T) {
	named := make(chan error, 3)
	client := serve(t, daemon.Options{Hoster: daemon.Hoster(func(ctx context.Context, request []byte, session daemon.Hosted) (int, error) {
		named <- session.Known("slurm/7", "7")
		<-ctx.Done()
		return 0, nil
	})}).client(t)
	_, err := client.Start(t.Context(), daemon.Launch{Name: "tag"}, nil)
	require.NoError(t, err)
	require.NoError(t, await(t, named, "the names of the session"))
	_, err = client.Start(t.Context(), daemon.Launch{Name: "tag"}, nil)
	require.ErrorIs(t, err, daemon.ErrSessionExists)
	_, err = client.Start(t.Context(), daemon.Launch{Name: "other"}, nil)
	require.NoError(t, err)
	require.ErrorIs(t, await(t, named, "the names of the session"), daemon.ErrSessionExists)

	_, err = client.Attach(t.Context(), "8", daemon.Attachment{})
	require.ErrorIs(t, err, daemon.ErrNoSession)
	require.ErrorIs(t, client.Send(t.Context(), "8", []byte("x")), daemon.ErrNoSession)
	require.ErrorIs(t, client.End(t.Context(), "8"), daemon.ErrNoSession)
	_, err = client.Stop(t.Context())
	require.ErrorIs(t, err, daemon.ErrSessionsLive)
	require.NoError(t, client.End(t.Context(), "slurm/7"))
	require.NoError(t, client.End(t.Context(), "other"))
	_, err = client.Start(t.Context(), daemon.Launch{Name: "7"}, nil)
	require.NoError(t, err, "the name of a session that has ended is free")
	require.NoError(t, await(t, named, "the names of the session"))
	_, err = client.Start(t.Context(), daemon.Launch{Name: ""}, nil)
	require.Error(t, err)
}

func TestASessionReturnsErrorsWithItsExitCode(t *testing.T) {
	client := serve(t, daemon.Options{Hoster: daemon.Hoster(func(context.Context, []byte, daemon.Hosted) (int, error) {
		return 3, &remote.ConnectError{Host: "there", Reason: remote.Disconnected, Err: errors.New("cut")}
	})}).client(t)
	code, err := start(t, client, "job", daemon.Attachment{}).Wait()
	require.Equal(t, 3, code)
	require.ErrorIs(t, err, remote.ErrUnreachable)
}

func TestAttachedClientsLearnOfTheEndOfTheProcess(t *testing.T) {
	s := serve(t, daemon.Options{Hoster: echo})
	attached := start(t, s.client(t), "job", daemon.Attachment{})
	s.end()
	code, err := attached.Wait()
	require.Equal(t, -1, code)
	var gone *daemon.GoneError
	require.ErrorAs(t, err, &gone)
}

func TestASessionKeepsTheProcessAlive(t *testing.T) {
	s := serveUsed(t, daemon.Options{Hoster: echo, Idle: 400 * time.Millisecond, Build: "old"}, func(client *daemon.Client) error {
		_, err := client.Start(t.Context(), daemon.Launch{Name: "job"}, nil)
		return err
	})
	other, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: s.options.Folder, Build: "new", Start: func() error {
		return errors.New("one is there")
	}})
	require.NoError(t, err, "a process with sessions is used by other builds, too")
	require.Never(t, s.isOver, 600*time.Millisecond, 10*time.Millisecond)
	require.NoError(t, other.End(t.Context(), "job"))
	s.wait(t)
}

func TestWithoutAHosterThereAreNoSessions(t *testing.T) {
	client := serve(t, daemon.Options{}).client(t)
	_, err := client.Start(t.Context(), daemon.Launch{Name: "job"}, nil)
	require.ErrorContains(t, err, "hosts no sessions")
}
