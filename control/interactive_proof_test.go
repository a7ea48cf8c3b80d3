package control_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

func TestACommandWithoutAProgramDoesNotCompleteItsJob(t *testing.T) {
	for _, attributes := range []string{keptOpen, `waitForId="true"`} {
		s := newSite(t, define(t, running("submit-interactive", `echo "waiting for job 7"`, attributes, conversation)))
		j, _, _, err := s.converses(t, t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, job.Failed, j.Detail)
		require.Nil(t, j.ExitCode)
		require.Contains(t, s.onlyJob(t).Reason, "does not show that the program ran")
	}
}

func TestACommandWithoutProgramAndJobIsRefused(t *testing.T) {
	for _, attributes := range []string{keptOpen, `waitForId="true"`} {
		s := newSite(t, define(t, running("submit-interactive", `echo "no slots"`, attributes, conversation)))
		_, _, _, err := s.converses(t, t.Context(), nil)
		var failed *control.SubmitError
		require.ErrorAs(t, err, &failed)
		require.ErrorContains(t, err, "no slots")
		require.Equal(t, job.PhaseRejected, s.onlyJob(t).Phase)
	}
}

func TestAJobWithoutItsExpectedExitCodeHasNotCompleted(t *testing.T) {
	parser := strings.Replace(conversation, `</stdout-parser>`, `<target ref="job.exitCode"><match><expression>exited with (\d+)\s*</expression>`+
		`<set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser>`, 1)
	for printed, want := range map[string]job.Detail{"killed": job.Failed, "exited with 0": job.Completed, "exited with 4": job.Failed} {
		s := newSite(t, define(t, `<attribute name="job.exitCode" visible="false"/>`+
			running("submit-interactive", `echo "job 7 ready"; echo "`+printed+`"`, keptOpen, parser)))
		j, _, _, err := s.converses(t, t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, want, j.Detail, printed)
	}
}

// runsOnStreams runs an interactive job of a definition that wants a terminal, and returns the
// result.
func runsOnStreams(t *testing.T, script, attributes string, shown *remote.Terminal, stdin string) (j job.Job, stdout, stderr string) {
	t.Helper()
	s := newSite(t, define(t, running("submit-interactive", script, `waitForId="true" flags="ALLOCATE_PTY" `+attributes, conversation)))
	var output, errors bytes.Buffer
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	j, err := s.RunInteractive(ctx, job.Submission{Executable: "/bin/true"}, control.Terminal{
		Stdin: strings.NewReader(stdin), Stdout: &output, Stderr: &errors, Terminal: shown,
	})
	require.NoError(t, err)
	return j, output.String(), errors.String()
}

func TestWithoutATerminalAJobHasSeparateStreams(t *testing.T) {
	input := strings.Repeat("a\x00b\r\nc\xff\x04\x03\n", 100_000)
	j, stdout, stderr := runsOnStreams(t, `[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo "job 7 ready" >&2; cat`, "", nil, input)
	require.Equal(t, "7", j.ID)
	require.Equal(t, job.Completed, j.Detail)
	require.True(t, input == stdout, "%d bytes became %d", len(input), len(stdout))
	require.Equal(t, "job 7 ready\n", stderr)
}

func TestWithATerminalAJobHasOne(t *testing.T) {
	j, stdout, stderr := runsOnStreams(t, `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo "job 7 ready" >&2`, "", &remote.Terminal{}, "")
	require.Equal(t, "7", j.ID)
	require.Equal(t, "job 7 ready\r\n", stdout)
	require.Empty(t, stderr)
}

func TestOnlyStandardErrorIsReadIfItHasTheMessages(t *testing.T) {
	j, stdout, _ := runsOnStreams(t, `echo "job 9 ready"; echo "job 7 ready" >&2`, `x:without-terminal="stderr"`, nil, "")
	require.Equal(t, "7", j.ID)
	require.Equal(t, "job 9 ready\n", stdout)
}

func TestADefinitionThatNeedsATerminalIsRefusedWithoutOne(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `touch ran; echo "job 7 ready"`, `waitForId="true" flags="ALLOCATE_PTY" x:without-terminal="refuse"`, conversation)))
	_, err := s.RunInteractive(t.Context(), job.Submission{Executable: "/bin/true"}, control.Terminal{})
	require.ErrorContains(t, err, `definition "test" has no way to run without a terminal`)
	require.False(t, s.exists("ran"))
	j, err := s.RunInteractive(t.Context(), job.Submission{Executable: "/bin/true"}, control.Terminal{Terminal: &remote.Terminal{}})
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
}

func TestADefinitionCanCheckForATerminal(t *testing.T) {
	for _, shown := range []*remote.Terminal{nil, {}} {
		s := newSite(t, define(t, `<submit-interactive name="s"><arg>/bin/echo program</arg>`+
			`<arg attribute="job.terminal" isUndefinedIfMatches="false">--pty</arg></submit-interactive>`))
		var stdout bytes.Buffer
		_, err := s.RunInteractive(t.Context(), job.Submission{Executable: "/bin/true"}, control.Terminal{Stdout: &stdout, Terminal: shown})
		require.NoError(t, err)
		require.Equal(t, map[bool]string{false: "program\n", true: "program --pty\n"}[shown != nil], stdout.String())
	}
}

// endMark describes how the program of a job ended.
const endMark = `<x:process-mark text="@rmctl ${ptp_rm:job.tag#value} rank {rank} ended {exitCode}&#10;" job="true"/>`

func TestTheEndMarkHasTheExitCodeOfTheProgram(t *testing.T) {
	for script, want := range map[string]struct {
		detail job.Detail
		code   any
	}{
		`echo "@rmctl $0 rank 0 ended 0"; exit 1`:   {job.Completed, 0}, // the client lost it
		`echo "@rmctl $0 rank 0 ended 4"; exit 0`:   {job.Failed, 4},
		`echo "@rmctl $0 rank 0 ended 137"; exit 0`: {job.Failed, 137},
		`echo "@rmctl x rank 0 ended 0"; exit 3`:    {job.Failed, 3}, // another job's
		`echo "@rmctl x rank 0 ended 0"; exit 0`:    {job.Failed, nil},
	} {
		s := newSite(t, define(t, `<submit-interactive name="s" `+keptOpen+`><arg>/bin/sh -c</arg><arg resolve="false"><![CDATA['echo "job 7 ready"; `+script+`']]></arg>`+
			`<arg>${ptp_rm:job.tag#value}</arg>`+conversation+endMark+`</submit-interactive>`))
		j, _, stdout, err := s.converses(t, t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, want.detail, j.Detail, script)
		if want.code == nil {
			require.Nil(t, j.ExitCode)
		} else {
			require.Equal(t, want.code, *j.ExitCode, script)
		}
		require.NotContains(t, stdout, j.Tag, "users do not see the mark")
	}
}

func TestAJobWithMessagesOnStandardErrorGetsNoInputBeforeItRuns(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive",
		`echo "waiting for job 7" >&2; read -r line <go; dd if=/dev/stdin iflag=nonblock bs=100 count=1 2>dd >early; echo "job 7 ready" >&2; cat`,
		keptOpen+` flags="ALLOCATE_PTY" x:without-terminal="stderr"`, conversation)))
	fifo(t, s.path("go"))
	var stdout bytes.Buffer
	j, err := s.RunInteractive(t.Context(), job.Submission{Executable: "/bin/true"}, control.Terminal{
		Stdin: strings.NewReader("a line\n"), Stdout: &stdout, Changed: func(one job.Job) {
			if one.Detail == job.Submitted {
				s.goOn(t)
			}
		},
	})
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
	require.Equal(t, "a line\n", stdout.String())
	require.Empty(t, s.read(t, "early"))
}
