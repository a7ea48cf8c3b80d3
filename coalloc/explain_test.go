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
		"the commit":            {coalloc.Status{State: coalloc.Waiting, Parts: []coalloc.PartStatus{in}}, "all required parts have checked in; waiting for the commit"},
		"a part":                {coalloc.Status{State: coalloc.Waiting, Committed: true, Parts: []coalloc.PartStatus{in, out}}, "waiting for out"},
		"a part and the commit": {coalloc.Status{State: coalloc.Waiting, Parts: []coalloc.PartStatus{out, in}}, "waiting for out and the commit"},
		"nothing": {coalloc.Status{State: coalloc.Waiting, Committed: true, Parts: []coalloc.PartStatus{
			in, {Kind: coalloc.Optional, State: coalloc.PartPending}, {Kind: coalloc.Required, State: coalloc.PartDeleted}, {Kind: coalloc.Required, Gate: coalloc.NoGate, State: coalloc.PartActive},
		}}, "all required parts have checked in; the release follows"},
		"its end": {coalloc.Status{State: coalloc.Failed, Reason: "part out failed"}, "it failed: part out failed"},
		"unknown": {coalloc.Status{State: "NEW"}, "its state is unknown"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.waits, test.status.Waits()) })
	}
}

func TestASetSaysWhatItWaitsForAndWhatIsOut(t *testing.T) {
	alternative := func(label string, state coalloc.PartState) coalloc.PartStatus {
		return coalloc.PartStatus{Label: label, Kind: coalloc.Interactive, Gate: coalloc.Held, State: state}
	}
	solver := coalloc.SetStatus{Name: "solver", Needed: 1, Parts: []string{"a", "b"}, Possible: 1, Waiting: []string{"b"}, Out: []string{"a"}}
	s := coalloc.Status{ID: "4f1c2a7e5b0f", State: coalloc.Waiting, Sets: []coalloc.SetStatus{solver},
		Parts: []coalloc.PartStatus{alternative("a", coalloc.PartFailed), alternative("b", coalloc.PartActive)}}
	require.Equal(t, "waiting for 1 more of set solver and the commit", s.Waits())
	require.Equal(t, "0 of 1 required parts have checked in; waiting for b; out: a", s.Sets[0].Waits())
	require.Empty(t, s.Hints(), "the other one may still come")

	s.Sets[0] = coalloc.SetStatus{Name: "solver", Needed: 1, Parts: []string{"a", "b"}, Out: []string{"a", "b"}}
	s.Parts[1].State = coalloc.PartFailed
	require.Equal(t, "0 of 1 required parts have checked in; too few parts are left; out: a, b", s.Sets[0].Waits())
	require.Len(t, s.Hints(), 2)

	s.Sets[0] = coalloc.SetStatus{Name: "solver", Needed: 1, Parts: []string{"a", "b"}, CheckedIn: 1, Possible: 2, Waiting: []string{"b"}}
	s.Parts = []coalloc.PartStatus{alternative("a", coalloc.PartCheckedIn), alternative("b", coalloc.PartPending)}
	require.Equal(t, "all required parts have checked in; waiting for the commit", s.Waits())
	require.Equal(t, "1 of 1 required parts have checked in", s.Sets[0].Waits())
}

func TestHintsFollowAFailedInteractivePart(t *testing.T) {
	s := coalloc.Status{ID: "4f1c2a7e5b0f", State: coalloc.Waiting, Parts: []coalloc.PartStatus{{Label: "a b", Kind: coalloc.Interactive, State: coalloc.PartFailed}, {Label: "c", Kind: coalloc.Optional, State: coalloc.PartFailed}}}
	require.Equal(t, []string{"part a b has failed; the release waits: rmctl coalloc delete 4f1c2a7e5b0f 'a b' goes on without the part, rmctl coalloc substitute 4f1c2a7e5b0f 'a b' FILE replaces it; " +
		"then rmctl coalloc commit 4f1c2a7e5b0f releases the ensemble, or rmctl coalloc cancel 4f1c2a7e5b0f ends it"}, s.Hints())
	s.Committed = true
	require.NotContains(t, s.Hints()[0], "coalloc commit")
	s.State = coalloc.Failed
	require.Empty(t, s.Hints())
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
