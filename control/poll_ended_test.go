package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// Accounting knows thousands of jobs that the scheduler has forgotten.
func TestJobsMissingFromAListingAreListedAsEnded(t *testing.T) {
	s := newSite(t, clusterWith(t, `x:interval="1s"`, running("x:list-ended", `echo "ended $IDS" >>asked; cat ended`, "", `<environment name="IDS" value="${ptp_rm:job.ids#value}"/>`+rowsOfCluster)))
	s.stopClock()
	jobs := make([]job.Job, 9)
	for i := range jobs {
		jobs[i] = s.submits(t, job.Submission{Executable: "x"})
	}
	s.ahead += time.Minute
	s.shows(t, jobs, job.Running)
	row := func(i int, detail job.Detail) string {
		return fmt.Sprintf("%s %s 10:00 %s\n", jobs[i].ID, detail, jobs[i].Tag)
	}
	s.write(t, "ended", row(1, job.Completed)+row(2, job.Failed)+row(3, job.Canceled)+row(4, job.Failed)+row(5, job.Failed)+row(6, job.Running)+"8 FAILED 10:00 11111111-2222-3333-4444-555555555555\n")
	updated := s.updates(t, jobs, false)
	require.Equal(t, []job.Detail{job.Running, job.Completed, job.Failed, job.Canceled, job.Failed, job.Failed}, details(updated)[:6])
	for _, j := range updated[6:] {
		require.True(t, j.Missing, "%s: accounting is believed about ends of the same jobs only", j.ID)
	}
	asked := s.asked(t)
	require.Equal(t, []string{"list", "ended", "2,3,4,5,6,7,8,9"}, asked[:3])
	require.ElementsMatch(t, []string{"7", "8", "9"}, asked[3:])
	require.Equal(t, "x:list-ended", updated[2].Source)
}

// Accounting may lag behind: what its listing lacks now, the next one may have. Queries of single
// jobs must not use up the time for it.
func TestAPollEndsSoonIfEndedJobsWereListed(t *testing.T) {
	for name, c := range map[string]struct {
		fails string // the listing of ended jobs
		asked int    // in the first poll
	}{
		"they were":         {"", 4},
		"the listing fails": {"exit 1", 20},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, clusterWith(t, `x:interval="1s"`, running("x:list-ended", `cat ended;`+c.fails, "", rowsOfCluster)))
			s.stopClock()
			jobs := make([]job.Job, 20)
			for i := range jobs {
				jobs[i] = s.submits(t, job.Submission{Executable: "x"})
			}
			s.ahead += time.Minute
			s.shows(t, nil)
			s.write(t, "ended", "")
			slow := s.options
			slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(200 * time.Millisecond) })}
			s.Controller = control.New(slow)
			s.updates(t, jobs, false)
			require.Len(t, s.asked(t), 1+c.asked)
			if c.fails != "" {
				return
			}
			var rows strings.Builder
			for _, j := range jobs {
				fmt.Fprintf(&rows, "%s COMPLETED 10:00 %s\n", j.ID, j.Tag)
			}
			s.write(t, "ended", rows.String())
			s.ahead += 2 * time.Second
			for _, j := range s.updates(t, jobs, false) {
				require.Equal(t, job.Completed, j.Detail)
			}
		})
	}
}
