package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// operated is a site with all control commands; each notes its name and the id
// in the file did and then runs the script in the file answer.
func operated(t *testing.T, attributes string) (*site, job.Job) {
	t.Helper()
	controlData := `<x:outcome kind="not-found" exit="44"/><x:outcome kind="finished" exit="45"/><x:outcome kind="denied" expression="denied"/><x:outcome kind="transient" expression="try again"/><x:outcome kind="doubtful" expression="perhaps"/>` +
		submitting(`echo job 7`, "") + running("get-job-status", `echo x >>asked; echo RUNNING`, "", asStatus)
	for _, element := range []string{"terminate-job", "suspend-job", "resume-job", "hold-job", "release-job"} {
		controlData += `<` + element + ` name="n" ` + attributes + `><arg>/bin/sh -c 'echo "$@" >>did; . ./answer' sh ` + element + ` ${ptp_rm:@jobId#name} @jobId</arg></` + element + `>`
	}
	s := newSite(t, define(t, controlData))
	s.answering(t, `:`)
	return s, s.submits(t, job.Submission{Executable: "x"})
}

func TestEachOperationHasItsCommand(t *testing.T) {
	for operation, element := range map[control.Operation]string{
		control.Cancel: "terminate-job", control.Suspend: "suspend-job", control.Resume: "resume-job", control.Hold: "hold-job", control.Release: "release-job",
	} {
		s, job := operated(t, "")
		require.NoError(t, s.Operate(t.Context(), operation, job))
		require.Equal(t, element+" 7 7\n", s.read(t, "did"))

		bare := newSite(t, define(t, submitting(`echo job 7`, "")))
		err := bare.Operate(t.Context(), operation, job)
		var unsupported *control.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.ErrorContains(t, err, element)
	}
}

func TestAnOperationMarksTheStateAsUnconfirmed(t *testing.T) {
	s, j := operated(t, "")
	j = s.status(t, j)
	require.NoError(t, s.Operate(t.Context(), control.Cancel, j))
	known, err := s.store.ByTag(t.Context(), j.Tag)
	require.NoError(t, err)
	require.Equal(t, job.Running, known.Detail)
	require.True(t, known.Stale)
	require.Contains(t, known.StaleReason, "cancel requested, waiting for confirmation")
	_, err = s.Status(t.Context(), known, false)
	require.NoError(t, err)
	require.Equal(t, 2, s.count(t, "asked"), "the next look asks the scheduler")
}

func TestEndedJobsAndJobsWithoutIDAreNotOperatedOn(t *testing.T) {
	s, j := operated(t, "")
	for operation, word := range map[control.Operation]string{
		control.Cancel: "canceled", control.Suspend: "suspended", control.Resume: "resumed", control.Hold: "held", control.Release: "released",
	} {
		ended := j
		ended.Detail = job.Failed
		err := s.Operate(t.Context(), operation, ended)
		var gone *control.EndedError
		require.ErrorAs(t, err, &gone)
		require.ErrorContains(t, err, "job 7 cannot be "+word+": it has ended (FAILED)")
		require.ErrorContains(t, s.Operate(t.Context(), operation, job.Job{Tag: j.Tag}), "no job id yet")
	}
	require.False(t, s.exists("did"))
}

func TestHowOperationsFail(t *testing.T) {
	for _, attributes := range []string{"", `ignoreExitStatus="true"`} {
		s, job := operated(t, attributes)
		s.answering(t, `exit 44`)
		var unknown *control.NotFoundError
		require.ErrorAs(t, s.Operate(t.Context(), control.Hold, job), &unknown)

		s.answering(t, `exit 45`)
		var gone *control.EndedError
		require.ErrorAs(t, s.Operate(t.Context(), control.Hold, job), &gone)

		for _, refusal := range []string{"access denied", "try again later"} {
			s.answering(t, `echo "`+refusal+`" >&2; exit 1`)
			require.ErrorContains(t, s.Operate(t.Context(), control.Hold, job), refusal, "also where the exit status is ignored")
		}

		s.answering(t, `echo "what is this" >&2; exit 1`)
		err := s.Operate(t.Context(), control.Hold, job)
		if attributes != "" {
			require.NoError(t, err)
			continue
		}
		var failed *command.Error
		require.ErrorAs(t, err, &failed)
		require.ErrorContains(t, err, "what is this")
	}
}

func TestAFailedOperationKeepsTheKnownState(t *testing.T) {
	s, job := operated(t, "")
	job = s.status(t, job)
	s.answering(t, `exit 1`)
	require.Error(t, s.Operate(t.Context(), control.Cancel, job))
	known, err := s.store.ByTag(t.Context(), job.Tag)
	require.NoError(t, err)
	require.False(t, known.Stale)
}

func TestAnOperationOfUnknownOutcomeMarksTheStateAsUnconfirmed(t *testing.T) {
	suspends := func(t *testing.T, attributes, answer string) (hasBegun bool) {
		s, j := operated(t, attributes)
		j = s.status(t, j)
		s.answering(t, answer)
		require.Error(t, s.Operate(t.Context(), control.Suspend, j))
		known, err := s.store.ByTag(t.Context(), j.Tag)
		require.NoError(t, err)
		require.Equal(t, job.Running, known.Detail)
		if s.exists("did") {
			require.True(t, known.Stale)
		}
		return s.exists("did")
	}
	t.Run("doubtful", func(t *testing.T) { require.True(t, suspends(t, "", `echo perhaps >&2; exit 1`)) })
	t.Run("over its time", func(t *testing.T) {
		limits(t, func(limit time.Duration) bool {
			return suspends(t, fmt.Sprintf(`x:timeout="%s"`, limit), `exec sleep 600`)
		})
	})
}

func TestAnOperationAfterTheDeadlineChangesNothing(t *testing.T) {
	s, job := operated(t, `x:timeout="0.000000001s"`)
	job = s.status(t, job)
	require.ErrorContains(t, s.Operate(t.Context(), control.Suspend, job), "was not started in time")
	known, err := s.store.ByTag(t.Context(), job.Tag)
	require.NoError(t, err)
	require.False(t, known.Stale)
	require.False(t, s.exists("did"))
}

// A query in progress during an operation may have read the previous state.
func TestAnAnswerFromBeforeAnOperationIsNotReused(t *testing.T) {
	s, j := operated(t, "")
	j = s.status(t, j)
	before := s.options.Now()
	require.NoError(t, s.Operate(t.Context(), control.Suspend, j))
	late, err := s.store.Observe(t.Context(), j.Tag, job.Observation{Detail: job.Running, Observed: before})
	require.NoError(t, err)
	require.True(t, late.Stale)
	asked := s.count(t, "asked")
	j, err = s.Status(t.Context(), late, false)
	require.NoError(t, err)
	require.Equal(t, asked+1, s.count(t, "asked"))
	require.False(t, j.Stale)
}

func TestAJobNotOnRecordCanBeOperatedOn(t *testing.T) {
	s, _ := operated(t, "")
	require.NoError(t, s.Operate(t.Context(), control.Cancel, job.Job{ID: "99", ShortID: "99"}))
	require.Equal(t, "terminate-job 99 99\n", s.read(t, "did"))
}

// Definitions whose jobs are only processes have no commands for these operations.
func TestAnUnsupportedOperationOnAProcessReportsItsState(t *testing.T) {
	without := running("submit-interactive", `:`, "", "")
	for name, test := range map[string]struct {
		commands, id, process string
		ended                 job.Detail
		says                  string
	}{
		"it has ended":                      {without, "the-tag", goneHere(t), job.Failed, "job the-tag cannot be canceled: it has ended (FAILED)"},
		"its process is gone":               {without, "the-tag", goneHere(t), "", "job the-tag: the process that it was attached to"},
		"its process is gone, with a name":  {without, "7", goneHere(t), "", "job 7: the process that it was attached to"},
		"gone before its name was known":    {without + running("terminate-job", `exit 3`, "", ""), "the-tag", goneHere(t), "", "job the-tag: the process that it was attached to"},
		"a scheduler that may know it":      {without + running("terminate-job", `exit 3`, "", ""), "7", goneHere(t), "", "exited with code 3"},
		"its process is on another machine": {without, "the-tag", "12 345 far.example.org", "", "no terminate-job command; process 12 on far.example.org may still be attached to it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, test.commands))
			j := s.attachedTo(t, "the-tag", test.id, test.process)
			if test.ended != "" {
				_, err := s.store.Observe(t.Context(), "the-tag", job.Observation{Detail: test.ended, Observed: time.Now()})
				require.NoError(t, err)
			}
			require.ErrorContains(t, s.Operate(t.Context(), control.Cancel, j), test.says)
		})
	}
}

func TestAnOperationForOneStageIsRefusedInAnother(t *testing.T) {
	for _, c := range []struct{ only, printed, refused string }{
		{"waiting", "QUEUED_ACTIVE", ""},
		{"waiting", "USER_ON_HOLD", ""},
		{"waiting", "RUNNING", "job 7 cannot be held: it is RUNNING, and only a waiting job can be"},
		{"waiting", "SUSPENDED", "only a waiting job can be"},
		{"waiting", "COMPLETED", "it has ended (COMPLETED)"},
		{"waiting", "ODD", "it is UNDETERMINED, and only a waiting job can be"},
		{"waiting word:B", "RUNNING; echo native B", ""},
		{"waiting word:B", "RUNNING; echo native R", "it is RUNNING, and only a waiting job can be"},
		{"running", "RUNNING", ""},
		{"running", "QUEUED_ACTIVE", "only a running job can be"},
		{"waiting running", "SUSPENDED", ""},
		{"waiting running", "ODD", "only a waiting or running job can be"},
		{"USER_ON_HOLD USER_SYSTEM_ON_HOLD", "USER_SYSTEM_ON_HOLD", ""},
		{"USER_ON_HOLD USER_SYSTEM_ON_HOLD", "SYSTEM_ON_HOLD", "only a USER_ON_HOLD or USER_SYSTEM_ON_HOLD job can be"},
	} {
		s := newSite(t, define(t, facts+submitting(`echo job 7`, "")+running("get-job-status", `. ./says`, "", asStatus)+
			running("hold-job", `echo held >>did`, `x:only="`+c.only+`"`, "")))
		s.write(t, "says", "echo "+c.printed)
		j := s.submits(t, job.Submission{Executable: "x"})
		err := s.Operate(t.Context(), control.Hold, j)
		require.Equal(t, c.refused == "", s.exists("did"), "%v: %v", c, err)
		if c.refused == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.refused)
		}
	}

	s := newSite(t, define(t, submitting(`echo job 7`, "")+running("get-job-status", `echo down >&2; exit 1`, "", asStatus)+
		running("hold-job", `echo held >>did`, `x:only="waiting"`, "")))
	err := s.Operate(t.Context(), control.Hold, s.submits(t, job.Submission{Executable: "x"}))
	require.ErrorContains(t, err, "its state is unknown")
	require.False(t, s.exists("did"))
}

func TestAnArrayIsHeldWhileATaskWaits(t *testing.T) {
	s := newSite(t, define(t, `<x:ids form="(\d+)(?:_(\d+))?" columns="job task"/>`+submitting(`echo job 7`, "")+
		running("get-job-status", `cat says`, "", `<x:read><x:table columns="id word"/><x:states of="word">
			<x:state is="RUNNING" words="R"/><x:state is="QUEUED_ACTIVE" words="Q"/></x:states></x:read>`)+
		running("hold-job", `:`, `x:only="waiting"`, "")))
	j := s.submits(t, job.Submission{Executable: "x"})
	s.write(t, "says", "7_1 R\n7_2 Q\n")
	require.NoError(t, s.Operate(t.Context(), control.Hold, j))
	s.write(t, "says", "7_1 R\n7_2 R\n")
	require.ErrorContains(t, s.Operate(t.Context(), control.Hold, j), "job 7 cannot be held: it is RUNNING, and only a waiting job can be")
}

// canceledIs is a status command whose answer depends on who canceled the job.
const canceledIs = `<x:reader name="jobs"><x:table columns="id word"/><x:states of="word">
		<x:state is="RUNNING" words="R"/><x:state is="CANCELED" words="gone" test="@job.canceled='true'"/><x:state is="FAILED" words="gone"/>
	</x:states></x:reader>`

func TestTheEndOfAJobDependsOnWhetherItWasCanceled(t *testing.T) {
	const reads = `<x:read reader="jobs"/>`
	for answer, want := range map[string]job.Detail{`exit 0`: job.Canceled, `echo "not yours" >&2; exit 1`: job.Failed} {
		s := newSite(t, define(t, submitting(`echo job 7`, "")+running("get-job-status", `cat says`, "", reads)+
			running("terminate-job", `. ./answer`, "", "")+canceledIs))
		s.write(t, "says", "7 R\n")
		j := s.status(t, s.submits(t, job.Submission{Executable: "x"}))
		s.answering(t, answer)
		err := s.Operate(t.Context(), control.Cancel, j)
		require.Equal(t, want == job.Failed, err != nil)
		known, err := s.store.ByTag(t.Context(), j.Tag)
		require.NoError(t, err)
		require.Equal(t, want == job.Canceled, !known.CancelAccepted.IsZero())
		s.write(t, "says", "7 gone\n")
		require.Equal(t, want, s.status(t, known).Detail, answer)
	}
}

func TestACanceledJobThatDisappearsIsCanceled(t *testing.T) {
	for name, status := range map[string]string{"no such job": `exit 44`, "a listing without it": `echo "some rows"`} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, `<x:outcome kind="not-found" exit="44"/>`+submitting(`echo job 7`, "")+
				running("get-job-status", status, "", asStatus)+running("terminate-job", `:`, "", "")))
			j := s.submits(t, job.Submission{Executable: "x"})
			require.NoError(t, s.Operate(t.Context(), control.Cancel, j))
			s.ahead += time.Second
			seen, _ := s.Status(t.Context(), j, true)
			require.False(t, seen.Detail.Ended(), "schedulers are late at times")
			s.ahead += 10 * time.Second
			seen, err := s.Status(t.Context(), seen, true)
			require.NoError(t, err)
			require.Equal(t, job.Canceled, seen.Detail)
			require.Equal(t, []bool{false, false}, []bool{seen.Missing, seen.Stale})
		})
	}
}

// gone is the status command of definitions that report a job as completed when their
// scheduler no longer knows it.
const gone = `<stderr-parser delim="\n"><target ref="@jobId"><match><expression>.+</expression><set field="value"><entry value="COMPLETED"/></set></match></target></stderr-parser>`

func TestAJobThatIsGoneAfterItWasCanceledIsCanceled(t *testing.T) {
	for name, c := range map[string]struct {
		cancel, status string
		want           job.Detail
	}{
		"its status command complains":        {`echo deleted`, `echo "Unknown Job 7" >&2; exit 1`, job.Canceled},
		"it has ended by an outcome":          {`:`, `exit 45`, job.Canceled},
		"its scheduler calls it COMPLETED":    {`:`, `echo COMPLETED`, job.Completed},
		"it was not canceled, as it was gone": {`echo "Unknown Job 7" >&2; exit 1`, `echo "Unknown Job 7" >&2; exit 1`, job.Completed},
		"it has failed":                       {`:`, `echo FAILED`, job.Failed},
		"its scheduler calls it CANCELED":     {`:`, `echo CANCELED`, job.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, `<x:outcome kind="finished" exit="45"/>`+submitting(`echo job 7`, "")+
				running("get-job-status", c.status, `ignoreExitStatus="true"`, asStatus+gone)+running("terminate-job", c.cancel, `ignoreExitStatus="true"`, "")))
			j := s.submits(t, job.Submission{Executable: "x"})
			require.NoError(t, s.Operate(t.Context(), control.Cancel, j))
			j, err := s.Wait(t.Context(), j, "", nil)
			require.NoError(t, err)
			require.Equal(t, c.want, j.Detail)
		})
	}
}
