package rms_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// answers is a program that prints the file which is called as it and its
// arguments are, and exits with the code of that file with .exit behind it.
const answers = `name=$(basename "$0")$(printf '_%s' "$@" | tr -c 'a-zA-Z0-9_.-' +)
[ -e "$ANSWERS/$name" ] || { echo "no answer to $name" >&2; exit 99; }
cat "$ANSWERS/$name"
[ ! -e "$ANSWERS/$name.err" ] || cat "$ANSWERS/$name.err" >&2
[ ! -e "$ANSWERS/$name.exit" ] || exit "$(cat "$ANSWERS/$name.exit")"`

// The shell makes lines of what qstat and qacct print, which are what the
// definition reads in the case of the same folder.
func TestGridEngineMakesLinesOfWhatItsCommandsPrint(t *testing.T) {
	eachAnswered(t, gridengineCases, func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int) {
		t.Setenv("TZ", "UTC")
		var arguments []string
		switch recorded.Command {
		case "get-job-status":
			arguments = []string{placeOf(t, os.Getenv("ANSWERS")), recorded.Job}
		case "list-jobs":
			arguments = []string{"all"}
		}
		programs := map[string]string{"qstat": answers, "qacct": answers, "qconf": answers, "qhost": answers}
		return runGridEngine(t, recorded.Command, programs, arguments...)
	})
}

// placeOf returns a folder with what is kept about jobs, as the files kept.ID
// beside the answers say.
func placeOf(t *testing.T, folder string) string {
	place := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(place, "gridengine"), 0o700))
	files, err := filepath.Glob(filepath.Join(folder, "kept.*"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(place, "gridengine", strings.TrimPrefix(filepath.Base(file), "kept.")), content, 0o600))
	}
	return place
}

// runGridEngine runs the shell of a command for real, on programs in place of
// Grid Engine's; the last arguments of the command are replaced.
func runGridEngine(t *testing.T, selector string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	folder := t.TempDir()
	for name, script := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	words := argumentsOf(t, "gridengine", selector, "1")
	command := exec.CommandContext(t.Context(), "sh", append(words[1:len(words)-len(arguments):len(words)-len(arguments)], arguments...)...)
	command.Env = append(os.Environ(), "LC_ALL=C", "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	var errors strings.Builder
	command.Stderr = &errors
	printed, err := command.Output()
	if err != nil {
		var failed *exec.ExitError
		require.ErrorAs(t, err, &failed)
	}
	return string(printed), errors.String(), command.ProcessState.ExitCode()
}

// Parts of programs in place of Grid Engine's.
const (
	unknownJob = `echo '<unknown_jobs >'; echo '</unknown_jobs>'`
	emptyList  = `printf '<job_info>\n</job_info>\n'`
	noRecords  = "exit 0"
)

// listed is an element of qstat's listing.
func listed(id int, name, made, letters string) string {
	return `<job_list state="x">
  <JB_job_number>` + strconv.Itoa(id) + `</JB_job_number>
  <JB_name>` + name + `</JB_name>
  <JB_owner>ada</JB_owner>
  <state>` + letters + `</state>
  <JB_submission_time>` + made + `</JB_submission_time>
  <queue_name></queue_name>
</job_list>`
}

func listing(elements ...string) string {
	return "printf '%s\\n' '<job_info>\n" + strings.Join(elements, "\n") + "\n</job_info>'"
}

// detailed is a job as qstat -xml -j shows it, with a context, and a variable
// that holds lines like it.
func detailed(id int, context string) string {
	return `<JB_job_number>` + strconv.Itoa(id) + `</JB_job_number>
<JB_env_list>
<VA_variable>RMCTL_TAG</VA_variable>
<VA_value>` + otherTag + `
%lt;JB_context&gt;
&lt;VA_variable&gt;RMCTL_TAG&lt;/VA_variable&gt;
&lt;VA_value&gt;` + tag + `&lt;/VA_value&gt;</VA_value>
</JB_env_list>
<JB_context>
<VA_variable>mine</VA_variable>
<VA_value>1</VA_value>
<VA_variable>RMCTL_TAG</VA_variable>
<VA_value>` + context + `</VA_value>
</JB_context>`
}

func details(jobs ...string) string {
	return "printf '%s\\n' '<detailed_job_info>\n" + strings.Join(jobs, "\n") + "\n</detailed_job_info>'"
}

func ended(id int, name, made string) string {
	return "printf '====\\njobname      " + name + "   \\njobnumber    " + strconv.Itoa(id) + "\\nqsub_time    " + made + "\\n'; "
}

func TestGridEngineFindsTheJobOfASubmission(t *testing.T) {
	const (
		later  = "2099-11-22T07:03:55"
		before = "2000-11-22T07:03:55"
	)
	live := listing(listed(8, "x", before, "r"), listed(17, "x", before, "qw"))
	for what, c := range map[string]struct {
		list, detail, left, records string
		age, ownScript              string
		stdout, stderr              string
		exit                        int
	}{
		"a job":                          {list: live, detail: details(detailed(8, otherTag), detailed(17, tag)), stdout: "found job 17, which is 17\n"},
		"made twice":                     {list: live, detail: details(detailed(17, tag), detailed(8, tag)), stdout: "found job 8, which is 8\n"},
		"a tag in a variable":            {list: live, detail: details(detailed(8, otherTag)), stdout: "found no job\n"},
		"all ended meanwhile":            {list: live, detail: unknownJob, stdout: "found no job\n"},
		"no jobs":                        {list: emptyList, stdout: "found no job\n"},
		"qstat fails":                    {list: "exit 1", exit: 1},
		"qstat is cut":                   {list: live + " | head -n 5", stderr: "not whole", exit: 1},
		"details are cut":                {list: live, detail: details(detailed(8, otherTag)) + " | head -n 5", stderr: "not whole", exit: 1},
		"another job ended since":        {list: emptyList, left: listing(listed(9, "other", later, "z")), records: ended(11, "other", "Sun Nov 22 07:03:55 2099"), stdout: "found no job\n"},
		"a job of that name ended":       {list: emptyList, left: listing(listed(9, "sim", later, "z")), records: ended(11, "sim", "Sun Nov 22 07:03:55 2099"), stderr: "may be one of: 9 11 ", exit: 1},
		"one of that name ended before":  {list: emptyList, left: listing(listed(9, "sim", before, "z")), records: ended(11, "sim", "Sun Nov 22 07:03:55 2000"), stdout: "found no job\n"},
		"a user's own script":            {list: emptyList, left: listing(listed(9, "other", later, "z")), ownScript: "/home/ada/s.sh", stderr: "may be one of: 9 ", exit: 1},
		"accounting fails":               {list: emptyList, records: "echo no file; exit 1", stderr: "accounting cannot be read: no file", exit: 1},
		"accounting may have dropped it": {list: emptyList, age: "2592000", stderr: "30 days", exit: 1},
	} {
		t.Run(what, func(t *testing.T) {
			for _, part := range []struct {
				of    *string
				usual string
			}{{&c.detail, "exit 9"}, {&c.left, emptyList}, {&c.records, noRecords}, {&c.age, "200"}} {
				if *part.of == "" {
					*part.of = part.usual
				}
			}
			programs := map[string]string{
				"id":    "echo ada",
				"qstat": `case "$*" in "-xml -u ada") ` + c.list + `;; "-xml -j 8,17") ` + c.detail + `;; "-xml -s z -u ada") ` + c.left + ";; *) exit 9;; esac",
				"qacct": `case "$*" in "-o ada -b "????????????" -j") ` + c.records + ";; *) exit 9;; esac",
			}
			stdout, stderr, exit := runGridEngine(t, "find-job", programs, tag, c.age, "sim", c.ownScript)
			require.Equal(t, c.exit, exit, "%s", stderr)
			require.Equal(t, c.stdout, stdout)
			require.Contains(t, stderr, c.stderr)
		})
	}
}

// What rmctl deletes it remembers, as accounting tells no deleted job from a killed one.
func TestGridEngineNotesWhatItDeletes(t *testing.T) {
	born := "printf '  <JB_submission_time>1795330128</JB_submission_time>\\n'"
	for what, c := range map[string]struct {
		said, job string
		exit      int
		word      string
	}{
		"a waiting job":        {said: "echo ada has deleted job 7", job: "7", word: "deleted"},
		"a running job":        {said: "echo ada has registered the job 7 for deletion", job: "7", word: "registered"},
		"a running array":      {said: "echo ada has registered the job-array task 7.1 for deletion; echo ada has deleted job 7", job: "7", word: "registered"},
		"a waiting task":       {said: "echo ada has deleted job-array task 7.2", job: "7.2", word: "deleted"},
		"once more":            {said: "echo job 7 is already in deletion", job: "7"},
		"what is not there":    {said: "echo 'denied: job \"7\" does not exist'; exit 1", job: "7", exit: 1},
		"a job that has ended": {said: "exit 1", job: "7", exit: 1},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("TZ", "UTC")
			folder := t.TempDir()
			_, stderr, exit := runGridEngine(t, "terminate-job", map[string]string{"qstat": born, "qdel": c.said}, folder, c.job)
			require.Equal(t, c.exit, exit)
			require.Empty(t, stderr)
			kept, err := os.ReadFile(filepath.Join(folder, "gridengine", c.job))
			if c.word == "" {
				require.ErrorIs(t, err, os.ErrNotExist)
				return
			}
			require.NoError(t, err)
			require.Regexp(t, `^2026-11-22T06:48:48 \d+ `+c.word+"\n$", string(kept))
			info, err := os.Stat(filepath.Join(folder, "gridengine", c.job))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
		})
	}
}

// A record of an earlier job with the same number is no end of this one.
func TestGridEngineBelievesNoRecordOfAnotherJob(t *testing.T) {
	record := func(made, exit string) string {
		return `printf '%s\n' '=====' 'qname q' 'hostname h' 'jobname n' 'jobnumber 7' 'taskid undefined' 'qsub_time ` + made +
			`' 'start_time ` + made + `' 'end_time ` + made + `' 'failed 0' 'exit_status ` + exit + `'; `
	}
	const now, then = "Sun Nov 22 07:03:55 2026", "Sun Nov 22 07:03:55 2020"
	for what, c := range map[string]struct {
		records, state, stderr string
	}{
		"its own":            {record(now, "0"), "completed", ""},
		"an earlier one":     {record(then, "0"), "", "lags behind"},
		"both":               {record(then, "0") + record(now, "3"), "failed", ""},
		"one that ran again": {record(now, "3") + record(now, "0"), "completed", ""},
		"of a run that was put back into the queue": {strings.Replace(record(now, "0"), "failed 0", "failed 25 : rescheduling", 1), "", "lags behind"},
		"of a start that failed":                    {strings.Replace(record(now, "0"), "start_time "+now, "start_time -/-", 1), "", "lags behind"},
		"half a record":                             {"{ " + record(now, "0") + "} | head -n 8", "", "not understood"},
		"two lines of a kind":                       {record(now, "0") + "echo exit_status 0", "", "not understood"},
		"of a job like no one":                      {"echo =====; echo jobnumber 8", "", "not understood"},
	} {
		t.Run(what, func(t *testing.T) {
			programs := map[string]string{
				"qstat": `case "$*" in "-xml -j 7") ` + unknownJob + `;; "-xml -s z -u *") ` + listing(listed(7, "n", "2026-11-22T07:03:55", "z")) + ";; *) exit 9;; esac",
				"qacct": c.records,
				"qconf": "echo flush_time=00:00:15",
			}
			stdout, stderr, exit := runGridEngine(t, "get-job-status", programs, t.TempDir(), "7")
			require.Contains(t, stderr, c.stderr)
			require.Equal(t, c.stderr == "", exit == 0, "%s", stderr)
			if c.state != "" {
				require.Contains(t, stdout, "state\t"+c.state+"\t"+c.state+"\n")
			}
		})
	}
}

// gridengineDirectives holds a value for every attribute that a user may set, and the
// directive that it makes.
var gridengineDirectives = []struct{ name, value, directive string }{
	{"job-name", "Run_1.a+b-c", "-N Run_1.a+b-c"},
	{"queue", "gpu-test@@rack1,long*", "-q gpu-test@@rack1,long*"},
	{"master-queue", "long.q@n1", "-masterq long.q@n1"},
	{"account", "proj7", "-A proj7"},
	{"project", "physics", "-P physics"},
	{"h_rt", "100:00:00", "-l h_rt=100:00:00"},
	{"s_rt", "3600", "-l s_rt=3600"},
	{"h_cpu", "INFINITY", "-l h_cpu=INFINITY"},
	{"h_vmem", "2.5G", "-l h_vmem=2.5G"},
	{"mem_free", "512M", "-l mem_free=512M"},
	{"resources", "gpu=1,arch=lx-amd64,exclusive", "-l gpu=1,arch=lx-amd64,exclusive"},
	{"soft-resources", "fast=true", "-soft -l fast=true -hard"},
	{"binding", "linear:4", "-binding linear:4"},
	{"reserve", "y", "-R y"},
	{"advance-reservation", "12", "-ar 12"},
	{"array", "1-9:2", "-t 1-9:2"},
	{"array-concurrency", "2", "-tc 2"},
	{"hold", "true", "-h"},
	{"hold-jid", "12,sim*", "-hold_jid 12,sim*"},
	{"hold-jid-ad", "12", "-hold_jid_ad 12"},
	{"begin", "203012312359.30", "-a 203012312359.30"},
	{"deadline", "12312359", "-dl 12312359"},
	{"priority", "-1023", "-p -1023"},
	{"job-share", "7", "-js 7"},
	{"rerunnable", "n", "-r n"},
	{"checkpoint", "blcr", "-ckpt blcr"},
	{"checkpoint-when", "sx", "-c sx"},
	{"notify", "true", "-notify"},
	{"verify", "e", "-w e"},
	{"chdir", "/scratch/run", "-wd /scratch/run"},
	{"output", "$HOME/$JOB_NAME.$JOB_ID", "-o $HOME/$JOB_NAME.$JOB_ID"},
	{"error", "logs/", "-e logs/"},
	{"join", "y", "-j y"},
	{"input", "/data/in", "-i /data/in"},
	{"mail-events", "bea", "-m bea"},
	{"mail-user", "a@example.org,b@example.org", "-M a@example.org,b@example.org"},
	{"export-all", "true", "-V"},
	{"variables", "A=1,B,C=x:y", "-v A=1,B,C=x:y"},
	{"context", "case=7", "-ac case=7"},
	{"qsub-options", "-jc short -xd y", "-jc short -xd y"},
	{"slots", "1", ""}, // one slot needs no environment
}

func TestGridEngineEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "gridengine")
	covered := map[string]bool{"pe": true, "shell": true, "launcher": true, "clear-error-job": true}
	for _, test := range gridengineDirectives {
		covered[test.name] = true
		script, err := renderGridEngine(t, definition, test.name, test.value)
		require.NoError(t, err, test.name)
		if test.directive != "" {
			require.Equal(t, 1, strings.Count(script, "\n#$ "+test.directive+"\n"), "%s in\n%s", test.directive, script)
		} else {
			require.Equal(t, "#!/bin/sh\n#$ -S /bin/sh\n#$ -cwd\n#$ -N true\nexec true\n", script)
		}
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "pe", "smp", "slots", "4-8", "launcher", "mpirun", "shell", "/bin/bash -l", "hold", "false")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/bash -l\n#$ -S /bin/bash\n#$ -cwd\n#$ -N true\n#$ -pe smp 4-8\nexec mpirun true\n", script)
}

// A value stands in a directive as it is: what would make another option, or a
// command, of its end must not get there.
func TestGridEngineRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "gridengine")
	for _, defined := range definition.Attributes {
		if !defined.Visible() || defined.Name() == "qsub-options" {
			continue
		}
		for _, value := range []string{"1 -q root", "x\nrm -rf /", "a\"b", "a'b"} {
			_, err := renderGridEngine(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
	}
	for name, value := range map[string]string{
		"h_rt": "abc", "array": "0-3", "join": "yes", "slots": "four", "job-name": "1a", "begin": "99", "priority": "2000", "chdir": "relative",
		"qsub-options": "rm -rf", "output": "a:b", "mail-events": "x",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		var refused *attribute.InvalidError
		require.ErrorAs(t, err, &refused, "%s=%q", name, value)
	}
}

// renderGridEngine returns the script of a submission with some attributes set.
func renderGridEngine(t *testing.T, definition *config.Definition, pairs ...string) (string, error) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	var values []job.Assignment
	for i := 0; i < len(pairs); i += 2 {
		values = append(values, job.Assignment{Name: pairs[i], Value: pairs[i+1]})
	}
	rendering, err := control.New(control.Options{Definition: definition, Connection: local}).Render(job.Submission{
		Executable: "true", Directory: "/scratch/run", Values: values,
	})
	if err != nil {
		return "", err
	}
	return rendering.Script, nil
}

// Where a site has the qmaster keep a log of jobs, that tells who was deleted; accounting has a deleted job for a killed one.
func TestGridEngineBelievesTheLogOfTheQmasterThatAJobWasDeleted(t *testing.T) {
	const (
		made = 1795343177
		log  = "%d:job_log:%[1]d:%s:%d:0:NONE:r:%s:vm:0:1024:%d:sleep:root:root::defaultdepartment:sge:a message\n"
		acct = "1795343183:acct:main.q:vm:root:root:sleep:%d:sge:0:1795343177:0:0:100:137:0\n"
	)
	t.Setenv("TZ", "UTC")
	t.Setenv("SGE_ROOT", t.TempDir())
	folder := filepath.Join(os.Getenv("SGE_ROOT"), "default", "common")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	sent := fmt.Sprintf(log, made, "sent", 7, "master", made)
	byUser := fmt.Sprintf(log, made+5, "deleted", 7, "ada", made)
	byDaemons := fmt.Sprintf(log, made+5, "deleted", 7, "execution daemon", made) + fmt.Sprintf(log, made+5, "deleted", 7, "scheduler", made)
	written := fmt.Sprintf(acct, 7)
	for what, c := range map[string]struct{ log, ended, says string }{
		"deleted by a user":                      {sent + byUser + byDaemons + written, "Sun Nov 22 10:26:22 2026", "state\tcanceled"},
		"killed":                                 {sent + byDaemons + written, "Sun Nov 22 10:26:22 2026", "state\tfailed"},
		"an earlier job with the id was deleted": {fmt.Sprintf(log, made-900, "deleted", 7, "ada", made-1000) + sent + byDaemons + written, "Sun Nov 22 10:26:22 2026", "state\tfailed"},
		"another job was deleted":                {sent + fmt.Sprintf(log, made+5, "deleted", 17, "ada", made) + written, "Sun Nov 22 10:26:22 2026", "state\tfailed"},
		"nothing is logged":                      {"", "Sun Nov 22 10:26:22 2026", "state\tfailed"},
		"the log was not written to its end":     {sent, "just now", "!is not known yet"},
		"its end is in no log":                   {sent, "Sun Nov 22 10:26:22 2026", "state\tfailed"},
	} {
		t.Run(what, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "reporting"), []byte(c.log), 0o600))
			if c.ended == "just now" {
				c.ended = time.Now().UTC().Format(time.ANSIC)
			}
			programs := map[string]string{
				"qstat": `case "$*" in *-j*) ` + unknownJob + `;; *) ` + emptyList + `;; esac`,
				"qacct": `printf '==============\nqname        main.q\nhostname     vm\njobname      sleep\njobnumber    7\ntaskid       undefined\nqsub_time    Sun Nov 22 10:26:17 2026\nstart_time   Sun Nov 22 10:26:17 2026\nend_time     ` + c.ended + `\nfailed       100 : assumedly after job\nexit_status  137                  (Killed)\n'`,
				"qconf": "exit 0",
			}
			stdout, stderr, exit := runGridEngine(t, "get-job-status", programs, t.TempDir(), "7")
			if said, refused := strings.CutPrefix(c.says, "!"); refused {
				require.Equal(t, 1, exit, stdout)
				require.Contains(t, stderr, said)
				return
			}
			require.Zero(t, exit, "%s", stderr)
			require.Contains(t, stdout, c.says)
		})
	}
}
