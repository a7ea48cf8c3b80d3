package jobstore

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

var summedTime = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

// Records that are on disk have these checksums. Whoever adds a column to a selection, or moves
// one, makes every job on record unreadable: such a selection needs a new column for its checksum.
func TestChecksumsOnRecordStayValid(t *testing.T) {
	t.Parallel()
	row := &jobRow{job: job.Job{Tag: "tag", Target: "big", ID: "7", ShortID: "07", Phase: job.PhaseSubmitted, Connection: "local", Created: summedTime, Observation: job.Observation{Detail: job.Running, Name: "name", Nodes: "n1", ExitCode: new(int), Evidence: "seen", Observed: summedTime}}}
	row.job.Ensemble, row.job.Part = "4f1c2a7e5b0f", "solver"
	for each, expected := range map[selection]int64{brief: 854442966, listed: 3859511993, full: 303758202, whole: 117083731} {
		require.Equal(t, expected, each.sum(columnValues(row.columns(each))), each.sumColumn())
	}
	event := job.Event{Tag: "tag", Target: "big", ID: "7", Kind: job.EventState, Recorded: summedTime, Observation: job.Observation{Detail: job.Running}}
	require.Equal(t, int64(235756846), stored.Sum("events", columnValues(eventColumns(&event))...))
	submission := submissionRow{tag: "tag", attributes: "[]", arguments: "[]", script: "true"}
	require.Equal(t, int64(1623884218), submission.sum())
	process := job.Process{Rank: 1, State: "RUNNING", Output: strings.Repeat("x", 1000), ErrorOutput: "oops"}
	require.Equal(t, []int64{2251251062, 517086725, 77028549, 2278827940}, []int64{stored.Sum("processes", columnValues(processColumns(&row.job.Tag, &process))...),
		sumOfOutput(&process), sumOfErrors(&process), sumOfEnds(&process)})
}
