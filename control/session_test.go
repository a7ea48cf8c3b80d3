package control_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

const queuesParser = `<stdout-parser delim="\n"><target ref="queues"><match><expression>(\w+)</expression><add field="value"><entry valueGroup="1"/></add></match></target></stdout-parser>`

// aSession is a definition whose start-up counts its runs in the file starts.
var aSession = `<attribute name="queues" visible="false"/>` +
	running("start-up-command", `echo x >>starts; cat queues-now`, "", queuesParser) +
	submitting(`echo job 7`, "") +
	running("get-job-status", `echo RUNNING`, "", asStatus) +
	running("terminate-job", `:`, "", "") +
	running("shut-down-command", `echo x >>stops`, "", "")

const refreshing = `<monitor-data refreshFrequencyInSeconds="30"/>`

func newSession(t *testing.T, change ...func(*control.Options)) *site {
	t.Helper()
	s := newSite(t, define(t, aSession, refreshing), change...)
	s.stopClock()
	s.write(t, "queues-now", "short\nlong\n")
	return s
}

// count returns how many lines a file has.
func (s *site) count(t *testing.T, name string) int {
	t.Helper()
	if !s.exists(name) {
		return 0
	}
	return strings.Count(s.read(t, name), "\n")
}

func TestStartUpCommandsRunOncePerSession(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	require.NoError(t, s.Start(t.Context(), false))
	job := s.submits(t, job.Submission{Executable: "x"})
	_, err := s.Status(t.Context(), job, true)
	require.NoError(t, err)
	queues, err := s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"short", "long"}, queues)
	require.Equal(t, 1, s.count(t, "starts"))

	another := control.New(s.options)
	queues, err = another.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"short", "long"}, queues, "another process finds the session")
	require.Equal(t, 1, s.count(t, "starts"))
}

func TestACommandThatNeedsASessionStartsIt(t *testing.T) {
	s := newSession(t)
	s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, 1, s.count(t, "starts"))
}

func TestASessionIsRefreshedWhenItIsOld(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	s.write(t, "queues-now", "other\n")
	s.ahead += 29 * time.Second
	queues, err := s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"short", "long"}, queues)

	s.ahead += 2 * time.Second
	queues, err = s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"other"}, queues, "the new list replaces the old one")
	require.Equal(t, 2, s.count(t, "starts"))
}

func TestAStartUpCommandThatIsRunAgainReplacesTheQueuesThatItFound(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	_, err := s.Action(t.Context(), "start-up-command", job.Submission{})
	require.NoError(t, err)
	queues, err := s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"short", "long"}, queues)

	s.write(t, "queues-now", "other\n")
	_, err = s.Action(t.Context(), "start-up-command", job.Submission{})
	require.NoError(t, err)
	queues, err = s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"other"}, queues)
}

func TestTheFindingsOfTheLastSessionAreKept(t *testing.T) {
	s := newSession(t)
	remembered, err := s.Remembered(t.Context(), "queues")
	require.NoError(t, err)
	require.Empty(t, remembered)
	require.Zero(t, s.count(t, "starts"), "no command ran")

	require.NoError(t, s.Start(t.Context(), false))
	s.ahead += 1000 * time.Hour
	remembered, err = s.Remembered(t.Context(), "queues")
	require.NoError(t, err)
	require.Equal(t, []string{"short", "long"}, remembered)
	remembered, err = s.Remembered(t.Context(), "nothing")
	require.NoError(t, err)
	require.Empty(t, remembered)
	require.Equal(t, 1, s.count(t, "starts"))
}

func TestCommandsOnJobsUseASessionOfAnyAge(t *testing.T) {
	s := newSession(t)
	job := s.submits(t, job.Submission{Executable: "x"})
	s.ahead += 1000 * time.Hour
	_, err := s.Status(t.Context(), job, true)
	require.NoError(t, err)
	require.NoError(t, s.Operate(t.Context(), control.Cancel, job))
	require.Equal(t, 1, s.count(t, "starts"))
}

func TestAFreshSessionIsStartedOnRequest(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	s.write(t, "queues-now", "other\n")
	require.NoError(t, s.Start(t.Context(), true))
	queues, err := s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"other"}, queues)
	require.Equal(t, 2, s.count(t, "starts"))
}

func TestAChangedDefinitionStartsANewSession(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	s.options.Definition = define(t, aSession+" ", refreshing)
	require.NoError(t, control.New(s.options).Start(t.Context(), false))
	require.Equal(t, 2, s.count(t, "starts"))
}

func TestAFailingStartUpCommandAbortsTheStart(t *testing.T) {
	s := newSite(t, define(t, running("start-up-command", `echo 1 >>starts`, "", "")+running("start-up-command", `echo "no licence" >&2; exit 3`, "", "")+
		running("start-up-command", `echo 3 >>starts`, "", "")+submitting(`touch ran; echo job 7`, "")))
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	require.ErrorContains(t, err, "starting a session")
	require.ErrorContains(t, err, "no licence")
	var failed *command.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "1\n", s.read(t, "starts"))
	require.False(t, s.exists("ran"))

	require.Error(t, s.Start(t.Context(), false))
	require.Equal(t, "1\n1\n", s.read(t, "starts"), "the session did not start")
}

func TestAStartUpCommandMayIgnoreItsExitStatus(t *testing.T) {
	s := newSite(t, define(t, running("start-up-command", `exit 3`, `ignoreExitStatus="true"`, "")+running("start-up-command", `echo 2 >>starts`, "", "")))
	require.NoError(t, s.Start(t.Context(), false))
	require.Equal(t, 1, s.count(t, "starts"))
}

func TestStoppingRunsTheShutDownCommandsAndForgets(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Stop(t.Context()))
	require.Zero(t, s.count(t, "stops"), "there was nothing to stop")

	require.NoError(t, s.Start(t.Context(), false))
	s.ahead += 1000 * time.Hour
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, 1, s.count(t, "stops"))
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, 1, s.count(t, "stops"))
	require.NoError(t, s.Start(t.Context(), false))
	require.Equal(t, 2, s.count(t, "starts"))
}

func TestAFailingShutDownCommandKeepsTheSession(t *testing.T) {
	s := newSite(t, define(t, running("start-up-command", `:`, "", "")+running("shut-down-command", `exit 1`, "", "")+running("shut-down-command", `touch ran`, "", "")))
	require.NoError(t, s.Start(t.Context(), false))
	require.ErrorContains(t, s.Stop(t.Context()), "stopping the session")
	require.False(t, s.exists("ran"))
	require.Error(t, s.Stop(t.Context()))
}

func TestQueuesAreUnknownWithoutAnAttributeForThem(t *testing.T) {
	_, err := newSite(t, define(t, submitting(`echo job 7`, ""))).Queues(t.Context())
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
}

func TestTargetsHaveSessionsOfTheirOwn(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	s.options.Target = "there"
	require.NoError(t, control.New(s.options).Start(t.Context(), false))
	require.Equal(t, 2, s.count(t, "starts"))
}

func TestDataOfASessionThatCannotBeReadStartsANewOne(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Start(t.Context(), false))
	info := s.options.Connection.Info()
	key := "here@local:" + info.User + "@" + info.Host
	_, err := s.store.Session(t.Context(), key)
	require.NoError(t, err)
	require.NoError(t, s.store.SaveSession(t.Context(), jobstore.Session{Target: key, Started: time.Now(), Data: []byte("{")}))
	require.NoError(t, s.Start(t.Context(), false))
	require.Equal(t, 2, s.count(t, "starts"))
}

// showsBindir are a status and a terminate command that print an attribute's value.
var showsBindir = `<attribute name="bindir"><default>of the definition</default></attribute>` + "%s" + submitting(`echo job 7`, "") +
	`<get-job-status name="g"><arg>/bin/sh -c 'printf "%%s" "$0" >bindir; echo RUNNING' "${ptp_rm:bindir#value}"</arg>` + asStatus + `</get-job-status>` +
	`<terminate-job name="t"><arg>/bin/sh -c 'printf "%%s" "$0" >bindir' "${ptp_rm:bindir#value}"</arg></terminate-job>`

func TestCommandsOnAJobSeeTheValuesItWasSubmittedWith(t *testing.T) {
	for name, startUp := range map[string]string{"with start-up commands": running("start-up-command", `:`, "", ""), "without start-up commands": ""} {
		t.Run(name, func(t *testing.T) {
			controlData := strings.ReplaceAll(strings.Replace(showsBindir, "%s", startUp, 1), "%%", "%")
			s := newSite(t, define(t, controlData))
			plain := s.submits(t, job.Submission{Executable: "x"})
			own := s.submits(t, job.Submission{Executable: "x", Values: values("bindir", "of the caller")})
			for job, want := range map[*job.Job]string{&plain: "of the definition", &own: "of the caller"} {
				_, err := s.Status(t.Context(), *job, true)
				require.NoError(t, err)
				require.Equal(t, want, s.read(t, "bindir"))
				s.write(t, "bindir", "")
				require.NoError(t, s.Operate(t.Context(), control.Cancel, *job))
				require.Equal(t, want, s.read(t, "bindir"))
			}
			s.options.Defaults = values("bindir", "of the target")
			_, err := control.New(s.options).Look(t.Context(), "99")
			require.NoError(t, err)
			require.Equal(t, "of the target", s.read(t, "bindir"), "the query for a job from elsewhere has the target's values")
		})
	}
}

func TestValuesOfTheTargetAreNotKeptInItsSession(t *testing.T) {
	controlData := strings.ReplaceAll(strings.Replace(showsBindir, "%s", running("start-up-command", `:`, "", ""), 1), "%%", "%")
	s := newSite(t, define(t, controlData), func(o *control.Options) { o.Defaults = values("bindir", "old") })
	require.NoError(t, s.Start(t.Context(), false))
	s.options.Defaults = values("bindir", "new")
	_, err := control.New(s.options).Look(t.Context(), "99")
	require.NoError(t, err)
	require.Equal(t, "new", s.read(t, "bindir"))
	s.options.Defaults = nil
	_, err = control.New(s.options).Look(t.Context(), "99")
	require.NoError(t, err)
	require.Equal(t, "of the definition", s.read(t, "bindir"))
}

func TestWrongValuesOfATargetAreReportedWithItsName(t *testing.T) {
	s := newSession(t, func(o *control.Options) { o.Defaults = values("nothing", "x") })
	err := s.Start(t.Context(), false)
	require.ErrorContains(t, err, `target "here"`)
	require.ErrorContains(t, err, "no such attribute")
	require.Zero(t, s.count(t, "starts"))
}

var withAction = `<attribute name="account"><default>a</default></attribute><attribute name="other"><default>o</default></attribute><attribute name="classes" visible="false"/>` + "%s" +
	submitting(`echo job 7`, "") +
	`<button-action name="list"><arg>/bin/sh -c 'echo "$0"; echo "found $0"' ${ptp_rm:account#value}</arg>` +
	`<stdout-parser delim="\n"><target ref="classes"><match><expression>(\w+)</expression><add field="value"><entry valueGroup="1"/></add></match></target>` +
	`<target><match><expression>found (\w+)</expression><set field="name"><entry value="found"/></set><set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser></button-action>`

func TestFindingsOfAnActionAreKeptButNotItsInput(t *testing.T) {
	for name, startUp := range map[string]string{"with start-up commands": running("start-up-command", `echo x >>starts`, "", ""), "without start-up commands": ""} {
		t.Run(name, func(t *testing.T) {
			const shows = `<submit-batch name="s" waitForId="true"><arg>/bin/sh -c 'printf "%s|" "$@" >seen; echo job 7' sh</arg>` +
				`<arg>"${ptp_rm:account#value}" "${ptp_rm:other#value}" "${ptp_rm:classes#value}" "${ptp_rm:found#value}"</arg>` + jobIDParser + `</submit-batch>`
			s := newSite(t, define(t, strings.Replace(strings.Replace(withAction, "%s", startUp, 1), submitting(`echo job 7`, ""), shows, 1)))
			result, err := s.Action(t.Context(), "list", job.Submission{Values: values("account", "proj7")})
			require.NoError(t, err)
			require.Equal(t, "proj7\nfound proj7\n", result.Stdout)
			s.submits(t, job.Submission{Executable: "x"})
			require.Equal(t, "a|o|[proj7]|proj7|", s.read(t, "seen"))
		})
	}
}

func TestAnActionKeepsTheAgeOfTheSession(t *testing.T) {
	s := newSite(t, define(t, strings.Replace(withAction, "%s", running("start-up-command", `echo x >>starts`, "", ""), 1), refreshing))
	s.stopClock()
	require.NoError(t, s.Start(t.Context(), false))
	s.ahead += 20 * time.Second
	_, err := s.Action(t.Context(), "list", job.Submission{})
	require.NoError(t, err)
	s.ahead += 20 * time.Second
	require.NoError(t, s.Start(t.Context(), false))
	require.Equal(t, 2, s.count(t, "starts"))
}

func TestActionsAreFoundByNameAmongAllThatRunWithoutAJob(t *testing.T) {
	s := newSession(t)
	for _, name := range []string{"start-up-command", "shut-down-command"} {
		_, err := s.Action(t.Context(), name, job.Submission{})
		require.NoError(t, err)
	}
	require.Equal(t, 2, s.count(t, "starts"))
	require.Equal(t, 1, s.count(t, "stops"))

	_, err := s.Action(t.Context(), "submit-batch", job.Submission{})
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.NotContains(t, err.Error(), "\n")
	s = newSite(t, define(t, strings.Replace(withAction, "%s", "", 1)))
	_, err = s.Action(t.Context(), "nothing", job.Submission{})
	require.ErrorContains(t, err, "choose one of list")
}

func TestAFailingActionChangesNothing(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="queues" visible="false"/>`+running("start-up-command", `echo one`, "", queuesParser)+submitting(`echo job 7`, "")+
		running("button-action", `echo two; exit 1`, "", queuesParser)))
	require.NoError(t, s.Start(t.Context(), false))
	_, err := s.Action(t.Context(), "button-action", job.Submission{})
	require.ErrorContains(t, err, "exited with code 1")
	queues, err := s.Queues(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, queues)
}

func TestAnActionWithARefusedValueRunsNothing(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")+running("button-action", `touch ran`, "", "")))
	_, err := s.Action(t.Context(), "button-action", job.Submission{Values: values("nothing", "1")})
	var refused *control.ValueError
	require.ErrorAs(t, err, &refused)
	require.False(t, s.exists("ran"))
}

func TestErrorsOfASessionsStoreAreReported(t *testing.T) {
	s := newSession(t)
	closed, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	s.options.Store = closed
	broken := control.New(s.options)
	require.Error(t, broken.Start(t.Context(), false))
	require.Error(t, broken.Stop(t.Context()))
	_, err = broken.Queues(t.Context())
	require.Error(t, err)
	require.False(t, errors.Is(err, jobstore.ErrNotFound))
	_, err = broken.Status(t.Context(), job.Job{ID: "7", Observation: job.Observation{Detail: job.Running}}, true)
	require.Error(t, err)
	require.Equal(t, "test", define(t, aSession).Name)
	require.Equal(t, config.StartUpCommand, s.Definition.CommandsOf(config.StartUpCommand)[0].Element)
	require.Equal(t, "here", s.Target)
}
