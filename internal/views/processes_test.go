package views

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

// A slowSource knows processes of one job, and takes a while to list them.
type slowSource struct {
	source
	now   time.Time
	took  time.Duration
	asked int
	known []job.Process
}

// processes implements source.
func (s *slowSource) processes(_ context.Context, ids []string) (map[string][]job.Process, error) {
	s.asked++
	s.now = s.now.Add(s.took)
	return map[string][]job.Process{ids[0]: s.known}, nil
}

func TestASlowSourceIsQueriedForProcessesRarely(t *testing.T) {
	slow := &slowSource{now: time.Unix(1, 0), took: 100 * time.Millisecond, known: []job.Process{{State: "RUNNING"}}}
	r := &record{source: slow, now: func() time.Time { return slow.now }, processes: map[string][]job.Process{},
		jobs: map[string]job.Job{"tag": {ID: "17", Observation: job.Observation{Detail: job.Running}}}}
	read := func() []job.Process {
		found := map[string][]job.Process{}
		r.addProcesses(t.Context(), found)
		return found["tag"]
	}
	require.Equal(t, slow.known, read())
	r.jobs["tag"] = job.Job{ID: "17", Observation: job.Observation{Detail: job.Completed}}
	require.Equal(t, slow.known, read(), "it may know how they ended")
	require.Equal(t, 1, slow.asked)
	slow.now = slow.now.Add(restFactor * slow.took)
	slow.known = []job.Process{{State: "EXITED"}}
	require.Equal(t, slow.known, read())
	require.Equal(t, 2, slow.asked)
}
