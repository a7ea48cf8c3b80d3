package rms_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// slurmReasons is what the reason of a PENDING job tells beyond that.
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
			{selector: "fallback:get-job-status-from-squeue", stdout: rows(word + "|None|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|N/A|")},
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
			{selector: "fallback:get-job-status-from-squeue", stdout: rows("PENDING|" + strings.ReplaceAll(reason, "_", " ") + "|normal||2026-11-20T14:00:00|N/A|N/A|")},
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
		for _, suffix := range []string{"", "+", " by 1000"} {
			got := replay(t, definition, exchange{
				selector: "fallback:get-job-status-from-sacct", job: "7",
				stdout: rows(word + suffix + "|3:9|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:00:02"),
			})
			require.Equal(t, word, got.Facts["job.native"])
			if ends[state] {
				require.Equal(t, state, got.State, word+suffix)
			} else {
				require.Empty(t, got.State, word+suffix)
				for _, fact := range []string{"job.exitCode", "job.signal", "job.started", "job.ended"} {
					require.Empty(t, got.Facts[fact], word+suffix)
				}
			}
		}
	}
}

// squeue and sacct print a row of columns, which are taken off one by one.
func TestSlurmEmptyColumnsLeaveTheOthersInPlace(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	names := []string{"job.queue", "job.nodes", "job.submitted", "job.started", "job.ended"}
	columns := []string{"normal", "n1", "2026-11-20T14:00:00", "2026-11-20T14:00:01", "2026-11-20T14:00:02"}
	for selector, row := range map[string]string{
		"fallback:get-job-status-from-squeue": "COMPLETED|None|%s|",
		"fallback:get-job-status-from-sacct":  "COMPLETED|0:0|%s",
	} {
		for empty, name := range names {
			expected := map[string]string{}
			for i, name := range names {
				if i != empty {
					expected[name] = columns[i]
				}
			}
			if name == "job.nodes" {
				delete(expected, "job.started") // without nodes it never was
			}
			printed := slices.Clone(columns)
			printed[empty] = ""
			got := replay(t, definition, exchange{selector: selector, job: "7", stdout: rows(fmt.Sprintf(row, strings.Join(printed, "|")))})
			require.Equal(t, "COMPLETED", got.State, name)
			delete(got.Facts, "job.native")
			delete(got.Facts, "job.exitCode")
			require.Equal(t, expected, got.Facts, "%s without %s", selector, name)
		}
	}
}

// While a job waits Slurm prints forecasts, and of a word that is not known
// nobody can tell what they are.
func TestSlurmTimesAreKnownOfWhatHasHappenedOnly(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for word, happened := range map[string][]string{
		"PENDING": {}, "CONFIGURING": {}, "REQUEUE_HOLD": {}, "NEW_WORD": {},
		"RUNNING": {"job.started"}, "SUSPENDED": {"job.started"},
		"COMPLETED": {"job.started", "job.ended"}, "FAILED": {"job.started", "job.ended"},
	} {
		for _, source := range []exchange{
			{selector: "get-job-status", stdout: record("JobId=7", word, "None", "0:0")},
			{selector: "fallback:get-job-status-from-squeue", stdout: rows(word + "|None|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:10:01|")},
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
	order := []string{"COMPLETED", "CANCELLED", "FAILED", "NEW_WORD", "SPECIAL_EXIT", "PENDING", "CONFIGURING", "SUSPENDED", "RUNNING"}
	for i, decisive := range order[1:] {
		lesser := order[i]
		for _, words := range [][]string{{decisive, lesser}, {lesser, decisive}, {lesser, decisive, lesser}} {
			output, printed := "", []string(nil)
			for task, word := range words {
				output += record(fmt.Sprintf("JobId=%d ArrayJobId=7 ArrayTaskId=%d", 7+task, task), word, "None", "0:0")
				printed = append(printed, word+"|None|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|N/A|")
			}
			for _, source := range []exchange{
				{selector: "get-job-status", stdout: output},
				{selector: "fallback:get-job-status-from-squeue", stdout: rows(printed...)},
			} {
				source.job = "7"
				got := replay(t, definition, source)
				expected := slurmStates[decisive]
				if i < 2 && source.selector == "get-job-status" {
					expected = "" // a record may be missing: squeue tells the end
				}
				require.Equal(t, expected, got.State, "%v of %s", words, source.selector)
				require.Equal(t, decisive, got.Facts["job.native"], "%v of %s", words, source.selector)
			}
		}
	}
}

func TestSlurmExitCodeIsKnownOfEndedJobsOnly(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for _, c := range []struct{ word, exit, code, signal string }{
		{"COMPLETED", "0:0", "0", ""},
		{"FAILED", "3:0", "3", ""},
		{"FAILED", "0:9", "", "9"},
		{"FAILED", "2:11", "2", "11"},
		{"OUT_OF_MEMORY", "0:125", "", "125"},
		{"CANCELLED", "0:0", "", ""},
		{"RUNNING", "0:0", "", ""},
		{"PENDING", "1:0", "", ""}, // requeued after it failed
		{"COMPLETING", "0:15", "", ""},
		{"NEW_WORD", "3:0", "", ""},
	} {
		got := replay(t, definition, exchange{selector: "get-job-status", job: "7", stdout: record("JobId=7", c.word, "None", c.exit)})
		require.Equal(t, c.code, got.Facts["job.exitCode"], "%v", c)
		require.Equal(t, c.signal, got.Facts["job.signal"], "%v", c)
	}
}

// A fallback runs in the environment that the command before it left: of a
// record that was not believed nothing may be taken for what the fallback says.
func TestSlurmNothingOfADisbelievedRecordDecides(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	everything := record("JobId=7", "NEW_WORD", "None", "3:9")
	for word := range slurmStates {
		everything += "   JobState=" + word + " Reason=None Dependency=(null)\n"
	}
	for reason := range slurmReasons {
		everything += "   JobState=PENDING Reason=" + reason + " Dependency=(null)\n"
	}
	disbelieved := exchange{selector: "get-job-status", job: "7", stdout: everything}
	require.Empty(t, replay(t, definition, disbelieved).State)
	forgotten := disbelieved // as it was printed
	forgotten.stderr, forgotten.exit = "slurm_load_jobs error: Invalid job id specified\n", 1
	gone := exchange{
		selector: "fallback:get-job-status-from-squeue", job: "7",
		stderr: forgotten.stderr, exit: forgotten.exit,
	}
	for word := range slurmStates {
		squeue := exchange{
			selector: gone.selector, job: "7",
			stdout: rows(word + "|None|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:00:02|"),
		}
		sacct := exchange{
			selector: "fallback:get-job-status-from-sacct", job: "7",
			stdout: rows(word + "|0:0|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:00:02"),
		}
		require.Equal(t, replay(t, definition, squeue), replay(t, definition, disbelieved, squeue), word)
		require.Equal(t, replay(t, definition, sacct), replay(t, definition, disbelieved, gone, sacct), word)
		require.Equal(t, replay(t, definition, sacct), replay(t, definition, forgotten, sacct), word)
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
	f.Add("${ptp_rm:seen.completed#value}")
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

// Nobody but the tally tells that a row is missing.
func TestSlurmArrayDoesNotEndWhereRowsAreMissing(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for selector, row := range map[string]string{
		"fallback:get-job-status-from-squeue": "%s|None|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:00:02|",
		"fallback:get-job-status-from-sacct":  "%s|0:0|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:00:02",
	} {
		completed, failed := fmt.Sprintf(row, "COMPLETED")+"\n", fmt.Sprintf(row, "FAILED")+"\n"
		for output, state := range map[string]string{
			completed + failed + "rows: xx\n":             "FAILED",
			completed + failed:                            "",
			completed + "rows: xx\n":                      "",
			completed + failed + "rows: x":                "",
			completed + "?" + failed:                      "",
			completed + "?" + failed + "rows:":            "",
			completed + completed + failed + "rows: xx\n": "",
		} {
			got := replay(t, definition, exchange{selector: selector, job: "7", stdout: output})
			require.Equal(t, state, got.State, "%s: %q", selector, output)
			require.Equal(t, state != "", got.Facts["job.ended"] != "", "%s: %q", selector, output)
		}
	}
}

// scontrol does not count the records of an array. squeue does, but knows no
// exit codes.
func TestSlurmEndOfAnArrayIsSqueuesAndItsExitCodeScontrols(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	task := func(number int, word, exit string) string {
		return record(fmt.Sprintf("JobId=%d ArrayJobId=7 ArrayTaskId=%d", 6+number, number), word, "None", exit)
	}
	row := func(word string) string {
		return word + "|None|normal|n1|2026-11-20T14:00:00|2026-11-20T14:00:01|2026-11-20T14:00:02|"
	}
	completed, failed, killed := task(1, "COMPLETED", "0:0"), task(2, "FAILED", "3:0"), task(2, "FAILED", "0:9")
	for _, c := range []struct {
		records             string
		words               []string
		state, code, signal string
	}{
		{completed + failed, []string{"COMPLETED", "FAILED"}, "FAILED", "3", ""},
		{completed + killed, []string{"COMPLETED", "FAILED"}, "FAILED", "", "9"},
		{completed, []string{"COMPLETED"}, "COMPLETED", "0", ""},
		{completed, []string{"COMPLETED", "FAILED"}, "FAILED", "", ""}, // the other record was lost
		{completed, []string{"COMPLETED", "RUNNING"}, "RUNNING", "", ""},
		{failed, []string{"FAILED", "RUNNING"}, "RUNNING", "", ""},
		{killed, []string{"FAILED", "NEW_WORD"}, "", "", ""},
	} {
		scontrol := exchange{selector: "get-job-status", job: "7", stdout: c.records}
		require.Empty(t, replay(t, definition, scontrol).State)
		squeue := exchange{selector: "fallback:get-job-status-from-squeue", job: "7"}
		printed := make([]string, len(c.words))
		for i, word := range c.words {
			printed[i] = row(word)
		}
		squeue.stdout = rows(printed...)
		got := replay(t, definition, scontrol, squeue)
		require.Equal(t, c.state, got.State, "%v", c.words)
		require.Equal(t, c.code, got.Facts["job.exitCode"], "%v", c.words)
		require.Equal(t, c.signal, got.Facts["job.signal"], "%v", c.words)
	}
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

// rows is what the definition's queries of squeue and sacct print: rows, and a
// letter for each of them.
func rows(printed ...string) string {
	return strings.Join(printed, "\n") + "\nrows: " + strings.Repeat("x", len(printed)) + "\n"
}

// sbatch prints nothing but the id where a script has #SBATCH --parsable.
func TestSlurmNumberIsAnIdOnlyWhereItIsAllThatWasPrinted(t *testing.T) {
	definition := shippedDefinition(t, "slurm")
	for output, state := range map[string]string{
		"13\n":                             "SUBMITTED",
		"\n13\r\n\n":                       "SUBMITTED",
		"13;cluster\n":                     "SUBMITTED",
		"Welcome\n13;cluster\n":            "SUBMITTED",
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
