package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// BenchmarkJobsAll lists 100,000 jobs: until something is printed, and all.
func BenchmarkJobsAll(b *testing.B) {
	folder := b.TempDir()
	store, err := jobstore.Open(b.Context(), folder)
	require.NoError(b, err)
	fillRecord(b, store, 100_000)
	require.NoError(b, store.Close())
	for name, flags := range map[string][]string{"table": nil, "JSON": {"--json"}} {
		arguments := append([]string{"jobs", "--all", "--state-dir", folder}, flags...)
		b.Run(name+"/first page", func(b *testing.B) {
			for b.Loop() {
				require.NotZero(b, execute(b.Context(), arguments, strings.NewReader(""), firstPage{}, io.Discard))
			}
		})
		b.Run(name+"/all", func(b *testing.B) {
			for b.Loop() {
				require.Zero(b, execute(b.Context(), arguments, strings.NewReader(""), io.Discard, io.Discard))
			}
		})
	}
}

// A firstPage is a reader that stops after the first page.
type firstPage struct{}

func (firstPage) Write([]byte) (int, error) { return 0, errors.New("enough") }

// fillRecord adopts jobs that have ended, as they are on record after many submissions to a
// scheduler.
func fillRecord(t testing.TB, store *jobstore.Store, count int) {
	t.Helper()
	begun := time.Now().Add(-30 * 24 * time.Hour)
	for i := range count {
		j := job.Job{
			Tag: fmt.Sprintf("8b5e94c1-02a6-4d6f-9a7e-%012d", i), Target: "slurm", Definition: "slurm", Connection: "ada@login1 over local",
			ID: fmt.Sprint(1000 + i), Directory: "/home/ada/project", Phase: job.PhaseSubmitted, Created: begun.Add(time.Duration(i) * time.Second),
			Arguments: []string{"sbatch", "--parsable", "/home/ada/.eclipsesettings/script"}, Script: strings.Repeat("#SBATCH --partition=batch\n", 20),
		}
		exit := i % 3
		j.Observation = job.Observation{
			Detail: job.Completed, Native: "COMPLETED", ExitCode: &exit, Name: fmt.Sprintf("simulation-%d", i%1000), Queue: "batch", Owner: "ada", Nodes: "n[0001-0004]",
			Submitted: "2026-10-01T12:00:00", Started: "2026-10-01T12:00:05", Ended: "2026-10-01T13:00:05", OutputPath: "/home/ada/project/slurm.out", ErrorPath: "/home/ada/project/slurm.err",
			Observed: j.Created.Add(time.Hour), Source: "get-job-status", Origin: job.Origin{Stream: "stdout", Line: 1, Text: strings.Repeat("JobState=COMPLETED Reason=None ", 4)},
			Evidence: strings.Repeat("JobId=1000 JobName=simulation UserId=ada ", 8),
		}
		_, err := store.Adopt(t.Context(), j)
		require.NoError(t, err)
	}
}
