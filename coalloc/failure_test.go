package coalloc_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

var errBroken = errors.New("the scheduler is broken")

var errLost = &remote.ConnectError{Host: "here", Reason: remote.Disconnected, Err: errors.New("reset by the network")}

// does reports whether words are a command of the definition local.
func does(words []string, command string) bool { return len(words) > 2 && words[2] == command }

// jobsMade returns how many jobs the spool of the definition local has seen.
func (s *site) jobsMade() int {
	s.t.Helper()
	jobs, err := filepath.Glob(filepath.Join(s.home, ".local/state/rmctl/local/jobs/*"))
	require.NoError(s.t, err)
	return len(jobs)
}

// kills cancels the job of a part as its user does with the scheduler.
func (e *ensemble) kills(label string) {
	e.site.t.Helper()
	e.reaches(label, e.part(label).State)
	require.Eventually(e.site.t, func() bool { return e.part(label).JobID != "" }, patience, 10*time.Millisecond)
	store, err := e.site.client.Store(e.site.t.Context())
	require.NoError(e.site.t, err)
	j, err := store.ByTag(e.site.t.Context(), e.part(label).Tag)
	require.NoError(e.site.t, err)
	require.NoError(e.site.t, e.site.client.Cancel(e.site.t.Context(), j))
}

func TestF6StatusQueriesFail(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var isDown atomic.Bool
	var failed atomic.Int64
	s.refuses(func(_ string, words []string) error {
		if isDown.Load() && (does(words, "list") || does(words, "show")) {
			failed.Add(1)
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	isDown.Store(true)
	require.Eventually(t, func() bool { return failed.Load() > 2 }, patience, 10*time.Millisecond)
	require.Equal(t, coalloc.PartCheckedIn, e.part("a").State)
	e.commits()
	e.reaches("a", coalloc.PartReleased)
	isDown.Store(false)
	e.ends(coalloc.Done)
}

func TestF7ProcessesCheckInBeforeTheSchedulerSaysThatTheyRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var isDown atomic.Bool
	isDown.Store(true)
	s.refuses(func(_ string, words []string) error {
		if isDown.Load() && (does(words, "list") || does(words, "show")) {
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	e.commits()
	require.Eventually(t, func() bool { return len(s.marksOf("a")) == 1 }, patience, 10*time.Millisecond)
	isDown.Store(false)
	e.ends(coalloc.Done)
}

func TestF8APartEndsWithSomeProcessesMissing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks, count(2), single))
	e.has("check-in a")
	e.kills("a")
	status := e.ends(coalloc.Failed)
	require.Equal(t, coalloc.PartFailed, status.Parts[0].State)
	require.False(t, slices.ContainsFunc(e.events(), func(line string) bool { return strings.Contains(line, "CHECKED_IN") }))
	require.Empty(t, s.marksOf("a"))
}

func single(p *coalloc.Part) { p.JobType = coalloc.Single }

func TestF9TheConnectionIsLostWhileProcessesWait(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	s.breaks("there", errLost)
	e.has("lost b")
	e.reaches("b", coalloc.PartActive)
	e.commits()
	require.Equal(t, coalloc.Waiting, e.status().State)
	s.breaks("there", nil)
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	require.Len(t, s.marksOf("b"), 1)
	require.Equal(t, 1, e.part("b").Incarnation)
}

func TestF10TheConnectionIsLostDuringTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	e.commits()
	s.breaks("there", errLost)
	s.breaks("there", nil)
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	require.Len(t, s.marksOf("b"), 1)
}

func TestF16AnEnsembleContinuesInAnotherProcessBeforeTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.reaches("a", coalloc.PartCheckedIn)
	require.NoError(t, e.Close())
	_, err := e.Wait(t.Context())
	require.ErrorIs(t, err, coalloc.ErrNotRunning)
	again := s.resumes(e.ID())
	_, err = coalloc.Resume(t.Context(), s.client, e.ID(), coalloc.Options{})
	require.ErrorIs(t, err, coalloc.ErrRunning)
	again.commits()
	again.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	require.Len(t, s.marksOf("b"), 1)
	require.Equal(t, 2, s.jobsMade())
}

func TestF17AnEnsembleContinuesInAnotherProcessAfterTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks+`; until [ -e "$HOME/go" ]; do sleep 0.1; done; exit 3`, kind(coalloc.Interactive)))
	e.commits()
	require.Eventually(t, func() bool { return len(s.marksOf("a")) == 1 }, patience, 10*time.Millisecond)
	require.NoError(t, e.Close())
	again := s.resumes(e.ID())
	again.becomes(coalloc.Running)
	require.NoError(t, os.WriteFile(filepath.Join(s.home, "go"), nil, 0o600))
	status := again.ends(coalloc.Done)
	require.Equal(t, 3, *status.Parts[0].ExitCode)
	require.Len(t, s.marksOf("a"), 1)
	_, err := coalloc.Resume(t.Context(), s.client, e.ID(), coalloc.Options{})
	require.ErrorIs(t, err, coalloc.ErrEnded)
}

func TestF18AJobCannotBeCanceledAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var isDown atomic.Bool
	isDown.Store(true)
	s.refuses(func(_ string, words []string) error {
		if isDown.Load() && does(words, "cancel") {
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", `sleep 600`, noGate))
	e.reaches("a", coalloc.PartReleased)
	require.NoError(t, e.Cancel(t.Context()))
	e.has("canceling the job: ")
	require.True(t, e.part("a").Unconfirmed)
	require.Equal(t, coalloc.Ending, e.status().State)
	isDown.Store(false)
	status := e.ends(coalloc.Canceled)
	require.False(t, status.Parts[0].Unconfirmed)
	s.isEmpty()
}

func noGate(p *coalloc.Part) { p.Gate, p.Independent = coalloc.NoGate, true }

func TestF19ACommitNowCancelsWhatIsIncomplete(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks), part("b", marks, count(2), single))
	e.reaches("a", coalloc.PartCheckedIn)
	require.ErrorIs(t, e.Commit(t.Context(), true), coalloc.ErrIncomplete)
	e.ends(coalloc.Canceled)
	require.Empty(t, s.marksOf("a"))
	require.Empty(t, s.marksOf("b"))
	s.isEmpty()
}

func TestACommitNowReleasesWhatIsComplete(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks+"; sleep 1"), part("b", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	require.NoError(t, e.Commit(t.Context(), true))
	require.False(t, e.status().Released.IsZero())
	e.ends(coalloc.Done)
}

func TestF20EditsThatAreTooLateOrUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks+"; sleep 2"))
	require.ErrorIs(t, e.Add(t.Context(), part("a", marks)), coalloc.ErrDuplicateLabel)
	require.ErrorIs(t, e.Delete(t.Context(), "x"), coalloc.ErrUnknownPart)
	require.ErrorIs(t, e.Substitute(t.Context(), "x", part("y", marks)), coalloc.ErrUnknownPart)
	e.commits()
	e.becomes(coalloc.Running)
	require.ErrorIs(t, e.Add(t.Context(), part("b", marks)), coalloc.ErrReleased)
	require.ErrorIs(t, e.Delete(t.Context(), "a"), coalloc.ErrReleased)
	require.ErrorIs(t, e.Substitute(t.Context(), "a", part("b", marks)), coalloc.ErrReleased)
	require.ErrorIs(t, e.Commit(t.Context(), false), coalloc.ErrReleased)
	e.ends(coalloc.Done)
	require.ErrorIs(t, e.Cancel(t.Context()), coalloc.ErrEnded)
}

func TestF25AnOptionalPartStartsAfterTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", `until [ -e "$HOME/go" ]; do sleep 0.1; done`), part("b", marks, kind(coalloc.Optional), heldBack))
	e.commits()
	e.becomes(coalloc.Running)
	require.Empty(t, s.marksOf("b"))
	e.releasesHold("b")
	require.Eventually(t, func() bool { return len(s.marksOf("b")) == 1 }, patience, 10*time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(s.home, "go"), nil, 0o600))
	e.ends(coalloc.Done)
}

func TestF26NoPartIsLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	require.NoError(t, e.Delete(t.Context(), "a"))
	require.ErrorIs(t, e.Commit(t.Context(), false), coalloc.ErrNoParts)
	e.ends(coalloc.Canceled)
	require.Empty(t, s.marksOf("a"))
	s.isEmpty()
}

// pass returns the file with which processes of a part prove themselves.
func (e *ensemble) pass(label string) string {
	e.site.t.Helper()
	serial := e.part(label).Serial
	found, err := filepath.Glob(filepath.Join(e.site.home, ".local/state/rmctl/node/jobs/ensemble-"+e.ID()+"-*", fmt.Sprintf("part-%d.json", serial)))
	require.NoError(e.site.t, err)
	require.Len(e.site.t, found, 1)
	return found[0]
}

// runs starts a process of a part, as a scheduler does that starts a job again.
func (e *ensemble) runs(label string) *exec.Cmd {
	e.site.t.Helper()
	executable, err := os.Executable()
	require.NoError(e.site.t, err)
	process := exec.Command(filepath.Join(filepath.Dir(executable), "rmctl-node"), "run", "--pass", e.pass(label), "--")
	process.Env = append(os.Environ(), "HOME="+e.site.home)
	require.NoError(e.site.t, process.Start())
	e.site.t.Cleanup(func() { _ = process.Process.Kill() })
	return process
}

// exits returns the exit code of a process.
func (s *site) exits(process *exec.Cmd) int {
	s.t.Helper()
	_ = process.Wait() // the code says more
	return process.ProcessState.ExitCode()
}

func TestF12AProcessOfADeletedPartIsLate(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var isDown atomic.Bool
	isDown.Store(true)
	s.refuses(func(_ string, words []string) error {
		if isDown.Load() && does(words, "cancel") {
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", marks), part("b", marks, heldBack))
	e.reaches("b", coalloc.PartPending)
	require.NoError(t, e.Delete(t.Context(), "b"))
	e.has("canceling the job: ")
	require.Equal(t, 10, s.exits(e.runs("b")))
	e.has("is late")
	isDown.Store(false)
	e.commits()
	e.ends(coalloc.Done)
	require.Empty(t, s.marksOf("b"))
	s.isEmpty()
}

func TestF13MoreProcessesThanThePartHas(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks, count(2)))
	e.reaches("a", coalloc.PartCheckedIn)
	require.Equal(t, 12, s.exits(e.runs("a")))
	e.has("refused a")
	require.Contains(t, e.part("a").Reason, "refused a process")
	e.commits()
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 2)
}

func TestF14AJobThatIsStartedAgainAfterTheReleaseDoesNotRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks+"; sleep 600", kind(coalloc.Interactive)), part("b", `until [ -e "$HOME/go" ]; do sleep 0.1; done`))
	e.commits()
	require.Eventually(t, func() bool { return len(s.marksOf("a")) == 1 }, patience, 10*time.Millisecond)
	require.Equal(t, 12, s.exits(e.runs("a")))
	e.reaches("a", coalloc.PartFailed)
	require.Contains(t, e.part("a").Reason, "started again after its release")
	require.NoError(t, os.WriteFile(filepath.Join(s.home, "go"), nil, 0o600))
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	s.isEmpty()
}

func TestF15AJobThatIsStartedAgainBeforeTheReleaseReplacesItsProcesses(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks, heldBack))
	e.reaches("a", coalloc.PartPending)
	first := e.runs("a")
	e.reaches("a", coalloc.PartCheckedIn)
	require.Equal(t, 1, e.part("a").Incarnation)
	require.NoError(t, first.Process.Kill())
	e.has("lost a")
	e.releasesHold("a")
	e.reaches("a", coalloc.PartCheckedIn)
	require.Equal(t, 2, e.part("a").Incarnation)
	e.commits()
	e.ends(coalloc.Done)
	require.Equal(t, []string{"1 0"}, s.marksOf("a"))
}

func TestF11AProcessCannotRunItsProgram(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	program := filepath.Join(s.home, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
	e := s.starts(part("a", marks), part("b", marks, heldBack, func(p *coalloc.Part) { p.Submission.Executable = program }))
	e.reaches("b", coalloc.PartPending)
	require.NoError(t, os.Remove(program))
	e.releasesHold("b")
	status := e.ends(coalloc.Failed)
	e.has("vote b")
	require.Contains(t, status.Reason, program)
	require.Empty(t, s.marksOf("a"))
	s.isEmpty()
}

func TestF21AWallTimeMayBeUsedUpWhileAPartWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.startsRequest(&coalloc.Request{Limits: coalloc.Limits{Commit: time.Hour}, Parts: []coalloc.Part{
		part("a", marks, func(p *coalloc.Part) { p.Submission.Values = []job.Assignment{{Name: "wallTime", Value: "20m"}} }),
	}})
	e.has("warning a  the commit limit of 1h0m0s exceeds the wall time of 20m0s")
}
