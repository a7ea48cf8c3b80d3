package daemon

import (
	"context"
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

func TestAClientThatGoesAwayDuringATrialLosesNoConnection(t *testing.T) {
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
