package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func adding(ctx context.Context, tag string, failure error) *pendingWrite {
	return &pendingWrite{ctx: ctx, lasting: durable, done: make(chan error, 1), change: func(ctx context.Context, transaction *sql.Tx) error {
		return errors.Join(insert(ctx, transaction, job.Job{Tag: tag, Target: "big"}), failure)
	}}
}

func TestChangesThatAreCommittedTogetherFailAlone(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	refused := errors.New("refused")
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	group := []*pendingWrite{
		adding(t.Context(), "a", nil), adding(t.Context(), "b", refused), adding(gaveUp, "c", nil),
		adding(t.Context(), "a", nil), // the tag is taken
		adding(t.Context(), "d", nil),
	}
	store.writeTogether(group)
	require.NoError(t, <-group[0].done)
	require.ErrorIs(t, <-group[1].done, refused)
	require.ErrorIs(t, <-group[2].done, context.Canceled)
	require.Error(t, <-group[3].done)
	require.NoError(t, <-group[4].done)
	jobs, err := store.List(t.Context(), Filter{})
	require.NoError(t, err)
	var tags []string
	for _, job := range jobs {
		tags = append(tags, job.Tag)
	}
	require.ElementsMatch(t, []string{"a", "d"}, tags)
}

// SQLite undoes all of a transaction when a statement in it is interrupted.
func TestGivingUpInTheMiddleOfAGroupTakesNothingFromTheOthers(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	givesUp, cancel := context.WithCancel(t.Context())
	hasty := adding(givesUp, "b", nil)
	insertIt := hasty.change
	hasty.change = func(ctx context.Context, transaction *sql.Tx) error {
		cancel()
		return insertIt(ctx, transaction)
	}
	group := []*pendingWrite{adding(t.Context(), "a", nil), hasty, adding(t.Context(), "c", nil)}
	store.writeTogether(group)
	for _, one := range group {
		require.NoError(t, <-one.done)
	}
	jobs, err := store.List(t.Context(), Filter{})
	require.NoError(t, err)
	require.Len(t, jobs, 3)
}

func TestAQueueGivesTheOldestFirstAndNoMoreThanAGroup(t *testing.T) {
	t.Parallel()
	var queue writeQueue
	var all []*pendingWrite
	for i := range largestGroup + 2 {
		all = append(all, adding(t.Context(), fmt.Sprint(i), nil))
		queue.add(all[i])
	}
	require.True(t, queue.remove(all[1]))
	require.False(t, queue.remove(all[1]))
	taken := queue.next()
	require.Len(t, taken, largestGroup)
	require.Same(t, all[0], taken[0])
	require.Same(t, all[2], taken[1])
	require.Equal(t, []*pendingWrite{all[largestGroup+1]}, queue.next())
	require.Empty(t, queue.next())
}
