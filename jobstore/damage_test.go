package jobstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// recordOf makes a store with so many jobs and returns it. The caller closes it.
func recordOf(t *testing.T, directory string, count int) *Store {
	t.Helper()
	store, err := Open(t.Context(), directory)
	require.NoError(t, err)
	for i := range count {
		tag := fmt.Sprintf("tag-%d", i)
		require.NoError(t, store.Intend(t.Context(), job.Job{Tag: tag, Target: "big", Observation: job.Observation{Name: "name-" + tag}, Script: "script of " + tag}))
		_, err := store.Accept(t.Context(), tag, job.Job{ID: fmt.Sprint(i), Observation: job.Observation{Detail: job.Running, Evidence: "evidence of " + tag}})
		require.NoError(t, err)
	}
	return store
}

// listedTags returns the tags of a listing.
func listedTags(t *testing.T, store *Store, filter Filter) (tags []string, err error) {
	t.Helper()
	err = store.EachListed(t.Context(), filter, func(j *job.Job) error {
		tags = append(tags, j.Tag)
		return nil
	})
	return tags, err
}

func TestAnUnreadableValueLeavesTheOtherJobs(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"another text":         "UPDATE jobs SET name = 'nome-tag-7' WHERE tag = 'tag-7'",
		"another ensemble":     "UPDATE jobs SET ensemble = 'other' WHERE tag = 'tag-7'",
		"another number":       "UPDATE jobs SET exit_code = 3 WHERE tag = 'tag-7'",
		"no time":              "UPDATE jobs SET created = 'yesterday' WHERE tag = 'tag-7'",
		"a time of a sighting": "INSERT INTO sightings (job, observed, seen, sum) SELECT sequence, observed, observed, 1 FROM jobs WHERE tag = 'tag-7'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := recordOf(t, t.TempDir(), 12)
			defer func() { require.NoError(t, store.Close()) }()
			require.NoError(t, store.execute(t.Context(), damage))
			require.NoError(t, store.Damaged())
			for _, filter := range []Filter{{}, {All: true}, {Target: "big"}} {
				jobs, err := store.List(t.Context(), filter)
				require.NoError(t, err)
				require.Len(t, jobs, 11)
				listed, err := listedTags(t, store, filter)
				require.NoError(t, err)
				require.Len(t, listed, 11)
			}
			require.ErrorContains(t, store.Damaged(), `1 job unreadable: number 8`)
			require.ErrorContains(t, store.Damaged(), "rmctl recover --rebuild")
			_, err := store.ByTag(t.Context(), "tag-7")
			require.ErrorIs(t, err, stored.ErrDamaged)
			require.ErrorContains(t, err, "rmctl recover --rebuild")
			_, err = store.ByTag(t.Context(), "tag-8")
			require.NoError(t, err)
		})
	}
}

func TestEachTableHasChecksums(t *testing.T) {
	t.Parallel()
	store := recordOf(t, t.TempDir(), 2)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, store.RecordProcesses(t.Context(), "tag-1", []job.Process{{Rank: 0, Node: "n1", Output: "first"}, {Rank: 1, Node: "n2", Output: "whole"}, {Rank: 2, ErrorOutput: "first"}}))
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: "staging", Target: "big"}, Staged{Path: "/tmp/job.sh"}))
	require.NoError(t, store.SaveSession(t.Context(), Session{Target: "big", Data: []byte("found")}))
	for _, damage := range []string{
		"UPDATE submissions SET script = 'rm -r /' WHERE tag = 'tag-0'", "UPDATE events SET detail = 'COMPLETED' WHERE tag = 'tag-1' AND kind = 'accepted'",
		"UPDATE processes SET output = 'last' WHERE rank = 0", "UPDATE processes SET error_output = 'last' WHERE rank = 2", "UPDATE staged SET path = '/tmp'", "UPDATE sessions SET data = x'00'",
	} {
		require.NoError(t, store.execute(t.Context(), damage))
	}
	_, err := store.ByTag(t.Context(), "tag-0")
	require.ErrorIs(t, err, stored.ErrDamaged)
	events, err := store.Events(t.Context(), 0, "tag-1")
	require.NoError(t, err)
	require.Len(t, events, 1)
	processes, err := store.Processes(t.Context(), "tag-1")
	require.NoError(t, err)
	require.Equal(t, []job.Process{{Rank: 1, Node: "n2", Output: "whole"}}, processes)
	require.NoError(t, store.EachProcess(t.Context(), "big", func(_ string, p job.Process) error {
		require.Equal(t, processes[0], p)
		return nil
	}))
	_, err = store.Leftovers(t.Context(), "big")
	require.ErrorIs(t, err, stored.ErrDamaged)
	_, err = store.Session(t.Context(), "big")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestAMissingSubmissionLeavesOthersInDoubt(t *testing.T) {
	t.Parallel()
	store := recordOf(t, t.TempDir(), 1)
	defer func() { require.NoError(t, store.Close()) }()
	for _, tag := range []string{"whole", "lost"} {
		require.NoError(t, store.Intend(t.Context(), job.Job{Tag: tag, Target: "big"}))
	}
	require.NoError(t, store.execute(t.Context(), "DELETE FROM submissions WHERE tag = 'lost'"))
	open, err := store.Unresolved(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.Equal(t, "whole", open[0].Tag)
	require.ErrorContains(t, store.Damaged(), "submission lost")
}

// The rows of jobs are on pages of their own in a record of this size.
func TestADamagedPageLeavesTheJobsOfOthers(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	const count = 110
	require.NoError(t, recordOf(t, directory, count).Close())
	whole, err := os.ReadFile(filepath.Join(directory, databaseName))
	require.NoError(t, err)
	const page = 4096
	most, damaged, refused := 0, 0, 0
	for start := page; start < len(whole); start += page { // without the first one
		text := append(append(append([]byte{}, whole[:start]...), make([]byte, page)...), whole[start+page:]...)
		directory := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(directory, databaseName), text, 0o600))
		store, err := Open(t.Context(), directory)
		require.NoError(t, err)
		listed, err := listedTags(t, store, Filter{})
		if err != nil { // a page of the schema
			refused++
			require.ErrorIs(t, err, errFileDamaged)
			require.NoError(t, store.Close())
			continue
		}
		if lost := count - len(listed); lost > 0 {
			damaged++
			most = max(most, len(listed))
			require.ErrorContains(t, store.Damaged(), counted(lost, "job")+" unreadable")
			again, err := store.List(t.Context(), Filter{})
			require.NoError(t, err)
			require.Len(t, again, len(listed))
			require.True(t, isNewestFirst(again))
		} else {
			require.NoError(t, store.Damaged())
		}
		if _, err := store.ByTag(t.Context(), "tag-0"); err != nil {
			require.True(t, isDamage(err) || errors.Is(err, ErrNotFound), "%v", err)
		}
		require.NoError(t, store.Close())
	}
	require.Greater(t, damaged, 5)
	require.Less(t, refused, 5)
	require.Greater(t, most, count*8/10)
}

func isNewestFirst(jobs []job.Job) bool {
	for i := 1; i < len(jobs); i++ {
		if jobs[i-1].Created.Before(jobs[i].Created) {
			return false
		}
	}
	return true
}
