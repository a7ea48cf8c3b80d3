package control_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// interactively runs a program attached to buffers.
func (s *site) interactively(t *testing.T, ctx context.Context, stdin string) (job.Job, string, error) {
	t.Helper()
	var stdout bytes.Buffer
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	job, err := s.RunInteractive(ctx, job.Submission{Executable: "/bin/true", Arguments: []string{"a"}}, control.Terminal{
		Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: io.Discard,
	})
	return job, stdout.String(), err
}

const pidParser = `<stdout-parser delim="\n"><target ref="@jobId"><match><expression>#PTP job_id=(\d+)</expression>` +
	`<set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>`

func TestAnInteractiveJobEndsWithItsExitCode(t *testing.T) {
	for code, detail := range map[int]job.Detail{0: job.Completed, 7: job.Failed} {
		s := newSite(t, define(t, running("submit-interactive", `read -r line; echo "#PTP job_id=321"; echo "got $line"; exit `+map[int]string{0: "0", 7: "7"}[code], `waitForId="true"`, pidParser)))
		j, stdout, err := s.interactively(t, t.Context(), "typed\n")
		require.NoError(t, err)
		require.Equal(t, "#PTP job_id=321\ngot typed\n", stdout)
		require.Equal(t, "321", j.ID)
		require.Equal(t, detail, j.Detail)
		require.Equal(t, code, *j.ExitCode)
		require.True(t, j.Interactive)
		require.Equal(t, job.PhaseSubmitted, s.onlyJob(t).Phase)
	}
}

func TestAnInteractiveJobRunsAsSoonAsItIsNamed(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "#PTP job_id=321"; cat go`, `waitForId="true" keepOpen="true"`, pidParser)))
	fifo(t, s.path("go"))
	var during job.Job
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It is open when the script has printed its id and reads.
		file, err := remotetest.OpenPipe(s.path("go"))
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		for begun := time.Now(); during.Phase != job.PhaseSubmitted && time.Since(begun) < patience; { // the parser may lag behind
			jobs, err := s.store.List(t.Context(), jobstore.Filter{All: true})
			if err != nil || len(jobs) == 0 {
				return
			}
			during = jobs[0]
		}
	}()
	j, _, err := s.interactively(t, t.Context(), "")
	<-done
	require.NoError(t, err)
	require.Equal(t, "321", during.ID)
	require.Equal(t, job.Running, during.Detail)
	require.Equal(t, job.Completed, j.Detail)
}

func TestWithoutAnIdAnInteractiveJobIsCalledByItsTag(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo hello`, `waitForId="false"`, "")+running("get-job-status", `touch asked; echo RUNNING`, "", asStatus)))
	j, stdout, err := s.interactively(t, t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "hello\n", stdout)
	require.Equal(t, j.Tag, j.ID)

	before := j
	before.Detail = job.Running // as another process knew it
	s.whilePausing = func() error { return errors.New("it ended long ago") }
	j, err = s.Wait(t.Context(), before, "", nil)
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail, "its end is known from its own process")
	require.False(t, s.exists("asked"))
}

func TestAnInteractiveJobThatASchedulerKnowsIsQueried(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "#PTP job_id=321"`, `waitForId="true"`, pidParser)+running("get-job-status", `echo FAILED`, "", asStatus)))
	j, _, err := s.interactively(t, t.Context(), "")
	require.NoError(t, err)
	j.Detail = job.Running
	j, err = s.Status(t.Context(), j, true)
	require.NoError(t, err)
	require.Equal(t, job.Failed, j.Detail)
}

func TestAnInteractiveJobMayBeCanceled(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "#PTP job_id=321"; echo >started; exec sleep 600`, `waitForId="true"`, pidParser)))
	fifo(t, s.path("started"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = os.ReadFile(s.path("started")) // until the script has printed its id
	}()
	j, _, err := s.interactively(t, ctx, "")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, job.Canceled, j.Detail)
	require.Equal(t, "321", j.ID)
	kept := s.onlyJob(t)
	require.Equal(t, job.Canceled, kept.Detail)
}

func TestAnInteractiveJobThatCannotStartIsRejected(t *testing.T) {
	s := newSite(t, define(t, `<managed-files><file name="f" deleteTargetAfterUse="true"><contents>c</contents></file></managed-files><submit-interactive name="s"><arg>no-such-program-anywhere</arg></submit-interactive>`))
	_, _, err := s.interactively(t, t.Context(), "")
	var failed *control.SubmitError
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, remote.ErrCommandNotFound)
	require.Equal(t, job.PhaseRejected, s.onlyJob(t).Phase)
	require.Empty(t, s.files(t, ".eclipsesettings"))
}

func TestAnInteractiveJobWhoseConnectionIsLostHasNotFailed(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, `waitForId="false"`, "")), func(o *control.Options) { o.Connection = losing{o.Connection} })
	j, _, err := s.interactively(t, t.Context(), "")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, job.Running, j.Detail)
	require.True(t, j.Stale)
	require.Nil(t, j.ExitCode)
}

// losing is a connection that is lost while a command runs.
type losing struct{ remote.Connection }

type lost struct{}

func (losing) Start(context.Context, remote.Command) (remote.Handle, error) { return lost{}, nil }

func (lost) Wait() (int, error)          { return -1, io.ErrUnexpectedEOF }
func (lost) Terminate()                  {}
func (lost) Signal(syscall.Signal) error { return nil }

func TestABatchDefinitionRunsNothingInteractively(t *testing.T) {
	s := newSite(t, define(t, submitting(`touch ran; echo job 7`, "")))
	_, _, err := s.interactively(t, t.Context(), "")
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "rmctl submit")
	require.False(t, s.exists("ran"))
}

func TestAParserErrorOfAnInteractiveJobComesWithTheJob(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo bad; exit 3`, "", `<stdout-parser delim="\n"><target ref="@jobId"><match><expression>bad</expression><throw message="it went bad"/></match></target></stdout-parser>`)))
	j, _, err := s.interactively(t, t.Context(), "")
	require.ErrorContains(t, err, "it went bad")
	require.Equal(t, job.Failed, j.Detail)
	require.Equal(t, 3, *j.ExitCode)
}
