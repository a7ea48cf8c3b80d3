package barrier_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

// BenchmarkCheckInsAndReleaseOf10000 measures the machine alone with 10,000 processes in 25 parts.
func BenchmarkCheckInsAndReleaseOf10000(b *testing.B) {
	const parts, processes = 25, 400
	events := make([]barrier.ProcessEvent, 0, parts*processes)
	rosters := []barrier.Roster{}
	for serial := 1; serial <= parts; serial++ {
		roster := barrier.Roster{Serial: serial, Incarnation: 1}
		for rank := range processes {
			roster.Instances = append(roster.Instances, instance(serial, rank))
			events = append(events, barrier.ProcessEvent{Kind: barrier.CheckedIn, Serial: serial, Incarnation: 1, Rank: rank, Instance: instance(serial, rank), Complete: rank == processes-1})
		}
		rosters = append(rosters, roster)
	}
	for b.Loop() {
		var specs []barrier.Spec
		for serial := 1; serial <= parts; serial++ {
			specs = append(specs, barrier.Spec{Label: fmt.Sprint(serial), Kind: barrier.Required, Gate: barrier.Held, Count: processes})
		}
		machine := barrier.New(barrier.Ensemble{State: barrier.Prepared}, barrier.NewParts(specs), nil)
		apply := func(input barrier.Input) []barrier.Action {
			actions, err := machine.Apply(noon, input)
			require.NoError(b, err)
			return actions
		}
		apply(barrier.Start{})
		apply(barrier.Commit{})
		var last []barrier.Action
		for _, event := range events {
			last = apply(event)
			machine.Deadline()
		}
		freeze, isFreeze := find[barrier.Freeze](last)
		require.True(b, isFreeze)
		apply(barrier.Frozen{Round: freeze.Round, Rosters: rosters})
		apply(barrier.ReleaseRecorded{Round: freeze.Round})
		require.Equal(b, barrier.Releasing, machine.Ensemble().State)
	}
}
