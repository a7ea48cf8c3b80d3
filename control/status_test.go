package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// facts are the attributes in which parsers store facts about a job.
const facts = `<attribute name="job.native" visible="false"/><attribute name="job.exitCode" visible="false"/><attribute name="job.outputPath" visible="false"/>`

// asked is a site whose status command runs the script in the file answer; it
// notes each run in the file asked.
func asked(t *testing.T, children, others string) (*site, job.Job) {
	t.Helper()
	s := newSite(t, define(t, facts+`<x:outcome kind="not-found" exit="44"/><x:outcome kind="finished" exit="45"/><x:outcome kind="denied" expression="denied"/>`+
		submitting(`echo job 7`, "")+running("get-job-status", `echo x >>asked; . ./answer`, "", asStatus+children)+others))
	s.stopClock()
	return s, s.submits(t, job.Submission{Executable: "x"})
}

// answering sets the answer of the scheduler.
func (s *site) answering(t *testing.T, script string) { s.write(t, "answer", script) }

func (s *site) status(t *testing.T, job job.Job) job.Job {
	t.Helper()
	job, err := s.Status(t.Context(), job, true)
	require.NoError(t, err)
	return job
}

func TestAStateCarriesItsEvidence(t *testing.T) {
	s, j := asked(t, "", "")
	s.answering(t, `echo RUNNING; echo native R`)
	before := s.options.Now()
	j = s.status(t, j)
	require.Equal(t, job.Running, j.Detail)
	require.Equal(t, "R", j.Native)
	require.Equal(t, "get-job-status", j.Source)
	require.Equal(t, "RUNNING\nnative R\n", j.Evidence)
	require.Equal(t, job.Origin{Stream: "stdout", Line: 1, Text: "RUNNING"}, j.Origin)
	require.True(t, j.Observed.After(before))
	require.False(t, j.Stale)
}

func TestJobsMoveBetweenOpenStates(t *testing.T) {
	s, j := asked(t, "", "")
	for _, detail := range []job.Detail{job.QueuedActive, job.UserOnHold, job.QueuedActive, job.Running, job.Suspended, job.Running, job.QueuedActive, job.Completed} {
		s.answering(t, "echo "+string(detail))
		j = s.status(t, j)
		require.Equal(t, detail, j.Detail)
	}
}

func TestOnlyWhatAQueryItselfPrintsIsAFact(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="job.native" visible="false"><default>left over</default></attribute>`+
		submitting(`echo job 7`, "")+running("get-job-status", `echo RUNNING`, "", asStatus)))
	j := s.status(t, s.submits(t, job.Submission{Executable: "x"}))
	require.Equal(t, job.Running, j.Detail)
	require.Empty(t, j.Native)
}

func TestAQueryReportsFacts(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		detail  job.Detail
		native  string
		missing bool
		stale   string // part of the reason; empty for an answer
	}{
		"an end":                                {`echo COMPLETED`, job.Completed, "", false, ""},
		"an end that its outcome reports":       {`exit 45`, job.Completed, "", false, ""},
		"a job that is not known":               {`exit 44`, job.Running, "", true, ""},
		"a word outside the vocabulary":         {`echo HELD`, job.Running, "HELD", false, ""},
		"a word beside a state that is no word": {`echo UNDETERMINED; echo native X`, job.Running, "X", false, ""},
		"nothing at all":                        {`:`, job.Running, "", false, "printed nothing that the definition understands"},
		"something else":                        {`echo "slurm 23.02"`, job.Running, "", false, "printed nothing that the definition understands"},
		"the reference's text for nothing":      {`echo null`, job.Running, "", false, "printed nothing that the definition understands"},
		"a failing command":                     {`echo "cannot connect" >&2; exit 1`, job.Running, "", false, "cannot connect"},
		"a command that is denied":              {`echo "access denied" >&2; exit 1`, job.Running, "", false, "access denied"},
		"a command that answers and fails":      {`echo COMPLETED; echo partial >&2; exit 1`, job.Completed, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, job := asked(t, "", "")
			s.answering(t, `echo RUNNING`)
			running := s.status(t, job)
			s.ahead += time.Minute
			s.answering(t, c.script)
			job, err := s.Status(t.Context(), running, true)
			require.Equal(t, c.detail, job.Detail)
			require.Equal(t, c.native, job.Native)
			require.Equal(t, c.missing, job.Missing)
			if c.stale == "" {
				require.NoError(t, err)
				require.False(t, job.Stale)
				return
			}
			var failed *control.QueryError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "7", failed.ID)
			require.True(t, job.Stale)
			require.Contains(t, job.StaleReason, c.stale)
			require.Equal(t, running.Observed.UnixNano(), job.Observed.UnixNano(), "nothing was seen since")
		})
	}
}

func TestAnAnswerMakesAJobNeitherStaleNorMissing(t *testing.T) {
	s, job := asked(t, "", "")
	s.answering(t, `exit 1`)
	job, err := s.Status(t.Context(), job, true)
	require.Error(t, err)
	s.answering(t, `exit 44`)
	job = s.status(t, job)
	require.True(t, job.Missing)
	s.answering(t, `echo RUNNING`)
	job = s.status(t, job)
	require.False(t, job.Stale)
	require.False(t, job.Missing)
	require.Zero(t, job.MissingCount)
}

func TestRecentAnswersAreReused(t *testing.T) {
	s, job := asked(t, "", "")
	s.answering(t, `echo RUNNING`)
	recent := func() {
		var err error
		job, err = s.Status(t.Context(), job, false)
		require.NoError(t, err)
	}
	recent()
	require.Equal(t, 1, s.count(t, "asked"), "the output of the submit command is no answer to a query")
	s.ahead = 4 * time.Second
	recent()
	require.Equal(t, 1, s.count(t, "asked"))
	s.ahead = 6 * time.Second
	recent()
	require.Equal(t, 2, s.count(t, "asked"))
	s.ahead = 7 * time.Second
	s.status(t, job)
	require.Equal(t, 3, s.count(t, "asked"), "a fresh answer is a new one")

	require.NoError(t, s.store.MarkStale(t.Context(), job.Tag, "why not", s.options.Now()))
	job, err := s.store.ByTag(t.Context(), job.Tag)
	require.NoError(t, err)
	_, err = s.Status(t.Context(), job, false)
	require.NoError(t, err)
	require.Equal(t, 4, s.count(t, "asked"), "a doubtful answer leads to another query")
}

func TestJobsThatHaveEndedAreNotQueried(t *testing.T) {
	s, j := asked(t, "", "")
	s.answering(t, `echo FAILED`)
	j = s.status(t, j)
	s.answering(t, `echo RUNNING`)
	require.Equal(t, job.Failed, s.status(t, j).Detail)
	require.Equal(t, 1, s.count(t, "asked"))
}

func TestWithoutAStatusCommandAJobKeepsItsState(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")))
	j := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, job.Submitted, s.status(t, j).Detail)
	_, err := s.Look(t.Context(), "7")
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
}

func TestASubmissionWithoutIdIsNotQueried(t *testing.T) {
	s, _ := asked(t, "", "")
	require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: "t", Target: "here"}))
	_, err := s.store.Settle(t.Context(), jobstore.Outcome{Tag: "t", Doubted: "no answer"})
	require.NoError(t, err)
	job, err := s.Status(t.Context(), job.Job{Tag: "t", Phase: job.PhaseUnknown}, true)
	require.NoError(t, err)
	require.True(t, job.Stale)
	require.Contains(t, job.StaleReason, "x:find-job")
	require.Zero(t, s.count(t, "asked"))
}

func TestACanceledQueryMakesTheJobStale(t *testing.T) {
	limits(t, func(limit time.Duration) (hasBegun bool) {
		s, j := asked(t, "", "")
		s.answering(t, `exec sleep 600`)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		j, err := s.Status(ctx, j, true)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		if s.exists("asked") {
			require.True(t, j.Stale)
			require.Equal(t, job.Submitted, j.Detail)
		}
		return s.exists("asked")
	})
}

// givesUp starts to query a job, and cancels once the command has begun, which writes the file
// asked. The job must keep its state.
func (s *site) givesUp(t *testing.T, tag string, ask func(context.Context) error) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ask(ctx) }()
	require.Eventually(t, func() bool { return s.exists("asked") }, 5*time.Minute, 5*time.Millisecond)
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	kept, err := s.store.ByTag(t.Context(), tag)
	require.NoError(t, err)
	require.False(t, kept.Stale, kept.StaleReason)
}

func TestACanceledQueryDoesNotChangeTheJob(t *testing.T) {
	s, job := asked(t, "", "")
	s.answering(t, `echo >>asked; exec sleep 600`)
	s.givesUp(t, job.Tag, func(ctx context.Context) error {
		_, err := s.Status(ctx, job, true)
		return err
	})
}

// fallback is a second status command, which prints the file answer-NAME.
func fallback(name, attributes string) string {
	return `<x:fallback name="` + name + `" ` + attributes + `><arg>/bin/sh -c '. ./answer-` + name + `'</arg>` + asStatus + `</x:fallback>`
}

func TestFallbacksAreTriedWhileNoStateIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		first, second, third string // commands; the second is for unknown jobs, the third for any
		detail               job.Detail
		missing              bool
		ran                  string
		want                 string // part of the error
	}{
		"a state needs none":                         {`echo RUNNING`, `echo FAILED`, `echo CANCELED`, job.Running, false, "", ""},
		"an unknown job is queried elsewhere":        {`exit 44`, `echo FAILED`, `echo CANCELED`, job.Failed, false, "2", ""},
		"silence is not being unknown":               {`:`, `echo FAILED`, `echo CANCELED`, job.Canceled, false, "3", ""},
		"the last one counts":                        {`exit 44`, `:`, `echo CANCELED`, job.Canceled, false, "23", ""},
		"unknown to all":                             {`exit 44`, `exit 44`, `exit 44`, job.Submitted, true, "23", ""},
		"unknown, and the others are silent":         {`exit 44`, `:`, `:`, job.Submitted, true, "23", ""},
		"unknown elsewhere says nothing of failures": {`echo down >&2; exit 1`, `:`, `exit 44`, job.Submitted, false, "3", "down"},
		"a failure elsewhere leaves all open":        {`exit 44`, `:`, `echo "accounting is down" >&2; exit 1`, job.Submitted, false, "23", "accounting is down"},
		"an end without further facts":               {`exit 45`, `:`, `:`, job.Completed, false, "3", ""},
		"an end that accounting knows more of":       {`exit 45`, `:`, `echo FAILED`, job.Failed, false, "3", ""},
		"a word, then a state":                       {`echo HELD`, `:`, `echo USER_ON_HOLD`, job.UserOnHold, false, "3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, job := asked(t, fallback("second", `on="not-found"`)+fallback("third", ""), "")
			s.answering(t, c.first)
			s.write(t, "ran", "")
			s.write(t, "answer-second", "printf 2 >>ran; "+c.second)
			s.write(t, "answer-third", "printf 3 >>ran; "+c.third)
			job, err := s.Status(t.Context(), job, true)
			require.Equal(t, c.ran, s.read(t, "ran"))
			require.Equal(t, c.detail, job.Detail)
			require.Equal(t, c.missing, job.Missing)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

func TestAFallbackWhoseProgramIsMissingIsIgnored(t *testing.T) {
	s, j := asked(t, `<x:fallback name="f"><arg>no-such-program-anywhere</arg></x:fallback>`+fallback("second", `on="not-found"`), "")
	s.answering(t, `exit 44`)
	s.write(t, "answer-second", "echo FAILED")
	require.Equal(t, job.Failed, s.status(t, j).Detail, "the next one follows the command before")

	s, j = asked(t, `<x:fallback name="f"><arg>no-such-program-anywhere</arg></x:fallback>`, "")
	s.answering(t, `exit 44`)
	require.True(t, s.status(t, j).Missing)
}

func TestAMissingStatusCommandIsAnError(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")+`<get-job-status name="g"><arg>no-such-program-anywhere</arg></get-job-status>`))
	_, err := s.Status(t.Context(), s.submits(t, job.Submission{Executable: "x"}), true)
	require.ErrorIs(t, err, remote.ErrCommandNotFound)
}

func TestAJobNotOnRecordCanBeQueried(t *testing.T) {
	s, _ := asked(t, "", "")
	s.answering(t, `echo RUNNING; echo native R`)
	j, err := s.Look(t.Context(), "99")
	require.NoError(t, err)
	require.Equal(t, []string{"99", "here", "R"}, []string{j.ID, j.Target, j.Native})
	require.Equal(t, job.Running, j.Detail)
	require.Empty(t, j.Tag)
	_, err = s.store.Find(t.Context(), "99", "here")
	require.ErrorIs(t, err, jobstore.ErrNotFound, "it is not kept")

	s.answering(t, `echo COMPLETED`)
	j, err = s.Status(t.Context(), j, true)
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail, "it can be followed")
	s.answering(t, `exit 44`)
	missing, err := s.Status(t.Context(), job.Job{ID: "99", Observation: job.Observation{Detail: job.Running}}, true)
	require.NoError(t, err)
	require.True(t, missing.Missing)
	require.Equal(t, job.Running, missing.Detail)

	s.answering(t, `exit 44`)
	_, err = s.Look(t.Context(), "99")
	var unknown *control.NotFoundError
	require.ErrorAs(t, err, &unknown)

	s.answering(t, `exit 1`)
	_, err = s.Look(t.Context(), "99")
	var failed *control.QueryError
	require.ErrorAs(t, err, &failed)
	require.False(t, errors.As(err, &unknown))
}

func TestTheStatusCommandFindsIdAndShortId(t *testing.T) {
	s := newSite(t, define(t, `<submit-batch name="s" waitForId="true"><arg>echo 17.server</arg><stdout-parser delim="\n"><target ref="@jobId"><match><expression>((\d+).*)</expression>
		<set field="name"><entry valueGroup="1"/></set><set field="default"><entry valueGroup="2"/></set></match></target></stdout-parser></submit-batch>
		<get-job-status name="g"><arg>/bin/sh -c 'echo "$@" >seen; echo RUNNING' sh ${ptp_rm:@jobId#name} ${ptp_rm:@jobId#default} [${ptp_rm:@jobId#value}]</arg>`+asStatus+`</get-job-status>`))
	job := s.status(t, s.submits(t, job.Submission{Executable: "x"}))
	require.Equal(t, "17.server 17 []\n", s.read(t, "seen"))
	require.Equal(t, "17", job.ShortID)
}

func TestAnAnswerOfAFewSecondsAgoIsReused(t *testing.T) {
	s := newSite(t, define(t, submitting("echo job 7", "")+running("get-job-status", "echo >>asked; echo RUNNING", `x:interval="30s"`, asStatus)))
	s.stopClock()
	j := s.submits(t, job.Submission{Executable: "x"})
	asked := func() int { return strings.Count(s.read(t, "asked"), "\n") }
	for i, look := range []struct {
		after time.Duration
		fresh bool
		asked int
	}{{0, true, 1}, {20 * time.Second, false, 1}, {0, true, 2}, {31 * time.Second, false, 3}} {
		s.ahead += look.after
		var err error
		j, err = s.Status(t.Context(), j, look.fresh)
		require.NoError(t, err)
		require.Equal(t, look.asked, asked(), i)
	}
	require.Empty(t, s.pauses)
}

// A site may want processes to share answers for longer.
func TestProcessesShareAnswersForAsLongAsTheDefinitionSays(t *testing.T) {
	s := newSite(t, define(t, submitting("echo job 7", "")+running("get-job-status", "echo >>asked; echo RUNNING", `x:interval="30s"`, asStatus),
		`<monitor-data schedulerType="test">`+running("x:list-jobs", ":", "", "")+`</monitor-data>`))
	s.stopClock()
	jobs := []job.Job{s.submits(t, job.Submission{Executable: "x"})}
	for _, after := range []time.Duration{0, 29 * time.Second, 2 * time.Second} {
		s.ahead += after
		jobs = s.updates(t, jobs, true)
	}
	require.Equal(t, 2, strings.Count(s.read(t, "asked"), "\n"))
}

func TestNoJobHasAnIDThatLooksLikeAnOption(t *testing.T) {
	s := newSite(t, define(t, running("get-job-status", `echo "$@" >asked`, "", "")))
	_, err := s.Look(t.Context(), "--help")
	var unknown *control.NotFoundError
	require.ErrorAs(t, err, &unknown)
	require.False(t, s.exists("asked"), "no command ran")
}

func TestLongAbsenceCanBeAState(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")+running("get-job-status", `cat says`, "",
		`<x:read><x:table columns="id word kept"/><x:join name="settings" by=""><arg>/bin/echo 300</arg><x:lines expression="(\d+)" columns="after"/></x:join>
			<x:states of="word"><x:state is="RUNNING" words="R"/></x:states>
			<x:absent is="CANCELED" after="settings/after" reason="deleted before it started"/></x:read>`)))
	s.write(t, "says", "7 R 1\n")
	j := s.status(t, s.submits(t, job.Submission{Executable: "x"}))
	require.Equal(t, job.Running, j.Detail)
	s.write(t, "says", "")
	for _, missing := range []struct {
		after time.Duration
		is    job.Detail
	}{{0, job.Running}, {14 * time.Minute, job.Running}, {2 * time.Minute, job.Canceled}} {
		s.ahead += missing.after
		j = s.status(t, j)
		require.Equal(t, missing.is, j.Detail, s.ahead)
		require.Equal(t, missing.is == job.Running, j.Missing)
	}
	require.Equal(t, "deleted before it started", j.Reason)
}

func TestAWaitContinuesUntilAbsenceMeansAState(t *testing.T) {
	for absent, want := range map[string]job.Detail{`<x:absent is="FAILED" after="20m"/>`: job.Failed, "": job.Submitted} {
		s := newSite(t, define(t, submitting(`echo job 7`, "")+running("get-job-status", `:`, "",
			`<x:read><x:table columns="id word"/><x:states of="word"><x:state is="RUNNING" words="R"/></x:states>`+absent+`</x:read>`)))
		s.whilePausing = func() error { s.ahead += time.Minute; return nil }
		j, err := s.Wait(t.Context(), s.submits(t, job.Submission{Executable: "x"}), "", nil)
		require.Equal(t, want, j.Detail)
		var missing *control.MissingError
		require.Equal(t, want != job.Failed, errors.As(err, &missing))
	}
}
