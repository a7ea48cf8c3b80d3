package control_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
)

const lateTag = "2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2"

// overlooked returns a site whose scheduler finds, and lists, the jobs of the file
// "jobs" (a tag, an id, a state), and a submission that it did not find.
func overlooked(t *testing.T, attributes string) (*site, job.Job) {
	t.Helper()
	s := newSite(t, define(t, running("submit-batch", "echo job 1", `waitForId="true" x:timeout="10s"`, jobIDParser)+
		running("get-job-status", "echo RUNNING", "", asStatus)+looking(attributes),
		`<monitor-data schedulerType="test">`+running("x:list-jobs", `test -e unlisted || cat jobs 2>/dev/null; true`, `x:interval="1s"`,
			`<stdout-parser delim="\n"><target><match><expression>(\S+) (\d+) (\S+)</expression><set field="name"><entry valueGroup="2"/></set>
			<put field="value"><entry key="identity" valueGroup="1"/><entry key="state" valueGroup="3"/></put></match></target></stdout-parser>`)+`</monitor-data>`),
		func(o *control.Options) { o.Jitter = func() float64 { return 0 } })
	s.stopClock()
	require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: lateTag, Target: "here", Created: s.options.Now(), Submitter: "0 gone nowhere"}))
	s.ahead += 41 * time.Second
	rejected, err := s.Recover(t.Context(), job.Job{Tag: lateTag})
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, rejected.Phase)
	return s, rejected
}

// looks is how often the scheduler was queried for a submission.
func (s *site) looks(t *testing.T) int { return strings.Count(s.read(t, "looked"), "\n") }

func TestASubmissionThatWasNotFoundIsLookedUpLessAndLessOften(t *testing.T) {
	s, rejected := overlooked(t, "")
	first := s.looks(t)
	for range 48 * 60 {
		s.ahead += time.Minute
		j, err := s.Status(t.Context(), rejected, false)
		require.NoError(t, err)
		require.Equal(t, job.PhaseRejected, j.Phase)
		rejected = j
	}
	require.Equal(t, 11, s.looks(t)-first, "after 1, 2, 4 … 1024 minutes, and not beyond a day")
}

func TestALateJobIsAdopted(t *testing.T) {
	s, rejected := overlooked(t, "")
	s.write(t, "jobs", lateTag+" 9 COMPLETED\n")
	j, err := s.Status(t.Context(), rejected, false)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, j.Phase, "it is not looked for all the time")
	s.ahead += time.Minute
	j, err = s.Status(t.Context(), rejected, false)
	require.NoError(t, err)
	require.Equal(t, "9", j.ID)
	require.Equal(t, job.Completed, j.Detail)
	require.False(t, j.Missing)
}

func TestRecoverLooksUpALateJobAtOnce(t *testing.T) {
	s, _ := overlooked(t, "")
	s.write(t, "jobs", lateTag+" 9 RUNNING\n")
	late, err := s.store.Unseen(t.Context(), time.Time{}, "here")
	require.NoError(t, err)
	require.Len(t, late, 1)
	job, err := s.Recover(t.Context(), late[0])
	require.NoError(t, err)
	require.Equal(t, "9", job.ID)
}

// A wait for other jobs finds it.
func TestAPollAdoptsTheJobsOfSubmissions(t *testing.T) {
	for name, unlisted := range map[string]bool{"listed": false, "looked up": true} {
		t.Run(name, func(t *testing.T) {
			s, _ := overlooked(t, "")
			others := []job.Job{s.submits(t, job.Submission{Executable: "x"}), s.submits(t, job.Submission{Executable: "x"})}
			require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: "11111111-2222-3333-4444-555555555555", Target: "here", Created: s.options.Now(), Submitter: "0 gone nowhere"}))
			s.write(t, "jobs", lateTag+" 9 COMPLETED\n11111111-2222-3333-4444-555555555555 10 RUNNING\n")
			if unlisted {
				s.write(t, "unlisted", "")
			}
			s.ahead += time.Minute
			s.updates(t, others, false)
			for tag, id := range map[string]string{lateTag: "9", "11111111-2222-3333-4444-555555555555": "10"} {
				job, err := s.store.ByTag(t.Context(), tag)
				require.NoError(t, err)
				require.Equal(t, id, job.ID)
			}
		})
	}
}

func TestAFailedLookUpOfALateJobChangesNothing(t *testing.T) {
	s, rejected := overlooked(t, "")
	s.write(t, "broken", "")
	s.ahead += time.Minute
	j, err := s.Status(t.Context(), rejected, false)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, j.Phase)
	require.False(t, recovery.IsDue(j, s.options.Now()), "a look-up that always fails is not made all the time")
	require.NoError(t, os.Remove(s.path("broken")))
	s.write(t, "jobs", lateTag+" 9 RUNNING\n")
	s.ahead += time.Minute
	j, err = s.Status(t.Context(), rejected, false)
	require.NoError(t, err)
	require.Equal(t, "9", j.ID)
}

func TestALateJobIsNotLookedUpAfterTheSchedulerWouldForgetIt(t *testing.T) {
	s, _ := overlooked(t, `remembers="5m"`)
	s.ahead += 6 * time.Minute
	before := s.looks(t)
	s.updates(t, []job.Job{s.submits(t, job.Submission{Executable: "x"})}, false)
	require.Equal(t, before, s.looks(t))
}

func TestAPollLimitsItsLookUps(t *testing.T) {
	s, _ := overlooked(t, "")
	for number := range 40 {
		tag := fmt.Sprintf("%08d-2222-3333-4444-555555555555", number)
		require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: tag, Target: "here", Created: s.options.Now(), Submitter: "0 gone nowhere"}))
	}
	other := s.submits(t, job.Submission{Executable: "x"})
	for range 3 {
		before := s.looks(t)
		s.ahead += time.Hour // however long the look-ups take on a busy machine, the next query is due
		s.updates(t, []job.Job{other}, false)
		require.LessOrEqual(t, s.looks(t)-before, 16)
	}
	open := s.unresolved(t)
	require.Empty(t, open, "the others come next")
}

// For example, each row of an array is a part of the job.
func TestAJobWhoseRowHasNoStateIsQueriedWhenItIsFound(t *testing.T) {
	s, _ := overlooked(t, "")
	s.write(t, "jobs", "11111111-2222-3333-4444-555555555555 10 IN_PARTS\n"+lateTag+" 9 COMPLETED\n")
	adopted, err := s.Rediscover(t.Context())
	require.NoError(t, err)
	found := map[string]job.Detail{}
	for _, job := range adopted {
		found[job.ID] = job.Detail
	}
	require.Equal(t, map[string]job.Detail{"9": job.Completed, "10": job.Running}, found)
}
