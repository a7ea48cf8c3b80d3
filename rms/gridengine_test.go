package rms_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/doctor"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

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

// How a parallel environment spreads slots over nodes is not known, so somebody has to name one.
func TestGridEngineRefusesSeveralNodesWithoutAParallelEnvironment(t *testing.T) {
	for _, definition := range []string{"gridengine", "gridengine-interactive"} {
		for request, isRefused := range map[string]bool{
			"nodes=2": true, "nodes=2 tasksPerNode=4": true, "tasks=7 tasksPerNode=4": true, "nodes=2 tasks=8": true,
			"nodes=2 tasksPerNode=4 pe=fours": false, "tasks=7 tasksPerNode=4 pe=fours": false, "nodes=1 tasks=4": false, "tasks=4": false, "tasksPerNode=4": false,
		} {
			_, err := renderedPortable(t, definition, request)
			if isRefused {
				require.ErrorContains(t, err, "set pe", "%s: %s", definition, request)
			} else {
				require.NoError(t, err, "%s: %s", definition, request)
			}
		}
	}
}

func TestAGridEngineCellWhereNoJobHasEndedNeedsNoAccountingFile(t *testing.T) {
	definition := shippedDefinition(t, "gridengine")
	probe := definition.Probes[slices.IndexFunc(definition.Probes, func(p *config.Probe) bool { return p.Name == "accounting" })]
	for _, c := range []struct {
		printed command.Result
		expect  doctor.Verdict
	}{
		{command.Result{Stdout: "Total System Usage\n    WALLCLOCK         UTIME\n"}, doctor.Fine},
		{command.Result{ExitCode: 1, Stdout: "no jobs running since startup\n", Stderr: "/opt/sge/default/common/accounting: No such file or directory\n"}, doctor.Fine},
		{command.Result{ExitCode: 1, Stdout: "no jobs running since startup\n", Stderr: "error: unable to open /opt/sge/default/common/accounting\n"}, doctor.Problem},
		{command.Result{ExitCode: 1, Stderr: "error: SGE_ROOT directory \"/opt/sge\" doesn't exist\n"}, doctor.Problem},
	} {
		require.Equal(t, c.expect, doctor.JudgeProbe(probe, &c.printed).Verdict, c.printed)
	}
}

// What failed says of a job counts whatever its exit status is.
func TestAJobThatGridEngineReportsAsFailedIsNeverCompleted(t *testing.T) {
	definition, folder := shippedDefinition(t, "gridengine"), gridengineCases+"/status-ended-ok"
	ended := recordedExchange(t, folder)
	left, err := os.ReadFile(folder + "/stdout-left")
	require.NoError(t, err)
	ended.programs = map[string]string{"qstat": string(left)}
	require.Equal(t, "COMPLETED", replay(t, shippedDefinition(t, "gridengine"), ended).State)
	const ok = "failed       0    "
	require.Contains(t, ended.stdout, ok)
	for code := 1; code <= 101; code++ {
		for _, words := range []string{"", " : assumedly after job"} {
			failed := ended
			failed.stdout = strings.Replace(ended.stdout, ok, fmt.Sprintf("failed       %-3d%s", code, words), 1)
			expected := "FAILED"
			if code == 24 || code == 25 {
				expected = "" // migrated or rescheduled: it goes on
			}
			require.Equal(t, expected, replay(t, definition, failed).State, "failed %d%s", code, words)
		}
	}
}
