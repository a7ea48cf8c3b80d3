package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func TestAnAcceptedJobIsRecordedWithWhatWasSubmitted(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="queue"><default>short</default></attribute><attribute name="nodes" type="integer"/>
		<attribute name="control.queue.name" visible="false"><link-value-to>queue</link-value-to></attribute>
		<attribute name="name"><default>n</default></attribute>
		<attribute name="stdout_remote_path" visible="false"><default>out/${ptp_rm:name#value}.o@jobId</default></attribute>
		<attribute name="stderr_remote_path" visible="false"><default>/abs/${ptp_rm:@jobId#default}</default></attribute>
		<script><line><arg>#!/bin/sh</arg></line></script>
		<submit-batch name="the-submit" waitForId="true"><arg>/bin/sh -c 'echo "job 17.server"'</arg>
		<stdout-parser delim="\n"><target ref="@jobId"><match><expression>job ((\d+).*)</expression>
		<set field="name"><entry valueGroup="1"/></set><set field="default"><entry valueGroup="2"/></set><set field="value"><entry value="QUEUED_ACTIVE"/></set></match></target></stdout-parser></submit-batch>`))
	j := s.submits(t, job.Submission{Executable: "/bin/true", Arguments: []string{"a b"}, Values: values("nodes", "2"), Directory: s.home})
	kept, err := s.store.ByTag(t.Context(), j.Tag)
	require.NoError(t, err)
	require.Equal(t, job.PhaseSubmitted, kept.Phase)
	require.Equal(t, "17.server", kept.ID)
	require.Equal(t, "17", kept.ShortID)
	require.Equal(t, job.QueuedActive, kept.Detail)
	require.Equal(t, "the-submit", kept.Source)
	require.Equal(t, "job 17.server\n", kept.Evidence)
	require.Equal(t, job.Origin{Stream: "stdout", Line: 1, Text: "job 17.server"}, kept.Origin)
	require.Equal(t, []string{"here", "test.xml", "short", "true", s.home}, []string{kept.Target, kept.Definition, kept.Queue, kept.Name, kept.Directory})
	require.Equal(t, s.path("out/n.o17.server"), kept.OutputPath)
	require.Equal(t, "/abs/17", kept.ErrorPath)
	require.Equal(t, []string{"/bin/true", "a b"}, kept.Arguments)
	require.Equal(t, map[string]any{"queue": "short", "nodes": 2, "name": "n"}, kept.Attributes)
	require.Equal(t, "#!/bin/sh\n", kept.Script)
	require.False(t, kept.Interactive)
}

func TestASubmissionIsRecordedAsALaunchConfiguration(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="queue"><default>short</default></attribute><attribute name="nodes" type="integer"/>`+submitting("echo job 7", "")))
	asked := job.Submission{
		Executable: "/bin/true", Arguments: []string{"a b"}, Values: values("nodes", "2"), Directory: s.home,
		Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: "x y"}}},
	}
	job, err := s.store.ByTag(t.Context(), s.submits(t, asked).Tag)
	require.NoError(t, err)
	l, err := settings.LaunchConfigurationOf(job, "again")
	require.NoError(t, err)
	require.Equal(t, []string{"again", "here", ""}, []string{l.Name, l.Target, l.File})
	require.Equal(t, asked, l.Submission, "the defaults of the definition are no part of it")

	asked.Arguments = []string{"\xff"}
	job, err = s.store.ByTag(t.Context(), s.submits(t, asked).Tag)
	require.NoError(t, err, "a job is submitted all the same")
	_, err = settings.LaunchConfigurationOf(job, "again")
	require.ErrorContains(t, err, `the submission of job "7" is not on record`)
}

func TestAJobHasItsNameBeforeItsFirstQuery(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="title"/><x:portable name="jobName" attribute="title"/>`+submitting("echo job 7", "")))
	require.Equal(t, "first", s.submits(t, job.Submission{Executable: "/bin/true", Values: values("jobName", "first")}).Name)
	require.Equal(t, "second", s.submits(t, job.Submission{Executable: "/bin/true", Values: values("title", "second")}).Name)
	require.Equal(t, "true", s.submits(t, job.Submission{Executable: "/bin/true"}).Name)
}

func TestARefusedJobHasTheNameFromItsDefinition(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="title"><default>${ptp_rm:executableName#value}</default></attribute>`+
		`<x:portable name="jobName" attribute="title"/>`+submitting("exit 1", "")))
	_, err := s.Submit(t.Context(), job.Submission{Executable: "/bin/true"})
	require.Error(t, err)
	jobs, err := s.store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	require.Equal(t, "true", jobs[0].Name)
}

// inspecting lets a connection look into the store, through a handle of its
// own, when a command is about to start.
func inspecting(t *testing.T, s **site, look func(*jobstore.Store)) func(*control.Options) {
	return func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, start: func(remote.Command) error {
			look(openStore(t, (*s).state))
			return nil
		}}
	}
}

func TestTheIntentIsOnDiskBeforeTheSubmitCommandRuns(t *testing.T) {
	var s *site
	looked := 0
	s = newSite(t, define(t, `<attribute name="a"/><script><line><arg>#!/bin/sh</arg></line></script>`+submitting(`echo job 7`, "")), inspecting(t, &s, func(store *jobstore.Store) {
		looked++
		jobs, err := store.List(t.Context(), jobstore.Filter{All: true})
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		j, err := store.ByTag(t.Context(), jobs[0].Tag)
		require.NoError(t, err)
		require.Equal(t, job.PhaseIntended, j.Phase)
		require.Equal(t, "#!/bin/sh\n", j.Script)
		require.Equal(t, []string{"/bin/true", "x"}, j.Arguments)
		require.Equal(t, map[string]any{"a": "set"}, j.Attributes)
	}))
	s.submits(t, job.Submission{Executable: "/bin/true", Arguments: []string{"x"}, Values: values("a", "set")})
	require.Equal(t, 1, looked)
}

func TestTheSubmitCommandFindsItsTag(t *testing.T) {
	s := newSite(t, define(t, `<submit-batch name="s" waitForId="true"><arg>/bin/sh -c 'echo "$TAG" >tag; echo job 7'</arg><environment name="TAG" value="@jobId"/>`+jobIDParser+`</submit-batch>`))
	job := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, job.Tag+"\n", s.read(t, "tag"))
}

// onlyJob returns the one submission that the store has.
func (s *site) onlyJob(t *testing.T) job.Job {
	t.Helper()
	jobs, err := s.store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	return jobs[0]
}

func TestHowASubmissionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script, attributes, children string
		phase                        job.Phase
		unknown                      bool
		want                         string
	}{
		"rejected by the scheduler":   {`echo "no such queue" >&2; exit 1`, "", "", job.PhaseRejected, false, "no such queue"},
		"the answer was lost":         {`echo "answer lost" >&2; exit 1`, "", "", job.PhaseUnknown, true, "answer lost"},
		"no id printed":               {`echo thanks`, "", "", job.PhaseUnknown, true, "thanks"},
		"nothing printed":             {`:`, "", "", job.PhaseUnknown, true, "(nothing)"},
		"no time was left for it":     {`touch began; exec sleep 600`, `x:timeout="0.000000001s"`, "", job.PhaseRejected, false, "was not started in time"},
		"a command beforehand failed": {`echo job 7`, "", `<pre-launch-cmd name="p" exec="false"/>`, job.PhaseRejected, false, "was not run"},
		"the definition threw an error without an id": {`echo sorry`, "", `<stdout-parser delim="\n"><target ref="@jobId"><match><expression>(sorry)</expression><throw message="it said sorry"/></match></target></stdout-parser>`,
			job.PhaseUnknown, true, "it said sorry"},
	} {
		t.Run(name, func(t *testing.T) {
			children := c.children
			parser := jobIDParser
			if bytes.Contains([]byte(children), []byte("stdout-parser")) {
				parser, children = children, ""
			}
			s := newSite(t, define(t, `<script><line><arg>#!/bin/sh</arg></line></script>`+running("submit-batch", c.script, `waitForId="true" `+c.attributes, parser+children)+
				`<x:outcome kind="doubtful" expression="answer lost"/>`))
			_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
			var failed *control.SubmitError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, c.unknown, failed.Unknown)
			require.ErrorContains(t, err, c.want)
			job := s.onlyJob(t)
			require.Equal(t, failed.Tag, job.Tag)
			require.Equal(t, c.phase, job.Phase)
			require.NotEmpty(t, job.Error)
			require.Empty(t, s.files(t, ".eclipsesettings"), "the script is cleaned up in every case")
		})
	}
}

func TestASubmissionThatTookTooLongIsInDoubt(t *testing.T) {
	limits(t, func(limit time.Duration) (hasBegun bool) {
		s := newSite(t, define(t, running("submit-batch", `touch began; exec sleep 600`, fmt.Sprintf(`waitForId="true" x:timeout="%s"`, limit), jobIDParser)))
		_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
		var failed *control.SubmitError
		require.ErrorAs(t, err, &failed)
		if s.exists("began") {
			require.True(t, failed.Unknown)
			require.ErrorContains(t, err, "took too long")
			require.Equal(t, job.PhaseUnknown, s.onlyJob(t).Phase)
		}
		return s.exists("began")
	})
}

func TestAnIdProvesThatTheJobExists(t *testing.T) {
	const throwing = `<stdout-parser delim="\n"><target ref="@jobId"><match><expression>job (\d+)</expression><set field="name"><entry valueGroup="1"/></set></match>` +
		`<match><expression>(warning.*)</expression><throw message="a warning"/></match></target></stdout-parser>`
	for name, c := range map[string]struct{ script, children string }{
		"though the definition throws an error":             {`echo job 7; echo warning: low quota`, throwing},
		"though a command afterwards fails":                 {`echo job 7`, jobIDParser + `<post-launch-cmd name="p" exec="false"/>`},
		"though a background command afterwards is missing": {`echo job 7`, jobIDParser + `<post-launch-cmd name="p" exec="no-such-program-anywhere" wait="false"/>`},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := newSite(t, define(t, running("submit-batch", c.script, `waitForId="true"`, c.children)), func(o *control.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			j := s.submits(t, job.Submission{Executable: "x"})
			require.Equal(t, "7", j.ID)
			require.Equal(t, job.PhaseSubmitted, s.onlyJob(t).Phase)
			require.Contains(t, log.String(), "level=WARN")
		})
	}
}

func TestCancellationAfterTheIDReturnsTheJob(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newSite(t, define(t, submitting(`trap 'exit 0' TERM; echo job 7; echo >printed; while :; do sleep 0.01; done`, "")))
	fifo(t, s.path("printed"))
	go func() {
		defer cancel()
		_, _ = os.ReadFile(s.path("printed")) // until the script has printed the id
	}()
	j, err := s.Submit(ctx, job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, "7", j.ID)
	require.Equal(t, job.PhaseSubmitted, s.onlyJob(t).Phase)
}

func TestAProgramThatIsMissingRejectsTheSubmission(t *testing.T) {
	s := newSite(t, define(t, `<submit-batch name="s" waitForId="true"><arg>no-such-program-anywhere</arg></submit-batch>`))
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	require.ErrorIs(t, err, remote.ErrCommandNotFound)
	require.Equal(t, job.PhaseRejected, s.onlyJob(t).Phase)
}

func TestALostConnectionLeavesASubmissionInDoubt(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")), func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, start: func(c remote.Command) error {
			return &remote.StartError{Program: c.Arguments[0], Err: remote.ErrUnreachable}
		}}
	})
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	var failed *control.SubmitError
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Unknown)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, job.PhaseUnknown, s.onlyJob(t).Phase)
}

func TestWithoutWaitForIDTheTagIsTheID(t *testing.T) {
	s := newSite(t, define(t, running("submit-batch", `echo job 7`, `waitForId="false"`, "")))
	j := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, j.Tag, j.ID)
	require.Equal(t, job.Submitted, j.Detail)

	s = newSite(t, define(t, running("submit-batch", `echo job 7`, `waitForId="false"`, jobIDParser)))
	require.Equal(t, "7", s.submits(t, job.Submission{Executable: "x"}).ID, "but an id that was found is taken")
}

func TestNothingRunsWhenAValueIsRefused(t *testing.T) {
	for name, controlData := range map[string]string{
		"with start-up commands":    running("start-up-command", `touch started`, "", ""),
		"without start-up commands": "",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, `<attribute name="n" type="integer" max="3"/>`+controlData+submitting(`touch ran; echo job 7`, "")))
			for _, bad := range [][]job.Assignment{values("n", "4"), values("nothing", "x")} {
				_, err := s.Submit(t.Context(), job.Submission{Executable: "x", Values: bad})
				require.Error(t, err)
			}
			require.False(t, s.exists("started"))
			require.False(t, s.exists("ran"))
			jobs, err := s.store.List(t.Context(), jobstore.Filter{All: true})
			require.NoError(t, err)
			require.Empty(t, jobs)
		})
	}
}

func TestAValueForADiscoveredAttributeWaitsForTheSession(t *testing.T) {
	s := newSite(t, define(t, running("start-up-command", `echo param`, "", `<stdout-parser delim="\n"><target><match><expression>(\w+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>`)+
		`<submit-batch name="s" waitForId="true"><arg>/bin/sh -c 'echo job "$0"' ${ptp_rm:param#value}</arg>`+jobIDParser+`</submit-batch>`))
	require.Equal(t, "12", s.submits(t, job.Submission{Executable: "x", Values: values("param", "12")}).ID)
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x", Values: values("nothing", "12")})
	require.ErrorContains(t, err, "no such attribute")
}

func TestAnInteractiveDefinitionSubmitsNothing(t *testing.T) {
	s := newSite(t, define(t, running("start-up-command", `touch started`, "", "")+running("submit-interactive", `touch ran`, "", "")))
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "rmctl run")
	require.False(t, s.exists("ran"))
	require.False(t, s.exists("started"))
}

func TestAnUnresolvableSubmissionIsNotSubmitted(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="circle"><default>${ptp_rm:circle#value} </default></attribute><submit-batch name="s"><arg>x ${ptp_rm:circle#value}</arg></submit-batch>`))
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	require.ErrorContains(t, err, "form a loop")
	jobs, err := s.store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	require.Empty(t, jobs)
}

func TestTheUsersEnvironmentReachesTheSubmitCommandOnly(t *testing.T) {
	s := newSite(t, define(t, running("start-up-command", `echo "[$MINE]" >start`, "", "")+submitting(`echo "[$MINE]" >submit; echo job 7`, "")))
	s.submits(t, job.Submission{Executable: "x", Environment: job.Environment{Variables: []job.Variable{{Name: "MINE", Value: "yes"}}}})
	require.Equal(t, "[]\n", s.read(t, "start"))
	require.Equal(t, "[yes]\n", s.read(t, "submit"))
}

func TestOutputPathsThatAreUnknownAreLeftOut(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="stdout_remote_path" visible="false"><default>${ptp_rm:stdout_remote_path#value} </default></attribute>`+submitting(`echo job 7`, "")))
	require.Empty(t, s.submits(t, job.Submission{Executable: "x"}).OutputPath)
}

func TestErrorsOfTheStoreAreReportedBeforeAnythingRuns(t *testing.T) {
	s := newSite(t, define(t, submitting(`touch ran; echo job 7`, "")))
	closed, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	s.options.Store = closed
	_, err = control.New(s.options).Submit(t.Context(), job.Submission{Executable: "x"})
	require.Error(t, err)
	require.False(t, s.exists("ran"))
	require.False(t, errors.As(err, new(*control.SubmitError)))
}

func TestRenderRunsNothingAndShowsEveryCommand(t *testing.T) {
	s := newSite(t, define(t, `<managed-files><file name="f"><contents>c</contents></file></managed-files><script><line><arg>#!/bin/sh</arg></line><line><arg>@jobId</arg></line></script>`+
		running("start-up-command", `touch ran`, "", "")+`<submit-batch name="s"><arg>sub ${ptp_rm:managed_file_for_script#value} ${ptp_rm:f#value}</arg></submit-batch>
		<submit-batch-debug name="d"><arg>debug</arg></submit-batch-debug>
		<get-job-status name="g"><arg>stat ${ptp_rm:@jobId#name}</arg><x:fallback name="f"><arg>acct ${ptp_rm:@jobId#name}</arg></x:fallback></get-job-status>`))
	rendering, err := s.Render(job.Submission{Executable: "x", Environment: job.Environment{Variables: []job.Variable{{Name: "MINE", Value: "yes"}}}})
	require.NoError(t, err)
	require.False(t, s.exists("ran"))
	require.Empty(t, s.files(t, ".eclipsesettings"))
	require.Equal(t, "#!/bin/sh\n@jobId\n", rendering.Script)
	require.Len(t, rendering.Files, 2)
	var elements []config.CommandElement
	for _, invocation := range rendering.Commands {
		elements = append(elements, invocation.Command.Element)
		require.Equal(t, invocation.Command.Element.IsSubmit(), containsVariable(invocation.Environment, "MINE"))
	}
	require.Equal(t, []config.CommandElement{config.StartUpCommand, config.SubmitBatch, config.GetJobStatus, config.Fallback}, elements)
	require.Equal(t, []string{"sub", s.path(".eclipsesettings/UUIDmanaged_file_for_script"), s.path(".eclipsesettings/f")}, rendering.Commands[1].Arguments)
	require.Equal(t, []string{"stat", "@jobId"}, rendering.Commands[2].Arguments)
}

func containsVariable(variables []job.Variable, name string) bool {
	for _, variable := range variables {
		if variable.Name == name {
			return true
		}
	}
	return false
}

func TestAJobsRecordIsPlainData(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="mail" type="list"/>`+submitting(`echo job 7`, "")))
	s.submits(t, job.Submission{Executable: "x", Values: values("mail", "a", "mail", "b")})
	job, err := s.store.ByTag(t.Context(), s.onlyJob(t).Tag)
	require.NoError(t, err)
	text, err := json.Marshal(job.Attributes)
	require.NoError(t, err)
	require.JSONEq(t, `{"mail":["a","b"]}`, string(text))
}
