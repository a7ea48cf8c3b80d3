package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

func manager(t *testing.T, s *model.Snapshot) *model.Manager {
	t.Helper()
	rm, known := s.Manager("rm")
	require.True(t, known)
	return rm
}

// changes describes the differences from an earlier snapshot.
func changes(t *testing.T, m *model.Model, kind model.Kind, earlier *model.Snapshot) []string {
	t.Helper()
	var words []string
	for change := range manager(t, m.Snapshot()).Changes(kind, manager(t, earlier)) {
		switch {
		case change.Before == nil:
			words = append(words, "new "+change.After.ID())
		case change.After == nil:
			words = append(words, "removed "+change.Before.ID())
		default:
			words = append(words, fmt.Sprint("changed ", change.After.ID(), " ", change.Attributes()))
		}
	}
	return words
}

func TestSnapshotsShowWhatChanged(t *testing.T) {
	m := cluster(t)
	before := m.Snapshot()
	m.Update(func(u *model.Update) {
		for i := range 3 {
			u.Put(row(model.Job, "batch", fmt.Sprint(100+i)))
		}
		u.Put(row(model.Job, "batch", "7", "userId=bob"))
		u.Put(row(model.Job, "batch", "7", "userId=bob", "jobStatus=R"))
		u.Put(row(model.Job, "batch", "8"))
		u.Remove("rm", model.Job, "8")
		u.Put(row(model.Queue, "", "debug"))
		u.Remove("rm", model.Machine, "m1")
	})
	require.Equal(t, []string{"removed m1"}, changes(t, m, model.Machine, before))
	require.Equal(t, []string{"removed n1", "removed n2"}, changes(t, m, model.Node, before))
	require.Equal(t, []string{"changed 7 [userId jobStatus]", "new 100", "new 101", "new 102"}, changes(t, m, model.Job, before))
	require.Empty(t, changes(t, m, model.Queue, before))
	var all []string
	for change := range manager(t, before).Changes(model.Node, nil) {
		require.Nil(t, change.Before)
		all = append(all, fmt.Sprint(change.After.ID(), change.Attributes()))
	}
	require.Equal(t, []string{"n1[nodeState]", "n2[]"}, all, "without an earlier manager all elements are new")
	before = m.Snapshot()
	put(m, row(model.Job, "debug", "7"))
	for change := range manager(t, m.Snapshot()).Changes(model.Job, manager(t, before)) {
		require.Equal(t, "batch", change.Before.Parent())
		require.Equal(t, "debug", change.After.Parent())
	}
	require.Equal(t, []string{"changed 7 []"}, changes(t, m, model.Job, before))
}

func TestRowsThatChangeNothingAreNoChanges(t *testing.T) {
	m := cluster(t)
	before := m.Snapshot()
	put(m, row(model.Job, "batch", "7", "userId=ann"), whole(row(model.Job, "batch", "7", "jobState=RUNNING", "userId=ann")))
	require.Empty(t, changes(t, m, model.Job, before))
}

// Applying the changes to one snapshot gives the other, however the pages of the table changed.
func TestChangesLeadFromOneSnapshotToAnother(t *testing.T) {
	m := cluster(t)
	random := rand.New(rand.NewPCG(1, 2))
	before, shown := m.Snapshot(), map[string]*model.Element{}
	shown["7"] = get(t, m, model.Job, "7")
	for range 200 {
		begin, updates := random.IntN(3000), 1+random.IntN(3)
		for range updates {
			m.Update(func(u *model.Update) {
				for id := begin; id < begin+random.IntN(700); id++ {
					if random.IntN(3) == 0 {
						u.Remove("rm", model.Job, fmt.Sprint(id))
					} else {
						u.Put(row(model.Job, "batch", fmt.Sprint(id), fmt.Sprint("userId=", random.IntN(3))))
					}
				}
			})
		}
		after := m.Snapshot()
		for change := range manager(t, after).Changes(model.Job, manager(t, before)) {
			if change.After == nil {
				require.Same(t, shown[change.Before.ID()], change.Before)
				delete(shown, change.Before.ID())
				continue
			}
			require.Same(t, shown[change.After.ID()], change.Before)
			shown[change.After.ID()] = change.After
		}
		require.Len(t, shown, manager(t, after).Len(model.Job))
		for job := range manager(t, after).All(model.Job) {
			require.Same(t, shown[job.ID()], job)
		}
		before = after
	}
}

func TestReadersGetTheNewestSnapshotDuringWrites(t *testing.T) {
	m := cluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	last := m.Snapshot()
	const updates = 2000
	go func() {
		for i := range updates {
			put(m, row(model.Job, "debug", fmt.Sprint(1000+i)))
		}
	}()
	for manager(t, last).Len(model.Job) <= updates {
		newer, err := m.Next(ctx, last)
		require.NoError(t, err)
		require.Greater(t, newer.Revision(), last.Revision())
		last = newer
	}
	cancel()
	_, err := m.Next(ctx, last)
	require.ErrorIs(t, err, context.Canceled)
}
