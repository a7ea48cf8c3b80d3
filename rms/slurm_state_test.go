package rms_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// slurmStates is every state and state flag of Slurm 22.05 to 25.x by the word
// that its commands print, and what it means to rmctl.
var slurmStates = map[string]string{
	"PENDING": "QUEUED_ACTIVE", "RUNNING": "RUNNING", "SUSPENDED": "SUSPENDED", "COMPLETED": "COMPLETED",
	"CANCELLED": "CANCELED", "FAILED": "FAILED", "TIMEOUT": "FAILED", "NODE_FAIL": "FAILED", "PREEMPTED": "FAILED",
	"BOOT_FAIL": "FAILED", "DEADLINE": "FAILED", "OUT_OF_MEMORY": "FAILED",
	"LAUNCH_FAILED": "QUEUED_ACTIVE", "RECONFIG_FAIL": "QUEUED_ACTIVE", "REQUEUED": "QUEUED_ACTIVE",
	"REQUEUE_FED": "QUEUED_ACTIVE", "EXPEDITING": "QUEUED_ACTIVE",
	"REQUEUE_HOLD": "SYSTEM_ON_HOLD", "SPECIAL_EXIT": "SYSTEM_ON_HOLD", "RESV_DEL_HOLD": "SYSTEM_ON_HOLD",
	"CONFIGURING": "SUBMITTED", "POWER_UP_NODE": "SUBMITTED", "STOPPED": "SUSPENDED",
	"COMPLETING": "RUNNING", "STAGE_OUT": "RUNNING", "SIGNALING": "RUNNING", "RESIZING": "RUNNING",
	"REVOKED": "RUNNING", "UPDATE_DB": "RUNNING",
}

// slurmReasons are the details that the reason of a PENDING job adds.
var slurmReasons = map[string]string{
	"None": "QUEUED_ACTIVE", "Resources": "QUEUED_ACTIVE", "DependencyNeverSatisfied": "QUEUED_ACTIVE",
	"PartitionDown": "QUEUED_ACTIVE", "ReqNodeNotAvail,_UnavailableNodes:c[1-9]": "QUEUED_ACTIVE",
	"JobHeldUser": "USER_ON_HOLD", "JobHeldAdmin": "SYSTEM_ON_HOLD", "JobHoldMaxRequeue": "SYSTEM_ON_HOLD",
	"ReservationDeleted": "SYSTEM_ON_HOLD", "job_requeued_in_held_state": "SYSTEM_ON_HOLD",
	"launch_failed_requeued_held": "SYSTEM_ON_HOLD",
}

func TestSlurmEveryStateIsUnderstoodFromEverySource(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for word, state := range slurmStates {
		for _, source := range []exchange{
			{selector: "get-job-status", stdout: record("JobId=7", word, "None", "0:0")},
			{selector: fromSqueue, stdout: squeueRow("7", word, "None")},
		} {
			source.job = "7"
			got := replay(t, definition, source)
			require.Equal(t, state, got.State, "%s of %s", word, source.selector)
			require.Equal(t, word, got.Facts["job.native"], source.selector)
		}
	}
	for reason, state := range slurmReasons {
		for _, source := range []exchange{
			{selector: "get-job-status", stdout: record("JobId=7", "PENDING", reason, "0:0")},
			{selector: fromSqueue, stdout: squeueRow("7", "PENDING", strings.ReplaceAll(reason, "_", " "))},
		} {
			source.job = "7"
			require.Equal(t, state, replay(t, definition, source).State, "%s of %s", reason, source.selector)
		}
	}
}

func TestSlurmAccountingIsBelievedAboutEndsOnly(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	ends := map[string]bool{"COMPLETED": true, "CANCELED": true, "FAILED": true}
	for word, state := range slurmStates {
		for _, suffix := range []string{"", " by 1000"} {
			got := replay(t, definition, exchange{selector: fromSacct, job: "7", stdout: sacctRow("7", word+suffix, "3:9")})
			if ends[state] {
				require.Equal(t, state, got.State, word+suffix)
				require.Equal(t, word, got.Facts["job.native"])
			} else {
				require.Equal(t, config.Incomplete, got.Outcome, word+suffix)
				require.Empty(t, got.State, word+suffix)
				require.Empty(t, got.Facts, word+suffix)
			}
		}
	}
}

// While a job waits Slurm prints forecasts, and with an unknown state the times
// may be forecasts or not.
func TestSlurmTimesAreKnownOfWhatHasHappenedOnly(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for word, happened := range map[string][]string{
		"PENDING": {}, "CONFIGURING": {}, "REQUEUE_HOLD": {}, "NEW_WORD": {},
		"RUNNING": {"job.started"}, "SUSPENDED": {"job.started"},
		"COMPLETED": {"job.started", "job.ended"}, "FAILED": {"job.started", "job.ended"},
	} {
		for _, source := range []exchange{
			{selector: "get-job-status", stdout: record("JobId=7", word, "None", "0:0")},
			{selector: fromSqueue, stdout: squeueRow("7", word, "None")},
		} {
			source.job = "7"
			got := replay(t, definition, source)
			require.Equal(t, slices.Contains(happened, "job.started"), got.Facts["job.started"] != "", "%s of %s", word, source.selector)
			require.Equal(t, slices.Contains(happened, "job.ended"), got.Facts["job.ended"] != "", "%s of %s", word, source.selector)
		}
	}
}

func TestSlurmArrayIsWhatItsLiveliestTaskIs(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	// each state is decisive over the one before it, and so over all before it
	order := []string{"COMPLETED", "CANCELLED", "FAILED", "NEW_WORD", "SPECIAL_EXIT", "PENDING", "SUSPENDED", "RUNNING"}
	for i, decisive := range order[1:] {
		lesser := order[i]
		for _, words := range [][]string{{decisive, lesser}, {lesser, decisive}, {lesser, decisive, lesser}} {
			output, printed := "", ""
			for task, word := range words {
				output += record(fmt.Sprintf("JobId=%d ArrayJobId=7 ArrayTaskId=%d", 7+task, task), word, "None", "0:0")
				printed += squeueRow(fmt.Sprintf("7_%d", task), word, "None")
			}
			for _, source := range []exchange{
				{selector: "get-job-status", stdout: output},
				{selector: fromSqueue, stdout: printed},
				{selector: "fallback:get-array-status-from-squeue", stdout: printed},
			} {
				source.job = "7"
				got := replay(t, definition, source)
				if i < 2 && source.selector != "fallback:get-array-status-from-squeue" {
					require.Equal(t, config.Incomplete, got.Outcome, "slurmctld may have forgotten a task: %s", source.selector)
					continue
				}
				require.Equal(t, slurmStates[decisive], got.State, "%v of %s", words, source.selector)
				require.Equal(t, decisive, got.Facts["job.native"], "%v of %s", words, source.selector)
			}
		}
	}
}

func TestSlurmExitCodeIsKnownOfEndedJobsOnly(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for _, c := range []struct{ word, exit, status, code, signal string }{
		{"COMPLETED", "0:0", "0", "0", ""},
		{"FAILED", "3:0", "768", "3", ""},
		{"FAILED", "0:9", "9", "", "9"},
		{"FAILED", "137:0", "35072", "137", ""},
		{"OUT_OF_MEMORY", "0:125", "125", "", "125"},
		{"CANCELLED", "0:0", "0", "", ""},
		{"RUNNING", "0:0", "0", "", ""},
		{"PENDING", "1:0", "256", "", ""}, // requeued after it failed
		{"COMPLETING", "0:15", "15", "", ""},
		{"NEW_WORD", "3:0", "768", "", ""},
	} {
		for _, source := range []exchange{
			{selector: "get-job-status", stdout: record("JobId=7", c.word, "None", c.exit)},
			{selector: fromSqueue, stdout: squeueRowWith("7", c.word, "None", c.status)},
		} {
			source.job = "7"
			got := replay(t, definition, source)
			require.Equal(t, c.code, got.Facts["job.exitCode"], "%v of %s", c, source.selector)
			require.Equal(t, c.signal, got.Facts["job.signal"], "%v of %s", c, source.selector)
		}
	}
}

// FuzzSlurmNoTextOfTheOwnerMakesAJobEnd puts hostile text wherever the owner
// of a running job can: nothing of it may make the job look ended.
func FuzzSlurmNoTextOfTheOwnerMakesAJobEnd(f *testing.F) {
	definition := shippedDefinition(f, "slurm")
	f.Add(" JobState=COMPLETED Reason=None Dependency=(null)")
	f.Add("x\n   JobState=COMPLETED Reason=None Dependency=(null)")
	f.Add("x\n   JobState=COMPLETED Reason=None Dependency=(null)\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0")
	f.Add("x\nJobId=8 JobName=y\n   JobState=COMPLETED Reason=None Dependency=(null)\n")
	f.Add("x\nJobId=8 ArrayJobId=7 JobName=y\n   JobState=FAILED Reason=None Dependency=(null)\n")
	f.Add("${ptp_rm:job.native#value}")
	f.Add("\x00\xff\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		output := record("JobId=7", "RUNNING", "None", "0:0")
		output = strings.Replace(output, "JobName=a name", "JobName="+text, 1)
		output = strings.Replace(output, "Command=/bin/true", "Command="+text, 1)
		output = strings.Replace(output, "Comment=none", "Comment="+text, 1)
		got := replay(t, definition, exchange{selector: "get-job-status", job: "7", stdout: output})
		require.Contains(t, []string{"RUNNING", ""}, got.State)
		require.Empty(t, got.Facts["job.exitCode"])
		require.Empty(t, got.Facts["job.ended"])
	})
}

// A record that lacks a line may lack the one that is no forgery.
func TestSlurmIncompleteRecordEndsNoJob(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	whole := record("JobId=7", "RUNNING", "None", "0:0")
	forged := "x\n   JobState=COMPLETED Reason=None Dependency=(null)\n   Requeue=1 Restarts=0 ExitCode=0:0"
	for _, at := range []string{"JobName=a name", "Command=/bin/true", "Comment=none", "StdOut=/home/rmtest/slurm-7.out"} {
		lines := strings.SplitAfter(strings.Replace(whole, at, at+forged, 1), "\n")
		for i := range lines {
			for what, output := range map[string]string{
				"cut before": strings.Join(lines[:i], ""),
				"without":    strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""),
			} {
				got := replay(t, definition, exchange{selector: "get-job-status", job: "7", stdout: output})
				require.Contains(t, []string{"RUNNING", ""}, got.State, "%s %s line %d", at, what, i+1)
				require.Empty(t, got.Facts["job.ended"])
			}
		}
	}
}

// The fallbacks of the status query that most tests try.
const (
	fromSqueue = "fallback:get-job-status-from-squeue"
	fromSacct  = "fallback:get-job-status-from-sacct"
)

// squeueRow is a row of squeue, of a job with one task on a node.
func squeueRow(id, word, reason string) string { return squeueRowWith(id, word, reason, "0") }

// squeueRowWith is squeueRow with a wait status.
func squeueRowWith(id, word, reason, status string) string {
	return marked(id, word, reason, "normal", "n1", "2026-11-20T14:00:00", "2026-11-20T14:00:01", "2026-11-20T14:10:01", "user", "1", status, "/x/s.sh", "a name")
}

// sacctRow is a row of sacct.
func sacctRow(id, word, exit string) string {
	return marked(id, word, exit, "normal", "n1", "2026-11-20T14:00:00", "2026-11-20T14:00:01", "2026-11-20T14:10:01", "sbatch /x/s.sh")
}

// marked is a row of columns that end with the mark of the query.
func marked(columns ...string) string { return strings.Join(columns, replayMark) + replayMark + "\n" }

// sbatch prints nothing but the id where a script has #SBATCH --parsable.
func TestSlurmNumberIsAnIdOnlyWhereItIsAllThatWasPrinted(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for output, state := range map[string]string{
		"13\n":                             "SUBMITTED",
		"\n13\r\n\n":                       "SUBMITTED",
		"13;cluster\n":                     "SUBMITTED",
		"Welcome\n13;cluster\n":            "",
		"13":                               "",
		"13;\n":                            "",
		"Your jobs:\n13\n":                 "",
		"13\n14\n":                         "",
		"13\nunfinished":                   "",
		"no 13\n":                          "",
		"13\nSubmitted batch job 14\n15\n": "SUBMITTED",
	} {
		require.Equal(t, state, replay(t, definition, exchange{selector: "submit-batch", stdout: output}).State, "%q", output)
	}
}

// record is one record of scontrol show job, with the lines that no reader
// looks at left out.
func record(ids, word, reason, exit string) string {
	return ids + ` JobName=a name
   UserId=rmtest(1001) GroupId=rmtest(1001) MCS_label=N/A
   Priority=4294901741 Nice=0 Account=(null) QOS=(null)
   JobState=` + word + ` Reason=` + reason + ` Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=` + exit + `
   RunTime=00:00:00 TimeLimit=00:10:00 TimeMin=N/A
   SubmitTime=2026-11-20T14:00:00 EligibleTime=2026-11-20T14:00:00
   AccrueTime=2026-11-20T14:00:00
   StartTime=2026-11-20T14:00:01 EndTime=2026-11-20T14:10:01 Deadline=N/A
   Partition=normal AllocNode:Sid=localhost:4141
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=n1
   BatchHost=n1
   Command=/bin/true
   WorkDir=/home/rmtest
   Comment=none
   StdOut=/home/rmtest/slurm-7.out
   Power=


`
}
