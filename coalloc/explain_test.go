package coalloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
)

func number(n int) *int { return &n }

func TestAnEnsembleSaysWhatItWaitsFor(t *testing.T) {
	in := coalloc.PartStatus{Label: "in", Kind: coalloc.Required, Gate: coalloc.Held, State: coalloc.PartCheckedIn}
	out := coalloc.PartStatus{Label: "out", Kind: coalloc.Interactive, Gate: coalloc.Held, State: coalloc.PartActive}
	for name, test := range map[string]struct {
		status coalloc.Status
		waits  string
	}{
		"the commit":            {coalloc.Status{State: coalloc.Waiting, Parts: []coalloc.PartStatus{in}}, "all parts that it needs have checked in; it waits for the commit"},
		"a part":                {coalloc.Status{State: coalloc.Waiting, Committed: true, Parts: []coalloc.PartStatus{in, out}}, "it waits for out"},
		"a part and the commit": {coalloc.Status{State: coalloc.Waiting, Parts: []coalloc.PartStatus{out, in}}, "it waits for out and the commit"},
		"nothing": {coalloc.Status{State: coalloc.Waiting, Committed: true, Parts: []coalloc.PartStatus{
			in, {Kind: coalloc.Optional, State: coalloc.PartPending}, {Kind: coalloc.Required, State: coalloc.PartDeleted}, {Kind: coalloc.Required, Gate: coalloc.NoGate, State: coalloc.PartActive},
		}}, "all parts that it needs have checked in; the release follows"},
		"its end": {coalloc.Status{State: coalloc.Failed, Reason: "part out failed"}, "it failed: part out failed"},
		"unknown": {coalloc.Status{State: "NEW"}, "its state is unknown"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.waits, test.status.Waits()) })
	}
}

func TestAPartSaysWhatItWaitsFor(t *testing.T) {
	for waits, part := range map[string]coalloc.PartStatus{
		"rmctl is submitting it to slurm":                                {State: coalloc.PartSubmitting},
		"job 7 waits in the queue of slurm: Resources":                   {State: coalloc.PartPending, JobID: "7", Reason: "Resources"},
		"job 7 runs; 1 of 4 processes have checked in":                   {State: coalloc.PartActive, JobID: "7", CheckedIn: 1, Count: 4},
		"its process has checked in and waits at the barrier":            {State: coalloc.PartCheckedIn, CheckedIn: 1, Count: 1},
		"job 7 has ended with exit code 3":                               {State: coalloc.PartDone, JobID: "7", ExitCode: number(3)},
		"it failed: out of memory":                                       {State: coalloc.PartFailed, Signal: number(9), Reason: "out of memory"},
		"it was deleted; slurm has not confirmed yet that job 7 is gone": {State: coalloc.PartDeleted, JobID: "7", Unconfirmed: true},
	} {
		part.Target = "slurm"
		require.Equal(t, waits, part.Waits())
	}
}

func TestTheExitCodeIsTheWorstOfTheParts(t *testing.T) {
	done := func(code int) coalloc.PartStatus {
		return coalloc.PartStatus{State: coalloc.PartDone, ExitCode: number(code)}
	}
	for name, test := range map[string]struct {
		state coalloc.State
		parts []coalloc.PartStatus
		code  int
	}{
		"done":             {coalloc.Done, []coalloc.PartStatus{done(0), done(0)}, 0},
		"the worst":        {coalloc.Done, []coalloc.PartStatus{done(3), done(7), done(2)}, 7},
		"a signal":         {coalloc.Failed, []coalloc.PartStatus{{State: coalloc.PartFailed, Signal: number(9)}}, 137},
		"without a code":   {coalloc.Failed, []coalloc.PartStatus{{State: coalloc.PartFailed}, done(0)}, 1},
		"a canceled whole": {coalloc.Canceled, []coalloc.PartStatus{{State: coalloc.PartDeleted}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.code, (&coalloc.Status{State: test.state, Parts: test.parts}).ExitCode())
		})
	}
}
