package control_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// looking finds a job in the file "jobs", which has lines of a tag, an id and a state.
func looking(attributes string) string {
	return running("x:find-job", `echo >>looked; cat jobs 2>/dev/null | grep "^${RMCTL_TAG} "; test ! -e broken`, `x:timeout="1m" `+attributes,
		`<environment name="RMCTL_TAG" value="${ptp_rm:job.tag#value}"/>
		<stdout-parser delim="\n"><target ref="@jobId"><match><expression>\S+ (\d+) (\S+)</expression>
			<set field="name"><entry valueGroup="1"/></set><set field="value"><entry valueGroup="2"/></set></match></target></stdout-parser>`)
}

// forgetful is a scheduler whose submit command runs a script.
func forgetful(t *testing.T, script, attributes string) *site {
	t.Helper()
	return newSite(t, define(t, running("submit-batch", script, `waitForId="true" x:timeout="10s"`, `<environment name="RMCTL_TAG" value="${ptp_rm:job.tag#value}"/>`+jobIDParser)+
		looking(attributes)))
}

// cutOff records a submission of a dead process.
func (s *site) cutOff(t *testing.T) job.Job {
	t.Helper()
	job := job.Job{Tag: "the-tag", Target: "here", Created: s.options.Now(), Submitter: "0 gone nowhere"}
	require.NoError(t, s.store.Intend(t.Context(), job))
	return job
}

func TestAJobIsAdoptedAtOnceAfterItsSubmitCommandFailed(t *testing.T) {
	s := forgetful(t, `echo "$RMCTL_TAG 7 RUNNING" >jobs; echo "connection lost"`, "")
	j := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, "7", j.ID)
	require.Equal(t, job.Running, j.Detail)
	require.Equal(t, job.PhaseSubmitted, j.Phase)
}

func TestAnInterruptedSubmissionIsAdopted(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	cut := s.cutOff(t)
	s.write(t, "jobs", "other 6 RUNNING\nthe-tag 8 QUEUED_ACTIVE\n")
	j, err := s.Status(t.Context(), cut, false)
	require.NoError(t, err)
	require.Equal(t, "8", j.ID)
	require.Equal(t, job.QueuedActive, j.Detail)
	recorded, err := s.store.ByTag(t.Context(), "the-tag")
	require.NoError(t, err)
	require.Equal(t, "8", recorded.ID)
}

func TestAJobFoundWithoutAStateWasLastSeenAtItsSubmission(t *testing.T) {
	for state, isSeen := range map[string]bool{"-": false, "QUEUED_ACTIVE": true} {
		s := forgetful(t, `echo job 7`, "")
		cut := s.cutOff(t)
		s.write(t, "jobs", "the-tag 8 "+state+"\n")
		j, err := s.Recover(t.Context(), cut)
		require.NoError(t, err)
		require.Equal(t, "8", j.ID)
		require.Equal(t, isSeen, j.Observed.After(cut.Created), "it may run since")
	}
}

// The submit command of a process that was killed may still be on its way.
func TestAbsenceCountsOnlyAfterTheSubmissionMustHaveEnded(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	cut := s.cutOff(t)
	for range 2 {
		j, err := s.Recover(t.Context(), cut)
		var unconfirmed *control.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.WithinDuration(t, cut.Created.Add(40*time.Second), unconfirmed.Again, time.Second)
		require.Equal(t, job.PhaseIntended, j.Phase)
	}
	s.ahead += 41 * time.Second
	j, err := s.Recover(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, j.Phase)
	require.Contains(t, j.Error, "no such job")
}

func TestAbsenceIsDatedAtTheStartOfTheQuery(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	s.stopClock()
	cut := s.cutOff(t)
	slow := s.options
	slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(time.Minute) })}
	_, err := control.New(slow).Recover(t.Context(), cut)
	var unconfirmed *control.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed, "it may have been taken up since the scheduler looked")
	rejected, err := s.Recover(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, rejected.Phase)
}

func TestAFailedLookUpDecidesNothing(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	cut := s.cutOff(t)
	s.write(t, "broken", "")
	s.ahead += time.Hour
	j, err := s.Recover(t.Context(), cut)
	var unconfirmed *control.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	require.Error(t, unconfirmed.Err)
	require.Equal(t, job.PhaseIntended, j.Phase)

	j, err = s.Status(t.Context(), cut, false)
	require.NoError(t, err)
	require.True(t, j.Stale)
	require.NotContains(t, j.StaleReason, "\n\n")
}

func TestASchedulerThatForgetsJobsDoesNotProveAbsence(t *testing.T) {
	s := forgetful(t, `echo job 7`, `remembers="5m"`)
	cut := s.cutOff(t)
	s.ahead += 6 * time.Minute
	_, err := s.Recover(t.Context(), cut)
	var unconfirmed *control.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	require.Contains(t, unconfirmed.Reason, "5m")
	require.Zero(t, unconfirmed.Again)
}

func TestOnlyTheSubmittingProcessCountsAsAlive(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	host, err := os.Hostname()
	require.NoError(t, err)
	for name, submitter := range map[string]string{
		"another process of the same id": fmt.Sprintf("%d %s %s", os.Getpid(), "0", host),
		"of another host":                fmt.Sprintf("%d %s %s", os.Getpid(), "0", host+".elsewhere"),
		"damaged":                        "nonsense",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: name, Target: "here", Created: time.Now().Add(-time.Hour), Submitter: submitter}))
			j, err := s.Recover(t.Context(), job.Job{Tag: name})
			require.NoError(t, err)
			require.Equal(t, job.PhaseRejected, j.Phase)
		})
	}
}

func TestAJobIsNotLookedUpWhileItIsBeingSubmitted(t *testing.T) {
	var within error
	var s *site
	s = newSite(t, define(t, submitting(`echo job 7`, "")+looking("")), func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, start: func(remote.Command) error {
			open := s.unresolved(t)
			require.Len(t, open, 1)
			_, within = s.Recover(t.Context(), open[0])
			return nil
		}}
	})
	s.submits(t, job.Submission{Executable: "x"})
	var unconfirmed *control.UnconfirmedError
	require.ErrorAs(t, within, &unconfirmed)
	require.Contains(t, unconfirmed.Reason, "being submitted right now")
	require.False(t, s.exists("looked"))
}

func TestTheScriptNameBeginsWithTheTag(t *testing.T) {
	s := newSite(t, define(t, `<script><line><arg>true</arg></line></script>`+
		running("submit-batch", `basename "$SCRIPT" >name; echo job 7`, `waitForId="true"`, `<environment name="SCRIPT" value="${ptp_rm:managed_file_for_script#value}"/>`+jobIDParser)))
	job := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, job.Tag+"managed_file_for_script\n", s.read(t, "name"))
}

// A scheduler that forgets jobs proves absence only while it cannot have forgotten this one.
func TestALookUpGetsTheAgeOfTheSubmission(t *testing.T) {
	s := newSite(t, define(t, running("submit-batch", "echo job 7", `waitForId="true" x:timeout="10s"`, jobIDParser)+
		running("x:find-job", `echo "$RMCTL_AGE" >age`, `x:timeout="1m"`, `<environment name="RMCTL_AGE" value="${ptp_rm:job.age#value}"/>`)))
	s.stopClock()
	cut := s.cutOff(t)
	s.ahead += 90 * time.Second
	_, err := s.Recover(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, "90\n", s.read(t, "age"))
}

func TestARecoveredJobHasTheSubmissionTimeOfItsScheduler(t *testing.T) {
	earlier := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
	for reported, want := range map[string]time.Time{
		fmt.Sprint(earlier.Unix()):                   earlier,
		earlier.Format("2006-01-02T15:04:05"):        earlier,
		fmt.Sprint(time.Now().Add(time.Hour).Unix()): {}, // of a clock that is wrong
		"soon": {},
	} {
		t.Run(reported, func(t *testing.T) {
			s := newSite(t, define(t, submitting(`echo job 7`, ""), `<monitor-data schedulerType="TEST">`+
				running("x:list-jobs", `echo "9 2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2 RUNNING $(cat reported)"`, "", `<stdout-parser delim="\n"><target><match><expression>(\d+) (\S+) (\S+) (\S+)</expression>
				<set field="name"><entry valueGroup="1"/></set><put field="value"><entry key="identity" valueGroup="2"/><entry key="state" valueGroup="3"/><entry key="submitted" valueGroup="4"/></put></match></target></stdout-parser>`)+
				`</monitor-data>`))
			s.write(t, "reported", reported)
			before := time.Now()
			adopted, err := s.Rediscover(t.Context())
			require.NoError(t, err)
			require.Len(t, adopted, 1)
			require.WithinDuration(t, want, adopted[0].SubmittedAt(), 0)
			require.Equal(t, want.IsZero(), adopted[0].Undated)
			require.NoError(t, s.store.History(t.Context(), adopted[0].Tag, func(event job.Event) error {
				require.False(t, event.Observed.Before(before), "adopting is no submission: %v", event)
				return nil
			}))
		})
	}
}

func TestALateJobIsAdoptedFromTheListing(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")+looking(""), `<monitor-data schedulerType="TEST">`+
		running("x:list-jobs", `echo "9 $(cat tag) RUNNING"`, "", `<stdout-parser delim="\n"><target><match><expression>(\d+) (\S+) (\S+)</expression>
			<set field="name"><entry valueGroup="1"/></set><put field="value"><entry key="identity" valueGroup="2"/><entry key="state" valueGroup="3"/></put></match></target></stdout-parser>`)+
		`</monitor-data>`))
	const tag = "2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2"
	s.write(t, "tag", tag)
	require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: tag, Target: "here", Submitter: "0 gone nowhere"}))
	require.NoError(t, s.store.Reject(t.Context(), tag, "the scheduler was asked for it, and has no such job"))
	adopted, err := s.Rediscover(t.Context())
	require.NoError(t, err)
	require.Len(t, adopted, 1)
	require.Equal(t, "9", adopted[0].ID)
	require.Equal(t, job.PhaseSubmitted, adopted[0].Phase)
	require.Equal(t, job.Running, adopted[0].Detail)
	adopted, err = s.Rediscover(t.Context())
	require.NoError(t, err)
	require.Empty(t, adopted)
}
