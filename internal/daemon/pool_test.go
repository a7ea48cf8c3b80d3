package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// trialConnection answers Stat once it is let.
type trialConnection struct {
	remote.Connection
	tried  chan struct{}
	answer chan error
}

func (c *trialConnection) Stat(ctx context.Context, _ string) (fs.FileInfo, error) {
	c.tried <- struct{}{}
	select {
	case err := <-c.answer:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *trialConnection) Close() error { return nil }

func TestAClientThatLeavesDuringAProbeKeepsTheConnection(t *testing.T) {
	made := 0
	connection := &trialConnection{tried: make(chan struct{}, 1), answer: make(chan error, 1)}
	p := newPool(t.Context(), Options{Log: slog.New(slog.DiscardHandler), Connect: func(context.Context, Place, remote.Prompter) (remote.Connection, error) {
		made++
		return connection, nil
	}})
	p.check = time.Hour
	k, err := p.get(t.Context(), Place{}, nil)
	require.NoError(t, err)
	p.release(k)
	for _, k := range p.all() {
		k.used = k.used.Add(-2 * p.check)
	}

	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-connection.tried
		leave()
	}()
	_, err = p.get(ctx, Place{}, nil)
	require.ErrorIs(t, err, context.Canceled)

	connection.answer <- nil
	k, err = p.get(t.Context(), Place{}, nil)
	require.NoError(t, err)
	p.release(k)
	require.Len(t, connection.tried, 1, "the next client gets it untried")
	require.Equal(t, 1, made)
}

// workingConnection is busy, so it has to stay open.
type workingConnection struct {
	remote.Connection
	isBusy bool
}

func (c *workingConnection) IsBusy() bool { return c.isBusy }
func (c *workingConnection) Close() error { return nil }

func TestABusyConnectionStaysOpen(t *testing.T) {
	connection := &workingConnection{isBusy: true}
	p := newPool(t.Context(), Options{Log: slog.New(slog.DiscardHandler), Connect: func(context.Context, Place, remote.Prompter) (remote.Connection, error) {
		return connection, nil
	}})
	k, err := p.get(t.Context(), Place{Agent: Agent{Arguments: []string{"agent"}}}, nil)
	require.NoError(t, err)
	p.release(k)
	k.used = k.used.Add(-time.Hour)
	p.closeIdle(time.Minute)
	require.Len(t, p.list(), 1)
	require.True(t, p.isBusy())
	connection.isBusy = false
	p.closeIdle(time.Minute)
	require.Empty(t, p.list())
}

func TestAgentsOfOneHostHaveSeparateConnections(t *testing.T) {
	p := newPool(t.Context(), Options{Log: slog.New(slog.DiscardHandler), Connect: func(_ context.Context, place Place, _ remote.Prompter) (remote.Connection, error) {
		return &workingConnection{}, nil
	}})
	for _, agent := range []Agent{{}, {Arguments: []string{"a b"}}, {Arguments: []string{"a", "b"}}, {Arguments: []string{"a", "b"}, Proxy: "tcp"}, {Arguments: []string{"a", "b"}, Environment: map[string]string{"A": "1"}}} {
		k, err := p.get(t.Context(), Place{Agent: agent}, nil)
		require.NoError(t, err)
		p.release(k)
	}
	require.Len(t, p.list(), 5)
}

// agentLost is the loss of a process that runs over a connection.
type agentLost struct{ error }

func (agentLost) KeepsConnection() bool { return true }
func (l agentLost) Unwrap() error       { return l.error }

func TestAConnectionOutlivesItsAgents(t *testing.T) {
	p := newPool(t.Context(), Options{Log: slog.New(slog.DiscardHandler), Connect: func(context.Context, Place, remote.Prompter) (remote.Connection, error) {
		return &workingConnection{}, nil
	}})
	k, err := p.get(t.Context(), Place{}, nil)
	require.NoError(t, err)
	require.Error(t, p.noteLoss(k, agentLost{remote.ErrUnreachable}))
	require.Error(t, p.noteLoss(k, &remote.StartError{Err: agentLost{fmt.Errorf("ended: %w", remote.ErrUnreachable)}}))
	require.Len(t, p.list(), 1)
	require.Error(t, p.noteLoss(k, remote.ErrUnreachable))
	require.Empty(t, p.list())
}
