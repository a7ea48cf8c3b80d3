package relay_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/relay"
)

func TestAProcessThatIsGivenUpWhileItStarts(t *testing.T) {
	t.Run("may run, so its end is told", func(t *testing.T) {
		begun := make(chan struct{})
		place := startsLate{Connection: local(t), begun: begun}
		connection := dial(t, serve(t, &provider{connection: place}), nil)
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
		provider := &provider{connection: local(t), provide: func(ctx context.Context, _ relay.Place, _ remote.Prompter) error {
			if isFirst { // the one that is kept
				isFirst = false
				return nil
			}
			connecting <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}}
		connection := dial(t, serve(t, provider), nil)
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

// startsLate is a place that tells of a process only once it was given up.
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
	connection := dial(t, serve(t, &provider{connection: endsAtOnce{local(t)}}), nil)
	for range 500 {
		process, err := connection.Start(t.Context(), remote.Command{Arguments: []string{"true"}})
		require.NoError(t, err)
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 3, code)
	}
	require.NoError(t, connection.Close())
}

// endsAtOnce is a place where every process has ended once it was started.
type endsAtOnce struct{ remote.Connection }

func (endsAtOnce) Start(context.Context, remote.Command) (remote.Handle, error) {
	return endedProcess{}, nil
}

type endedProcess struct{ remote.Handle }

func (endedProcess) Wait() (int, error) { return 3, nil }
