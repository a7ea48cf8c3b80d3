package control_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// A view of a user, such as a terminal or a browser, is a process with turns of its own.
type view struct {
	*control.Turns
	site *site
	ids  []string
}

func newView(s *site, keeps bool) *view {
	return &view{Turns: control.New(s.options).Turns(keeps), site: s}
}

// lists lists the jobs in turn, and returns when that listing began.
func (v *view) lists(t *testing.T) time.Time {
	t.Helper()
	v.ids = nil
	made, err := v.Rows(t.Context(), config.ListJobs, func(row command.Row) error {
		v.ids = append(v.ids, row.ID+" "+row.Fact("state"))
		return nil
	})
	require.NoError(t, err)
	require.Len(t, v.ids, made.Rows)
	return made.Begun
}

// listings returns how often the scheduler was queried.
func (v *view) listings(t *testing.T) int {
	t.Helper()
	counts, err := v.site.store.Polls().All(t.Context(), v.site.options.Now())
	require.NoError(t, err)
	require.Len(t, counts, 1)
	require.EqualValues(t, "list-jobs", counts[0].Kind)
	require.Equal(t, []string{"here"}, counts[0].Targets)
	return counts[0].Day
}

func TestProcessesShareEachListing(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	views := []*view{newView(s, false), newView(s, false), newView(s, false)}
	s.write(t, "jobs", "7 RUNNING then me\n")
	begun := views[0].lists(t)
	due, err := views[1].Due(t.Context(), config.ListJobs)
	require.NoError(t, err)
	require.False(t, due.Before(begun.Add(10*time.Second)), "nobody wanted that one but who made it")
	for range 5 {
		s.ahead += 10 * time.Second
		s.write(t, "jobs", "7 RUNNING then me\n8 PENDING then eve\n")
		next := views[0].lists(t)
		require.GreaterOrEqual(t, next.Sub(begun), 9*time.Second)
		for _, other := range views[1:] {
			due, err := other.Due(t.Context(), config.ListJobs)
			require.NoError(t, err)
			require.False(t, due.After(s.options.Now()), "what others have listed is there at once")
			require.Equal(t, next.UnixNano(), other.lists(t).UnixNano())
			require.Equal(t, views[0].ids, other.ids)
			due, err = other.Due(t.Context(), config.ListJobs)
			require.NoError(t, err)
			require.False(t, due.Before(next.Add(10*time.Second)), "until the next one is due")
		}
		begun = next
		views = append(views[1:], views[0]) // another process is first
	}
	require.Equal(t, 6, views[0].listings(t))
}

func TestAListingForOneProcessIsNotStored(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	alone := newView(s, false)
	s.write(t, "jobs", "7 RUNNING then me\n")
	for range 3 {
		alone.lists(t)
	}
	_, err := s.LatestRows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
	require.ErrorIs(t, err, control.ErrNotListed)
	require.Equal(t, 3, alone.listings(t))
}

func TestUnusedListingsAreNotStoredForLong(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	stays, leaves := newView(s, false), newView(s, false)
	s.write(t, "jobs", "7 RUNNING then me\n")
	latest := func() error {
		_, err := s.LatestRows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
		return err
	}
	stays.lists(t)
	leaves.lists(t)
	stays.lists(t)
	require.NoError(t, latest())
	s.ahead += 20 * time.Minute
	stays.lists(t)
	require.ErrorIs(t, latest(), control.ErrNotListed)
}

func TestLatestRowsQueriesNoScheduler(t *testing.T) {
	var seen []command.Listed
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	s.options.OnListed = func(_ config.CommandElement, listed command.Listed) { seen = append(seen, listed) }
	server := newView(s, true)
	hostile := "\x1b[31m<b>\xff\xfe"
	s.write(t, "jobs", "7 RUNNING "+hostile+" me\nno job at all\n7 PENDING then eve\n")
	begun := server.lists(t)
	var rows []command.Row
	collect := func(row command.Row) error {
		rows = append(rows, row)
		return nil
	}
	made, err := s.LatestRows(t.Context(), config.ListJobs, collect)
	require.NoError(t, err)
	require.Equal(t, begun.UnixNano(), made.Begun.UnixNano())
	latest := rows
	rows = nil
	asked, err := s.Rows(t.Context(), config.ListJobs, config.AllJobs, collect)
	require.NoError(t, err)
	require.Equal(t, asked, command.Listed{Rows: made.Rows, Again: made.Again, NotUnderstood: made.NotUnderstood})
	require.Equal(t, rows, latest, "they are the same, byte for byte")

	other := control.New(s.options).Turns(false)
	seen = nil
	_, err = other.Rows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []command.Listed{asked}, seen, "what was wrong with it is seen to each")

	s.write(t, "down", "")
	_, err = server.Rows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
	require.Error(t, err)
	_, err = s.LatestRows(t.Context(), config.ListJobs, collect)
	require.ErrorIs(t, err, control.ErrNotListed, "one that has failed is newer")
}

// A parser may depend on values of a target.
func TestTargetsWithOtherValuesDoNotShareAListing(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	s.write(t, "jobs", "7 RUNNING then me\n")
	newView(s, true).lists(t)
	other := s.options
	other.Defaults = []job.Assignment{{Name: "queue", Value: "night"}}
	_, err := control.New(other).LatestRows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
	require.ErrorIs(t, err, control.ErrNotListed)
}

func TestTheFirstSharedListingGivesNoWarning(t *testing.T) {
	s := newSite(t, cluster(t, ""))
	s.stopClock()
	var warnings bytes.Buffer
	s.options.Log = slog.New(slog.NewTextHandler(&warnings, nil))
	newView(s, true).lists(t)
	require.Empty(t, warnings.String())
}

func TestAfterAFailedListingTheNextProcessLists(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="1s"`))
	s.stopClock()
	s.write(t, "down", "")
	_, err := s.Turns(false).Rows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
	require.ErrorContains(t, err, "controller is down")
	require.NoError(t, os.Remove(s.path("down")))
	s.write(t, "jobs", "7 RUNNING then me\n")
	listed, err := s.Turns(false).Rows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
	require.NoError(t, err)
	require.Equal(t, 1, listed.Rows)
}

// Commands of schedulers try for a while to reach one that is away.
func TestARecoveredSchedulerIsListedSoon(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	slow := s.options
	slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(9 * time.Second) })}
	turns := control.New(slow).Turns(false)
	lists := func() error {
		_, err := turns.Rows(t.Context(), config.ListJobs, func(command.Row) error { return nil })
		return err
	}
	s.write(t, "away", "")
	begun := s.options.Now()
	require.Error(t, lists())
	require.NoError(t, os.Remove(s.path("away")))
	require.NoError(t, lists())
	require.NoError(t, lists())
	require.Less(t, s.options.Now().Sub(begun), time.Minute, "one that failed, one that may have waited for the end of the outage, and the next one")
	require.NoError(t, lists())
	require.Greater(t, s.options.Now().Sub(begun), 3*time.Minute, "it is slow although it is there")
}

func TestACanceledListingIsNoFailure(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="10s"`))
	s.stopClock()
	s.write(t, "jobs", "7 RUNNING then me\n8 RUNNING then me\n")
	ctx, giveUp := context.WithCancel(t.Context())
	_, err := s.Turns(false).Rows(ctx, config.ListJobs, func(command.Row) error {
		giveUp()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	counts, err := s.store.Polls().All(t.Context(), s.options.Now())
	require.NoError(t, err)
	require.Equal(t, 1, counts[0].Day)
	require.Zero(t, counts[0].Failed)
	require.Empty(t, counts[0].Error)
	require.Empty(t, counts[0].Holder, "it is the next one's turn")
}

func TestADefinitionWithoutAListingIsAnError(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")))
	_, err := s.Turns(false).Rows(t.Context(), config.ListNodes, func(command.Row) error { return nil })
	var lacking *control.UnsupportedError
	require.ErrorAs(t, err, &lacking)
}
