package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// BenchmarkStages measures whole processes that do ever more: their differences are the
// stages of a status and of a submission, with all that is read and touched for the first
// time. The scheduler is three programs of the shell, and 10,000 jobs are on record.
//
//	go test ./cmd/rmctl -run '^$' -bench Stages -benchtime 50x
func BenchmarkStages(b *testing.B) {
	rmctl := buildRmctl(b)
	home := b.TempDir()
	useFakeSlurm(b, home)
	recordMany(b, filepath.Join(home, "rmctl"), 10_000)
	submit := []string{rmctl, "submit", "-t", "slurm", "--", "true"}
	_, ended := measure(b, submit) // starts the session
	require.True(b, ended.Success())

	b.Run("start", func(b *testing.B) { reportPairs(b, nil, []string{rmctl, "version"}) })
	b.Run("definition", func(b *testing.B) { reportPairs(b, nil, []string{rmctl, "render", "slurm", "--", "true"}) })
	b.Run("record", func(b *testing.B) { reportPairs(b, nil, []string{rmctl, "status", "slurm/5000"}) })
	b.Run("submit", func(b *testing.B) { reportPairs(b, []string{"sbatch"}, submit) })
	b.Run("query", func(b *testing.B) {
		reportStatus(b, submit[0], submit[1:]...)
	})
}

// recordMany records jobs of Slurm that have ended, with the ids from 1.
func recordMany(b *testing.B, directory string, count int) {
	store, err := jobstore.Open(b.Context(), directory)
	require.NoError(b, err)
	for i := range count {
		_, err := store.Adopt(b.Context(), job.Job{Target: "slurm", ID: fmt.Sprint(i + 1), ShortID: fmt.Sprint(i + 1), Observation: job.Observation{Detail: job.Completed}})
		require.NoError(b, err)
	}
	require.NoError(b, store.Close())
}
