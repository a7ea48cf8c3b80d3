package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/state"
)

// drifting returns a site with a job, and what its controller tells of drifts.
func drifting(t *testing.T) (*site, job.Job, *[]jobstore.Drift) {
	t.Helper()
	s, job := asked(t, "", "")
	told := &[]jobstore.Drift{}
	s.options.OnDrift = func(drift jobstore.Drift) { *told = append(*told, drift) }
	s.Controller = control.New(s.options)
	return s, job, told
}

// prints makes the status command print that many lines, and lines that
// nothing takes, and asks for the job.
func (s *site) prints(t *testing.T, job job.Job, known, unknown int) job.Job {
	t.Helper()
	s.ahead += time.Minute
	s.answering(t, "printf '"+strings.Repeat(`native R\n`, known)+strings.Repeat(`what is this\n`, unknown)+`RUNNING\n'`)
	return s.status(t, job)
}

func TestOutputThatIsMuchLessUnderstoodThanUsualIsADrift(t *testing.T) {
	s, job, told := drifting(t)
	for range 20 {
		s.prints(t, job, 6, 1)
	}
	s.prints(t, job, 6, 3)
	require.Empty(t, *told, "a little less than usual is none")
	s.prints(t, job, 0, 2)
	require.Empty(t, *told, "of a few lines no share says anything")

	require.Equal(t, state.Running, s.prints(t, job, 0, 9).Detail)
	require.Len(t, *told, 1)
	drift := (*told)[0]
	require.Equal(t, "get-job-status:get-job-status", drift.Command)
	require.Contains(t, drift.Seen, "10 of 11 lines")
	require.Equal(t, "rmctl record DIR -- status --fresh here/7", control.HowToRecord(drift))

	for range 5 {
		s.prints(t, job, 0, 9)
	}
	require.Len(t, *told, 1, "one warning is enough")
	s.ahead += 25 * time.Hour
	s.prints(t, job, 0, 9)
	require.Len(t, *told, 2)
}

func TestWhatIsUnusualBeforeAnythingIsUsualIsNoDrift(t *testing.T) {
	s, job, told := drifting(t)
	s.prints(t, job, 0, 30)
	for range 30 {
		s.prints(t, job, 9, 0)
	}
	s.prints(t, job, 0, 30)
	require.Empty(t, *told, "it was seen before")
}

func TestAStateThatTheDefinitionDoesNotKnowIsADrift(t *testing.T) {
	s, job, told := drifting(t)
	s.answering(t, `echo native NOVEL`)
	s.status(t, job)
	require.Len(t, *told, 1)
	require.Contains(t, (*told)[0].Seen, `"NOVEL"`)

	s, job, told = drifting(t)
	s.answering(t, `echo "Novel report 1.0"; echo of a job`)
	_, err := s.Status(t.Context(), job, control.Fresh)
	require.Error(t, err)
	require.Len(t, *told, 1)
	require.Contains(t, (*told)[0].Seen, `"Novel report 1.0"`)
}

func TestWhatIsKnownIsNoDrift(t *testing.T) {
	for _, script := range []string{
		`echo RUNNING`, `echo UNDETERMINED; echo native X`, `exit 44`, `exit 45`, `:`, `echo "" `,
		`echo "cannot connect" >&2; exit 1`, `echo "what is this"; exit 1`, `echo native NOVEL; exit 1`, `echo native NOVEL; exit 44`,
	} {
		s, job, told := drifting(t)
		s.answering(t, script)
		_, _ = s.Status(t.Context(), job, control.Fresh) // some fail, which is not what is tested
		require.Empty(t, *told, script)
	}
}

func TestAnExaminationListsDrifts(t *testing.T) {
	s, job, _ := drifting(t)
	require.Equal(t, control.Fine, examined(t, s, "output").Verdict)
	s.answering(t, `echo native NOVEL`)
	s.status(t, job)
	finding := examined(t, s, "output")
	require.Equal(t, control.Warning, finding.Verdict)
	require.Contains(t, finding.Seen, "NOVEL")
	require.Contains(t, finding.Mend, "rmctl record DIR -- status --fresh here/7")
	s.ahead += 31 * 24 * time.Hour
	require.Equal(t, control.Fine, examined(t, s, "output").Verdict)
}

func TestTheCommandThatRecordsADriftIsSafeToPaste(t *testing.T) {
	require.Equal(t, fmt.Sprintf("rmctl record DIR -- status --fresh %s", `'slurm/7; rm -r x'`), control.HowToRecord(jobstore.Drift{Target: "slurm", Job: "7; rm -r x"}))
}
