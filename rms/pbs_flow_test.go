package rms_test

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A pbsStep is a command that a server expects next, and the recorded output
// that answers it.
type pbsStep struct {
	command string // up to the script's name for qsub
	answer  string // a case of testdata/pbs
	prints  string // in place of a case
	job     string // takes the place of the recorded job's id, where there is one
}

// A pbsServer is this machine with a PBS on it that knows one conversation.
type pbsServer struct {
	remote.Connection
	t      *testing.T
	steps  []pbsStep
	script string // of the last submission
	tag    string // of that
}

func (s *pbsServer) Start(_ context.Context, start remote.Command) (remote.Handle, error) {
	words := start.Arguments
	if words[0] == "qsub" {
		script, err := os.ReadFile(words[len(words)-1])
		require.NoError(s.t, err)
		s.script, s.tag = string(script), strings.TrimSuffix(filepath.Base(words[len(words)-1]), "managed_file_for_script")
		words = words[:len(words)-1]
	}
	require.NotEmpty(s.t, s.steps, "nothing more was expected, but %q", words)
	step := s.steps[0]
	s.steps = s.steps[1:]
	require.Equal(s.t, step.command, strings.Join(words, " "))

	if step.answer == "" {
		return exchange{stdout: step.prints}.answer(start)
	}
	recorded := recordedExchange(s.t, filepath.Join(pbsCases, step.answer))
	recorded.stdout = strings.ReplaceAll(recorded.stdout, tag, s.tag)
	if recorded.job != "" && step.job != "" {
		recorded.stdout = strings.ReplaceAll(recorded.stdout, recorded.job, step.job)
	}
	return recorded.answer(start)
}

// A pbsSession is a user's work with one server.
type pbsSession struct {
	*control.Controller
	t      *testing.T
	server *pbsServer
	home   string
	user   string // who asks
}

func newPBSSession(t *testing.T) *pbsSession {
	home := t.TempDir()
	t.Setenv("HOME", home)
	local, err := remote.NewLocal()
	require.NoError(t, err)
	store, err := jobstore.Open(t.Context(), filepath.Join(home, "state"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	server := &pbsServer{Connection: local, t: t}
	controller := control.New(control.Options{Definition: shippedDefinition(t, "pbs"), Connection: server, Store: store})
	current, err := user.Current()
	require.NoError(t, err)
	return &pbsSession{Controller: controller, t: t, server: server, home: home, user: current.Username}
}

func (s *pbsSession) expect(steps ...pbsStep) {
	require.Empty(s.t, s.server.steps, "commands that were expected did not run")
	s.server.steps = steps
}

func (s *pbsSession) submit(submission job.Submission) job.Job {
	submission.Executable, submission.Directory = "./simulate", s.home
	job, err := s.Submit(s.t.Context(), submission)
	require.NoError(s.t, err)
	require.Empty(s.t, s.server.steps)
	return job
}

// status asks the server and demands a state.
func (s *pbsSession) status(job job.Job, expected job.Detail, steps ...pbsStep) job.Job {
	s.expect(steps...)
	job, err := s.Status(s.t.Context(), job, true)
	require.NoError(s.t, err)
	require.Equal(s.t, expected, job.Detail)
	require.False(s.t, job.Stale)
	return job
}

// failingStatus asks the server, which gives no answer, and demands that the
// job is what it was.
func (s *pbsSession) failingStatus(job job.Job, steps ...pbsStep) job.Job {
	s.expect(steps...)
	after, err := s.Status(s.t.Context(), job, true)
	var failed *control.QueryError
	require.ErrorAs(s.t, err, &failed)
	require.Equal(s.t, job.Detail, after.Detail)
	require.True(s.t, after.Stale)
	return after
}

var pbsQueues = pbsStep{command: "qstat -Q", answer: "queues"}

func TestPBSFollowsAJobToItsEnd(t *testing.T) {
	s := newPBSSession(t)
	s.expect(pbsQueues, pbsStep{command: "qsub -f", answer: "submit-ok"})
	j := s.submit(job.Submission{
		Arguments:   []string{"a b", "$HOME", "it's"},
		Values:      []job.Assignment{{Name: "queue", Value: "long"}, {Name: "walltime", Value: "10:00"}, {Name: "join", Value: "oe"}},
		Environment: job.Environment{Variables: []job.Variable{{Name: "GREETING", Value: "good morning, `date` $X"}}},
	})
	require.Equal(t, "1.pbs01", j.ID)
	require.Equal(t, job.Submitted, j.Detail)
	require.Equal(t, "long", j.Queue)
	require.Equal(t, filepath.Join(s.home, "rmctl.o1"), j.OutputPath)
	require.Equal(t, j.OutputPath, j.ErrorPath, "both streams go to one file")
	require.Equal(t, "#!/bin/bash\n#PBS -N rmctl\n#PBS -q long\n#PBS -l walltime=10:00\n#PBS -j oe\n#PBS -S /bin/bash\n"+
		"export GREETING=\"good morning, \\`date\\` \\$X\"\n"+
		"cd \"$PBS_O_WORKDIR\" || exit 1\n./simulate 'a b' \\$HOME it\\'s\n", s.server.script)

	const ask, askHistory = "qstat -f -w 1.pbs01", "qstat -x -f -w 1.pbs01"
	j = s.status(j, job.QueuedActive, pbsStep{command: ask, answer: "status-never-runs", job: "1.pbs01"})
	require.Contains(t, j.Reason, "Can Never Run")
	j = s.status(j, job.UserOnHold, pbsStep{command: ask, answer: "status-held-by-user", job: "1.pbs01"})
	j = s.status(j, job.Running, pbsStep{command: ask, answer: "status-running-held", job: "1.pbs01"})
	require.Equal(t, "pbs01/2", j.Nodes)

	down := s.failingStatus(j, pbsStep{command: ask, answer: "status-error-server-down"})
	require.Contains(t, down.StaleReason, "Connection refused")
	j = s.status(down, job.Suspended, pbsStep{command: ask, answer: "status-suspended", job: "1.pbs01"})
	j = s.status(j, job.Running, pbsStep{command: ask, answer: "status-exiting", job: "1.pbs01"})
	require.Equal(t, "E", j.Native)
	require.Nil(t, j.ExitCode, "it has not ended")

	// what is gone from the queue is not known to have succeeded
	ended := pbsStep{command: ask, answer: "status-error-finished"}
	j = s.failingStatus(j, ended, pbsStep{command: askHistory, answer: "status-error-server-down"})
	j = s.failingStatus(j, ended, pbsStep{command: askHistory, answer: "finished-no-history"})
	j = s.failingStatus(j, ended, pbsStep{command: askHistory, answer: "made-cut-before-exit-status", job: "1.pbs01"})
	j = s.status(j, job.Failed, ended, pbsStep{command: askHistory, answer: "finished-by-signal", job: "1.pbs01"})
	require.Equal(t, 137, *j.ExitCode)
	require.Equal(t, 9, *j.Signal)
	j = s.status(j, job.Failed) // nothing is asked any more
	require.Equal(t, "Fri Nov 20 12:25:06 2026", j.Ended)
}

func TestPBSFollowsAnArray(t *testing.T) {
	s := newPBSSession(t)
	s.expect(pbsQueues, pbsStep{command: "qsub -f", answer: "submit-array"})
	j := s.submit(job.Submission{Values: []job.Assignment{{Name: "array", Value: "1-3"}}})
	require.Equal(t, "1017[].pbs01", j.ID)
	require.Contains(t, s.server.script, "\n#PBS -J 1-3\n")
	j = s.status(j, job.Running, pbsStep{command: "qstat -f -w 1017[].pbs01", answer: "status-array", job: j.ID})
	s.status(j, job.Failed,
		pbsStep{command: "qstat -f -w 1017[].pbs01", answer: "status-error-array-finished"},
		pbsStep{command: "qstat -x -f -w 1017[].pbs01", answer: "finished-array", job: j.ID})
}

func TestPBSAsksClientsWithoutWideOutputInTheirWay(t *testing.T) {
	s := newPBSSession(t)
	s.expect(pbsQueues, pbsStep{command: "qsub -f", answer: "submit-ok"})
	j := s.submit(job.Submission{})
	refused := pbsStep{command: "qstat -f -w 1.pbs01", answer: "status-error-option"}
	j = s.status(j, job.Running, refused, pbsStep{command: "qstat -f 1.pbs01", answer: "folded-running-long-name", job: "1.pbs01"})
	s.status(j, job.Completed, refused,
		pbsStep{command: "qstat -f 1.pbs01", answer: "status-error-finished"},
		pbsStep{command: "qstat -x -f 1.pbs01", answer: "folded-finished-ok", job: "1.pbs01"})
}

func TestPBSKnowsWhichJobsItDoesNotKnow(t *testing.T) {
	s := newPBSSession(t)
	s.expect(pbsQueues, pbsStep{command: "qstat -f -w 999999.pbs01", answer: "status-error-unknown"})
	var unknown *control.NotFoundError
	_, err := s.Look(t.Context(), "999999.pbs01")
	require.ErrorAs(t, err, &unknown)
	_, err = s.Look(t.Context(), "nonsense") // which is not written like an id: nobody is asked
	require.ErrorAs(t, err, &unknown)

	s.expect(pbsStep{command: "qsub -f", answer: "submit-ok"})
	j := s.submit(job.Submission{})
	j = s.status(j, job.Running, pbsStep{command: "qstat -f -w 1.pbs01", answer: "status-running-held", job: "1.pbs01"})
	j = s.status(j, job.Running, pbsStep{command: "qstat -f -w 1.pbs01", answer: "status-error-no-history"})
	require.True(t, j.Missing, "a server without history forgets jobs")
}

func TestPBSSubmissionWithoutAJobIsAnError(t *testing.T) {
	s := newPBSSession(t)
	var failed *control.SubmitError
	for answer, unknown := range map[string]bool{
		"submit-no-id": true, "made-submit-no-id-in-text": true,
		"submit-error-bad-queue": false, "submit-error-server-down": false, "submit-error-directive": false,
	} {
		steps := []pbsStep{{command: "qsub -f", answer: answer}}
		if s.server.script == "" {
			steps = append([]pbsStep{pbsQueues}, steps...)
		}
		if unknown {
			steps = append(steps, pbsStep{command: "qselect -u " + s.user}, pbsStep{command: "qselect -x -u " + s.user}, pbsStep{command: "qstat -B -f", answer: "find-no-history"})
		}
		s.expect(steps...)
		_, err := s.Submit(t.Context(), job.Submission{Executable: "true", Directory: s.home})
		require.ErrorAs(t, err, &failed, answer)
		require.Equal(t, unknown, failed.Unknown, answer)
	}
}

func TestPBSSubmissionWhoseAnswerWasLostIsLookedUp(t *testing.T) {
	s := newPBSSession(t)
	s.expect(pbsQueues, pbsStep{command: "qsub -f", answer: "submit-no-id"},
		pbsStep{command: "qselect -u " + s.user, prints: "4711[].pbs01\n"}, pbsStep{command: "qstat -f -w 4711[].pbs01", answer: "find-found-array"})
	j := s.submit(job.Submission{})
	require.Equal(t, "4711[].pbs01", j.ID)
	s.status(j, job.Running, pbsStep{command: "qstat -f -w 4711[].pbs01", answer: "status-array", job: j.ID})
}

func TestPBSControlsJobsOneByOne(t *testing.T) {
	s := newPBSSession(t)
	s.expect(pbsQueues, pbsStep{command: "qsub -f", answer: "submit-ok"})
	job := s.submit(job.Submission{})
	for operation, steps := range map[control.Operation][]pbsStep{
		control.Hold:    {{command: "qstat -f -w 1.pbs01", answer: "status-waiting", job: job.ID}, {command: "qhold 1.pbs01", answer: "hold"}},
		control.Release: {{command: "qrls 1.pbs01", answer: "release"}},
		control.Suspend: {{command: "qsig -s suspend 1.pbs01", answer: "suspend"}},
		control.Resume:  {{command: "qsig -s resume 1.pbs01", answer: "resume"}},
		control.Cancel:  {{command: "qdel 1.pbs01", answer: "delete-running"}},
	} {
		s.expect(steps...)
		require.NoError(t, s.Operate(t.Context(), operation, job))
	}
	s.expect(pbsStep{command: "qstat -f -w 1.pbs01", answer: "status-running-held", job: job.ID})
	require.ErrorContains(t, s.Operate(t.Context(), control.Hold, job), "it is RUNNING, and only a waiting job can be")
	s.expect(pbsStep{command: "qstat -f -w 1.pbs01", answer: "status-array", job: job.ID}, pbsStep{command: "qhold 1.pbs01", answer: "hold"})
	require.NoError(t, s.Operate(t.Context(), control.Hold, job), "an array that has begun")
	s.expect(pbsStep{command: "qsig -s suspend 1.pbs01", answer: "suspend-error-user"})
	require.ErrorContains(t, s.Operate(t.Context(), control.Suspend, job), "Unauthorized Request")
	s.expect(pbsStep{command: "qdel 1.pbs01", answer: "delete-error-finished"})
	var ended *control.EndedError
	require.ErrorAs(t, s.Operate(t.Context(), control.Cancel, job), &ended)
}
