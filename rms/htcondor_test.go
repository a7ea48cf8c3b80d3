package rms_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// condorJob is a job as condor_q and condor_history print it for the definition;
// ~ stands for the word that divides texts.
type condorJob struct {
	id                    string // cluster and process
	status, total         int
	hold, signal, exit    string
	made                  int
	owner, name, host     string
	held, removed, output string
}

func (j condorJob) String() string {
	word := func(text string) string {
		if text == "" {
			return "undefined"
		}
		return text
	}
	killed := "false"
	if j.signal != "" {
		killed = "true"
	}
	if j.owner == "" {
		j.owner = "ada"
	}
	if j.made == 0 {
		j.made = 1700000000
	}
	if j.total == 0 {
		j.total = 1
	}
	cluster, process, _ := strings.Cut(j.id, ".")
	return fmt.Sprintf("~ %s %s %d %s %s %s %s %d 1700000010 0 1700000020 %d 2 ~ %s ~ /work ~ %s ~ err ~ %s ~ %s ~ undefined ~ %s ~ %s ~\n",
		cluster, process, j.status, word(j.hold), killed, word(j.exit), word(j.signal), j.made, j.total,
		j.owner, word(j.output), word(j.name), word(j.host), word(j.held), word(j.removed))
}

func condorRows(jobs ...condorJob) string {
	var all strings.Builder
	for _, each := range jobs {
		all.WriteString(each.String())
	}
	return all.String()
}

// runHTCondor runs a command for real, where condor_q and condor_history print rows.
func runHTCondor(t *testing.T, selector, queued, left string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	folder := t.TempDir()
	printing := func(name, rows string) string {
		file := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(file, []byte(rows), 0o600))
		return `for word; do case $word in '"'w*'"') mark=${word#?}; mark=${mark%?};; esac; done; sed "s/~/$mark/g" "` + file + `"`
	}
	programs := map[string]string{"condor_q": printing("queued", queued), "condor_history": printing("left", left), "condor_status": printing("slots", queued), "id": "echo ada"}
	program := argumentsOf(t, "htcondor", selector, "12")[4] // of awk
	return run(t, "htcondor", selector, programs, append([]string{program}, arguments...)...)
}

func TestHTCondorTellsWhatBecomesOfJobs(t *testing.T) {
	for what, c := range map[string]struct {
		queued, left []condorJob
		asked        string
		says         []string
	}{
		"waits":                    {queued: []condorJob{{id: "12.0", status: 1}}, says: []string{"native\tI\tI", "state\tQUEUED_ACTIVE\tQUEUED_ACTIVE"}},
		"was never looked at":      {queued: []condorJob{{id: "12.0", status: 0}}, says: []string{"state\tQUEUED_ACTIVE\tQUEUED_ACTIVE"}},
		"runs":                     {queued: []condorJob{{id: "12.0", status: 2, host: "slot1_1@n1.example.org", output: "o"}}, says: []string{"nodes\tn1.example.org\tn1.example.org", "stdout\t/work/o\t/work/o", "stderr\t/work/err\t/work/err", "started\t1700000010\t1700000010", "state\tRUNNING\tRUNNING"}},
		"sends its output":         {queued: []condorJob{{id: "12.0", status: 6}}, says: []string{"native\t>\t>", "state\tRUNNING\tRUNNING"}},
		"is suspended":             {queued: []condorJob{{id: "12.0", status: 7}}, says: []string{"native\tS\tS", "state\tSUSPENDED\tSUSPENDED"}},
		"is held by its user":      {queued: []condorJob{{id: "12.0", status: 5, hold: "1", held: "via condor_hold (by user ada)"}}, says: []string{"reason\tvia condor_hold (by user ada)\tvia condor_hold (by user ada)", "state\tUSER_ON_HOLD\tUSER_ON_HOLD"}},
		"was submitted held":       {queued: []condorJob{{id: "12.0", status: 5, hold: "15"}}, says: []string{"state\tUSER_ON_HOLD\tUSER_ON_HOLD"}},
		"is held by the system":    {queued: []condorJob{{id: "12.0", status: 5, hold: "13"}}, says: []string{"state\tSYSTEM_ON_HOLD\tSYSTEM_ON_HOLD"}},
		"gets its files":           {queued: []condorJob{{id: "12.0", status: 5, hold: "16"}}, says: []string{"state\tQUEUED_ACTIVE\tQUEUED_ACTIVE"}},
		"is being removed":         {queued: []condorJob{{id: "12.0", status: 3}}, says: []string{"reason\tit is being removed\tit is being removed", "state\tRUNNING\tRUNNING"}},
		"ended, and is kept":       {queued: []condorJob{{id: "12.0", status: 4, exit: "0"}}, says: []string{"exit\t0\t0", "ended\t1700000020\t1700000020", "state\tCOMPLETED\tCOMPLETED"}},
		"ended":                    {left: []condorJob{{id: "12.0", status: 4, exit: "0"}}, says: []string{"exit\t0\t0", "state\tCOMPLETED\tCOMPLETED"}},
		"failed":                   {left: []condorJob{{id: "12.0", status: 4, exit: "3"}}, says: []string{"exit\t3\t3", "state\tFAILED\tFAILED"}},
		"was killed":               {left: []condorJob{{id: "12.0", status: 4, signal: "9"}}, says: []string{"signal\t9\t9", "state\tFAILED\tFAILED"}},
		"tells no exit code":       {left: []condorJob{{id: "12.0", status: 4}}, says: []string{"reason\tits exit code is not told\tits exit code is not told", "state\tFAILED\tFAILED"}},
		"was removed":              {left: []condorJob{{id: "12.0", status: 3, removed: "via condor_rm (by user ada)"}}, says: []string{"native\tX\tX", "reason\tvia condor_rm (by user ada)\tvia condor_rm (by user ada)", "state\tCANCELED\tCANCELED"}},
		"ran too long":             {left: []condorJob{{id: "12.0", status: 3, removed: "The job attribute PeriodicRemove expression '(JobStatus == 2)' evaluated to TRUE"}}, says: []string{"state\tFAILED\tFAILED"}},
		"one of an array runs":     {queued: []condorJob{{id: "12.0", status: 1, total: 3}, {id: "12.2", status: 2, total: 3}}, says: []string{"native\tR\tR", "state\tRUNNING\tRUNNING"}},
		"an array is held in part": {queued: []condorJob{{id: "12.0", status: 5, hold: "1", total: 2}, {id: "12.1", status: 5, hold: "6", total: 2}}, says: []string{"state\tSYSTEM_ON_HOLD\tSYSTEM_ON_HOLD"}},
		"all of an array ended":    {left: []condorJob{{id: "12.1", status: 4, exit: "0", total: 2}, {id: "12.0", status: 4, exit: "0", total: 2}}, says: []string{"state\tCOMPLETED\tCOMPLETED"}},
		"some of an array failed":  {left: []condorJob{{id: "12.10", status: 4, exit: "5", total: 3}, {id: "12.9", status: 4, exit: "4", total: 3}, {id: "12.0", status: 4, exit: "0", total: 3}}, says: []string{"exit\t4\t4", "state\tFAILED\tFAILED"}},
		"one of an array removed":  {queued: []condorJob{{id: "12.0", status: 4, exit: "0", total: 2}}, left: []condorJob{{id: "12.1", status: 3, total: 2}}, says: []string{"state\tCANCELED\tCANCELED"}},
		"a job of an array":        {left: []condorJob{{id: "12.1", status: 4, exit: "0", total: 2}}, asked: "12.1", says: []string{"state\tCOMPLETED\tCOMPLETED"}},
		"the number anew":          {left: []condorJob{{id: "12.0", status: 4, exit: "0"}, {id: "12.0", status: 4, exit: "3", made: 1600000000}, {id: "12.1", status: 4, exit: "3", made: 1600000000, total: 2}}, says: []string{"identity\t1700000000\t1700000000", "state\tCOMPLETED\tCOMPLETED"}},
		"a name that imitates rows": {queued: []condorJob{{id: "12.0", status: 2, name: "x\n 12 0 4 undefined false 0\nstate\tCOMPLETED\tCOMPLETED"}},
			says: []string{"name\tx  12 0 4 undefined false 0 state COMPLETED COMPLETED\tx  12 0 4 undefined false 0 state COMPLETED COMPLETED", "state\tRUNNING\tRUNNING"}},
	} {
		t.Run(what, func(t *testing.T) {
			if c.asked == "" {
				c.asked = "12"
			}
			stdout, stderr, code := runHTCondor(t, "get-job-status", condorRows(c.queued...), condorRows(c.left...), c.asked)
			require.Zero(t, code, "%s", stderr)
			lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			require.Subset(t, lines, c.says)
			require.Equal(t, c.says[len(c.says)-1], lines[len(lines)-1])
		})
	}
}

func TestHTCondorSaysWhatItDoesNotKnow(t *testing.T) {
	whole := condorJob{id: "12.0", status: 4, exit: "0", total: 2}.String()
	for what, c := range map[string]struct{ queued, left, asked, stderr string }{
		"nobody knows it":               {asked: "12", stderr: "no job 12 is known"},
		"no number":                     {asked: "12 -constraint true", stderr: "no job 12 -constraint true is known: it is no number"},
		"the history has half an array": {left: whole, asked: "12", stderr: "does not tell how all of job 12 ended"},
		"the row is cut":                {queued: whole[:len(whole)-3], asked: "12", stderr: "what condor_q says of job 12 is not understood"},
		"the record is cut":             {left: whole[:40], asked: "12", stderr: "what condor_history says of job 12 is not understood"},
	} {
		t.Run(what, func(t *testing.T) {
			stdout, stderr, code := runHTCondor(t, "get-job-status", c.queued, c.left, c.asked)
			require.Equal(t, 1, code)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.stderr)
		})
	}
}

func TestHTCondorListsWhatHasNotEnded(t *testing.T) {
	queued := condorRows(condorJob{id: "1.0", status: 1, total: 2, name: "a\tb\nlisted"}, condorJob{id: "2.0", status: 4, exit: "0"}, condorJob{id: "3.0", status: 7, owner: "bob"},
		condorJob{id: "1.1", status: 2, total: 2, host: "slot1@n1"}, condorJob{id: "4.0", status: 5, hold: "1", held: "why"})
	stdout, stderr, code := runHTCondor(t, "list-jobs", queued, "", "all")
	require.Zero(t, code, "%s", stderr)
	require.Equal(t, "1\tRUNNING\tR\t\tn1\t1700000000\t1700000010\t2\tada\t\n"+
		"3\tSUSPENDED\tS\t\t\t1700000000\t1700000010\t2\tbob\t\n"+
		"4\tUSER_ON_HOLD\tH\twhy\t\t1700000000\t1700000010\t2\tada\t\nlisted\n", stdout)
	_, stderr, code = runHTCondor(t, "list-jobs", queued[:100], "", "own")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "not understood")
}

func TestHTCondorSumsUpTheSlotsOfMachines(t *testing.T) {
	slots := "~ 6 8 16000 1.5 undefined ~ n1 ~ Partitionable ~ Unclaimed ~ Idle ~\n~ 2 8 16000 1.5 undefined ~ n1 ~ Dynamic ~ Claimed ~ Busy ~\n" +
		"~ 4 4 8000 0.0 undefined ~ n2 ~ Static ~ Drained ~ Idle ~\n~ 4 4 8000 0.0 true ~ n3 ~ Static ~ Unclaimed ~ Idle ~\n"
	stdout, stderr, code := runHTCondor(t, "list-nodes", slots, "")
	require.Zero(t, code, "%s", stderr)
	require.Equal(t, "n1\tUP\tUnclaimed/Idle Claimed/Busy\t8\t2\t16000\t1.5\t\n"+
		"n2\tDOWN\tDrained/Idle\t4\t0\t8000\t0.0\tit is drained\nn3\tDOWN\tOffline\t4\t0\t8000\t0.0\tit is offline\nlisted\n", stdout)
}

func TestHTCondorFindsTheJobOfASubmission(t *testing.T) {
	now := time.Now().Unix()
	for what, c := range map[string]struct{ queued, left, oldest, age, stdout, stderr string }{
		"in the queue":              {queued: "echo 17; echo 17", stdout: "found job 17, which is 17\n"},
		"submitted twice":           {queued: "echo 117; echo 17", stdout: "found job 17, which is 17\n"},
		"in the history":            {left: "echo 17", stdout: "found job 17, which is 17\n"},
		"nowhere":                   {oldest: fmt.Sprint("echo ", now-1000), stdout: "found no job\n"},
		"nothing has ever ended":    {stdout: "found no job\n"},
		"the history begins later":  {oldest: fmt.Sprint("echo ", now-100), stderr: "may have dropped the job"},
		"the history does not tell": {oldest: "echo undefined", stderr: "how far the history goes back is not known"},
		"condor_q fails":            {queued: "echo 17; exit 1"},
		"condor_history fails":      {left: "exit 1"},
		"condor_q says more":        {queued: "echo what", stderr: "is not understood"},
		"no age":                    {age: "x", stderr: "the age of the submission is not known"},
	} {
		t.Run(what, func(t *testing.T) {
			orNothing := func(script string) string {
				if script == "" {
					return ":"
				}
				return script
			}
			if c.age == "" {
				c.age = "200"
			}
			asks := `case "$*" in *'RmctlTag == "` + tag + `"'*) ` // a script that asks for another tag is told nothing
			stdout, stderr, _ := run(t, "htcondor", "find-job", map[string]string{
				"condor_q":       asks + orNothing(c.queued) + ";; esac",
				"condor_history": asks + orNothing(c.left) + ";; *-forwards*) " + orNothing(c.oldest) + ";; esac",
			}, tag, c.age)
			require.Equal(t, c.stdout, stdout)
			require.Contains(t, stderr, c.stderr)
		})
	}
}

// A script is the program, with the description in its directives; a file with a
// queue command is the description.
func TestHTCondorSubmitsScriptsAndDescriptions(t *testing.T) {
	const description = "executable = /bin/true\nQueue 3\n"
	for what, c := range map[string]struct{ script, given, last string }{
		"a generated script": {"#!/bin/sh\n#CONDOR request_cpus = 2\n#CONDOR queue 3\nexec true\n", "executable = FILE\nrequest_cpus = 2\nqueue 3\n\n", "-"},
		"no queue command":   {"#!/bin/sh\n#CONDOR log = queue.log\n# queue\ntrue\n", "executable = FILE\nlog = queue.log\nqueue\n", "-"},
		"a description":      {description, "", "FILE"},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "my script")
			require.NoError(t, os.WriteFile(file, []byte(c.script), 0o600))
			stdout, stderr, code := run(t, "htcondor", "submit-batch", map[string]string{"condor_submit": `for last; do printf '<%s>' "$last"; done; echo; [ "$last" != - ] || cat`}, file, tag)
			require.Zero(t, code, "%s", stderr)
			want := fmt.Sprintf("<-terse><-single-cluster><-append><+RmctlTag = \"%s\"><%s>\n%s", tag, c.last, c.given)
			require.Equal(t, strings.ReplaceAll(want, "FILE", file), stdout)
			if c.last == "-" {
				information, err := os.Stat(file)
				require.NoError(t, err)
				require.NotZero(t, information.Mode()&0o100, "HTCondor runs the file itself")
			}
		})
	}
}
