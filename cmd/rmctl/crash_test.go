package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/job"
)

// descendantPatience is how long what a killed rmctl has started may go on.
const descendantPatience = time.Minute

// A household is a home directory in which rmctl is run, and killed. Its jobs
// leave a line each, which no scheduler and no record can forget.
type household struct {
	t      testing.TB
	target string
	home   string
	extra  []string // environment
}

func newHousehold(t testing.TB, target string, environment ...string) *household {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return &household{t: t, target: target, home: home, extra: environment}
}

func (h *household) path(name string) string { return filepath.Join(h.home, name) }

// command returns a command of the test binary: rmctl or rmctl_settled. One that does not
// end is made to say where it waits.
func (h *household) command(program string, arguments ...string) *exec.Cmd {
	path, err := exec.LookPath(program)
	require.NoError(h.t, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.t.Context()), endsWithin)
	h.t.Cleanup(cancel)
	command := exec.CommandContext(ctx, path, arguments...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGQUIT) }
	command.Dir = h.home
	command.Env = h.environment()
	return command
}

// environment returns the environment of commands in the household.
func (h *household) environment() []string {
	own := append(os.Environ(), "HOME="+h.home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "GORACE=atexit_sleep_ms=0", "RMCTL_BACKGROUND=off")
	return append(own, h.extra...)
}

// run runs rmctl and returns its output.
func (h *household) run(arguments ...string) string {
	h.t.Helper()
	var stderr bytes.Buffer
	command := h.command("rmctl", arguments...)
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(h.t, err, "rmctl %v: %s", arguments, stderr.String())
	return string(output)
}

// outcome is how an rmctl ended that may have been killed.
type outcome struct {
	killed bool
	points []string // that it came past, the last one where it was killed
	stdout string
	stderr string
	err    error
}

// endure runs rmctl, to be killed at the point of a number or, with 0, by what
// meanwhile does, and waits until all that it started has ended, too.
func (h *household) endure(number int, meanwhile func(*os.Process), arguments ...string) outcome {
	o, alive := h.kill(number, meanwhile, arguments...)
	if alive == nil {
		return o
	}
	defer alive.Close()
	if err := awaitDescendants(alive, descendantPatience); err != nil {
		o.err = errors.Join(o.err, fmt.Errorf("what rmctl %v started goes on: %w", arguments, err))
	}
	return o
}

// awaitDescendants waits for the end of all processes that hold the other end of
// a pipe. Its error is os.ErrDeadlineExceeded if there are some for longer than that.
func awaitDescendants(alive *os.File, patience time.Duration) error {
	if err := alive.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := io.ReadAll(alive)
	return err
}

// kill is endure, but for the end of what rmctl started: that holds the other end
// of the pipe that is returned, which is nil if rmctl could not be started.
func (h *household) kill(number int, meanwhile func(*os.Process), arguments ...string) (o outcome, alive *os.File) {
	alive, held, err := os.Pipe()
	if err != nil {
		return outcome{err: err}, nil
	}
	name := filepath.Join(h.home, fmt.Sprintf(".point-%d-%d", number, rand.Uint64()))
	defer os.Remove(name)
	var stdout, stderr bytes.Buffer
	command := h.command("rmctl", arguments...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.ExtraFiles = []*os.File{held} // all processes that it starts have it, too
	command.WaitDelay = descendantPatience
	if number > 0 {
		command.Env = append(command.Env, faultPoint+"="+strconv.Itoa(number), faultTrace+"="+name)
	}
	if err := command.Start(); err != nil {
		return outcome{err: errors.Join(err, held.Close(), alive.Close())}, nil
	}
	o.err = held.Close()
	if meanwhile != nil {
		meanwhile(command.Process)
	}
	err = command.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status, isUnix := exit.Sys().(syscall.WaitStatus)
		o.killed = isUnix && status.Signaled() && status.Signal() == syscall.SIGKILL
	}
	if err != nil && !o.killed {
		o.err = errors.Join(o.err, fmt.Errorf("rmctl %v: %w: %s", arguments, err, stderr.String()))
	}
	points, _ := os.ReadFile(name) // the file does not exist if nothing was counted
	o.points = strings.Split(strings.TrimSpace(string(points)), "\n")
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o, alive
}

// submission returns the arguments that submit a job which leaves a mark.
func (h *household) submission(mark string) []string {
	return []string{"submit", "-t", h.target, "--", "sh", "-c", `echo "$1" >>"$0"`, h.path("marks"), mark}
}

// marks counts how often the job of each mark has run.
func (h *household) marks() map[string]int {
	h.t.Helper()
	text, err := os.ReadFile(h.path("marks"))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(h.t, err)
	}
	counts := map[string]int{}
	for _, mark := range strings.Fields(string(text)) {
		counts[mark]++
	}
	return counts
}

// settled returns the records after everything that can be found out was found out.
func (h *household) settled() []job.Job {
	h.t.Helper()
	var stderr bytes.Buffer
	command := h.command("rmctl_settled", h.target)
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(h.t, err, stderr.String())
	var jobs []job.Job
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var job job.Job
		require.NoError(h.t, decoder.Decode(&job))
		jobs = append(jobs, job)
	}
	// One cluster serves several households; jobs of others are found in its listing.
	return slices.DeleteFunc(jobs, func(job job.Job) bool { return h.target != "local" && len(job.Arguments) == 0 })
}

// verify requires that each job that ran is on record once, with its id, that each record with
// an id ran once, and that no other record may have run. Marks maps marks to the printed job
// ids, empty if none was printed.
func (h *household) verify(printed map[string]string) {
	t := h.t
	t.Helper()
	h.run("status")
	jobs := h.settled()
	// A scheduler whose answers take seconds, as on a busy machine, is left alone for twenty times as long.
	wait := []string{"wait", "--timeout", "10m"}
	recorded := map[string]string{}
	for _, j := range jobs {
		mark := j.Arguments[len(j.Arguments)-1]
		if j.Phase == job.PhaseRejected {
			continue
		}
		require.Equal(t, job.PhaseSubmitted, j.Phase, "submission %s has no outcome", j.Tag)
		require.NotEmpty(t, j.ID)
		require.NotContains(t, recorded, mark, "two jobs of one submission")
		recorded[mark] = j.ID
		wait = append(wait, h.target+"/"+j.ID)
	}
	if len(recorded) > 0 {
		h.run(wait...)
	}
	counts := h.marks()
	for mark, count := range counts {
		require.Equal(t, 1, count, "job %s ran more than once", mark)
		require.Contains(t, recorded, mark, "job %s ran and is not on record", mark)
	}
	for mark := range recorded {
		require.Contains(t, counts, mark, "job %s is on record and did not run", mark)
	}
	for mark, id := range printed {
		if id != "" {
			require.Equal(t, id, recorded[mark], "the id that was printed is not that on record")
		}
	}
	for _, job := range jobs {
		h.requireNoFile(job.Tag)
	}
}

// requireNoFile demands that no staged file of a submission is left, not even a
// begun one.
func (h *household) requireNoFile(tag string) {
	h.t.Helper()
	err := filepath.WalkDir(h.home, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a job has ended meanwhile
		}
		isPartial := strings.HasPrefix(entry.Name(), ".rmctl-") && strings.HasSuffix(entry.Name(), ".tmp")
		if err == nil && (strings.Contains(entry.Name(), tag) || isPartial) {
			return fmt.Errorf("%s was left behind", path)
		}
		return err
	})
	require.NoError(h.t, err)
}

// sweepTargets are where the sweeps kill rmctl: on this machine, and on a real
// Slurm where there is one.
func sweepTargets(t *testing.T) map[string][]string {
	targets := map[string][]string{"local": nil}
	if os.Getenv("RMCTL_CLUSTERS") == "1" {
		targets["slurm"] = []string{rmctltest.Slurm(t, "crash", keepsJobs).Setting()}
	}
	return targets
}

// sweep runs a step again and again, each time killed one point later, until it runs
// through. A step that is not killed says first how many points there are; it may come
// past a few more or fewer each time, as it waits.
func sweep(t *testing.T, step func(t *testing.T, number int) outcome) {
	whole := step(t, math.MaxInt)
	require.NoError(t, whole.err)
	require.Greater(t, len(whole.points), 4, "rmctl is hardly killed anywhere")
	points := 0
	for runThrough := false; !runThrough; {
		outcomes := make([]outcome, max(len(whole.points)+1-points, 1))
		t.Run(fmt.Sprintf("from %d", points+1), func(t *testing.T) {
			for i := range outcomes {
				number := points + 1 + i
				t.Run(strconv.Itoa(number), func(t *testing.T) {
					t.Parallel()
					o := step(t, number)
					require.NoError(t, o.err)
					if o.killed {
						t.Logf("killed %s", o.points[len(o.points)-1])
					}
					outcomes[i] = o
				})
			}
		})
		if t.Failed() {
			return
		}
		killed := slices.IndexFunc(outcomes, func(o outcome) bool { return !o.killed })
		runThrough = killed >= 0
		if !runThrough {
			killed = len(outcomes)
		}
		points += killed
	}
	require.Greater(t, points, 4, "rmctl was hardly killed anywhere")
	t.Logf("%d points", points)
}

// However rmctl is killed, between any two steps, the next one finds out what
// happened: no job is lost, none is submitted twice, no file is left.
func TestAKillAtEachPointLosesOrDuplicatesNoJob(t *testing.T) {
	t.Parallel()
	for target, environment := range sweepTargets(t) {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			t.Run("submit", func(t *testing.T) {
				t.Parallel()
				sweep(t, func(t *testing.T, number int) outcome {
					h := newHousehold(t, target, environment...)
					o := h.endure(number, nil, h.submission("only")...)
					h.verify(map[string]string{"only": strings.TrimSpace(o.stdout)})
					if !o.killed {
						require.Len(t, h.marks(), 1)
					}
					return o
				})
			})
			t.Run("status and recover", func(t *testing.T) {
				t.Parallel()
				cut := lastPoint(t, newHousehold(t, target, environment...), "after waiting for ")
				for _, command := range []string{"status", "recover"} {
					t.Run(command, func(t *testing.T) {
						t.Parallel()
						sweep(t, func(t *testing.T, number int) outcome {
							h := newHousehold(t, target, environment...)
							require.True(t, h.endure(cut, nil, h.submission("only")...).killed)
							o := h.endure(number, nil, command)
							h.verify(nil)
							require.Len(t, h.marks(), 1)
							return o
						})
					})
				}
			})
			t.Run("wait", func(t *testing.T) {
				t.Parallel()
				sweep(t, func(t *testing.T, number int) outcome {
					h := newHousehold(t, target, environment...)
					j := strings.TrimSpace(h.run(h.submission("only")...))
					require.Eventually(t, func() bool { return h.marks()["only"] > 0 }, endsWithin, 20*time.Millisecond)
					o := h.endure(number, nil, "wait", j)
					h.verify(map[string]string{"only": j})
					require.Equal(t, job.Completed, h.end(j))
					return o
				})
			})
			t.Run("cancel", func(t *testing.T) {
				t.Parallel()
				sweep(t, func(t *testing.T, number int) outcome {
					h := newHousehold(t, target, environment...)
					j := strings.TrimSpace(h.run("submit", "-t", target, "--", "sleep", "600"))
					o := h.endure(number, nil, "cancel", j)
					if o.killed {
						h.endureCancel(j)
					}
					jobs := h.settled()
					require.Len(t, jobs, 1)
					require.Equal(t, job.Canceled, h.end(j))
					return o
				})
			})
		})
	}
}

// endureCancel cancels a job that may be canceled already.
func (h *household) endureCancel(job string) {
	command := h.command("rmctl", "cancel", job)
	output, err := command.CombinedOutput()
	if err != nil {
		require.Contains(h.t, string(output), "ended")
	}
}

// end waits for a job and returns how it ended.
func (h *household) end(job string) job.Detail {
	_ = h.command("rmctl", "wait", "--timeout", "5m", job).Run() // which exits with the job's code
	jobs := h.settled()
	require.Len(h.t, jobs, 1)
	return jobs[0].Detail
}

// lastPoint returns the number of the last point of a submission whose name
// begins with a text.
func lastPoint(t *testing.T, h *household, name string) int {
	t.Helper()
	o := h.endure(math.MaxInt, nil, h.submission("probe")...)
	require.NoError(t, o.err)
	for number, point := range slices.Backward(o.points) {
		if strings.HasPrefix(point, name) {
			return number + 1
		}
	}
	require.Fail(t, "there is no such point", "%q in %q", name, o.points)
	return 0
}

// rmctl is killed at any moment while several run at once. RMCTL_KILLS says how
// many submissions are made.
func TestAKillAtAnyTimeLosesOrDuplicatesNoJob(t *testing.T) {
	t.Parallel()
	submissions := 40
	if text := os.Getenv("RMCTL_KILLS"); text != "" {
		var err error
		submissions, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	h := newHousehold(t, "local")
	begun := time.Now()
	h.run(h.submission("first")...)
	printed := map[string]string{}
	var lock sync.Mutex
	longest := time.Since(begun) * 3 // several share the processors
	var killed int
	var group errgroup.Group
	group.SetLimit(8)
	for number := range submissions {
		group.Go(func() error {
			mark := strconv.Itoa(number)
			lock.Lock()
			moment := rand.N(longest)
			lock.Unlock()
			o := h.endure(0, func(process *os.Process) {
				timer := time.NewTimer(moment)
				defer timer.Stop()
				<-timer.C
				_ = process.Kill() // unless it has ended already
			}, h.submission(mark)...)
			lock.Lock()
			defer lock.Unlock()
			printed[mark] = strings.TrimSpace(o.stdout)
			if o.killed {
				killed++
			} else {
				longest = min(longest, moment+1) // the first one may have met a busier machine
			}
			return o.err
		})
	}
	require.NoError(t, group.Wait())
	require.Positive(t, killed)
	h.verify(printed)
	t.Logf("%d of %d submissions killed, %d jobs", killed, submissions, len(h.marks())-1)
}
