package coalloc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/job"
)

// estimating is a definition that estimates starts of jobs.
const estimating = `<?xml version="1.0" encoding="UTF-8"?>
<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="estimating" x:extends="slurm">
  <control-data>
    <start-up-command name="get-queues" x:remove="true"/>
    <button-action name="estimate-start" x:remove="true"/>
    <button-action name="estimate-start" redirectStderr="true" x:timeout="60s">
      <arg resolve="false">sh -c 'grep -q "^#SBATCH --partition=fast" &amp;&amp; echo "sbatch: Job 7 to start at 2031-02-03T04:05:06 using 2 processors on nodes n in partition fast" >&amp;2' sh</arg>
      <input>${ptp_rm:estimate.script#value}</input>
      <x:read needs="start">
        <x:lines expression="(?:sbatch: )?Job \d+ to start at (\S+) using .*" columns="start"/>
        <x:fact attribute="estimate.start" from="start"/>
      </x:read>
    </button-action>
    <button-action name="estimate-job-start" x:remove="true"/>
    <button-action name="estimate-job-start" x:timeout="60s">
      <arg resolve="false">sh -c 'case $1 in 7) echo 2031-02-03T04:05:06;; 8) echo N/A;; *) echo "no such job" >&amp;2; exit 1;; esac' sh</arg>
      <arg>"${ptp_rm:estimate.job#value}"</arg>
      <x:read>
        <x:lines expression="(\d\S+)" columns="start"/>
        <x:lines expression="N/A"/>
        <x:fact attribute="estimate.start" from="start"/>
      </x:read>
    </button-action>
  </control-data>
</resource-manager-builder>
`

func newClient(t *testing.T) *rmctl.Client {
	t.Helper()
	folder := t.TempDir()
	definition := filepath.Join(folder, "estimating.xml")
	require.NoError(t, os.WriteFile(definition, []byte(estimating), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "targets.toml"), []byte("[targets.est]\ndefinition = '"+definition+"'\n"), 0o600))
	t.Setenv("HOME", t.TempDir())
	client := rmctl.New(rmctl.Options{ConfigFolder: folder, SiteFolder: filepath.Join(folder, "none"), StateFolder: t.TempDir()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestAPlanShowsWhatEachPartWouldSubmit(t *testing.T) {
	client := newClient(t)
	request := read(t, `[part.a]
target = "local"
count = 3
executable = "/bin/true"
[part.b]
target = "local"
executable = "/bin/true"
attributes = { gpus = 2 }
[part.c]
target = "nowhere"
executable = "/bin/true"
[part.d]
target = "est"
count = 2
executable = "/bin/true"
attributes = { queue = "fast" }
[part.e]
target = "est"
executable = "/bin/true"
attributes = { queue = "slow" }
[part.f]
target = "pbs"
count = 2
executable = "/bin/true"
`)
	plans := coalloc.Plan(context.Background(), client, request, true)
	require.Len(t, plans, 6)
	require.NoError(t, plans[0].Problem)
	require.Contains(t, plans[0].Rendering.Script, `spread 3 rmctl-node run --pass PASS -- /bin/true`)
	require.Zero(t, plans[0].Start)
	require.NoError(t, plans[0].NoStart, "local has no command for it")
	require.ErrorContains(t, plans[1].Problem, `attribute "gpus"`)
	require.ErrorContains(t, plans[2].Problem, `unknown target "nowhere"`)
	require.NoError(t, plans[3].Problem)
	require.NoError(t, plans[3].NoStart)
	require.Equal(t, "2031-02-03T04:05:06", plans[3].Start.Format("2006-01-02T15:04:05"))
	require.Contains(t, plans[3].Rendering.Script, "srun rmctl-node run --pass PASS -- /bin/true")
	require.NoError(t, plans[4].Problem)
	require.Error(t, plans[4].NoStart)
	require.ErrorContains(t, plans[5].Problem, "starts the program once, but 2 processes have to check in")
	withoutStart := coalloc.Plan(context.Background(), client, request, false)
	require.Zero(t, withoutStart[3].Start)
	require.Equal(t, plans[3].Rendering.Script, withoutStart[3].Rendering.Script)
}

func TestProcessesOfAPartAreTasksWithALauncher(t *testing.T) {
	for name, each := range map[string]struct {
		definition string
		part       coalloc.Part
		defaults   map[string]string
		values     string
	}{
		"slurm":                 {"slurm", coalloc.Part{Count: 4}, nil, "tasks=4 launcher=srun"},
		"slurm with MPI":        {"slurm", coalloc.Part{Count: 4, JobType: coalloc.MPI}, nil, "tasks=4 launcher=srun"},
		"lsf":                   {"lsf", coalloc.Part{Count: 4, JobType: coalloc.Multiple}, nil, "tasks=4 launcher=blaunch"},
		"lsf with MPI":          {"lsf", coalloc.Part{Count: 4, JobType: coalloc.MPI}, nil, "tasks=4 launcher=mpirun"},
		"Flux":                  {"flux", coalloc.Part{Count: 4}, nil, "tasks=4 launcher=flux run -n 4"},
		"local":                 {"local", coalloc.Part{Count: 4}, nil, "slots=9999 tasks=4"},
		"slots of local":        {"local", coalloc.Part{Count: 1, Submission: job.Submission{Values: []job.Assignment{{Name: "slots", Value: "3"}}}}, nil, "slots=3"},
		"slots of the target":   {"local", coalloc.Part{Count: 1}, map[string]string{"slots": "3"}, ""},
		"one process":           {"slurm", coalloc.Part{Count: 1}, nil, ""},
		"a single start":        {"pbs", coalloc.Part{Count: 4, JobType: coalloc.Single}, nil, ""},
		"a program that starts": {"pbs", coalloc.Part{Count: 4, Gate: coalloc.Program}, nil, "tasks=4"},
		"defaults":              {"slurm", coalloc.Part{Count: 4}, map[string]string{"launcher": "mpirun"}, "tasks=4"},
		"own values": {"slurm", coalloc.Part{Count: 4, Submission: job.Submission{Values: []job.Assignment{{Name: "tasks", Value: "8"}, {Name: "launcher", Value: "mpirun"}}}}, nil,
			"tasks=8 launcher=mpirun"},
	} {
		definition := shipped(t, each.definition)
		s, err := each.part.SubmissionOn(definition, each.defaults)
		require.NoError(t, err, name)
		var values []string
		for _, value := range s.Values {
			values = append(values, value.Name+"="+value.Value)
		}
		require.Equal(t, each.values, strings.Join(values, " "), name)
	}
	_, err := (&coalloc.Part{Count: 2, Gate: coalloc.Held}).SubmissionOn(shipped(t, "cobalt"), nil)
	require.ErrorContains(t, err, "set the attribute launcher")
	_, err = (&coalloc.Part{Count: 1, Problem: "bad"}).SubmissionOn(shipped(t, "local"), nil)
	require.EqualError(t, err, "bad")
}

func shipped(t *testing.T, name string) *config.Definition {
	t.Helper()
	definition, _, err := check.UsableDefinition(name)
	require.NoError(t, err)
	return definition
}

func TestADryRunIsNotRecorded(t *testing.T) {
	_, err := coalloc.Record(context.Background(), newClient(t), read(t, "dry_run = true\n[part.a]\ntarget = 'local'\nexecutable = '/x'"))
	require.ErrorContains(t, err, "dryRun")
}
