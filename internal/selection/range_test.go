package selection_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// A record is a store with jobs, a finder that looks them up, and its messages.
type record struct {
	*selection.Finder
	store *jobstore.Store
	count int
	notes []string
}

func newRecord(t *testing.T) *record {
	t.Helper()
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	targets, err := settings.LoadTargets(settings.Folders{User: t.TempDir()})
	require.NoError(t, err)
	r := &record{store: store}
	r.Finder = &selection.Finder{
		Store:   func(context.Context) (*jobstore.Store, error) { return store, nil },
		Targets: func() (*settings.Targets, error) { return targets, nil },
		Controller: func(context.Context, string) (*control.Controller, error) {
			return nil, fmt.Errorf("no target can be used")
		},
		Note: func(note string) { r.notes = append(r.notes, note) },
	}
	return r
}

// add records a job, and returns its tag.
func (r *record) add(t *testing.T, target, id, shortID, name string, detail job.Detail) string {
	t.Helper()
	r.count++
	tag := fmt.Sprintf("00000000-0000-4000-8000-%012d", r.count)
	require.NoError(t, r.store.Intend(t.Context(), job.Job{Tag: tag, Target: target}))
	_, err := r.store.Accept(t.Context(), tag, job.Job{ID: id, ShortID: shortID, Observation: job.Observation{Name: name, Detail: detail}})
	require.NoError(t, err)
	return tag
}

func (r *record) choose(t *testing.T, choice selection.Choice) (names []string) {
	t.Helper()
	chosen, err := r.Choose(t.Context(), choice)
	require.NoError(t, err)
	for _, one := range chosen {
		names = append(names, one.Name)
	}
	return names
}

func TestARangeSelectsRecordedJobsInOrder(t *testing.T) {
	r := newRecord(t)
	ten := r.add(t, "slurm", "10", "", "", job.Running)
	earlier := r.add(t, "slurm", "9", "", "", job.Completed)
	nine := r.add(t, "slurm", "9", "", "", job.Running) // the scheduler was reset
	short := r.add(t, "slurm", "12.server", "12", "", job.Running)
	r.add(t, "slurm", "x11", "", "", job.Running)
	require.Equal(t, []string{nine, ten, short}, r.choose(t, selection.Choice{Names: []string{"7-14"}}))
	require.Equal(t, []string{"7-14: not on record: 7-8, 11, 13-14"}, r.notes)
	require.NotContains(t, r.choose(t, selection.Choice{Names: []string{"slurm/9-9"}}), earlier)
}

func TestAnIDThatLooksLikeARangeSelectsThatJob(t *testing.T) {
	r := newRecord(t)
	r.add(t, "slurm", "1-3", "", "", job.Running)
	r.add(t, "slurm", "2", "", "", job.Running)
	require.Equal(t, []string{"1-3"}, r.choose(t, selection.Choice{Names: []string{"1-3"}}))
	require.Empty(t, r.notes)
}

func TestOnlyTheFirstGapsOfARangeAreNamed(t *testing.T) {
	r := newRecord(t)
	for id := 2; id <= 40; id += 2 {
		r.add(t, "slurm", strconv.Itoa(id), "", "", job.Running)
	}
	r.choose(t, selection.Choice{Names: []string{"1-18446744073709551614"}})
	require.Equal(t, []string{"1-18446744073709551614: not on record: 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …"}, r.notes)
}

func TestAJobThatIsNamedTwiceIsChosenOnce(t *testing.T) {
	r := newRecord(t)
	tag := r.add(t, "slurm", "4", "", "", job.Running)
	require.Equal(t, []string{"4"}, r.choose(t, selection.Choice{Names: []string{"4", tag, "slurm/4", "last", "3-4"}}))
}

func TestUnsuitableJobsOfARangeAreCounted(t *testing.T) {
	r := newRecord(t)
	r.add(t, "slurm", "1", "", "", job.Completed)
	open := r.add(t, "slurm", "2", "", "", job.Running)
	isOpen := func(j *job.Job) bool { return !j.Detail.Ended() }
	require.Equal(t, []string{open}, r.choose(t, selection.Choice{Names: []string{"1-2"}, Suits: isOpen, Unsuited: "have ended"}))
	require.Equal(t, []string{"1-2: skipped jobs that have ended: 1"}, r.notes)
	require.Len(t, r.choose(t, selection.Choice{Names: []string{"1-2"}, Suits: isOpen}), 2, "where that is not wanted, a range is taken as a whole")
}

func TestWithoutNamesRecordedJobsAreChosen(t *testing.T) {
	r := newRecord(t)
	r.add(t, "slurm", "1", "", "sim-1", job.Completed)
	second := r.add(t, "pbs", "2", "", "sim-2", job.Running)
	third := r.add(t, "slurm", "3", "", "other", job.Running)
	require.Equal(t, []string{third, second}, r.choose(t, selection.Choice{Open: true}))
	filter, err := selection.NewFilter("", "sim*")
	require.NoError(t, err)
	require.Equal(t, []string{second}, r.choose(t, selection.Choice{Open: true, Filter: filter}))
	r.Target = "slurm"
	require.Equal(t, []string{third}, r.choose(t, selection.Choice{Open: true}))
	r.Target = "slrum"
	_, err = r.Choose(t.Context(), selection.Choice{Open: true})
	require.ErrorContains(t, err, `unknown target "slrum"`)
}

func TestAJobWithoutAKnownStateIsNotChosenByState(t *testing.T) {
	r := newRecord(t)
	r.add(t, "slurm", "1", "", "", job.Running)
	ended := r.add(t, "slurm", "2", "", "", job.Failed)
	filter, err := selection.NewFilter("running,failed", "")
	require.NoError(t, err)
	chosen, err := r.Choose(t.Context(), selection.Choice{Filter: filter})
	require.ErrorContains(t, err, "no target can be used")
	require.Len(t, chosen, 1)
	require.Equal(t, ended, chosen[0].Name)
}

func TestTheLastJobIsNoRefusedSubmission(t *testing.T) {
	r := newRecord(t)
	tag := r.add(t, "slurm", "1", "", "", job.Running)
	require.NoError(t, r.store.Intend(t.Context(), job.Job{Tag: "00000000-0000-4000-8000-00000000000f", Target: "slurm"}))
	require.NoError(t, r.store.Reject(t.Context(), "00000000-0000-4000-8000-00000000000f", "refused"))
	last, err := r.Recorded(t.Context(), "last")
	require.NoError(t, err)
	require.Equal(t, tag, last.Tag)
	_, err = r.Recorded(t.Context(), "pbs/last")
	require.ErrorIs(t, err, jobstore.ErrNotFound)
}
