package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/job"
)

// A job that a killed rmctl has started with srun is found by its tag, whether it
// runs, waits or has ended meanwhile; and none is where Slurm never had one.
func TestAnInteractiveSlurmJobIsFoundAfterAKill(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "crash-interactive", keepsJobs)
	var found atomic.Int64
	var whole atomic.Pointer[[]string]
	sweep(t, func(t *testing.T, number int) outcome {
		h := newHousehold(t, "slurm-interactive", cluster.Setting())
		o := h.endureAttached(number)
		if o.killed {
			found.Add(h.verifyAttached(cluster))
		} else {
			whole.Store(&o.points) // of steps at once several may run through: each has them all
		}
		return o
	})
	if t.Failed() {
		return
	}
	require.Positive(t, found.Load(), "no job had to be looked for")

	firstOutput := 1 + slices.IndexFunc(*whole.Load(), regexp.MustCompile("^before reading the messages of .*managed_file_for_script$").MatchString)
	require.Positive(t, firstOutput)
	for name, number := range map[string]int{readBefore: firstOutput, "when its id is read": firstOutput + 1} {
		t.Run("it waits, "+name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t, "slurm-interactive", cluster.Setting())
			o := h.endureAttached(number, "-s", "partition=closed")
			require.NoError(t, o.err)
			require.True(t, o.killed)
			looked := h.verifyAttached(cluster)
			if name == readBefore { // else it may be on record already
				require.EqualValues(t, 1, looked, "it did not have to be looked for")
			}
			require.Empty(t, h.marks())
		})
	}
}

const readBefore = "before its id is read"

// endureAttached is endure for a job attached to a terminal.
// If srun 22.05 loses its terminal just before it waits for the job, it cancels
// the job but keeps waiting. endureAttached then sends it SIGHUP again.
func (h *household) endureAttached(number int, settings ...string) outcome {
	arguments := append([]string{"run", "-t", h.target}, settings...)
	arguments = append(arguments, "--", "sh", "-c", `echo "$1" >>"$0"`, h.path("marks"), "only")
	o, alive := h.kill(number, nil, arguments...)
	if alive == nil {
		return o
	}
	defer alive.Close()
	err := awaitDescendants(alive, 10*time.Second)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		h.t.Log("srun goes on without its terminal")
		output, noted := exec.Command("pkill", "-HUP", "-f", "^srun .*"+regexp.QuoteMeta(h.home)).CombinedOutput()
		if noted != nil {
			h.t.Logf("pkill: %v: %s", noted, output) // srun may have just ended
		}
		err = awaitDescendants(alive, descendantPatience)
	}
	if err != nil {
		o.err = errors.Join(o.err, fmt.Errorf("what rmctl %v started goes on: %w", arguments, err))
	}
	return o
}

// verifyAttached demands that the job of a killed rmctl is on record if Slurm has
// it, and comes to an end there. It returns 1 if the job had to be looked for.
func (h *household) verifyAttached(cluster *rmctltest.Cluster) int64 {
	t := h.t
	t.Helper()
	jobs := h.settled()
	require.LessOrEqual(t, len(jobs), 1)
	if len(jobs) == 0 || jobs[0].Phase == job.PhaseRejected {
		require.Empty(t, h.marks(), "it ran and is not on record")
		if len(jobs) == 1 {
			require.Empty(t, h.atSlurm(cluster, jobs[0].Tag), "it is on record as one that was never made")
			h.requireNoFile(jobs[0].Tag)
		}
		return 0
	}
	j := jobs[0]
	require.Equal(t, job.PhaseSubmitted, j.Phase)
	require.Equal(t, []string{j.ID}, h.atSlurm(cluster, j.Tag))
	require.LessOrEqual(t, h.marks()["only"], 1)
	require.True(t, h.end(j.ID).Ended(), "nobody is there to see it, and it goes on")
	h.requireNoFile(j.Tag)
	if j.Source != "find" {
		return 0
	}
	return 1
}

var jobsOfSlurm = regexp.MustCompile(`(?m)^JobId=(\d+) .*$`)

// atSlurm returns the ids of the jobs with a tag that a cluster knows.
func (h *household) atSlurm(cluster *rmctltest.Cluster, tag string) []string {
	var ids []string
	for _, job := range jobsOfSlurm.FindAllStringSubmatch(cluster.Asks(h.t, "scontrol", "--oneliner", "show", "job"), -1) {
		if strings.Contains(job[0], "/"+tag) {
			ids = append(ids, job[1])
		}
	}
	return ids
}
