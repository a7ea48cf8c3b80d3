package journal_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/jobstore"
)

const (
	storeOfKilled = "RMCTL_TEST_STORE_OF_KILLED"
	stepOfKilled  = "RMCTL_TEST_STEP_OF_KILLED"
	patience      = time.Minute
)

// steps are the steps that an engine records of an ensemble of 40 parts, in order.
var steps = []struct {
	name   string
	record func(ctx context.Context, r *journal.Record) error
}{
	{"created", func(ctx context.Context, r *journal.Record) error {
		var parts []barrier.Part
		for serial := range 40 {
			parts = append(parts, fullPart("e1", serial+1))
		}
		return r.Create(ctx, full("e1"), parts)
	}},
	{"submitted", func(ctx context.Context, r *journal.Record) error {
		changed := change(barrier.Submitting, 1, 30)
		for serial := range 40 {
			part := fullPart("e1", serial+1)
			part.JobID = "new"
			changed.Parts = append(changed.Parts, part)
		}
		return r.Save(ctx, changed)
	}},
	{"released", func(ctx context.Context, r *journal.Record) error {
		return r.RecordRelease(ctx, "e1", rosters(40, 250), noon)
	}},
	{"running", func(ctx context.Context, r *journal.Record) error {
		return r.Save(ctx, change(barrier.Running, 31, 60))
	}},
}

func change(state barrier.State, from, to int) barrier.Change {
	ensemble := full("e1")
	ensemble.State, ensemble.Notices, ensemble.Serials = state, to, 40
	return barrier.Change{Ensemble: ensemble, Notices: notices(from, to)}
}

// child runs the test again in a process that records the steps and reports each. It is killed
// after a number of steps, or some time after the next one begins.
func child(t *testing.T, directory string, after int, delay time.Duration) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	command := exec.CommandContext(ctx, program, "-test.run", "^"+t.Name()+"$")
	command.Env = append(os.Environ(), storeOfKilled+"="+directory, stepOfKilled+"="+strconv.Itoa(after))
	held, err := command.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = held.Close() }() // the end of the process has closed it
	printed, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(printed)
	for done := 0; done < after && lines.Scan(); done++ {
		require.Equal(t, steps[done].name, lines.Text())
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	<-timer.C
	require.NoError(t, command.Process.Kill())
	var ended *exec.ExitError
	require.ErrorAs(t, command.Wait(), &ended)
	require.Equal(t, syscall.SIGKILL, ended.Sys().(syscall.WaitStatus).Signal())
}

// asChild records the steps if this is the process that is killed.
func asChild(t *testing.T) bool {
	directory, isKilled := os.LookupEnv(storeOfKilled)
	if !isKilled {
		return false
	}
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	for _, step := range steps {
		require.NoError(t, step.record(t.Context(), store.Journal()))
		_, err := os.Stdout.WriteString(step.name + "\n")
		require.NoError(t, err)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
	return true
}

// requireWhole requires that at least a number of steps are on record, and each of them whole.
func requireWhole(t *testing.T, directory string, steps int) {
	t.Helper()
	store := openStore(t, directory)
	saved, err := store.Journal().Load(t.Context(), "e1")
	if steps == 0 && err != nil {
		require.ErrorIs(t, err, journal.ErrUnknown)
		return
	}
	require.NoError(t, err)
	require.Len(t, saved.Parts, 40)
	list, err := store.Journal().Notices(t.Context(), "e1", 0)
	require.NoError(t, err)
	require.Len(t, list, saved.Ensemble.Notices, "events and ensemble are on record together")
	for i, notice := range list {
		require.Equal(t, i+1, notice.Sequence)
	}
	for _, part := range saved.Parts {
		require.Equal(t, len(list) > 0, part.JobID == "new")
	}
	require.GreaterOrEqual(t, len(list), []int{0, 0, 30, 30, 60}[steps])
	if len(saved.Rosters) > 0 || steps >= 3 {
		require.Equal(t, rosters(40, 250), saved.Rosters, "all of the release or nothing")
	}
}

func TestRecordedStepsSurviveAKill(t *testing.T) {
	if asChild(t) {
		return
	}
	for after := range len(steps) + 1 {
		directory := t.TempDir()
		child(t, directory, after, 0)
		requireWhole(t, directory, after)
	}
}

func TestAKillLeavesOnlyCompleteSteps(t *testing.T) {
	if asChild(t) {
		return
	}
	for i := range 24 {
		directory := t.TempDir()
		after := i % len(steps)
		child(t, directory, after, time.Duration(i)*500*time.Microsecond)
		requireWhole(t, directory, after)
	}
}
