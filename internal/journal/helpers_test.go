package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/jobstore"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

func openStore(t testing.TB, directory string) *jobstore.Store {
	t.Helper()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// full returns an ensemble with every field set.
func full(id string) barrier.Ensemble {
	return barrier.Ensemble{
		ID: id, Name: "coupled", At: "big", Document: "name = \"coupled\"\n", HoldFirst: true, CommitLimit: time.Hour, Sets: []barrier.Set{{Labels: []string{"a", "b"}, AtLeast: 1}},
		State: barrier.Waiting, Outcome: barrier.Failed, Reason: "why", Committed: true, CommitNow: true, HoldsReleased: true, Notices: 0, Extended: time.Minute,
		Created: noon, Started: noon.Add(1), Ended: noon.Add(3),
	}
}

// fullPart returns a part with every field set.
func fullPart(id string, serial int) barrier.Part {
	code, signal := serial, 9
	return barrier.Part{
		Spec: barrier.Spec{Label: fmt.Sprintf("part-%d", serial), Target: "big", Document: "count = 2\n", Tag: fmt.Sprintf("%s-%d", id, serial), Kind: barrier.Required, Gate: barrier.Held, Count: 2,
			StartLimit: time.Hour, CheckInLimit: time.Minute, WallTime: time.Second},
		Serial: serial, Index: serial - 1, State: barrier.PartActive, Reason: "why", JobID: "4711", Incarnation: 2, Attempted: true, Held: true, Unconfirmed: true,
		ExitCode: &code, Signal: &signal, Extended: time.Second,
		Submitted: noon, Active: noon.Add(1), Arrived: noon.Add(2), Ended: noon.Add(4), Canceled: noon.Add(5),
	}
}

// create records an ensemble of some parts.
func create(t testing.TB, store *jobstore.Store, id string, parts int) journal.Saved {
	t.Helper()
	saved := journal.Saved{Ensemble: full(id)}
	saved.Ensemble.Serials = parts
	for i := range parts {
		saved.Parts = append(saved.Parts, fullPart(id, i+1))
	}
	require.NoError(t, store.Journal().Create(t.Context(), saved.Ensemble, saved.Parts))
	return saved
}

func notices(from, to int) (list []barrier.Notice) {
	for i := from; i <= to; i++ {
		list = append(list, barrier.Notice{Sequence: i, Time: noon.Add(time.Duration(i)), Kind: barrier.PartChanged, Label: "part-1", State: "ACTIVE", Text: "running"})
	}
	return list
}

func rosters(parts, processes int) []barrier.Roster {
	list := []barrier.Roster{{}}
	for part := range parts {
		roster := barrier.Roster{Serial: part + 1, Incarnation: 1}
		for process := range processes {
			roster.Instances = append(roster.Instances, fmt.Sprintf("%032x", part*processes+process))
		}
		list = append(list, roster)
	}
	return list
}
