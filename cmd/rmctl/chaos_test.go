package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// newChaos returns a household with the target chaos, whose scheduler has a seed and its own
// records.
func newChaos(t testing.TB, environment ...string) *household {
	t.Helper()
	folder := t.TempDir()
	project, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(folder, "chaos"), ".")
	build.Dir = filepath.Join(project, "testdata", "chaos")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	h := newHousehold(t, "chaos", append([]string{
		"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH"), "CHAOS_DIR=" + filepath.Join(folder, "records"),
	}, environment...)...)
	configuration := h.path(".config/rmctl")
	require.NoError(t, os.MkdirAll(configuration, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(configuration, "targets.toml"),
		fmt.Appendf(nil, "[targets.chaos]\ndefinition = %q\n", filepath.Join(project, "testdata", "chaos", "chaos.xml")), 0o600))
	return h
}

// An atHome is a connection to this machine whose user has another home directory.
type atHome struct {
	remote.Connection
	home string
}

// Info implements [remote.Connection].
func (c atHome) Info() remote.Info {
	info := c.Connection.Info()
	info.Home = c.home
	return info
}

// controller returns a controller in this process, whose clock is ahead of the
// real one; waiting only puts it forward.
func (h *household) controller(ahead *time.Duration) (*control.Controller, *jobstore.Store) {
	definition, _, err := check.UsableDefinition(filepath.Join("..", "..", "testdata", "chaos", "chaos.xml"))
	require.NoError(h.t, err)
	local, err := remote.NewLocalWith(200*time.Millisecond, 2*time.Second)
	require.NoError(h.t, err)
	store, err := jobstore.Open(h.t.Context(), h.path(".local/state/rmctl"))
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, store.Close()) })
	connection := daemon.InEnvironment(atHome{local, h.home}, h.environment())
	return control.New(control.Options{Target: "chaos", Definition: definition, Connection: connection, Store: store,
		Now: func() time.Time { return time.Now().Add(*ahead) },
		Pause: func(ctx context.Context, length time.Duration) error {
			*ahead += length
			return ctx.Err()
		},
	}), store
}

// writeBatch writes a batch of so many jobs and returns its path.
func (h *household) writeBatch(jobs int) string {
	var batch bytes.Buffer
	for number := range jobs {
		fmt.Fprintf(&batch, "{\"executable\": \"true\", \"arguments\": [\"%d\"]}\n", number)
	}
	path := h.path("batch.jsonl")
	require.NoError(h.t, os.WriteFile(path, batch.Bytes(), 0o600))
	return path
}

// allMissing reports whether an error only names jobs that their scheduler has
// forgotten.
func allMissing(err error) bool {
	if several, joined := err.(interface{ Unwrap() []error }); joined {
		for _, one := range several.Unwrap() {
			if !allMissing(one) {
				return false
			}
		}
		return true
	}
	var missing *control.MissingError
	return err == nil || errors.As(err, &missing)
}

// number returns the value of an environment variable, or a default.
func number(t testing.TB, variable string, usual int) int {
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	value, err := strconv.Atoi(text)
	require.NoError(t, err)
	return value
}

// A scheduler does everything wrong that schedulers do: at the end each job that
// it really made is on record, once and with its id, and each end on record is
// the one that the scheduler gave. RMCTL_CHAOS says how many jobs, RMCTL_SEED
// draws other faults.
func TestAnUnreliableSchedulerLosesOrDuplicatesNoJob(t *testing.T) {
	t.Parallel()
	jobs := number(t, "RMCTL_CHAOS", 300)
	part := jobs / 4
	h := newChaos(t, "CHAOS_SEED="+strconv.Itoa(number(t, "RMCTL_SEED", 1)))
	batch := h.command("rmctl", "submit", "-t", "chaos", "--parallel", "16", "--batch", h.writeBatch(jobs-3*part))
	said, err := batch.CombinedOutput()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit, "%s", said)
		require.Equal(t, exitFailed, exit.ExitCode(), "%s", said)
	}
	var ahead time.Duration
	controller, store := h.controller(&ahead)
	for round := range 6 {
		if round > 0 && round < 4 {
			submitSome(t, controller, part) // to a scheduler that has ids to give again
		}
		recoverAll(t, controller, store, nil)
		rediscover(t, controller)
		waitForOpen(t, controller, store, round == 0)
		ahead += time.Hour
	}
	for range chaosLateness {
		rediscover(t, controller) // time passes for this scheduler with each listing
	}
	decided := map[string]bool{}
	for tries := 0; ; tries++ {
		undecided := recoverAll(t, controller, store, decided)
		if len(undecided) == 0 {
			break
		}
		require.Less(t, tries, 20, "submissions stay without an outcome: %v", undecided)
		ahead += time.Minute
	}
	waitForOpen(t, controller, store, false)
	h.requireTruth(store, jobs)
}

// chaosLateness is the largest number of listings that a new job can be missing
// from, plus one.
const chaosLateness = 4

// A query also finds jobs that the scheduler accepted late, once the next look-up is due;
// rmctl recover does not wait for that.
func TestJobsThatTheirSchedulerAcceptsLateAreFound(t *testing.T) {
	t.Parallel()
	h := newChaos(t, "CHAOS_CALM=1")
	store, err := jobstore.Open(t.Context(), h.path(".local/state/rmctl"))
	require.NoError(t, err)
	now := time.Now()
	// unseen records a submission that so many queries of its scheduler did not find.
	unseen := func(tag string, times int) {
		require.NoError(t, store.Intend(t.Context(), job.Job{Tag: tag, Target: "chaos", Created: now.Add(-4 * time.Minute), Submitter: "0 gone nowhere"}))
		for range times {
			_, err = store.RejectUnseen(t.Context(), tag, "the scheduler was asked for it, and has no such job", now.Add(-3*time.Minute))
			require.NoError(t, err)
		}
	}
	takesUp := func(tag string) {
		submit := h.command(h.chaos(), "submit")
		submit.Env = append(submit.Env, "CHAOS_TAG="+tag)
		require.NoError(t, submit.Run())
	}
	const due, later = "2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2", "11111111-2222-3333-4444-555555555555"
	unseen(due, 1)
	require.Empty(t, h.run("status"), "a submission that is on record as not made is not shown")
	takesUp(due)
	require.Regexp(t, `(?m)^00000001 +chaos +QUEUED +`, h.run("status"))

	unseen(later, 5)
	takesUp(later)
	require.NotContains(t, h.run("status"), "00000002")
	require.Regexp(t, `(?m)^00000002 +chaos `, h.run("recover"))
	require.NoError(t, store.Close())
}

// chaos is the path of the program of the scheduler.
func (h *household) chaos() string {
	path, _, _ := strings.Cut(h.extra[0], string(os.PathListSeparator))
	return filepath.Join(strings.TrimPrefix(path, "PATH="), "chaos")
}

// recoverAll tries to find out what became of each submission without a job, also
// of those that are on record as not made, and returns why it did not find out.
// Those that are decided, by their tags, are left out; it adds to them, unless nil.
func recoverAll(t *testing.T, controller *control.Controller, store *jobstore.Store, decided map[string]bool) (undecided []error) {
	open, err := store.Unresolved(t.Context(), controller.Target)
	require.NoError(t, err)
	late, err := store.Unseen(t.Context(), time.Now().Add(-recovery.LastLateLook), controller.Target)
	require.NoError(t, err)
	for _, job := range append(open, late...) {
		if decided[job.Tag] {
			continue
		}
		_, err := controller.Recover(t.Context(), job)
		var unconfirmed *control.UnconfirmedError
		switch {
		case err != nil:
			require.ErrorAs(t, err, &unconfirmed)
			undecided = append(undecided, err)
		case decided != nil:
			decided[job.Tag] = true
		}
	}
	return undecided
}

// rediscover lists the jobs once, which may fail.
func rediscover(t *testing.T, controller *control.Controller) {
	_, err := controller.Rediscover(t.Context())
	var failed *control.QueryError
	if err != nil {
		require.ErrorAs(t, err, &failed)
	}
}

// waitForOpen waits for the jobs that have not ended; at first also for those that
// seem to be missing.
func waitForOpen(t *testing.T, controller *control.Controller, store *jobstore.Store, atFirst bool) {
	known, err := store.List(t.Context(), jobstore.Filter{})
	require.NoError(t, err)
	known = slices.DeleteFunc(known, func(job job.Job) bool { return job.ID == "" || job.Missing && !atFirst })
	_, err = controller.WaitAll(t.Context(), known, "", nil)
	require.True(t, allMissing(err), "%v", err)
}

// submitSome submits jobs in this process, many at once.
func submitSome(t *testing.T, controller *control.Controller, jobs int) {
	var group errgroup.Group
	group.SetLimit(16)
	for range jobs {
		group.Go(func() error {
			_, err := controller.Submit(t.Context(), job.Submission{Executable: "true"})
			var refused *control.SubmitError
			if errors.As(err, &refused) {
				return nil // the end of the test shows which of these are jobs
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
}

// requireTruth demands that the records say what the scheduler knows.
func (h *household) requireTruth(store *jobstore.Store, jobs int) {
	t := h.t
	output, err := h.command(h.chaos(), "truth").Output()
	require.NoError(t, err)
	type fact struct{ id, end string }
	truth := map[string]fact{}
	latest := map[string]string{} // tags by ids
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		require.NotContains(t, truth, fields[1], "submitted twice")
		truth[fields[1]] = fact{fields[0], fields[2]}
		latest[fields[0]] = fields[1]
	}
	records, err := store.List(t.Context(), jobstore.Filter{All: true})
	require.NoError(t, err)
	require.Len(t, records, jobs)
	late := lateOnes(t, store)
	made, ended, missing, succeeded, refused := 0, 0, 0, 0, 0
	for _, j := range records {
		real, exists := truth[j.Tag]
		if !exists {
			require.Equal(t, job.PhaseRejected, j.Phase, "there is no job of submission %s: %s", j.Tag, j.Error)
			refused++
			continue
		}
		made++
		require.Equal(t, job.PhaseSubmitted, j.Phase, "job %s of submission %s is not on record: %s", real.id, j.Tag, j.Error)
		require.Equal(t, real.id, j.ID)
		switch {
		case j.Detail.Ended():
			require.Equal(t, real.end, string(j.Detail), "job %s: %s", j.ID, j.Evidence)
			ended++
		case j.Successor != "":
			require.Equal(t, j.ID, truth[j.Successor].id)
			require.NotEqual(t, j.Tag, latest[j.ID], "job %s is the last one with its id", j.ID)
			succeeded++
		default:
			require.True(t, j.Missing, "job %s is still %s", j.ID, j.Detail)
			missing++
		}
	}
	require.Equal(t, len(truth), made, "a job is not on record")
	require.Greater(t, ended, made/2)
	t.Logf("%d submissions: %d not taken, %d jobs, %d of them found after they were on record as not submitted; %d ids given again", jobs, refused, made, late, made-len(latest))
	t.Logf("%d jobs ended as the scheduler said, %d forgotten by it, %d whose id another job has", ended, missing, succeeded)
}

// lateOnes counts the jobs that were on record as not submitted before.
func lateOnes(t testing.TB, store *jobstore.Store) int {
	rejected, late := map[string]bool{}, 0
	for after := int64(0); ; {
		events, err := store.Events(t.Context(), after)
		require.NoError(t, err)
		if len(events) == 0 {
			return late
		}
		for _, event := range events {
			after = event.Sequence
			if event.Kind == job.EventAccepted && rejected[event.Tag] {
				late++
			}
			rejected[event.Tag] = event.Kind == "rejected"
		}
	}
}
