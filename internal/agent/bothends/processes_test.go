package bothends_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// The record has the end of each process's output; events have the additions.
func TestOutputOfProcessesArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, map[model.Kind]func() map[string]facts{model.Queue: func() map[string]facts { return map[string]facts{"batch": {}} }})
		defer p.stop()
		var printed [2]string
		for step := range 100 {
			printed[0] += fmt.Sprintf("step %d\n", step)
			printed[1] += fmt.Sprintf("step %d is slow\n", step)
			p.mu.Lock()
			p.jobs["tag"] = job.Job{Tag: "tag", ID: "7", Target: manager, Observation: job.Observation{Detail: job.Running, Queue: "batch", Observed: time.Now()}}
			p.processes = map[string][]job.Process{"tag": {{State: "RUNNING"}, {Rank: 1, State: "RUNNING",
				Output: printed[0][max(0, len(printed[0])-512):], ErrorOutput: printed[1][max(0, len(printed[1])-512):]}}}
			p.mu.Unlock()
			time.Sleep(time.Minute)
			p.requireSame(fmt.Sprint("step ", step))
		}
		_, clients := p.both()
		process, known := clients.Get(model.Process, "7.1")
		require.True(t, known)
		shown, _ := process.Value("processStderr")
		require.Equal(t, printed[1][len(printed[1])-512:], shown.Text())
		for stream, want := range printed {
			text, known := p.session.Output("7", agentclient.Stream(stream))
			require.True(t, known)
			all, err := io.ReadAll(text)
			require.NoError(t, err)
			require.Equal(t, want, string(all), "the output of the job is all that its processes printed")
		}
	})
}
