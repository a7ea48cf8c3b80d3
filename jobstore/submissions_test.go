package jobstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func TestAnIntentIsGivenBackAsItWasRecorded(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	j := fullJob(1)
	require.NoError(t, store.Intend(t.Context(), j))

	recorded, err := store.ByTag(t.Context(), j.Tag)
	require.NoError(t, err)
	j.Phase = job.PhaseIntended
	require.Equal(t, j, recorded)
}

func TestAnIntentWithoutATimeIsCreatedNow(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	before := time.Now()
	intend(t, store, "a", "big")
	recorded, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.False(t, recorded.Created.Before(before.Round(0)))
	require.False(t, recorded.Created.After(time.Now()))
}

func TestATagIsUsedOnce(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	intend(t, store, "a", "big")
	require.ErrorContains(t, store.Intend(t.Context(), job.Job{Tag: "a", Target: "other"}), "a")
	require.Error(t, store.Intend(t.Context(), job.Job{Target: "big"}), "an intent without a tag")
	recorded, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "big", recorded.Target)
}

func TestAnAttributeOfAnotherTypeIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	err := store.Intend(t.Context(), job.Job{Tag: "a", Attributes: map[string]any{"speed": 1.5}})
	require.ErrorContains(t, err, "speed")
	_, err = store.ByTag(t.Context(), "a")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
}

func TestAcceptingRecordsTheIDAndTheState(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	require.NoError(t, store.Intend(t.Context(), fullJob(1)))
	_, err := store.Accept(t.Context(), "tag-1", job.Job{
		ID: "17.server", ShortID: "17", Observation: job.Observation{Detail: job.QueuedActive, Native: "PD", Queue: "debug",
			OutputPath: "/out", ErrorPath: "/err", Source: "submit-batch", Evidence: "17.server", Observed: noon},
	})
	require.NoError(t, err)

	expected := fullJob(1)
	expected.Phase = job.PhaseSubmitted
	expected.ID, expected.ShortID, expected.Detail, expected.Native = "17.server", "17", job.QueuedActive, "PD"
	expected.Queue, expected.OutputPath, expected.ErrorPath = "debug", "/out", "/err"
	expected.Source, expected.Evidence, expected.Observed = "submit-batch", "17.server", noon
	recorded, err := store.ByTag(t.Context(), "tag-1")
	require.NoError(t, err)
	require.Equal(t, expected, recorded)
}

func TestPhasesFollowWhatIsKnown(t *testing.T) {
	t.Parallel()
	accept := func(id string) func(*jobstore.Store, context.Context) error {
		return func(store *jobstore.Store, ctx context.Context) error {
			_, err := store.Accept(ctx, "a", job.Job{ID: id})
			return err
		}
	}
	reject := func(store *jobstore.Store, ctx context.Context) error { return store.Reject(ctx, "a", "rejected") }
	doubt := func(store *jobstore.Store, ctx context.Context) error { return store.Doubt(ctx, "a", "in doubt") }

	cases := map[string]struct {
		steps   []func(*jobstore.Store, context.Context) error
		phase   job.Phase
		message string
		refused bool // whether the last step is
	}{
		"accept":               {[]func(*jobstore.Store, context.Context) error{accept("1")}, job.PhaseSubmitted, "", false},
		"accept twice":         {[]func(*jobstore.Store, context.Context) error{accept("1"), accept("1")}, job.PhaseSubmitted, "", false},
		"accept as another":    {[]func(*jobstore.Store, context.Context) error{accept("1"), accept("2")}, job.PhaseSubmitted, "", true},
		"reject":               {[]func(*jobstore.Store, context.Context) error{reject}, job.PhaseRejected, "rejected", false},
		"doubt":                {[]func(*jobstore.Store, context.Context) error{doubt}, job.PhaseUnknown, "in doubt", false},
		"adopt after doubt":    {[]func(*jobstore.Store, context.Context) error{doubt, accept("1")}, job.PhaseSubmitted, "", false},
		"found absent":         {[]func(*jobstore.Store, context.Context) error{doubt, reject}, job.PhaseRejected, "rejected", false},
		"found after all":      {[]func(*jobstore.Store, context.Context) error{reject, accept("1")}, job.PhaseSubmitted, "", false},
		"reject what has ids":  {[]func(*jobstore.Store, context.Context) error{accept("1"), reject}, job.PhaseSubmitted, "", true},
		"doubt what is known":  {[]func(*jobstore.Store, context.Context) error{accept("1"), doubt}, job.PhaseSubmitted, "", false},
		"doubt a rejected one": {[]func(*jobstore.Store, context.Context) error{reject, doubt}, job.PhaseRejected, "rejected", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			store := openStore(t, t.TempDir())
			intend(t, store, "a", "big")
			for i, step := range c.steps {
				err := step(store, t.Context())
				if c.refused && i == len(c.steps)-1 {
					require.ErrorIs(t, err, jobstore.ErrDecided)
					require.ErrorContains(t, err, ` submission a: it is SUBMITTED with job id "1"`)
				} else {
					require.NoError(t, err)
				}
			}
			j, err := store.ByTag(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, c.phase, j.Phase)
			require.Equal(t, c.message, j.Error)
			if c.phase == job.PhaseSubmitted {
				require.Equal(t, "1", j.ID)
			}
		})
	}
}

func TestAcceptingWithoutAnIDIsRefused(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	intend(t, store, "a", "big")
	_, err := store.Accept(t.Context(), "a", job.Job{})
	require.Error(t, err)
	j, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, job.PhaseIntended, j.Phase)
}

func TestTheErrorNamesWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	ctx := t.Context()
	_, err := store.ByTag(ctx, "none")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	_, err = store.Accept(ctx, "none", job.Job{ID: "1"})
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	require.ErrorIs(t, store.Reject(ctx, "none", ""), jobstore.ErrNotFound)
	require.ErrorIs(t, store.Doubt(ctx, "none", ""), jobstore.ErrNotFound)
	_, err = store.Observe(ctx, "none", job.Observation{})
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	require.ErrorIs(t, store.MarkStale(ctx, "none", "", noon), jobstore.ErrNotFound)
	_, err = store.MarkMissing(ctx, "none", noon)
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	_, err = store.Find(ctx, "none", "")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	_, err = store.Find(ctx, "none", "big")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	_, err = store.Session(ctx, "none")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
}

func TestUnresolvedAreThoseWithoutAnOutcome(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	for i, tag := range []string{"intended", "doubtful", "rejected", "accepted", "elsewhere"} {
		job := fullJob(i)
		job.Tag = tag
		if tag == "elsewhere" {
			job.Target = "other"
		}
		require.NoError(t, store.Intend(t.Context(), job))
	}
	require.NoError(t, store.Doubt(t.Context(), "doubtful", "timed out"))
	require.NoError(t, store.Reject(t.Context(), "rejected", "no such queue"))
	_, err := store.Accept(t.Context(), "accepted", job.Job{ID: "1"})
	require.NoError(t, err)

	unresolved, err := store.Unresolved(t.Context(), "big")
	require.NoError(t, err)
	require.Equal(t, []string{"doubtful", "intended"}, tags(unresolved))
	require.Equal(t, fullJob(0).Script, unresolved[0].Script)
	require.Equal(t, fullJob(0).Attributes, unresolved[0].Attributes)
	everywhere, err := store.Unresolved(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []string{"elsewhere", "doubtful", "intended"}, tags(everywhere))
}

func TestAJobFromElsewhereIsAdoptedOnce(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	adopted, err := store.Adopt(t.Context(), job.Job{Target: "big", ID: "5", Observation: job.Observation{Detail: job.Running}})
	require.NoError(t, err)
	require.NotEmpty(t, adopted.Tag)
	require.Equal(t, job.PhaseSubmitted, adopted.Phase)
	require.False(t, adopted.Created.IsZero())

	again, err := store.Adopt(t.Context(), job.Job{Target: "big", ID: "5", Observation: job.Observation{Detail: job.Completed}})
	require.NoError(t, err)
	require.Equal(t, adopted.Tag, again.Tag)
	require.Equal(t, job.Running, again.Detail)

	other, err := store.Adopt(t.Context(), job.Job{Target: "other", ID: "5"})
	require.NoError(t, err)
	require.NotEqual(t, adopted.Tag, other.Tag)

	_, err = store.Adopt(t.Context(), job.Job{Target: "big"})
	require.Error(t, err, "adopted a job without an id")
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	long := strings.Repeat("x", 3*jobstore.MaximumEvidence)
	submit(t, store, "a", "big", "1")
	require.NoError(t, store.MarkStale(t.Context(), "a", long, noon))
	j, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, j.StaleReason, jobstore.MaximumEvidence)
	j, err = store.Observe(t.Context(), "a", job.Observation{Detail: job.Running, Evidence: long, Observed: noon})
	require.NoError(t, err)
	require.Len(t, j.Evidence, jobstore.MaximumEvidence)
	intend(t, store, "b", "big")
	require.NoError(t, store.Reject(t.Context(), "b", long))
	j, err = store.ByTag(t.Context(), "b")
	require.NoError(t, err)
	require.Len(t, j.Error, jobstore.MaximumEvidence)
}

func TestASubmissionThatItsSchedulerDoesNotKnowIsRejectedAndCounted(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	intend(t, store, "a", "big")
	for count := range 3 {
		j, err := store.RejectUnseen(t.Context(), "a", "no such job", noon.Add(time.Duration(count)*time.Minute))
		require.NoError(t, err)
		require.Equal(t, job.PhaseRejected, j.Phase)
		require.Equal(t, "no such job", j.Error)
		require.Equal(t, count+1, j.MissingCount)
		require.Equal(t, noon, j.MissingSince)
	}
	events, err := store.Events(t.Context(), 0, "a")
	require.NoError(t, err)
	require.Len(t, events, 2, "each look is no event")
	unseen, err := store.Unseen(t.Context(), time.Time{}, "big")
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, tags(unseen))
	none, err := store.Unseen(t.Context(), unseen[0].Created.Add(time.Second), "")
	require.NoError(t, err)
	require.Empty(t, none)

	j, err := store.Accept(t.Context(), "a", job.Job{ID: "1"})
	require.NoError(t, err)
	require.False(t, j.Missing)
	j, err = store.RejectUnseen(t.Context(), "a", "no such job", noon)
	require.NoError(t, err)
	require.Equal(t, job.PhaseSubmitted, j.Phase)
}

func TestWhatTheSubmitCommandOrAUserRejectedIsNotLookedFor(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	intend(t, store, "refused", "big")
	require.NoError(t, store.Reject(t.Context(), "refused", "no such queue"))
	job, err := store.RejectUnseen(t.Context(), "refused", "no such job", noon)
	require.NoError(t, err)
	require.Equal(t, "no such queue", job.Error)
	intend(t, store, "dismissed", "big")
	_, err = store.RejectUnseen(t.Context(), "dismissed", "no such job", noon)
	require.NoError(t, err)
	require.NoError(t, store.Reject(t.Context(), "dismissed", "dismissed"))
	unseen, err := store.Unseen(t.Context(), time.Time{}, "")
	require.NoError(t, err)
	require.Empty(t, unseen)
}

// A job that was found late is not the one that has its id now.
func TestOfTheJobsWithOneIDTheOneSubmittedLastIsTheSuccessor(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]string{"in order": {"early", "late"}, "found late": {"late", "early"}} {
		t.Run(name, func(t *testing.T) {
			store := openStore(t, t.TempDir())
			for i, tag := range []string{"early", "late"} {
				require.NoError(t, store.Intend(t.Context(), job.Job{Tag: tag, Target: "big", Created: noon.Add(time.Duration(i) * time.Minute)}))
			}
			for _, tag := range order {
				_, err := store.Accept(t.Context(), tag, job.Job{ID: "7"})
				require.NoError(t, err)
			}
			early, err := store.ByTag(t.Context(), "early")
			require.NoError(t, err)
			require.Equal(t, "late", early.Successor)
			late, err := store.ByTag(t.Context(), "late")
			require.NoError(t, err)
			require.Empty(t, late.Successor)
			events, err := store.Events(t.Context(), 0, "early")
			require.NoError(t, err)
			require.Equal(t, jobstore.EventSucceeded, events[len(events)-1].Kind)
		})
	}
}
