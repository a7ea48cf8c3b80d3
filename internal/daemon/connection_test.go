package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
)

func TestConformance(t *testing.T) {
	options := remotetest.Options{Volume: 16 << 20, Commands: 200, Values: 300, Impatient: func(t *testing.T) remote.Connection {
		return relayed(t, localWith(t, 300*time.Millisecond, patience))
	}}
	remotetest.RunWith(t, func(t *testing.T) remote.Connection { return relayed(t, local(t)) }, options)
}

func local(t *testing.T) remote.Connection {
	t.Helper()
	return localWith(t, 6*time.Second, 500*time.Millisecond)
}

func localWith(t *testing.T, grace, linger time.Duration) remote.Connection {
	t.Helper()
	connection, err := remote.NewLocalWith(grace, linger)
	require.NoError(t, err)
	return connection
}

// relayed returns a connection to a host through its own background process.
func relayed(t testing.TB, place remote.Connection) remote.Connection {
	t.Helper()
	client := serve(t, daemon.Options{Connect: func(context.Context, daemon.Place, remote.Prompter) (remote.Connection, error) {
		return place, nil
	}}).client(t)
	connection, err := client.Connect(t.Context(), daemon.Place{Transport: "ssh", Host: "there"}, nil)
	require.NoError(t, err)
	return connection
}

// serveConnecting serves connections to this machine, which are made once connect returns nil.
func serveConnecting(t *testing.T, connect func(context.Context, daemon.Place, remote.Prompter) error) *daemon.Client {
	t.Helper()
	return serve(t, daemon.Options{Connect: (&connector{wait: connect}).connect}).client(t)
}

func TestTheTransportGetsThePlaceUnchanged(t *testing.T) {
	wanted := daemon.Place{Transport: "openssh", Host: "a b\xff", SSHConfig: "/c\n", Agent: daemon.Agent{Arguments: []string{"a \xff", ""}, Proxy: "tcp", Environment: map[string]string{"B": "\xfd"}}, Environment: map[string]string{"A=B": "\xfe", "SSH_AUTH_SOCK": ""}}
	got := make(chan daemon.Place, 1)
	client := serveConnecting(t, func(_ context.Context, place daemon.Place, _ remote.Prompter) error {
		got <- place
		return nil
	})
	connection, err := client.Connect(t.Context(), wanted, nil)
	require.NoError(t, err)
	require.Equal(t, wanted, <-got)
	require.NoError(t, connection.Close())
}

func TestQuestionsReachTheClient(t *testing.T) {
	client := serveConnecting(t, func(ctx context.Context, _ daemon.Place, prompter remote.Prompter) error {
		answer, err := prompter.Ask(ctx, remote.Question{Host: "there", Text: "Password\x1b:\xff", Secret: true})
		if err == nil && answer != "s3cr\xe9t" {
			err = errors.New("wrong answer")
		}
		return err
	})
	t.Run("a client that has nobody to ask says so", func(t *testing.T) {
		_, err := client.Connect(t.Context(), place, nil)
		require.ErrorIs(t, err, remote.ErrNobodyToAsk)
	})
	t.Run("a client that goes away is not waited for", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := client.Connect(ctx, place, prompterFunc(func(ctx context.Context, _ remote.Question) (string, error) {
			cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}))
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("and its answers the place", func(t *testing.T) {
		var asked remote.Question
		connection, err := client.Connect(t.Context(), place, prompterFunc(func(_ context.Context, question remote.Question) (string, error) {
			asked = question
			return "s3cr\xe9t", nil
		}))
		require.NoError(t, err)
		require.Equal(t, remote.Question{Host: "there", Text: "Password\x1b:\xff", Secret: true}, asked)
		require.NoError(t, connection.Close())
	})
}

func TestACanceledPromptIsWithdrawn(t *testing.T) {
	shown := make(chan struct{})
	client := serveConnecting(t, func(ctx context.Context, _ daemon.Place, prompter remote.Prompter) error {
		asking, giveUp := context.WithCancel(ctx)
		defer giveUp()
		go func() {
			defer giveUp()
			select {
			case <-shown: // a prompt canceled earlier would not reach the user
			case <-asking.Done():
			}
		}()
		_, err := prompter.Ask(asking, remote.Question{Text: "Still there?"})
		if !errors.Is(err, context.Canceled) {
			return errors.New("the question was not given up")
		}
		return nil
	})
	forgotten := make(chan struct{})
	connection, err := client.Connect(t.Context(), place, prompterFunc(func(ctx context.Context, _ remote.Question) (string, error) {
		close(shown)
		<-ctx.Done()
		close(forgotten)
		return "", ctx.Err()
	}))
	require.NoError(t, err)
	<-forgotten
	require.NoError(t, connection.Close())
}

func TestErrorsOfConnectingKeepTheirMeaning(t *testing.T) {
	cause := errors.New("the key is another one\xff")
	client := serveConnecting(t, func(context.Context, daemon.Place, remote.Prompter) error {
		return &remote.ConnectError{Host: "there", Reason: remote.ChangedHostKey, Help: "Look twice.", Err: cause}
	})
	_, err := client.Connect(t.Context(), place, nil)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	var connect *remote.ConnectError
	require.ErrorAs(t, err, &connect)
	require.Equal(t, remote.ChangedHostKey, connect.Reason)
	require.Equal(t, "there", connect.Host)
	require.Equal(t, "Look twice.", connect.Help)
	require.Equal(t, cause.Error(), connect.Err.Error())
	require.EqualError(t, err, "connecting to there: "+cause.Error()+"\nLook twice.")
}

func TestWithoutAProcessNoPromptAppears(t *testing.T) {
	var failed *daemon.DialError
	_, err := daemon.Find(shortFolder(t)).Connect(t.Context(), place, nil)
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, daemon.ErrNotRunning)
}

func TestTheEndOfTheProcessIsALostConnection(t *testing.T) {
	s := serve(t, daemon.Options{})
	connection := connect(t, s.client(t))
	process, err := connection.Start(t.Context(), remote.Command{Arguments: []string{"sleep", "300"}})
	require.NoError(t, err)
	s.end()
	s.wait(t)
	code, err := process.Wait()
	require.Equal(t, -1, code)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	_, err = connection.Stat(t.Context(), "/")
	var failed *daemon.DialError
	require.ErrorAs(t, err, &failed)
	require.NoError(t, connection.Close())
}

func TestABlockedWriterDelaysNothingElse(t *testing.T) {
	const printed = 100_000                   // less than the window, so that the error arrives
	place := localWith(t, patience, patience) // nothing that was printed is given up
	connection := relayed(t, place)
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

func TestStartingAProcessCanBeCanceled(t *testing.T) {
	t.Run("may run, so its end is reported", func(t *testing.T) {
		begun := make(chan struct{})
		place := startsLate{Connection: local(t), begun: begun}
		connection := relayed(t, place)
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		go func() {
			<-begun
			giveUp()
		}()
		process, err := connection.Start(ctx, remote.Command{Arguments: []string{"sleep", "300"}})
		require.NoError(t, err)
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 128+15, code)
		require.NoError(t, connection.Close())
	})
	t.Run("does not run where the connection was not there yet", func(t *testing.T) {
		connecting := make(chan struct{}, 1)
		isFirst := true
		made := &connector{wait: func(ctx context.Context, _ daemon.Place, _ remote.Prompter) error {
			if isFirst {
				isFirst = false
				return nil
			}
			connecting <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}}
		connection := connect(t, serve(t, daemon.Options{Connect: made.connect}).client(t))
		close(made.all()[0].ended)
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		go func() {
			<-connecting
			giveUp()
		}()
		_, err := connection.Start(ctx, remote.Command{Arguments: []string{"sleep", "300"}})
		var start *remote.StartError
		require.ErrorAs(t, err, &start)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, connection.Close())
	})
}

// startsLate is a host that reports the start of a process only after the client has canceled.
type startsLate struct {
	remote.Connection
	begun chan<- struct{}
}

func (p startsLate) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	process, err := p.Connection.Start(ctx, command)
	close(p.begun)
	<-ctx.Done()
	return process, err
}

func TestAProcessThatEndsAtOnceWasStarted(t *testing.T) {
	connection := relayed(t, endsAtOnce{local(t)})
	for range 500 {
		process, err := connection.Start(t.Context(), remote.Command{Arguments: []string{"true"}})
		require.NoError(t, err)
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 3, code)
	}
	require.NoError(t, connection.Close())
}

// endsAtOnce is a host on which every process ends right after its start.
type endsAtOnce struct{ remote.Connection }

func (endsAtOnce) Info() remote.Info { return remote.Info{} }
func (endsAtOnce) Close() error      { return nil }

func (endsAtOnce) Start(context.Context, remote.Command) (remote.Handle, error) {
	return endedProcess{}, nil
}

type endedProcess struct{ remote.Handle }

func (endedProcess) Wait() (int, error) { return 3, nil }

func BenchmarkCommand(b *testing.B) {
	direct, err := remote.NewLocal()
	require.NoError(b, err)
	behind := relayed(b, direct)
	for name, place := range map[string]remote.Connection{"direct": direct, "relayed": behind} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				process, err := place.Start(b.Context(), remote.Command{Arguments: []string{"true"}})
				require.NoError(b, err)
				_, err = process.Wait()
				require.NoError(b, err)
			}
		})
	}
	require.NoError(b, behind.Close())
}

// BenchmarkOutput measures the cost of the background process for long output.
func BenchmarkOutput(b *testing.B) {
	const printed = 100_000_000
	direct, err := remote.NewLocal()
	require.NoError(b, err)
	behind := relayed(b, direct)
	for name, place := range map[string]remote.Connection{"direct": direct, "relayed": behind} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(printed)
			for b.Loop() {
				count := new(counter)
				process, err := place.Start(b.Context(), remote.Command{Arguments: []string{"head", "-c", strconv.Itoa(printed), "/dev/zero"}, Stdout: count})
				require.NoError(b, err)
				_, err = process.Wait()
				require.NoError(b, err)
				require.EqualValues(b, printed, *count)
			}
		})
	}
	require.NoError(b, behind.Close())
}

type counter int

func (c *counter) Write(data []byte) (int, error) {
	*c += counter(len(data))
	return len(data), nil
}
