package clusters_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// rmctl reports the same states of jobs of a real Slurm as scontrol.
func TestLivesOfSlurmJobs(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "life", "RMCTL_SLURM_MINJOBAGE=3600")
	slurm := livingScheduler{target: "slurm", setting: cluster.Setting(), asks: cluster.Asks, says: func(t *testing.T, id string) ownWords { return slurmSays(t, cluster, id) }}
	// The program begins, and ends when it finds a file.
	const (
		begins = `echo begun; while [ ! -e `
		ends   = ` ]; do sleep 0.1; done; echo done; `
	)
	for name, lives := range map[string][]jobLife{
		"waits, is held, runs, is suspended, and ends well": {{
			[]string{"-s", "begin=now+1hour", "--", "sh", "-c", begins + "go" + ends},
			[]lifeStep{
				{detail: "QUEUED_ACTIVE", reason: "^BeginTime$"},
				{do: []string{"hold", "JOB"}, detail: "SYSTEM_ON_HOLD", reason: "^JobHeldAdmin$"}, // by root
				{do: []string{"release", "JOB"}, detail: "QUEUED_ACTIVE", reason: "^BeginTime$"},
				{own: []string{"scontrol", "update", "jobid=JOB", "starttime=now"}, detail: "RUNNING", output: "begun"},
				{do: []string{"suspend", "JOB"}, detail: "SUSPENDED"},
				{do: []string{"resume", "JOB"}, detail: "RUNNING"},
				{write: "go", detail: "COMPLETED", output: "done"},
			},
		}},
		"fails with a code": {{
			[]string{"--", "sh", "-c", "exit 3"},
			[]lifeStep{{detail: "FAILED", reason: "^NonZeroExitCode$"}},
		}},
		"is ended by a signal": {{
			[]string{"--", "sh", "-c", "kill -SEGV $$"},
			[]lifeStep{{detail: "FAILED"}},
		}},
		"is canceled while it waits": {{
			[]string{"-s", "partition=closed", "--", "true"},
			[]lifeStep{
				{detail: "QUEUED_ACTIVE", reason: "^PartitionDown$"},
				{do: []string{"cancel", "JOB"}, detail: "CANCELED"},
			},
		}},
		"is canceled while it runs": {{
			[]string{"--", "sleep", "1000"},
			[]lifeStep{
				{detail: "RUNNING"},
				{do: []string{"cancel", "JOB"}, detail: "CANCELED"},
			},
		}},
		"takes longer than it may": {{
			[]string{"-s", "time=1", "--", "sleep", "1000"},
			[]lifeStep{
				{detail: "RUNNING"},
				// A minute is the least that Slurm gives: it is over now.
				{own: []string{"scontrol", "update", "jobid=JOB", "endtime=now"}, detail: "FAILED", reason: "^TimeLimit$"},
			},
		}},
		"has three tasks": {{
			[]string{"-s", "array=1-3", "--", "sh", "-c", begins + "go.$SLURM_ARRAY_TASK_ID" + ends},
			[]lifeStep{
				{of: "_1", detail: "RUNNING"},
				{of: "_3", detail: "RUNNING"},
				{write: "go.1", of: "_1", detail: "COMPLETED"},
				{of: "_2", detail: "RUNNING"},
				{write: "go.2", of: "_2", detail: "COMPLETED"},
				{write: "go.3", of: "_3", detail: "COMPLETED"},
			},
		}},
		"waits for others": {
			{[]string{"--", "sh", "-c", begins + "first" + ends}, []lifeStep{{detail: "RUNNING"}}},
			{[]string{"-s", "dependency=afterok:JOB", "--", "true"}, []lifeStep{
				{detail: "QUEUED_ACTIVE", reason: "^Dependency$"},
				{write: "first", detail: "COMPLETED"},
			}},
			{[]string{"--", "false"}, []lifeStep{{detail: "FAILED"}}},
			{[]string{"-s", "dependency=afterok:JOB", "--", "true"}, []lifeStep{
				{detail: "QUEUED_ACTIVE", reason: "^DependencyNeverSatisfied$"},
				{do: []string{"cancel", "JOB"}, detail: "CANCELED"},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slurm.lives(t, lives...)
		})
	}
	t.Run("is refused", func(t *testing.T) {
		t.Parallel()
		slurm.refusals(t, "999999", map[string]string{
			"partition=nope": "Invalid partition name specified",
			"mem=1T":         "Requested node configuration is not available|Memory specification can not be satisfied",
			"nodelist=nope":  "Invalid node name specified",
		})
	})
}

var (
	slurmState = regexp.MustCompile(`(?m)^   JobState=(\S+) Reason=(\S+) `)
	slurmExit  = regexp.MustCompile(`(?m)^   Requeue=.* ExitCode=(\d+):(\d+)$`)
)

// slurmSays returns the state of a job from scontrol. An exit code of 0 counts only for a
// completed job: Slurm shows it for all others without a reason.
func slurmSays(t *testing.T, cluster *rmctltest.Cluster, id string) ownWords {
	t.Helper()
	record := cluster.Asks(t, "scontrol", "show", "job", id)
	state, exit := slurmState.FindStringSubmatch(record), slurmExit.FindStringSubmatch(record)
	require.NotNil(t, state, record)
	require.NotNil(t, exit, record)
	own := ownWords{native: state[1], reason: state[2]}
	if own.reason == "None" {
		own.reason = ""
	}
	switch own.native {
	case "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED":
		if exit[1] != "0" || own.native == "COMPLETED" {
			own.exitCode = exit[1]
		}
		if exit[2] != "0" {
			own.signal = exit[2]
		}
	}
	return own
}
