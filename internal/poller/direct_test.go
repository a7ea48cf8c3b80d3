package poller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
)

func (p *process) direct(t *testing.T, r poller.Request) bool {
	t.Helper()
	r.Key.Kind = polls.NamedJobs
	isMade, err := p.Direct(t.Context(), r)
	require.NoError(t, err)
	return isMade
}

func TestQueriesForSingleJobsUseHalfOfTheTime(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	r := w.request(3 * time.Second)
	require.True(t, a.direct(t, r))
	require.False(t, b.direct(t, r))
	w.time = w.time.Add(2 * time.Second)
	require.False(t, b.direct(t, r))
	w.time = w.time.Add(2 * time.Second)
	require.True(t, b.direct(t, r))
	require.Zero(t, w.pauses, "nobody waits for his turn")
}

func TestOneProcessQueriesSingleJobsAtATime(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, "a"), w.process(t, "b")
	r, isMadeMeanwhile := w.request(0), false
	during := r
	during.Query = func(context.Context, *poller.Turn) error {
		isMadeMeanwhile = b.direct(t, r)
		return nil
	}
	require.True(t, a.direct(t, during))
	require.False(t, isMadeMeanwhile)
}

func TestQueriesForSingleJobsPauseAfterAFailure(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, "a")
	failing := w.request(0)
	failing.Key.Kind = polls.NamedJobs
	failing.Query = func(context.Context, *poller.Turn) error { return errDown }
	_, err := p.Direct(t.Context(), failing)
	require.ErrorIs(t, err, errDown)
	require.False(t, p.direct(t, w.request(0)))
	w.time = w.time.Add(11 * time.Second)
	require.True(t, p.direct(t, w.request(0)))
}
