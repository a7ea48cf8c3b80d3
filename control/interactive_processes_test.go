package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// A launcher reports its two processes, waits, and then reports how one ended.
const launching = `echo "$1 rank 0 on n0 pid 5"; echo "$1 rank 1 on n1 pid 6"; echo hello; cat <go; echo "$1 rank 1 ended 137"; exit 9`

const rankMarks = `<arg>launch ${ptp_rm:job.tag#value}</arg><x:process-mark text="${ptp_rm:job.tag#value} rank {rank} on {node} pid {pid}&#10;"/>` +
	`<x:process-mark text="${ptp_rm:job.tag#value} rank {rank} ended {status}&#10;"/>`

func TestProcessesOfAnInteractiveJobAreOnRecordWhileItRunsAndAfterwards(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", launching, "", rankMarks)))
	fifo(t, s.path("go"))
	var during []job.Process
	done := make(chan struct{})
	go func() {
		defer close(done)
		file, err := remotetest.OpenPipe(s.path("go")) // which the script waits for
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		for begun := time.Now(); len(during) < 2 && time.Since(begun) < patience; {
			jobs, err := s.store.List(t.Context(), jobstore.Filter{All: true})
			if err != nil || len(jobs) != 1 {
				return
			}
			if during, err = s.store.Processes(t.Context(), jobs[0].Tag); err != nil {
				return
			}
		}
	}()
	j, stdout, err := s.interactively(t, t.Context(), "")
	<-done
	require.NoError(t, err)
	require.Equal(t, "hello\n", stdout)
	require.Equal(t, []job.Process{{Node: "n0", PID: 5, State: "RUNNING"}, {Rank: 1, Node: "n1", PID: 6, State: "RUNNING"}}, during)
	after, err := s.store.Processes(t.Context(), j.Tag)
	require.NoError(t, err)
	nine := 9
	require.Equal(t, []job.Process{
		{Node: "n0", PID: 5, State: "UNKNOWN"},
		{Rank: 1, Node: "n1", PID: 6, State: "EXITED_SIGNALLED", Signal: &nine},
	}, after)
}

// Facts that the definition derives from the output of a failed job are recorded.
func TestTheFailureReasonOfAnInteractiveJobIsRecorded(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="job.reason" visible="false"/>`+running("submit-interactive", `echo "not enough slots"; exit 1`, "",
		`<stdout-parser delim="\n"><target ref="job.reason"><match><expression>not enough slots</expression>`+
			`<set field="value"><entry value="request fewer ranks"/></set></match></target></stdout-parser>`)))
	job, _, err := s.interactively(t, t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "request fewer ranks", job.Reason)
}
