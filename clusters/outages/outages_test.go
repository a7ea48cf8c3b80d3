package outages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Parts of a real Slurm fail while jobs are submitted and waited for. No job is
// lost, none is doubled, no state is made up, and the user learns of it.
func TestOutages(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "outages", "RMCTL_SLURM_MINJOBAGE=3600") // the end queries all jobs
	// One by one: they have the cluster in common.
	t.Run("slurmctld is away while jobs are submitted", func(t *testing.T) { testControllerAwayWhileSubmitting(t, cluster) })
	t.Run("slurmctld is away while jobs are waited for", func(t *testing.T) { testControllerAwayWhileWaiting(t, cluster) })
	t.Run("munged is away", func(t *testing.T) { testMungedAway(t, cluster) })
	t.Run("a node fails", func(t *testing.T) { testNodeFails(t, cluster) })
}

// An outage is a desk at a cluster with failing parts.
type outage struct {
	*rmctltest.Desk
	*rmctltest.Cluster
	t *testing.T
}

func newOutage(t *testing.T, cluster *rmctltest.Cluster) *outage {
	return &outage{Desk: rmctltest.NewDesk(t, "", cluster.Setting()), Cluster: cluster, t: t}
}

// A record is the recorded state of a job.
type record struct {
	ID, Tag, Phase, State, Detail, Native string
	Stale, Missing                        bool
	StaleReason                           string
	ExitCode                              *int
}

// records returns the records of all jobs.
func (o *outage) records() []record {
	o.t.Helper()
	var records []record
	for decoder := json.NewDecoder(strings.NewReader(o.Does("jobs", "--all", "--json"))); decoder.More(); {
		var r record
		require.NoError(o.t, decoder.Decode(&r))
		records = append(records, r)
	}
	return records
}

// record returns the record of one job.
func (o *outage) record(id string) record {
	o.t.Helper()
	for _, r := range o.records() {
		if r.ID == id {
			return r
		}
	}
	require.Fail(o.t, "no such job is on record", id)
	return record{}
}

// submit submits a shell script and returns the id of its job.
func (o *outage) submit(script string, flags ...string) string {
	o.t.Helper()
	arguments := append([]string{"submit", "-t", "slurm", "-s", "output=/dev/null"}, flags...)
	return o.Does(append(arguments, "--", "sh", "-c", script)...)
}

// starts rmctl and returns a function that waits for its end, and returns its code
// and all that it said.
func (o *outage) starts(arguments ...string) func() (int, string) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), 10*time.Minute)
	command := o.Command(ctx, arguments...)
	said, err := os.Create(filepath.Join(o.t.TempDir(), "said"))
	require.NoError(o.t, err)
	command.Stdout, command.Stderr = said, said
	require.NoError(o.t, command.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait() // its code shows it
	}()
	o.t.Cleanup(func() {
		cancel()
		<-ended
		require.NoError(o.t, said.Close())
	})
	return func() (int, string) {
		o.t.Helper()
		<-ended
		text, err := os.ReadFile(said.Name())
		require.NoError(o.t, err)
		require.NoError(o.t, ctx.Err(), "rmctl %v hangs: %s", arguments, text)
		return command.ProcessState.ExitCode(), string(text)
	}
}

// eventually waits for something that must happen.
func (o *outage) eventually(what string, happened func() bool) {
	o.t.Helper()
	require.Eventually(o.t, happened, 5*time.Minute, 100*time.Millisecond, what)
}

// refusedOnceAnswersAreOld runs rmctl until it fails because the scheduler is away, and
// returns its error. An answer younger than a second still counts.
func (o *outage) refusedOnceAnswersAreOld(arguments ...string) (said string) {
	o.t.Helper()
	o.eventually("the scheduler is queried again", func() bool {
		var code int
		code, said = o.starts(arguments...)()
		return code == exitScheduler
	})
	return said
}

// jobsOfSlurm returns the ids of all jobs that Slurm knows of this desk's user,
// by the tag in their command.
func (o *outage) jobsOfSlurm() []string {
	o.t.Helper()
	var ids []string
	for line := range strings.Lines(o.Asks(o.t, "squeue", "--states=all", "--noheader", "--format=%i %o")) {
		id, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(command, o.Home+"/") {
			ids = append(ids, id)
		}
	}
	return ids
}

// waitingForOutage delays every sbatch of the desk except the first ones until a file says
// that the controller is away: otherwise a fast machine would be done before. Another file
// appears when one of them has failed.
func (o *outage) waitingForOutage(first int) (away, refused string) {
	o.t.Helper()
	bin := filepath.Join(o.Home, "bin")
	away, refused = filepath.Join(o.Home, "away"), filepath.Join(o.Home, "refused")
	require.NoError(o.t, os.Mkdir(bin, 0o700))
	require.NoError(o.t, os.WriteFile(filepath.Join(bin, "sbatch"), fmt.Appendf(nil, `#!/bin/sh
echo begun >>"%[1]s/begun"
until [ -e "%[2]s" ] || [ "$(wc -l <"%[1]s/begun")" -le %[3]d ]; do sleep 0.1; done
/usr/bin/sbatch "$@" && exit
code=$?
: >"%[4]s"
exit $code
`, o.Home, away, first, refused), 0o700))
	o.Environment = append(o.Environment, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return away, refused
}

func testControllerAwayWhileSubmitting(t *testing.T, cluster *rmctltest.Cluster) {
	const jobs = 150
	o := newOutage(t, cluster)
	marks := filepath.Join(o.Home, "marks")
	var batch strings.Builder
	for number := range jobs {
		fmt.Fprintf(&batch, `{"executable": "/bin/sh", "arguments": ["-c", "echo %d >>%s"], "attributes": {"output": "/dev/null"}}`+"\n", number, marks)
	}
	lines := filepath.Join(o.Home, "jobs.jsonl")
	require.NoError(t, os.WriteFile(lines, []byte(batch.String()), 0o600))
	away, refused := o.waitingForOutage(20)
	ends := o.starts("submit", "-t", "slurm", "--batch", lines, "--parallel", "4")
	o.eventually("the first ones are submitted", func() bool { return len(o.jobsOfSlurm()) > 4 })
	o.Stop(t, "slurmctld")
	require.NoError(t, os.WriteFile(away, nil, 0o600))
	o.eventually("one is refused", func() bool {
		_, err := os.Stat(refused)
		return err == nil
	})
	require.Contains(t, o.Refused(exitScheduler, "submit", "-t", "slurm", "--", "true"), "Unable to contact slurm controller")
	o.Start(t)
	code, said := ends()
	require.Equal(t, exitFailed, code, "some were submitted while nobody took them: %s", said)
	require.Contains(t, said, "Unable to contact slurm controller")

	_, looked := o.starts("status", "-t", "slurm")() // which finds out what became of those in doubt
	submitted := map[string]bool{}
	records := o.records()
	require.Equal(t, jobs+1, len(records), "each submission is on record once")
	for _, r := range records {
		switch r.Phase {
		case "SUBMITTED":
			require.NotEmpty(t, r.ID)
			require.False(t, submitted[r.ID], "job %s is on record twice", r.ID)
			submitted[r.ID] = true
		case "REJECTED":
		default:
			require.Contains(t, looked, r.Tag, "unknown submissions are named")
		}
	}
	inSlurm := o.jobsOfSlurm()
	require.Equal(t, len(submitted), len(inSlurm), "%s", said)
	for _, id := range inSlurm {
		require.True(t, submitted[id], "job %s is not on record", id)
	}
	t.Logf("%d of %d became jobs", len(submitted), jobs)
	o.eventually("all jobs end", func() bool {
		return o.Asks(t, "squeue", "--noheader") == ""
	})
	text, err := os.ReadFile(marks)
	require.NoError(t, err)
	require.Equal(t, len(submitted), len(strings.Fields(string(text))), "each job runs once")
}

func testControllerAwayWhileWaiting(t *testing.T, cluster *rmctltest.Cluster) {
	o := newOutage(t, cluster)
	end := filepath.Join(o.Home, "end")
	job := o.submit(`until test -e "` + end + `"; do sleep 0.1; done; exit 3`)
	o.Does("wait", "--until", "RUNNING", "--timeout", "5m", job)
	ends := o.starts("wait", job)
	o.Stop(t, "slurmctld")
	require.NoError(t, os.WriteFile(end, nil, 0o600)) // it ends while rmctl cannot see it

	cancels := o.starts("cancel", job)
	said := o.refusedOnceAnswersAreOld("status", "--json", "--fresh", job)
	require.Contains(t, said, `"state":"RUNNING"`, "the last that was seen")
	require.Contains(t, said, `"stale":true`)
	require.Contains(t, said, "Unable to contact slurm controller")
	code, said := cancels()
	require.Equal(t, exitScheduler, code)
	require.Contains(t, said, "Unable to contact slurm controller")
	o.Start(t)
	o.Does("status", "--fresh", job) // a user who asks does not wait for its next try, and nor then does the wait
	code, said = ends()
	require.Equal(t, 3, code, "the job's own: %s", said)
	known := o.record(job)
	require.Equal(t, "FAILED", known.Detail)
	require.False(t, known.Stale)
	require.Equal(t, job, strings.Join(o.jobsOfSlurm(), " "))
}

// jobsOnRecord returns the ids of the jobs on record.
func (o *outage) jobsOnRecord() []string {
	var ids []string
	for _, r := range o.records() {
		if r.ID != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func testMungedAway(t *testing.T, cluster *rmctltest.Cluster) {
	o := newOutage(t, cluster)
	end := filepath.Join(o.Home, "end")
	job := o.submit(`until test -e "` + end + `"; do sleep 0.1; done`)
	o.Does("wait", "--until", "RUNNING", "--timeout", "5m", job)
	o.Stop(t, "munged")
	ends := o.starts("wait", job)
	said := o.Refused(exitScheduler, "submit", "-t", "slurm", "--", "true")
	require.Regexp(t, `(?i)munge|authentication`, said)
	said = o.refusedOnceAnswersAreOld("status", "--json", "--fresh", job)
	require.Contains(t, said, `"state":"RUNNING"`)
	require.Contains(t, said, `"stale":true`)
	require.Regexp(t, `(?i)munge|authentication`, said)
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	o.Start(t)
	o.Does("status", "--fresh", job)
	code, said := ends()
	require.Equal(t, exitDone, code, "%s", said)
	require.Equal(t, "COMPLETED", o.record(job).Detail)
	require.Equal(t, []string{job}, o.jobsOfSlurm(), "what was refused is no job")
	require.Equal(t, []string{job}, o.jobsOnRecord())
}

func testNodeFails(t *testing.T, cluster *rmctltest.Cluster) {
	o := newOutage(t, cluster)
	o.eventually("both nodes are back", func() bool {
		nodes := o.Asks(t, "sinfo", "--noheader", "--Node", "--partition=normal", "--format=%N %T")
		for line := range strings.Lines(nodes) {
			// A slurmctld that starts a job again that it had started before its end drains the node.
			if name, state, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(state, "drain") {
				o.Asks(t, "scontrol", "update", "nodename="+name, "state=resume")
			}
		}
		return nodes == "node1 idle\nnode2 idle"
	})
	runs := filepath.Join(o.Home, "runs")
	// It cannot run on node2: only the requeuable job has a path to that node.
	lost := o.submit("exec sleep 1000", "-s", "requeue=no", "-s", "nodelist=node1")
	again := o.submit(`echo run >>"`+runs+`"; test "$(wc -l <"`+runs+`")" -gt 1 || exec sleep 1000`, "-s", "requeue=yes")
	for _, job := range []string{lost, again} {
		o.Does("wait", "--until", "RUNNING", "--timeout", "5m", job)
		require.Equal(t, "node1", o.Asks(t, "squeue", "--noheader", "--format=%N", "--jobs="+job), "Slurm fills the first node first")
	}
	endsLost, endsAgain := o.starts("wait", lost), o.starts("wait", again)
	// Else the one that is requeued would begin there two minutes later, however rarely a slow machine polls.
	o.Asks(t, "scontrol", "update", "nodename=node2", "state=drain", "reason=outage")
	o.Stop(t, "node1")
	o.Asks(t, "scontrol", "update", "nodename=node1", "state=down", "reason=outage")

	code, said := endsLost()
	require.Equal(t, exitFailed, code, "it has no exit code of its own: %s", said)
	failed := o.record(lost)
	require.Equal(t, "FAILED", failed.Detail)
	require.Equal(t, "NODE_FAIL", failed.Native)
	require.Nil(t, failed.ExitCode)

	o.eventually("it waits again", func() bool { return o.record(again).Detail == "QUEUED_ACTIVE" })
	o.Asks(t, "scontrol", "update", "nodename=node2", "state=resume")
	o.Asks(t, "scontrol", "update", "jobid="+again, "starttime=now") // Slurm lets such a job wait for two minutes
	code, said = endsAgain()
	require.Equal(t, exitDone, code, "%s", said)
	require.Equal(t, "COMPLETED", o.record(again).Detail)
	require.Regexp(t, `(?m) returned +QUEUED +QUEUED_ACTIVE +PENDING .*\n(.*\n)*.* COMPLETED`, o.Does("explain", again), "that it ran before is not forgotten")
	require.Len(t, o.jobsOfSlurm(), 2)
	require.Len(t, o.jobsOnRecord(), 2)
	o.Start(t)
}
