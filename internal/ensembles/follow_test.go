package ensembles

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/barrier"
)

// A played run of rmctl events that prints some events of ten and then fails, or has followed the ensemble to its end.
type playedRun struct {
	events int
	err    error
	lasts  time.Duration
}

// followed returns an ensemble at a target whose rmctl plays runs, the last one repeatedly. It adds the
// arguments of each run to calls.
func followed(calls *[]string, runs ...playedRun) *elsewhere {
	s := &Service{Run: func(_ context.Context, _ string, call Call) error {
		*calls = append(*calls, strings.Join(call.Arguments[2:], " "))
		run := runs[0]
		if len(runs) > 1 {
			runs = runs[1:]
		}
		var after int
		_, err := fmt.Sscanf(call.Arguments[3], "--after=%d", &after)
		if err != nil {
			return err
		}
		for i := after + 1; i <= min(after+run.events, 10); i++ {
			if err := writeLine(call.Stdout, coalloc.EnsembleEvent{Sequence: i}); err != nil {
				return err
			}
		}
		time.Sleep(run.lasts)
		if run.err != nil {
			_, err = fmt.Fprintf(call.Stdout, `{"sequence":`) // and the connection is lost
		}
		if err == nil {
			err = run.err
		}
		return err
	}}
	return newElsewhere(s, barrier.Ensemble{ID: "0123456789ab", At: "login", State: barrier.Running})
}

func TestEventsContinueAfterALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		var sequences []int
		begun := time.Now()
		there := followed(&calls, playedRun{events: 4, err: errCut}, playedRun{err: errRefused}, playedRun{err: errRefused}, playedRun{events: 3, err: errCut}, playedRun{events: 3})
		require.NoError(t, there.Events(t.Context(), 0, func(event coalloc.EnsembleEvent) error {
			sequences = append(sequences, event.Sequence)
			return nil
		}))
		require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, sequences)
		require.Equal(t, "events --after=7 --follow=true -- 0123456789ab", calls[4])
		require.Equal(t, (1+2+4+1)*time.Second, time.Since(begun), "the delays grow while the host is away")
	})
}

func TestEventsGiveUpAfterALongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observe := func(coalloc.EnsembleEvent) error { return nil }
		for name, lost := range map[string]struct {
			runs    []playedRun
			patient bool
			calls   int
		}{
			"after some":             {runs: []playedRun{{events: 1, err: errCut}, {err: errRefused}}, patient: true},
			"after a quiet time":     {runs: []playedRun{{err: errCut, lasts: time.Hour}, {err: errRefused}}, patient: true},
			"never connected":        {runs: []playedRun{{err: errRefused}}, calls: 1},
			"only the user can help": {runs: []playedRun{{events: 1, err: errCut}, {err: errNoCode}}, calls: 2},
		} {
			var calls []string
			err := followed(&calls, lost.runs...).Events(t.Context(), 0, observe)
			require.ErrorIs(t, err, lost.runs[len(lost.runs)-1].err, name)
			if !lost.patient {
				require.Len(t, calls, lost.calls, name)
				continue
			}
			require.Greater(t, len(calls), 10, name)
			require.Less(t, len(calls), 30, name)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var calls []string
		require.ErrorIs(t, followed(&calls, playedRun{events: 1, err: errCut}, playedRun{err: errRefused}).Events(ctx, 0, observe), context.DeadlineExceeded)
	})
}
