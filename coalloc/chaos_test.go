package coalloc_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/journal"
)

// variableEnsemble has the test binary run the ensemble of an id until it has ended.
const variableEnsemble = "RMCTL_TEST_ENSEMBLE"

func TestMain(m *testing.M) {
	if id := os.Getenv(variableEnsemble); id != "" {
		if err := runEnsemble(context.Background(), id); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runEnsemble runs an ensemble as the background process does, and commits it.
func runEnsemble(ctx context.Context, id string) error {
	home := os.Getenv("HOME")
	s := &site{home: home, failures: map[string]error{}, connections: map[*connection]bool{}}
	ctx, cancel := context.WithCancel(ctx)
	var breaking sync.WaitGroup
	defer breaking.Wait()
	defer cancel()
	breaking.Go(func() { s.breaksAtSignals(ctx) })
	client, err := rmctl.Open(ctx, rmctl.Options{
		ConfigFolder: filepath.Join(home, "config"), SiteFolder: filepath.Join(home, "site"), StateFolder: filepath.Join(home, "state"), Connect: s.connect,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	e, err := resumeSoon(ctx, client, id)
	if errors.Is(err, coalloc.ErrEnded) {
		return nil
	}
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.Commit(ctx, false); err != nil && !errors.Is(err, coalloc.ErrReleased) && !errors.Is(err, coalloc.ErrEnded) {
		return err
	}
	_, err = e.Wait(ctx)
	return err
}

// resumeSoon resumes an ensemble as the background process does: a child of a process that was killed between fork and
// exec still has the lock for a moment.
func resumeSoon(ctx context.Context, client coalloc.Client, id string) (*coalloc.Ensemble, error) {
	for late := time.Now().Add(patience); ; {
		e, err := coalloc.Resume(ctx, client, id, coalloc.Options{})
		if !errors.Is(err, coalloc.ErrRunning) || time.Now().After(late) {
			return e, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// breakSignals end the connections of a target.
var breakSignals = map[string]syscall.Signal{"here": syscall.SIGUSR1, "there": syscall.SIGUSR2}

// breaksAtSignals ends all connections of a target at its signal. Further ones succeed.
func (s *site) breaksAtSignals(ctx context.Context) {
	signals := make(chan os.Signal, 16)
	for _, each := range breakSignals {
		signal.Notify(signals, each)
	}
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case received := <-signals:
			for target, each := range breakSignals {
				if each == received {
					s.breaks(target, errors.New("cut off"))
					s.breaks(target, nil)
				}
			}
		}
	}
}

// endPatience is how long an ensemble may take to end. Submissions that were cut off take minutes.
const endPatience = 8 * time.Minute

// engine starts a process that runs an ensemble.
func (s *site) engine(id string) *exec.Cmd {
	s.t.Helper()
	executable, err := os.Executable()
	require.NoError(s.t, err)
	process := exec.Command(executable)
	process.Env = append(os.Environ(), variableEnsemble+"="+id, "HOME="+s.home)
	process.Stderr = s.t.Output()
	require.NoError(s.t, process.Start())
	return process
}

// processes returns the ids of processes with the home directory of the site and a word in their
// arguments.
func (s *site) processes(word string) []int {
	s.t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(s.t, err)
	var found []int
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err == nil && strings.Contains(string(line), s.home) && strings.Contains(string(line), word) {
			found = append(found, id)
		}
	}
	return found
}

// mixed returns parts of all kinds.
func (s *site) mixed(random *rand.Rand) []coalloc.Part {
	parts := make([]coalloc.Part, 25)
	kinds := []coalloc.Kind{coalloc.Required, coalloc.Required, coalloc.Interactive, coalloc.Optional}
	for i := range parts {
		script := fmt.Sprintf(`echo "$COALLOC_SUBJOB $COALLOC_INSTANCE" >>%s/ran-$COALLOC_LABEL; sleep 0.%d`, s.home, random.IntN(10))
		parts[i] = part(fmt.Sprintf("part-%02d", i), script, count(1+random.IntN(2)), kind(kinds[random.IntN(len(kinds))]), on([]string{"here", "there"}[i%2]),
			func(p *coalloc.Part) { p.CheckIn = 20 * time.Second })
		if random.IntN(10) == 0 {
			noGate(&parts[i])
		}
	}
	return parts
}

// runsOf returns how often the invariant is tried, and whether nothing is killed during submissions: it takes
// minutes until it is certain that a job does not exist.
func runsOf(t *testing.T) (runs int, isGentle bool) {
	t.Helper()
	text := os.Getenv("RMCTL_CHAOS")
	if text == "" {
		return 1, true
	}
	runs, err := strconv.Atoi(text)
	require.NoError(t, err)
	return runs, false
}

// No process runs its program unless the journal has a release with its serial and itself; of the
// required parts all were released or none; and no job is left.
func TestNothingRunsWithoutARecordedReleaseWhateverIsKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("needs /proc")
	}
	runs, isGentle := runsOf(t)
	for run := range runs {
		seed := uint64(time.Now().UnixNano())
		t.Run(fmt.Sprintf("run %d with seed %d", run, seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			s := newSite(t, "here", "there")
			id, err := coalloc.Record(t.Context(), s.client, &coalloc.Request{Parts: s.mixed(random), Limits: coalloc.Limits{Commit: 20 * time.Second}})
			require.NoError(t, err)
			s.survives(id, random, isGentle || random.IntN(10) > 0)
			s.keepsTheInvariant(id)
		})
	}
}

// survives runs an ensemble while processes are killed, until it has ended.
func (s *site) survives(id string, random *rand.Rand, isGentle bool) {
	s.t.Helper()
	if isGentle {
		e := s.resumes(id)
		e.becomes(coalloc.Waiting)
		require.NoError(s.t, e.Close())
	}
	// A killed process of a required part ends the ensemble, so in half of the runs only rmctl itself and its connections are.
	victims := []int{4, 6}[random.IntN(2)]
	calm := time.Now().Add(time.Duration(random.IntN(8000)) * time.Millisecond)
	for {
		engine := s.engine(id)
		ended := make(chan error, 1)
		go func() { ended <- engine.Wait() }()
		if s.disturb(engine, ended, random, calm, victims) {
			return
		}
	}
}

// disturb kills processes while an engine runs. It reports whether the ensemble has ended.
func (s *site) disturb(engine *exec.Cmd, ended <-chan error, random *rand.Rand, calm time.Time, victims int) bool {
	s.t.Helper()
	for {
		select {
		case err := <-ended:
			if isBroken(err) {
				return false
			}
			require.NoError(s.t, err)
			return true
		case <-time.After(time.Duration(random.IntN(500)) * time.Millisecond):
		}
		if time.Now().After(calm) {
			select {
			case err := <-ended:
				require.NoError(s.t, err)
				return true
			case <-time.After(endPatience):
				_ = engine.Process.Kill()
				<-ended
				control, err := coalloc.Open(s.t.Context(), s.client, s.onlyEnsemble())
				require.NoError(s.t, err)
				status, err := control.Status(s.t.Context())
				require.NoError(s.t, err)
				require.Fail(s.t, "the ensemble does not end", "%+v", status)
			}
		}
		switch random.IntN(victims) {
		case 0:
			_ = engine.Process.Kill() // it may have ended
			return <-ended == nil
		case 1:
			s.killsOne("relay", random)
		case 2:
			_ = engine.Process.Signal(breakSignals["here"]) // it may have ended
		case 3:
			_ = engine.Process.Signal(breakSignals["there"])
		case 4:
			s.killsOne("run\x00--pass", random)
		case 5:
			s.killsOne("COALLOC_INSTANCE", random)
		}
	}
}

// isBroken reports whether an engine ended by a signal that came before it expected signals.
func isBroken(err error) bool {
	exit, isExit := errors.AsType[*exec.ExitError](err)
	if !isExit {
		return false
	}
	status, isStatus := exit.Sys().(syscall.WaitStatus)
	return isStatus && status.Signaled() && slices.Contains(slices.Collect(maps.Values(breakSignals)), status.Signal())
}

// killsOne kills one of the processes with a word in their arguments.
func (s *site) killsOne(word string, random *rand.Rand) {
	if found := s.processes(word); len(found) > 0 {
		_ = syscall.Kill(found[random.IntN(len(found))], syscall.SIGKILL) // it may have ended
	}
}

// onlyEnsemble returns the id of the ensemble on record.
func (s *site) onlyEnsemble() string {
	s.t.Helper()
	store, err := s.client.Store(s.t.Context())
	require.NoError(s.t, err)
	all, err := store.Journal().Ensembles(s.t.Context(), true)
	require.NoError(s.t, err)
	require.Len(s.t, all, 1)
	return all[0].ID
}

// keepsTheInvariant checks an ensemble that has ended.
func (s *site) keepsTheInvariant(id string) {
	s.t.Helper()
	store, err := s.client.Store(s.t.Context())
	require.NoError(s.t, err)
	saved, err := store.Journal().Load(s.t.Context(), id)
	require.NoError(s.t, err)
	require.True(s.t, saved.Ensemble.State.Ended())
	for _, p := range saved.Parts {
		for _, line := range s.marksOf(p.Label) {
			serial, instance, _ := strings.Cut(line, " ")
			require.Equal(s.t, strconv.Itoa(p.Serial), serial)
			require.True(s.t, isReleased(saved, p, instance), "part %s: process %q ran without a release: %+v", p.Label, instance, saved)
		}
	}
	released := 0
	var required []barrier.Part
	for _, p := range saved.Parts {
		if p.Kind != coalloc.Required || p.Gate == coalloc.NoGate {
			continue
		}
		required = append(required, p)
		if slices.ContainsFunc(saved.Rosters, func(r barrier.Roster) bool { return r.Serial == p.Serial }) {
			released++
		}
	}
	require.Contains(s.t, []int{0, len(required)}, released, "%+v", saved)
	s.t.Logf("%s: %d of %d required parts released: %s", saved.Ensemble.State, released, len(required), saved.Ensemble.Reason)
	for _, state := range []string{"queue/*/*", "held/*", "blocked/*"} {
		left, err := filepath.Glob(filepath.Join(s.home, ".local/state/rmctl/local/hosts/*", state))
		require.NoError(s.t, err)
		require.Empty(s.t, left)
	}
	require.Eventually(s.t, func() bool { return len(s.processes("")) == 0 }, patience, 50*time.Millisecond, "%v", s.processes(""))
}

// isReleased reports whether the journal has a release of a process.
func isReleased(saved journal.Saved, p barrier.Part, instance string) bool {
	return slices.ContainsFunc(saved.Rosters, func(r barrier.Roster) bool {
		return r.Serial == p.Serial && (p.Gate == coalloc.NoGate || slices.Contains(r.Instances, instance))
	})
}
