package control_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/job"
)

// conversation parses the output of recorded interactive clients of schedulers.
const conversation = `<stdout-parser delim="\n"><target ref="@jobId">` +
	`<match><expression>.*waiting for job (\d+)\s*</expression><set field="name"><entry valueGroup="1"/></set><set field="value"><entry value="SUBMITTED"/></set></match>` +
	`<match><expression>.*job (\d+) ready\s*</expression><set field="name"><entry valueGroup="1"/></set><set field="value"><entry value="RUNNING"/></set></match>` +
	`<match><expression>.*not submitted.*</expression><set field="value"><entry value="FAILED"/></set></match>` +
	`</target></stdout-parser>`

const keptOpen = `waitForId="true" keepOpen="true"`

// A change is a state that was reported while a job ran, with the record of the job then.
type change struct {
	detail job.Detail
	kept   job.Job
}

// converses runs an interactive job and returns the states reported meanwhile.
func (s *site) converses(t *testing.T, ctx context.Context, changed func(job.Job)) (job.Job, []change, string, error) {
	t.Helper()
	var stdout bytes.Buffer
	var changes []change
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	job, err := s.RunInteractive(ctx, job.Submission{Executable: "/bin/echo", Arguments: []string{"hi"}}, control.Terminal{
		Stdin: strings.NewReader(""), Stdout: &stdout,
		Changed: func(job job.Job) {
			kept, err := s.store.ByTag(t.Context(), job.Tag)
			if err != nil {
				t.Error(err)
			}
			changes = append(changes, change{job.Detail, kept})
			if changed != nil {
				changed(job)
			}
		},
	})
	return job, changes, stdout.String(), err
}

func TestAKeptOpenJobGetsItsInputWhenItRuns(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "waiting for job 7"; echo "job 7 ready"; cat; exit 3`, keptOpen,
		`<input>${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}</input>`+conversation)))
	j, changes, stdout, err := s.converses(t, t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	require.Equal(t, []job.Detail{job.Submitted, job.Running}, []job.Detail{changes[0].detail, changes[1].detail})
	require.Equal(t, "7", changes[0].kept.ID)
	require.Equal(t, job.Submitted, changes[0].kept.Detail)
	require.Contains(t, changes[0].kept.Evidence, "waiting for job 7")
	require.Equal(t, job.Running, changes[1].kept.Detail)
	require.Contains(t, changes[1].kept.Evidence, "job 7 ready")
	require.Equal(t, "submit-interactive", changes[1].kept.Source)
	require.Equal(t, "waiting for job 7\njob 7 ready\n/bin/echo hi\n", stdout)
	require.Equal(t, job.Failed, j.Detail)
	require.Equal(t, 3, *j.ExitCode)
}

func TestAJobThatEndsInTheQueueHasTheStateOfItsScheduler(t *testing.T) {
	for name, try := range map[string]struct {
		status string
		end    job.Detail
	}{
		"nobody can be asked": {"", job.Failed},
		"canceled":            {running("get-job-status", `echo CANCELED`, "", asStatus), job.Canceled},
		"completed":           {running("get-job-status", `echo COMPLETED`, "", asStatus), job.Failed},
		"not ended":           {running("get-job-status", `echo QUEUED_ACTIVE`, "", asStatus), job.Failed},
		"no answer":           {running("get-job-status", `exit 1`, "", asStatus), job.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-interactive", `echo "waiting for job 7"; echo "apparently deleted"; exit 1`, keptOpen, `<input>never sent</input>`+conversation)+try.status))
			j, _, stdout, err := s.converses(t, t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, "7", j.ID)
			require.Equal(t, try.end, j.Detail)
			require.Equal(t, 1, *j.ExitCode)
			require.NotContains(t, stdout, "never sent")
		})
	}
}

func TestAKeptOpenCommandThatFailsWithoutAnIDSubmittedNoJob(t *testing.T) {
	for name, script := range map[string]string{
		"by its exit code": `echo "Unknown queue"; exit 170`,
		"by its parsers":   `echo "job not submitted: Unknown queue"; exec sleep 600`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-interactive", script, keptOpen, conversation)))
			_, _, _, err := s.converses(t, t.Context(), nil)
			var failed *control.SubmitError
			require.ErrorAs(t, err, &failed)
			require.False(t, failed.Unknown)
			var commandFailed *command.Error
			require.ErrorAs(t, err, &commandFailed)
			require.ErrorContains(t, err, "Unknown queue")
			require.Equal(t, job.PhaseRejected, s.onlyJob(t).Phase)
		})
	}
}

func TestAJobWithoutAnIDIsRecordedWhileItRuns(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, "", "")))
	j, changes, _, err := s.converses(t, t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, job.Running, changes[0].kept.Detail)
	require.Equal(t, j.Tag, changes[0].kept.ID)
}

func TestASecondKeptOpenCommandIsRefused(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "job 7 ready"; read -r line <go`, keptOpen, conversation)))
	fifo(t, s.path("go"))
	second := func(job.Job) {
		_, _, _, err := s.converses(t, t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), `job 7 keeps the command of definition "test" open`) || !strings.Contains(err.Error(), "rmctl cancel 7") {
			t.Errorf("the second one was not refused: %v", err)
		}
		s.goOn(t)
	}
	_, _, _, err := s.converses(t, t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, "7", s.onlyJob(t).ID, "nothing was recorded of the second one")
	_, _, _, err = s.converses(t, t.Context(), func(job.Job) { s.goOn(t) })
	require.NoError(t, err, "the first one has ended")
}

func TestOtherInteractiveJobsMayRunTogether(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `mkdir first 2>/dev/null && { echo "job 7 ready"; read -r line <go; }; exit 0`, "", conversation)))
	fifo(t, s.path("go"))
	_, _, _, err := s.converses(t, t.Context(), func(job job.Job) {
		if _, _, _, err := s.converses(t, t.Context(), nil); err != nil {
			t.Error(err)
		}
		s.goOn(t)
	})
	require.NoError(t, err)
}

// goOn lets a script go on that reads the named pipe.
func (s *site) goOn(t *testing.T) {
	pipe, err := remotetest.OpenPipe(s.path("go"))
	if err == nil {
		err = pipe.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

func TestCancelingAJobThatAProcessHoldsEndsItAtItsSchedulerToo(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "waiting for job 7"; exec sleep 600`, keptOpen, conversation)+
		`<terminate-job name="end"><arg>/bin/sh -c 'echo "$1" >ended' sh ${ptp_rm:@jobId#name}</arg></terminate-job>`))
	ctx, cancel := context.WithCancel(t.Context())
	j, _, _, err := s.converses(t, ctx, func(job.Job) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, job.Canceled, j.Detail)
	require.Equal(t, "7\n", s.read(t, "ended"))
	require.False(t, byTag(t, s, j.Tag).Stale, "what has ended stays so")
}

func TestInputIsResolvedAgainWhileTheJobRuns(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="greeting"><default>hello</default></attribute>`+
		running("submit-interactive", `echo "job 7 ready"; read -r line <go`, keptOpen, `<input>${ptp_rm:greeting#value}</input><input>${ptp_rm:@jobId#name} ${ptp_rm:executablePath#value}</input>`+conversation)))
	fifo(t, s.path("go"))
	job, _, _, err := s.converses(t, t.Context(), func(job job.Job) {
		defer s.goOn(t)
		whole, err := s.store.ByTag(t.Context(), job.Tag)
		if err != nil {
			t.Error(err)
		}
		input, err := s.Input(t.Context(), whole)
		if err != nil || input != "hello 7 /bin/echo\n" {
			t.Errorf("input %q, error %v", input, err)
		}
	})
	require.NoError(t, err)
	_, err = s.Input(t.Context(), job)
	require.ErrorContains(t, err, "not RUNNING")
}

func TestTheHolderOfAJobIsReported(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, "", "")))
	for _, hosted := range []bool{false, true} {
		want := map[bool]control.Holder{false: control.HeldByProgram, true: control.HeldByHost}[hosted]
		job, err := s.RunInteractive(t.Context(), job.Submission{Executable: "x", Hosted: hosted}, control.Terminal{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Changed: func(job job.Job) {
				if held := s.Holder(job); held != want {
					t.Errorf("held by %q", held)
				}
			},
		})
		require.NoError(t, err)
		require.Equal(t, control.Holder(""), s.Holder(job))
	}
}

func TestAWaitForAJobWithoutQueriesReadsTheRecord(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "job 7 ready"`, keptOpen, conversation)))
	j, _, _, err := s.converses(t, t.Context(), nil)
	require.NoError(t, err)
	before := j
	before.Detail = job.Running // as another process knew it
	s.whilePausing = func() error { return errors.New("it ended long ago") }
	j, err = s.Wait(t.Context(), before, "", nil)
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
}
