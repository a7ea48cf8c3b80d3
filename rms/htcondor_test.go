package rms_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

// A classAd is a job as condor_q and condor_history print it.
type classAd map[string]any

// with returns a job with other attributes.
func (ad classAd) with(changed classAd) classAd {
	all := maps.Clone(ad)
	maps.Copy(all, changed)
	return all
}

func (ad classAd) String() string {
	text, _ := json.MarshalIndent([]classAd{ad}, "", "  ") // it has texts and numbers only
	return string(text) + "\n"
}

var condorJob = classAd{"ClusterId": 12, "ProcId": 0, "TotalSubmitProcs": 1, "QDate": 1700000000, "JobStatus": 2, "Owner": "ada", "Iwd": "/work"}

const condorHistory = "fallback:get-job-status-from-history"

// condorStatuses is every JobStatus of HTCondor 8.8 to 25, and what it means in the queue and in the history.
var condorStatuses = []struct{ native, queued, left string }{
	{"U", "QUEUED_ACTIVE", "QUEUED_ACTIVE"}, {"I", "QUEUED_ACTIVE", "QUEUED_ACTIVE"}, {"R", "RUNNING", "RUNNING"}, {"X", "RUNNING", "CANCELED"},
	{"C", "COMPLETED", "COMPLETED"}, {"H", "SYSTEM_ON_HOLD", "SYSTEM_ON_HOLD"}, {">", "RUNNING", "RUNNING"}, {"S", "SUSPENDED", "SUSPENDED"},
	{"F", "", ""}, {"B", "QUEUED_ACTIVE", "QUEUED_ACTIVE"}, {"P", "QUEUED_ACTIVE", "QUEUED_ACTIVE"},
}

func TestHTCondorEveryStatusIsUnderstood(t *testing.T) {
	definition := shippedDefinition(t, "htcondor")
	for status, want := range condorStatuses {
		printed := condorJob.with(classAd{"JobStatus": status, "ExitBySignal": false, "ExitCode": 0}).String()
		for selector, state := range map[string]string{"get-job-status": want.queued, condorHistory: want.left} {
			got := replay(t, definition, exchange{selector: selector, job: "12", stdout: printed})
			require.Equal(t, state, got.State, "%d of %s", status, selector)
			require.Equal(t, want.native, got.Facts["job.native"])
		}
	}
}

// What a user may write stands in texts, which JSON keeps apart from everything else.
func TestHTCondorTextsOfUsersDecideNothing(t *testing.T) {
	definition := shippedDefinition(t, "htcondor")
	texts := []string{"RmctlTag", "Owner", "Iwd", "Out", "Err", "JobBatchName", "RemoteHost", "LastRemoteHost", "HoldReason", "RemoveReason", "RequestCpus"}
	for _, forged := range []string{
		"x\"\n}\n]\n", "x\",\n  \"JobStatus\": 4,\n  \"ExitBySignal\": false,\n  \"ExitCode\": 0,\n  \"y\": \"", "\\", "\\/Expr(JobStatus = 4)\\/", "\x00\x1b]0;x\a", "\xff",
	} {
		ad := maps.Clone(condorJob)
		for _, name := range texts {
			ad[name] = forged
		}
		got := replay(t, definition, exchange{selector: "get-job-status", job: "12", stdout: ad.String()})
		require.Equal(t, "RUNNING", got.State, "%q", forged)
		for name, text := range got.Facts {
			require.NotContains(t, text, "\n", name)
		}
	}
}

func TestHTCondorArraysEndWithTheirLastJob(t *testing.T) {
	definition := shippedDefinition(t, "htcondor")
	for total, outcome := range map[any]config.OutcomeKind{1: "", 2: config.Incomplete, nil: config.Incomplete} {
		printed := condorJob.with(classAd{"JobStatus": 4, "ExitBySignal": false, "ExitCode": 0, "TotalSubmitProcs": total}).String()
		for _, selector := range []string{"get-job-status", condorHistory} {
			got := replay(t, definition, exchange{selector: selector, job: "12", stdout: printed})
			require.Equal(t, outcome, got.Outcome, "%v", total)
			require.Equal(t, map[bool]string{true: "COMPLETED"}[total == 1], got.State, "%v", total)
			one := replay(t, definition, exchange{selector: selector, job: "12.0", stdout: printed})
			require.Equal(t, "COMPLETED", one.State, "a job of the array")
		}
	}
}

// condorCommands is a value for each attribute that a user may set, with the submit command that it makes.
const condorCommands = `environment = "CONDOR_CLUSTER=$(ClusterId) CONDOR_PROCESS=$(ProcId)"
batch_name = sums
universe = container
container_image = docker://debian:12
docker_image = debian:12
request_cpus = 4
request_memory = 8G
request_disk = 20G
request_gpus = 1
require_gpus = Capability >= 8.0
machine_count = 2
requirements = HasAVX2 && OpSysMajorVer == 9
rank = Memory
concurrency_limits = lic:2,disk
periodic_remove = JobStatus == 2 && time() - JobCurrentStartDate > 3600
allowed_job_duration = 7200
accounting_group = group_a.b
accounting_group_user = ada
priority = -5
nice_user = true
hold = false
deferral_time = 1700000000
max_retries = 3
success_exit_code = 7
periodic_hold = NumJobStarts > 3
periodic_release = false
kill_sig = SIGINT
job_max_vacate_time = 60
initialdir = /scratch/a b
input = in put.dat
output = out.$(ProcId)
error = err.$(ProcId)
stream_output = true
stream_error = true
log = job.log
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
transfer_input_files = a, b
transfer_output_files = c
getenv = PATH, X*
notification = Error
notify_user = ada@example.org
max_materialize = 10
max_idle = 5
+Project = "x"
queue 3
`

func TestHTCondorEveryAttributeMakesItsSubmitCommand(t *testing.T) {
	definition := shippedDefinition(t, "htcondor")
	submission := job.Submission{Executable: "true", Directory: "/work"}
	lines := strings.Split(strings.TrimSuffix(condorCommands, "\n"), "\n")
	names := []string{""}
	for _, defined := range definition.Attributes {
		if defined.Visible() && defined.Name() != "shell" {
			names = append(names, defined.Name())
		}
	}
	require.Len(t, names, len(lines))
	for i, name := range names {
		value := lines[i][strings.IndexAny(lines[i], "=> ")+1:]
		for _, option := range []string{" = ", "queue ", "periodic_remove = JobStatus == 2 && time() - JobCurrentStartDate > "} {
			if _, after, found := strings.Cut(lines[i], option); found {
				value = after
			}
		}
		if name == "command" {
			value = lines[i]
		}
		if name != "" {
			submission.Values = append(submission.Values, job.Assignment{Name: name, Value: value})
		}
	}
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Definition: definition, Connection: local}).Render(submission)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\n#CONDOR "+strings.Join(lines, "\n#CONDOR ")+"\nexec true\n", rendering.Script)
}

// A script is the program, with the description in its directives; a file with a queue command is the description.
func TestHTCondorSubmitsScriptsAndDescriptions(t *testing.T) {
	definition, _ := rms.Source("htcondor")
	program, shipped := rms.Beside("htcondor.xml", definition, "htcondor.sh")
	require.True(t, shipped)
	const submit = "#!/bin/sh\nprintf '<%s>' \"$@\"; echo\nfor last; do :; done\n[ \"$last\" != - ] || cat\nexit 7\n"
	scripts := map[string]struct{ script, given, last string }{
		"a generated script":        {"#!/bin/sh\n#CONDOR request_cpus = 2\n#CONDOR queue 3\nexec true\n", "executable = FILE\nrequest_cpus = 2\nqueue 3\n\n", "-"},
		"no queue command":          {"#!/bin/sh\n#CONDOR log = queue.log\n# queue\n#CONDORS x\ntrue\n", "executable = FILE\nlog = queue.log\nqueue\n", "-"},
		"an attribute like a queue": {"#!/bin/sh\n#CONDOR \t queue_size = 1\n", "executable = FILE\nqueue_size = 1\nqueue\n", "-"},
		"a queue of a list":         {"#!/bin/sh\n#CONDOR Queue name from list.txt\n", "executable = FILE\nQueue name from list.txt\n\n", "-"},
		"no directive":              {"#!/bin/sh\ntrue\n", "executable = FILE\n\nqueue\n", "-"},
		"macros and backslashes":    {"#!/bin/sh\n#CONDOR arguments = $(ProcId) \\n %s 'x'\n", "executable = FILE\narguments = $(ProcId) \\n %s 'x'\nqueue\n", "-"},
		"a description":             {"executable = /bin/true\n  Queue 3\n", "", "FILE"},
	}
	for _, shell := range []string{"dash", "bash", "busybox"} {
		interpreter, err := exec.LookPath(shell)
		if err != nil {
			continue // onEveryShell of the tests of local.sh reports it
		}
		for what, c := range scripts {
			t.Run(shell+"/"+what, func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), "my folder")
				require.NoError(t, os.Mkdir(folder, 0o700))
				file := filepath.Join(folder, "my script")
				for name, text := range map[string]string{file: c.script, filepath.Join(folder, "condor_submit"): submit, filepath.Join(folder, "htcondor.sh"): string(program)} {
					require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
				}
				require.NoError(t, os.Chmod(filepath.Join(folder, "condor_submit"), 0o700))
				require.NoError(t, os.Symlink(interpreter, filepath.Join(folder, "sh")))
				command := exec.CommandContext(t.Context(), filepath.Join(folder, "sh"), filepath.Join(folder, "htcondor.sh"), file, tag)
				command.Env = []string{"LC_ALL=C", "PATH=" + folder + ":" + os.Getenv("PATH")}
				printed, err := command.Output()
				var failed *exec.ExitError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, 7, failed.ExitCode(), "the code of condor_submit: %s", failed.Stderr)
				want := "<-terse><-single-cluster><-append><+RmctlTag = \"" + tag + "\"><" + c.last + ">\n" + c.given
				require.Equal(t, strings.ReplaceAll(want, "FILE", file), string(printed))
				if c.last == "-" {
					information, err := os.Stat(file)
					require.NoError(t, err)
					require.NotZero(t, information.Mode()&0o100, "HTCondor runs the file itself")
				}
			})
		}
	}
}

var adaptation = regexp.MustCompile("`(<(?:attribute|x:reader) [^`]*>)`")

// The examples of the page for sites are valid, and do what the page says.
func TestHTCondorPageHasExamplesThatWork(t *testing.T) {
	page, err := os.ReadFile("../docs/schedulers/htcondor.md")
	require.NoError(t, err)
	_, adapting, _ := strings.Cut(string(page), "## Adapt it")
	examples := adaptation.FindAllStringSubmatch(adapting, -1)
	require.Len(t, examples, 8)
	var attributes, readers strings.Builder
	for _, example := range examples {
		if strings.HasPrefix(example[1], "<attribute") {
			attributes.WriteString(example[1])
		} else {
			readers.WriteString(example[1])
		}
		extendHTCondor(t, example[1])
	}
	definition := extendHTCondor(t, attributes.String())
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Definition: definition, Connection: local}).Render(job.Submission{
		Executable: "true", Values: []job.Assignment{{Name: "wall-time", Value: "60"}, {Name: "project", Value: `"fusion"`}},
	})
	require.NoError(t, err)
	for _, line := range []string{"accounting_group = group_physics", "+MaxRuntime = 60", `+ProjectName = "fusion"`} {
		require.Contains(t, rendering.Script, "\n#CONDOR "+line+"\n")
	}
	require.Nil(t, definition.Attribute("rank"))

	definition = extendHTCondor(t, readers.String())
	for _, each := range []struct {
		selector, state string
		changed         classAd
	}{
		{"get-job-status", "QUEUED_ACTIVE", classAd{"JobStatus": 8}},
		{"get-job-status", "RUNNING", classAd{"AcctGroup": "physics"}},
		{condorHistory, "FAILED", classAd{"JobStatus": 3, "RemoveReason": "used more than 100 GB"}},
		{condorHistory, "CANCELED", classAd{"JobStatus": 3, "RemoveReason": "via condor_rm (by user ada)"}},
	} {
		got := replay(t, definition, exchange{selector: each.selector, job: "12", stdout: condorJob.with(each.changed).String()})
		require.Equal(t, each.state, got.State)
		require.Equal(t, each.changed["AcctGroup"] != nil, got.Facts["job.queue"] == "physics")
	}
}

// extendHTCondor returns the definition of a site that adds elements.
func extendHTCondor(t *testing.T, elements string) *config.Definition {
	t.Helper()
	site := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site" x:extends="htcondor"><control-data>` +
		elements + `</control-data></resource-manager-builder>`
	definition, problems := check.Load("site.xml", []byte(site), func(name, _ string) (string, []byte, error) {
		source, _ := rms.Source(name)
		return name + ".xml", source, nil
	})
	require.Empty(t, problems, elements)
	return definition
}
