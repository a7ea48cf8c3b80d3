package clusters_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// schedulers are a Slurm and a Grid Engine that run ensembles.
type schedulers struct {
	slurm      *rmctltest.Cluster
	gridEngine *rmctltest.Cell
}

func newSchedulers(t *testing.T) schedulers {
	t.Helper()
	return schedulers{rmctltest.Slurm(t, "coalloc"), rmctltest.GridEngine(t, "coalloc", "RMCTL_GRIDENGINE_SLOTS=32")}
}

func (s schedulers) settings() []string {
	return append(s.gridEngine.Settings(), s.slurm.Setting())
}

// hasNone requires that neither scheduler lists a job.
func (s schedulers) hasNone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		return s.slurm.Asks(t, "squeue", "--noheader") == "" && s.gridEngine.Asks(t, "qstat", "-u", "*") == ""
	}, time.Minute, 100*time.Millisecond, "a job is left in a queue")
}

// A venue is where the parts of an ensemble run: the names of targets.
type venue struct {
	desk                     *rmctltest.Desk
	slurm, gridEngine, local string
	directory                string // where the parts run; empty for the desk's own
}

// venues are this machine, and the same over SSH.
func (s schedulers) venues(t *testing.T) map[string]func(t *testing.T) venue {
	t.Helper()
	daemons := rmctltest.SSHD(t, "coalloc", "RMCTL_SSHD_ENVIRONMENT="+strings.Join(s.settings(), " "))
	return map[string]func(t *testing.T) venue{
		"here": func(t *testing.T) venue {
			return venue{rmctltest.NewDesk(t, "", s.settings()...), "slurm", "gridengine", "local", ""}
		},
		"over SSH": func(t *testing.T) venue {
			v := venue{rmctltest.NewDesk(t, ""), "far-slurm", "far-gridengine", "far-local", openDirectory(t)}
			v.desk.Reaches(v.slurm, "slurm", "ssh", "rmtest-target", daemons.Configuration)
			v.desk.Reaches(v.gridEngine, "gridengine", "ssh", "rmtest-target", daemons.Configuration)
			v.desk.Reaches(v.local, "local", "ssh", "rmtest-target", daemons.Configuration)
			return v
		},
	}
}

// openDirectory returns a directory that another user can write to.
func openDirectory(t testing.TB) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "rmctl-coalloc-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(directory)) })
	require.NoError(t, os.Chmod(directory, 0o777))
	return directory
}

// request writes a request to the folder of the desk, and returns its path.
func (v venue) request(t testing.TB, text string) string {
	t.Helper()
	file, err := os.CreateTemp(v.desk.Home, "*.toml")
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return file.Name()
}

// status returns an ensemble.
func (v venue) status(t testing.TB, id string) (status coalloc.Status) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(v.desk.Does("coalloc", "status", "--json", id)), &status))
	return status
}

// reaches waits until parts of an ensemble are in a state: those with the labels, or all.
func (v venue) reaches(t *testing.T, id string, state coalloc.PartState, labels ...string) (status coalloc.Status) {
	t.Helper()
	require.Eventually(t, func() bool {
		status = v.status(t, id)
		return !slices.ContainsFunc(status.Parts, func(p coalloc.PartStatus) bool {
			return p.State != state && (len(labels) == 0 || slices.Contains(labels, p.Label))
		})
	}, 5*time.Minute, 200*time.Millisecond, "the parts %v do not become %s", labels, state)
	return status
}

// output returns the output of the parts. Parts that never ran have none, which rmctl reports.
func (v venue) output(t *testing.T, id string) string {
	t.Helper()
	stdout, _, _ := runsWithout(t, v.desk, nil, false, "coalloc", "output", id)
	return stdout
}

// running is a part with a program and its arguments. Settings may follow it.
func (v venue) running(label, target string, words ...string) string {
	var arguments []string
	for _, word := range words[1:] {
		arguments = append(arguments, fmt.Sprintf("%q", word))
	}
	return fmt.Sprintf("[part.%s]\ntarget = %q\ndirectory = %q\nexecutable = %q\narguments = [%s]\n", label, target, v.directory, words[0], strings.Join(arguments, ", "))
}

// printing is a part with a program that prints its label and rank.
func (v venue) printing(label, target, settings string) string {
	return v.running(label, target, "sh", "-c", "echo begun $COALLOC_LABEL/$COALLOC_RANK") + settings + "\n"
}

// three is a request with two processes on Slurm, one on Grid Engine and two without a scheduler.
func (v venue) three() string {
	return v.printing("solver", v.slurm, "count = 2\nattributes.wallTime = \"5m\"") + v.printing("field", v.gridEngine, "") + v.printing("viewer", v.local, "count = 2")
}

// Ensembles with parts on Slurm, on Grid Engine and without a scheduler.
func TestEnsemblesOfSeveralSchedulers(t *testing.T) {
	t.Parallel()
	both := newSchedulers(t)
	t.Run("together", func(t *testing.T) { // ends after its parallel subtests, which share the queues
		couplesPrograms(t, both)
		for name, newVenue := range both.venues(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for name, test := range map[string]func(t *testing.T, v venue){
					"no program runs before the release, and then all do":        releasesAll,
					"cancel ends all jobs":                                       cancelsAll,
					"a required part that cannot run ends the others":            endsAll,
					"a part that waits in its queue is substituted by another":   substitutes,
					"a required part that fails after the release ends the rest": endsAllLater,
					"with holds, no job runs before all parts were accepted":     both.releasesHolds,
					"a part that is refused cancels the jobs on hold":            both.cancelsHolds,
					"an alternative that comes too late leaves its queue":        both.leavesAlternative,
				} {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						test(t, newVenue(t))
					})
				}
			})
		}
	})
	both.hasNone(t)
}

func releasesAll(t *testing.T, v venue) {
	id := v.desk.Does("coalloc", "submit", v.request(t, v.three()))
	status := v.reaches(t, id, coalloc.PartCheckedIn)
	require.Equal(t, coalloc.Waiting, status.State)
	require.NotContains(t, v.output(t, id), "begun")
	v.desk.Does("coalloc", "commit", id)
	v.desk.Does("coalloc", "wait", id)
	output := v.output(t, id)
	for _, printed := range []string{"solver/0", "solver/1", "field/0", "viewer/0", "viewer/1"} {
		require.Equal(t, 1, strings.Count(output, "begun "+printed), output)
	}
	require.Equal(t, coalloc.Done, v.status(t, id).State)
}

func cancelsAll(t *testing.T, v venue) {
	id := v.desk.Does("coalloc", "submit", v.request(t, v.three()))
	v.reaches(t, id, coalloc.PartCheckedIn)
	v.desk.Does("coalloc", "cancel", id)
	v.desk.Refused(exitFailed, "coalloc", "wait", id)
	status := v.status(t, id)
	require.Equal(t, coalloc.Canceled, status.State)
	require.NotContains(t, v.output(t, id), "begun")
}

func endsAll(t *testing.T, v venue) {
	request := v.three() + v.running("wrong", v.slurm, "no-such-program")
	id := v.desk.Does("coalloc", "submit", "--commit", v.request(t, request))
	_, _, code := runsWithout(t, v.desk, nil, false, "coalloc", "wait", id)
	require.NotZero(t, code)
	status := v.status(t, id)
	require.Equal(t, coalloc.Failed, status.State)
	require.Contains(t, status.Reason, "no-such-program")
	require.NotContains(t, v.output(t, id), "begun")
}

func substitutes(t *testing.T, v venue) {
	id := v.desk.Does("coalloc", "submit", "--commit", v.request(t, v.printing("solver", v.slurm, "")+v.printing("late", v.gridEngine, `attributes.queue = "closed.q"`)))
	v.reaches(t, id, coalloc.PartCheckedIn, "solver")
	v.reaches(t, id, coalloc.PartPending, "late")
	v.desk.Does("coalloc", "substitute", id, "late", v.request(t, v.printing("soon", v.local, "")))
	v.desk.Does("coalloc", "wait", id)
	output := v.output(t, id)
	require.Contains(t, output, "begun solver/0")
	require.Contains(t, output, "begun soon/0")
	require.NotContains(t, output, "begun late/0")
}

func endsAllLater(t *testing.T, v venue) {
	request := v.running("solver", v.slurm, "sleep", "1000") + v.running("field", v.gridEngine, "sleep", "1000") + v.running("brief", v.local, "sh", "-c", "exit 3")
	id := v.desk.Does("coalloc", "submit", "--commit", v.request(t, request))
	_, _, code := runsWithout(t, v.desk, nil, false, "coalloc", "wait", id)
	require.NotZero(t, code)
	status := v.status(t, id)
	require.Equal(t, coalloc.Failed, status.State)
	require.Contains(t, status.Reason, "brief")
}

// refused is a part that Slurm refuses. It may be replaced.
func (v venue) refused(kind coalloc.Kind) string {
	return v.printing("refused", v.slurm, fmt.Sprintf("kind = %q\nattributes.partition = \"no-such-partition\"", kind))
}

// job returns the id of the job of a part.
func (v venue) job(t *testing.T, id, label string) string {
	t.Helper()
	for _, p := range v.status(t, id).Parts {
		if p.Label == label {
			return p.JobID
		}
	}
	require.Fail(t, "unknown part", label)
	return ""
}

// inSlurm returns the state and the reason of a job, empty if the queue does not have it.
func (s schedulers) inSlurm(t *testing.T, job string) string {
	t.Helper()
	for line := range strings.Lines(s.slurm.Asks(t, "squeue", "--noheader", "--format=%i %T %r")) {
		if words := strings.Fields(line); words[0] == job {
			return strings.Join(words[1:], " ")
		}
	}
	return ""
}

// inGridEngine returns the letters of the state of a job, empty if the queue does not have it.
func (s schedulers) inGridEngine(t *testing.T, job string) string {
	t.Helper()
	for line := range strings.Lines(s.gridEngine.Asks(t, "qstat", "-u", "*")) {
		if words := strings.Fields(line); len(words) > 4 && words[0] == job {
			return words[4]
		}
	}
	return ""
}

// submitsOnHold submits a part to each scheduler and one that is refused, and returns the ensemble with its jobs,
// which are on hold.
func (s schedulers) submitsOnHold(t *testing.T, v venue) (id, solver, field string) {
	t.Helper()
	id = v.desk.Does("coalloc", "submit", "--hold-first", v.request(t, v.printing("solver", v.slurm, "")+v.printing("field", v.gridEngine, "")+v.refused(coalloc.Interactive)))
	v.reaches(t, id, coalloc.PartPending, "solver", "field")
	v.reaches(t, id, coalloc.PartFailed, "refused")
	solver, field = v.job(t, id, "solver"), v.job(t, id, "field")
	require.Equal(t, "PENDING JobHeldUser", s.inSlurm(t, solver))
	require.Equal(t, "hqw", s.inGridEngine(t, field))
	return id, solver, field
}

func (s schedulers) releasesHolds(t *testing.T, v venue) {
	id, solver, field := s.submitsOnHold(t, v)
	v.desk.Does("coalloc", "substitute", id, "refused", v.request(t, v.printing("viewer", v.local, "")))
	v.reaches(t, id, coalloc.PartCheckedIn, "solver", "field", "viewer")
	require.Equal(t, "RUNNING None", s.inSlurm(t, solver))
	require.Eventually(t, func() bool { return s.inGridEngine(t, field) == "r" }, time.Minute, 100*time.Millisecond, "it is transferred first")
	v.desk.Does("coalloc", "commit", id)
	v.desk.Does("coalloc", "wait", id)
	require.Contains(t, v.output(t, id), "begun solver/0")
}

func (s schedulers) cancelsHolds(t *testing.T, v venue) {
	id, solver, field := s.submitsOnHold(t, v)
	v.desk.Does("coalloc", "substitute", id, "refused", v.request(t, v.refused(coalloc.Required)))
	_, _, code := runsWithout(t, v.desk, nil, false, "coalloc", "wait", id)
	require.NotZero(t, code)
	status := v.status(t, id)
	require.Equal(t, coalloc.Failed, status.State)
	require.Contains(t, status.Reason, "no-such-partition")
	require.Empty(t, s.inSlurm(t, solver))
	require.Empty(t, s.inGridEngine(t, field))
	require.NotContains(t, v.output(t, id), "begun")
}

// Each scheduler has the waiting alternative once.
func (s schedulers) leavesAlternative(t *testing.T, v venue) {
	late := map[string]string{
		"slurm":      v.printing("late", v.slurm, `attributes.hold = "true"`),
		"gridengine": v.printing("late", v.gridEngine, `attributes.queue = "closed.q"`),
	}
	soon := map[string]string{"slurm": v.printing("soon", v.gridEngine, ""), "gridengine": v.printing("soon", v.slurm, "")}
	queued := map[string]func(*testing.T, string) string{"slurm": s.inSlurm, "gridengine": s.inGridEngine}
	for scheduler, part := range late {
		id := v.desk.Does("coalloc", "submit", v.request(t, part+soon[scheduler]+"[set.either]\nparts = [\"soon\", \"late\"]\natLeast = 1\n"))
		v.reaches(t, id, coalloc.PartCheckedIn, "soon")
		v.reaches(t, id, coalloc.PartPending, "late")
		job := v.job(t, id, "late")
		require.NotEmpty(t, queued[scheduler](t, job))
		v.desk.Does("coalloc", "commit", id)
		v.desk.Does("coalloc", "wait", id)
		status := v.reaches(t, id, coalloc.PartDeleted, "late")
		require.Equal(t, coalloc.Done, status.State)
		require.Empty(t, queued[scheduler](t, job))
		require.Contains(t, v.output(t, id), "begun soon/0")
		require.NotContains(t, v.output(t, id), "begun late")
	}
}
