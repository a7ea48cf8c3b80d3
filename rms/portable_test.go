package rms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

// Requests that every definition is shown, with the directives that it makes of
// them; after a "!" the beginning of what it refuses.
var portableRequests = []struct {
	request string
	want    map[string]string
}{
	{"wallTime=1h30m", map[string]string{
		"slurm": "--time=1:30:00", "pbs": "-l walltime=1:30:00", "local": "RMCTL_LOCAL_TIME_LIMIT=5400",
		"gridengine": "-l h_rt=1:30:00", "torque": "-l walltime=1:30:00",
		"htcondor": "periodic_remove = JobStatus == 2 && time() - JobCurrentStartDate > 5400",
		"lsf":      "-W 1:30",
	}},
	{"nodes=2 tasksPerNode=8 cpusPerTask=2 memory=4GiB", map[string]string{
		"slurm":      "--nodes=2 --ntasks-per-node=8 --cpus-per-task=2 --mem=4096M",
		"pbs":        "-l select=2:ncpus=16:mpiprocs=8:mem=4096mb -l place=scatter",
		"torque":     "-l nodes=2:ppn=16 -l mem=8192mb", // which is of the whole job
		"local":      `!attribute "nodes": definition "local" can give at most 1`,
		"gridengine": `!attribute "nodes": definition "gridengine" can give at most 1`,
		"htcondor":   `!attribute "nodes": definition "htcondor" can give at most 1`,
		"lsf":        `-n 32 -R "span[ptile=16]" -R "rusage[mem=4096MB]"`,
	}},
	{"nodes=2 tasks=5 cpusPerTask=2 gpus=3", map[string]string{
		"slurm": "--nodes=2 --ntasks=5 --cpus-per-task=2 --gpus=3",
		"pbs":   "-l select=2:ncpus=6:mpiprocs=3:ngpus=2 -l place=scatter",
		"local": `!attribute "nodes"`,
		"lsf":   `-n 10 -R "span[ptile=6]" -gpu "num=2"`,
	}},
	{"tasks=6 cpusPerTask=2 gpus=3", map[string]string{
		"slurm": "--ntasks=6 --cpus-per-task=2 --gpus=3", "pbs": "-l select=6:ncpus=2:ngpus=1", "local": `!attribute "gpus"`, "torque": "-l nodes=6:ppn=2:gpus=1",
		"gridengine": `!attribute "gpus"`, "htcondor": "request_cpus = 12 request_gpus = 3",
		"lsf": `!attribute "gpus"`,
	}},
	{"tasks=6 tasksPerNode=4 gpus=6", map[string]string{
		"slurm": "--ntasks=6 --ntasks-per-node=4 --gpus=6", "pbs": "-l select=2:ncpus=4:mpiprocs=4:ngpus=4", "local": `!attribute "gpus"`,
	}},
	{"memory=500MB cpusPerTask=4", map[string]string{
		"slurm": "--cpus-per-task=4 --mem=477M", "pbs": "-l select=1:ncpus=4:mem=477mb", "local": "",
		"gridengine": "-pe  4 -l mem_free=477M", // qsub asks for the environment
		"htcondor":   "request_cpus = 4 request_memory = 477M",
		"lsf":        `-n 4 -R "span[ptile=4]" -R "rusage[mem=477MB]"`,
	}},
	{"nodes=1 tasks=1 account=p", map[string]string{
		"slurm": "--account=p --nodes=1 --ntasks=1", "pbs": "-A p -l select=1:ncpus=1:mpiprocs=1 -l place=scatter", "local": "",
		"gridengine": "-A p", "htcondor": "request_cpus = 1 accounting_group = p",
		"lsf": `-n 1 -R "span[ptile=1]" -P "p"`,
	}},
	{"stdout=o.%a array=1-9%3", map[string]string{
		"slurm": `--array=1-9%3 --output="o.%a"`, "pbs": "-J 1-9%3 -o /work/o.^array_index^", "local": `!attribute "stdout": %a cannot be part`,
		"gridengine": "-t 1-9 -tc 3 -o o.$TASK_ID",
		"lsf":        `-J "run[1-9]%3" -o "o.%I"`,
	}},
	{"stdout=o.%j jobName=x", map[string]string{
		"slurm": `--job-name="x" --output="o.%j"`, "pbs": `!attribute "stdout": %j cannot be part`, "local": "RMCTL_LOCAL_NAME=x RMCTL_LOCAL_OUTPUT=o.%j",
		"gridengine": "-N x -o o.$JOB_ID",
		"htcondor":   "batch_name = x output = o.$(ClusterId) error = x.e$(ClusterId).$(ProcId)",
		"lsf":        `-J "x" -o "o.%J" -e "x.e%J"`,
	}},
	{"after=12,13 mail=end,fail:ada@example.org", map[string]string{
		"slurm": "--dependency=afterok:12:13 --mail-type=END,FAIL --mail-user=ada@example.org",
		"pbs":   "-W depend=afterok:12:13 -m eae -M ada@example.org", "local": `!attribute "after"`,
		"gridengine": `!attribute "after"`, // a predecessor's end is all that it can wait for
		"lsf":        `-w "done(12) && done(13)" -N -u "ada@example.org"`,
	}},
	{"after=any:12 queue=debug-a.b", map[string]string{
		"slurm": "--partition=debug-a.b --dependency=afterany:12", "pbs": "-q debug-a.b -W depend=afterany:12", "local": `!attribute "after"`,
		"gridengine": "-q debug-a.b -hold_jid 12",
		"lsf":        `-q "debug-a.b" -w "ended(12)"`,
	}},
	{"pe=smp tasks=3 cpusPerTask=2 mail=begin,fail:ada@example.org", map[string]string{
		"gridengine": "-pe smp 6 -m ba -M ada@example.org",
	}},
	{"tasks=6 cpusPerTask=2", map[string]string{"lsf": `-n 12 -R "span[block=2]"`}},
	{"tasks=6 tasksPerNode=4", map[string]string{"lsf": `-n 6 -R "span[ptile=4]"`}},
	{"nodes=3", map[string]string{"lsf": `-n 3 -R "span[ptile=1]"`}},
	{"pe=smp tasksPerNode=3 cpusPerTask=2", map[string]string{"gridengine": "-pe smp 6"}},
}

func TestPortableNamesReachTheScheduler(t *testing.T) {
	for _, c := range portableRequests {
		for name, want := range c.want {
			got, err := portableDirectives(t, name, c.request)
			if reason, refused := strings.CutPrefix(want, "!"); refused {
				require.ErrorContains(t, err, reason, "%s: %s", name, c.request)
				continue
			}
			require.NoError(t, err, "%s: %s", name, c.request)
			require.Equal(t, want, got, "%s: %s", name, c.request)
		}
	}
}

// portableDirectives returns what a request adds to the script of a shipped
// definition, without the word that begins directives, and to the environment of
// its submit command.
func portableDirectives(t *testing.T, name, request string) (string, error) {
	t.Helper()
	source, shipped := rms.Source(name)
	require.True(t, shipped)
	definition, problems := config.LoadWith(name+".xml", source, config.Options{Base: control.ReadBase, Unchecked: true})
	require.NoError(t, problems.Err())
	local, err := remote.NewLocal()
	require.NoError(t, err)
	c := control.New(control.Options{Target: name, Definition: definition, Connection: local})
	lines := func(request string) ([]string, error) {
		s := control.Submission{Executable: "run", Directory: "/work"}
		for _, word := range strings.Fields(request) {
			attribute, value, _ := strings.Cut(word, "=")
			s.Values = append(s.Values, control.Assignment{Name: attribute, Value: value})
		}
		rendering, err := c.Render(s)
		if err != nil {
			return nil, err
		}
		all := strings.Split(rendering.Script, "\n")
		for _, each := range rendering.Commands {
			if each.Command.Element.IsSubmit() {
				for _, variable := range each.Environment {
					all = append(all, variable.Name+"="+variable.Value)
				}
			}
		}
		return all, nil
	}
	plain, err := lines("")
	require.NoError(t, err)
	known := map[string]bool{}
	for _, line := range plain {
		known[line] = true
	}
	all, err := lines(request)
	var added []string
	for _, line := range all {
		if !known[line] {
			_, directive, isDirective := strings.Cut(line, " ")
			if !isDirective || !strings.HasPrefix(line, "#") {
				directive = line
			}
			added = append(added, directive)
		}
	}
	return strings.Join(added, " "), err
}
