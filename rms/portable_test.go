package rms_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
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
		"htcondor":    "periodic_remove = JobStatus == 2 && time() - JobCurrentStartDate > 5400",
		"lsf":         "-W 1:30",
		"pjm":         `-L elapse=1:30:00`,
		"flux":        `--time-limit=5400s`,
		"loadleveler": "wall_clock_limit = 1:30:00",
		"cobalt":      "-t 1:30:00",
	}},
	{"nodes=2 tasksPerNode=8 cpusPerTask=2 memory=4GiB", map[string]string{
		"slurm":       "--nodes=2 --ntasks-per-node=8 --cpus-per-task=2 --mem=4096M",
		"pbs":         "-l select=2:ncpus=16:mpiprocs=8:mem=4096mb -l place=scatter",
		"torque":      "-l nodes=2:ppn=16 -l mem=8192mb", // which is of the whole job
		"local":       `!attribute "nodes": definition "local" supports at most 1`,
		"gridengine":  `!attribute "nodes": definition "gridengine" cannot express this: the parallel environment decides`,
		"htcondor":    `!attribute "nodes": definition "htcondor" supports at most 1`,
		"lsf":         `-n 32 -R "span[ptile=16]" -R "rusage[mem=4096MB]"`,
		"pjm":         `-L node=2 -L node-mem=4096Mi --mpi proc=16 --mpi max-proc-per-node=8`,
		"flux":        `--nodes=2 --nslots=16 --cores-per-slot=2`,
		"loadleveler": "resources =  ConsumableCpus(2) job_type = parallel node = 2 tasks_per_node = 8 node_resources = ConsumableMemory(4096mb)",
		"cobalt":      "-n 2 --proccount 16",
	}},
	{"nodes=2 tasks=5 cpusPerTask=2 pe=mpi", map[string]string{"gridengine": "-pe mpi 12"}},
	{"tasks=6 tasksPerNode=4 cpusPerTask=2 pe=mpi", map[string]string{"gridengine": "-pe mpi 16"}},
	{"nodes=3 tasks=6 tasksPerNode=4 pe=mpi", map[string]string{"gridengine": "-pe mpi 6"}},
	{"nodes=3 tasks=6 tasksPerNode=4", map[string]string{
		"slurm": "--nodes=3 --ntasks=6 --ntasks-per-node=4", "flux": "--nodes=3 --nslots=6", "loadleveler": "job_type = parallel node = 3 total_tasks = 6",
		"pbs": "-l select=3:ncpus=2:mpiprocs=2 -l place=scatter", "torque": "-l nodes=3:ppn=2", "pjm": `-L node=3 --mpi proc=6 --mpi max-proc-per-node=4`,
		"lsf": `-n 6 -R "span[ptile=2]"`, "cobalt": "-n 3 --proccount 6",
	}},
	{"nodes=3 cpusPerTask=2 pe=mpi", map[string]string{"gridengine": "-pe mpi 6"}},
	{"nodes=2 tasks=5 cpusPerTask=2 gpus=3", map[string]string{
		"flux":        `--nodes=2 --nslots=5 --cores-per-slot=2 --gpus-per-slot=1`,
		"slurm":       "--nodes=2 --ntasks=5 --cpus-per-task=2 --gpus=3",
		"pbs":         "-l select=2:ncpus=6:mpiprocs=3:ngpus=2 -l place=scatter",
		"local":       `!attribute "nodes"`,
		"lsf":         `-n 12 -R "span[ptile=6]" -gpu "num=2"`,
		"pjm":         `!attribute "gpus"`,
		"loadleveler": `!attribute "gpus"`,
		"cobalt":      `!attribute "gpus"`,
	}},
	{"tasks=6 cpusPerTask=2 gpus=3", map[string]string{
		"slurm": "--ntasks=6 --cpus-per-task=2 --gpus=3", "pbs": "-l select=6:ncpus=2:ngpus=1", "local": `!attribute "gpus"`, "torque": "-l nodes=6:ppn=2:gpus=1",
		"gridengine": `!attribute "gpus"`, "htcondor": "request_cpus = 12 request_gpus = 3",
		"lsf": `!attribute "gpus"`,
	}},
	{"tasks=6 tasksPerNode=4 gpus=6", map[string]string{
		"slurm": "--ntasks=6 --ntasks-per-node=4 --gpus=6", "pbs": "-l select=2:ncpus=4:mpiprocs=4:ngpus=4 -l place=scatter", "local": `!attribute "gpus"`,
		"pjm":         `!attribute "gpus"`,
		"loadleveler": `!attribute "gpus"`,
		"cobalt":      `!attribute "gpus"`,
	}},
	{"memory=500MB cpusPerTask=4", map[string]string{
		"slurm": "--cpus-per-task=4 --mem=477M", "pbs": "-l select=1:ncpus=4:mem=477mb", "local": "",
		"gridengine":  "-l mem_free=477M -pe  4",
		"htcondor":    "request_cpus = 4 request_memory = 477M",
		"lsf":         `-n 4 -R "span[ptile=4]" -R "rusage[mem=477MB]"`,
		"pjm":         `-L node-mem=477Mi`,
		"loadleveler": "resources =  ConsumableCpus(4) node_resources = ConsumableMemory(477mb)",
		"cobalt":      "",
	}},
	{"nodes=1 tasks=1 account=p", map[string]string{
		"slurm": "--account=p --nodes=1 --ntasks=1", "pbs": "-l select=1:ncpus=1:mpiprocs=1 -A p -l place=scatter", "local": `exec sh "$RMCTL_SPREAD" spread 1 run `,
		"gridengine": "-A p", "htcondor": "request_cpus = 1 accounting_group = p",
		"lsf":         `-n 1 -R "span[ptile=1]" -P "p"`,
		"pjm":         `-L node=1 --mpi proc=1 -g "p"`,
		"loadleveler": "job_type = parallel node = 1 total_tasks = 1 account_no = p",
		"cobalt":      "-A p --proccount 1",
	}},
	{"stdout=o.%a array=1-9%3", map[string]string{
		"slurm": `--array=1-9%3 --output="o.%a"`, "pbs": "-J 1-9%3 -o /work/o.^array_index^", "local": "RMCTL_LOCAL_OUTPUT=o.%a RMCTL_LOCAL_ARRAY=1-9%3",
		"gridengine":  "-t 1-9 -tc 3 -o o.$TASK_ID",
		"lsf":         `-J "run[1-9]%3" -o "o.%I"`,
		"pjm":         `!attribute "array"`,
		"flux":        `!attribute "stdout": file names cannot contain %a`,
		"loadleveler": `!attribute "stdout": file names cannot contain %a`,
		"cobalt":      `!attribute "stdout": file names cannot contain %a`,
	}},
	{"stdout=o.%j jobName=x", map[string]string{
		"slurm": `--job-name="x" --output="o.%j"`, "pbs": `!attribute "stdout": file names cannot contain %j`, "local": "RMCTL_LOCAL_NAME=x RMCTL_LOCAL_OUTPUT=o.%j",
		"gridengine":  "-N x -o o.$JOB_ID",
		"htcondor":    "batch_name = x output = o.$(ClusterId) error = x.e$(ClusterId).$(ProcId)",
		"lsf":         `-J "x" -o "o.%J" -e "x.e%J"`,
		"pjm":         `-N "x" -o "o.%j"`,
		"flux":        `--job-name="x" --output="o.{{id.f58plain}}"`,
		"loadleveler": "output = o.$(jobid) error = x.e$(jobid) job_name = x",
		"cobalt":      "--jobname x -o o.$jobid",
	}},
	{"after=12,13 mail=end,fail:ada@example.org", map[string]string{
		"slurm": "--dependency=afterok:12:13 --mail-type=END,FAIL --mail-user=ada@example.org",
		"pbs":   "-W depend=afterok:12:13 -m eae -M ada@example.org", "local": `!attribute "mail"`,
		"gridengine":  `!attribute "after"`, // a predecessor's end is all that it can wait for
		"lsf":         `-w "done(12) && done(13)" -N -u "ada@example.org"`,
		"pjm":         `!attribute "after"`,
		"flux":        `!attribute "mail"`,
		"loadleveler": `!attribute "after"`,
	}},
	{"after=any:12 queue=debug-a.b", map[string]string{
		"slurm": "--partition=debug-a.b --dependency=afterany:12", "pbs": "-q debug-a.b -W depend=afterany:12", "local": `!attribute "queue"`,
		"gridengine": "-q debug-a.b -hold_jid 12",
		"lsf":        `-q "debug-a.b" -w "ended(12)"`,
		"cobalt":     `!attribute "after"`,
	}},
	{"pe=smp tasks=3 cpusPerTask=2 mail=begin,fail:ada@example.org", map[string]string{
		"gridengine": "-m ba -M ada@example.org -pe smp 6",
	}},
	{"tasks=6 cpusPerTask=2", map[string]string{"lsf": `-n 12 -R "span[block=2]"`, "pjm": `--mpi proc=6`}},
	{"tasks=6 tasksPerNode=4", map[string]string{"lsf": `-n 6 -R "span[ptile=4]"`, "pjm": `-L node=2 --mpi proc=6 --mpi max-proc-per-node=4`, "flux": `--nodes=2 --nslots=6`}},
	// How many tasks a node gets is not known here, where some say by the task or for the whole job how much memory there is to be.
	{"tasks=6 memory=4GiB", map[string]string{
		"loadleveler": "job_type = parallel total_tasks = 6 blocking = unlimited node_resources = ConsumableMemory(4096mb)",
		"pbs":         `!attribute "memory": definition "pbs" cannot express this: memory is per node, and PBS decides how many tasks a node gets; also set nodes or tasksPerNode`,
		"torque":      `!attribute "memory": definition "torque" cannot express this: memory is per node, and Torque requires the memory of the whole job`,
		"slurm":       "--ntasks=6 --mem=4096M",
	}},
	{"tasks=1 cpusPerTask=4 memory=4GiB", map[string]string{ // which is on one node
		"pbs": "-l select=1:ncpus=4:mem=4096mb", "torque": "-l nodes=1:ppn=4 -l mem=4096mb",
		"loadleveler": "resources =  ConsumableCpus(4) job_type = parallel total_tasks = 1 blocking = unlimited node_resources = ConsumableMemory(4096mb)",
	}},
	{"nodes=2 tasks=6 memory=4GiB node-resources=GPUDev(1)", map[string]string{"loadleveler": `!attribute "memory": conflicts with the value of "node-resources"`}},
	{"tasks=6 tasksPerNode=4 memory=4GiB", map[string]string{
		"loadleveler": "job_type = parallel node = 2 total_tasks = 6 node_resources = ConsumableMemory(4096mb)",
		"pbs":         "-l select=2:ncpus=4:mpiprocs=4:mem=4096mb -l place=scatter",
		"torque":      `!attribute "memory"`, // of the whole job, whose nodes are rounded up
	}},
	{"nodes=2 tasks=6 memory=4GiB", map[string]string{
		"pbs":    "-l select=2:ncpus=3:mpiprocs=3:mem=4096mb -l place=scatter",
		"torque": "-l nodes=2:ppn=3 -l mem=8192mb",
	}},
	{"tasksPerNode=4 memory=4GiB", map[string]string{"pbs": "-l select=1:ncpus=4:mpiprocs=4:mem=4096mb", "torque": "-l nodes=1:ppn=4 -l mem=4096mb"}},
	{"tasks=6 tasksPerNode=4 place=pack", map[string]string{"pbs": "-l select=2:ncpus=4:mpiprocs=4 -l place=pack"}},
	{"nodes=2 tasks=6 tasksPerNode=4 queue=debug-a.b", map[string]string{"loadleveler": "class = debug-a.b job_type = parallel node = 2 total_tasks = 6"}},
	{"tasks=6 mail=end,fail:ada@example.org", map[string]string{"loadleveler": "notification = complete job_type = parallel total_tasks = 6 blocking = unlimited notify_user = ada@example.org"}},
	{"tasksPerNode=6 mail=begin,fail", map[string]string{"loadleveler": "notification = always job_type = parallel node = 1 tasks_per_node = 6"}},
	{"nodes=3 job-type=bluegene mail=fail", map[string]string{"loadleveler": "notification = error job_type = bluegene node = 3"}},
	{"tasks=6", map[string]string{"cobalt": `!attribute "tasks"`}}, // on how many nodes is not known
	{"tasks=6 tasksPerNode=4 after=12,13", map[string]string{"cobalt": "-n 2 --proccount 6 --dependencies 12:13"}},
	{"tasksPerNode=4 mail=ada@example.org", map[string]string{"cobalt": "--proccount 4 -M ada@example.org"}},
	{"nodes=4 tasks=5", map[string]string{"lsf": `-n 8 -R "span[ptile=2]"`}}, // five alone would be on three nodes
	{"nodes=3", map[string]string{"lsf": `-n 3 -R "span[ptile=1]"`, "pjm": `-L node=3`, "flux": `--nodes=3`}},
	{"pe=smp tasksPerNode=3 cpusPerTask=2", map[string]string{"gridengine": "-pe smp 6"}},
	{"array=0-9 stdout=o.%a gpus=2 mail=fail", map[string]string{"pjm": `-L gpu=2 --bulk --sparam "0-9" -o "o.%b" -m e`}},
	{"after=12,f13 account=p tasksPerNode=3", map[string]string{"flux": `--setattr=bank="p" --nodes=1 --nslots=3 --dependency=afterok:12 --dependency=afterok:f13`}},
	{"after=any:12 nodes=2 cpusPerTask=4 gpus=3", map[string]string{"flux": `--nodes=2 --nslots=2 --cores-per-slot=4 --gpus-per-slot=2 --dependency=afterany:12`}},
	{"nodes=2 tasksPerNode=8 cpusPerTask=2 memory=4GiB wallTime=1h30m", map[string]string{"oar": "-l /nodes=2/resource_id=16,walltime=1:30:00"}},
	{"nodes=3 tasks=6 tasksPerNode=4", map[string]string{"oar": "-l /nodes=3/resource_id=2"}},
	{"tasks=6 tasksPerNode=4", map[string]string{"oar": "-l /nodes=2/resource_id=4"}},
	{"tasks=6 wallTime=1h30m", map[string]string{"oar": "-l /resource_id=6,walltime=1:30:00"}},
	{"tasks=6 cpusPerTask=2", map[string]string{"oar": `!attribute "tasks": definition "oar" cannot express this: OAR may spread`}},
	{"tasks=1 cpusPerTask=4", map[string]string{"oar": "-l /nodes=1/resource_id=4"}},
	{"cpusPerTask=4 gpus=1", map[string]string{"oar": `!attribute "gpus"`}},
	{"cpusPerTask=4 account=p stdout=o.%j jobName=x", map[string]string{"oar": "-l /nodes=1/resource_id=4 -n x --project p -O o.%jobid%"}},
	{"stdout=o.%a", map[string]string{"oar": `!attribute "stdout": file names cannot contain %a`}},
	{"after=12,13", map[string]string{"oar": `!attribute "after"`}},
	{"tasksPerNode=2 queue=debug-a.b mail=begin,end:ada@example.org", map[string]string{"oar": "-l /nodes=1/resource_id=2 -q debug-a.b --notify [RUNNING,END]mail:ada@example.org"}},
	{"array=1-3", map[string]string{"oar": `!attribute "array": definition "oar" cannot express this: OAR numbers the jobs of an array from 1; set array-size to their number`}},
	{"array-size=3 after=any:12", map[string]string{"oar": `!attribute "after": definition "oar" cannot express this: OAR 2.5 ignores it for an array`}},
	{"reservation=week", map[string]string{
		"slurm": "--reservation=week", "lsf": `-U "week"`, "pbs": "-q week", "cobalt": "-q R.week", "loadleveler": "ll_res_id = week",
		"gridengine": `!the number of a reservation`, "torque": `!attribute "reservation"`, "local": `!attribute "reservation"`, "flux": `!attribute "reservation"`,
	}},
	{"reservation=17", map[string]string{"gridengine": "-ar 17"}},
	{"reservation=week queue=debug", map[string]string{
		"slurm": "--partition=debug --reservation=week", "pbs": `!attribute "reservation": definition "pbs" cannot express this: in PBS, a reservation is a queue`,
		"cobalt": `!attribute "reservation": definition "cobalt" cannot express this`,
	}},
	{"exclusive=yes", map[string]string{
		"slurm": "--exclusive", "lsf": "-x", "pbs": "-l place=excl", "loadleveler": "node_usage = not_shared", "cobalt": "", "pjm": "",
		"flux": "--exclusive", "local": `!attribute "exclusive"`,
		"torque": `!attribute "exclusive"`, "gridengine": `!attribute "exclusive"`, "oar": `!attribute "exclusive"`,
	}},
	{"exclusive=no", map[string]string{"slurm": "", "pbs": "", "lsf": "", "flux": ""}},
	{"exclusive=user", map[string]string{"slurm": "--exclusive=user"}}, // which is Slurm's own way of writing
	{"exclusive=true nodes=2", map[string]string{
		"pbs": "-l select=2 -l place=scatter:excl", "flux": "--nodes=2 --exclusive", "oar": "-l /nodes=2",
	}},
	{"exclusive=true nodes=2 tasks=4", map[string]string{"oar": `!attribute "exclusive"`}},
	{"exclusive=true tasksPerNode=4", map[string]string{"pbs": "-l select=1:ncpus=4:mpiprocs=4 -l place=excl", "flux": "--nodes=1 --nslots=4 --exclusive"}},
	{"exclusive=true tasks=6 tasksPerNode=4", map[string]string{"pbs": "-l select=2:ncpus=4:mpiprocs=4 -l place=scatter:excl"}},
	{"exclusive=true place=pack", map[string]string{"pbs": `!attribute "exclusive": conflicts with the value of "place"`}},
	{"stdin=in.%a", map[string]string{"slurm": `--input="in.%a"`, "lsf": `-i "in.%I"`, "pbs": `!attribute "stdin": file names cannot contain %a`}},
	{"stdin=in.dat", map[string]string{
		"gridengine": "-i in.dat", "htcondor": "input = in.dat", "loadleveler": "input = in.dat", "cobalt": "-i in.dat",
		"pbs": `run < "in.dat"`, "torque": `run < "in.dat"`, "local": `exec run  < "in.dat"`, "oar": `exec run < "in.dat"`,
		"pjm": `exec run < "in.dat"`, "flux": `exec run < "in.dat"`, "fork": `!attribute "stdin"`, "slurm-interactive": `!attribute "stdin"`,
	}},
	{"resources=/core=4 nodes=2", map[string]string{"oar": `!attribute "nodes": conflicts with the value of "resources"`}},
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

// A script of the user's runs before or after the program, whose exit code stays that of the job.
func TestScriptsRunBeforeAndAfterThePrograms(t *testing.T) {
	for _, name := range rms.Names() {
		source, shipped := rms.Source(name)
		require.True(t, shipped)
		definition, err := config.Read(name+".xml", source, check.ReadBase)
		require.NoError(t, err)
		submit := definition.Submit(false)
		isBatch := submit != nil && submit.Element == config.SubmitBatch
		plain, err := renderedPortable(t, name, "")
		require.NoError(t, err, name)
		rendering, err := renderedPortable(t, name, "preLaunch=env.sh postLaunch=/site/done.sh")
		if !isBatch && err != nil {
			require.ErrorContains(t, err, `attribute "preLaunch": definition "`+name+`" does not support it`)
			continue
		}
		require.NoError(t, err, name)
		require.Regexp(t, `(?s)\n\. "/work/env\.sh" \|\| exit\n *run *\n.*\(\. "/site/done\.sh"\).*exit \$code\n`, rendering.Script, name)
		require.NotContains(t, rendering.Script, "exec run", name)
		require.NotContains(t, plain.Script, ". \"", name)
		_, err = renderedPortable(t, name, "preLaunch=/a\"$(id)")
		require.ErrorContains(t, err, "a path without double quotes", name)
	}
}

// portableDirectives returns what a request adds to the script of a shipped
// definition, without the words that begin directives, and to the environment of
// its submit command.
func portableDirectives(t *testing.T, name, request string) (string, error) {
	t.Helper()
	lines := func(request string) ([]string, error) {
		rendering, err := renderedPortable(t, name, request)
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
			added = append(added, strings.TrimPrefix(directive, "@ "))
		}
	}
	return strings.Join(added, " "), err
}

// renderedPortable returns what a shipped definition makes of a request, written as
// NAME=VALUE, for the program "run" in /work.
func renderedPortable(t *testing.T, name, request string) (*control.Rendering, error) {
	t.Helper()
	source, shipped := rms.Source(name)
	require.True(t, shipped)
	definition, err := config.Read(name+".xml", source, check.ReadBase)
	require.NoError(t, err)
	local, err := remote.NewLocal()
	require.NoError(t, err)
	s := job.Submission{Executable: "run", Directory: "/work"}
	for _, word := range strings.Fields(request) {
		attribute, value, _ := strings.Cut(word, "=")
		s.Values = append(s.Values, job.Assignment{Name: attribute, Value: value})
	}
	return control.New(control.Options{Target: name, Definition: definition, Connection: local}).Render(s)
}

// What the suite against real schedulers submits to three of them unchanged, the others take, too.
func TestOneLaunchConfigurationIsTakenByAllThatRunBatchJobs(t *testing.T) {
	const request = "nodes=1 tasks=2 cpusPerTask=1 memory=64MiB wallTime=30m jobName=portable stdout=portable.out stderr=portable.err"
	for _, name := range []string{"flux", "gridengine", "htcondor", "loadleveler", "local", "lsf", "oar", "pbs", "pjm", "slurm", "torque"} {
		directives, err := portableDirectives(t, name, request)
		require.NoError(t, err, name)
		require.Contains(t, directives, "portable.out", name)
		require.Contains(t, directives, "portable.err", name)
	}
}

// What is asked of an MPI launcher stands in its own words behind its name.
func TestPortableNamesReachLaunchersOfMPI(t *testing.T) {
	for _, c := range []struct{ request, openmpi, mpich string }{
		{"tasks=4", "-n 4", "-n 4"},
		{"tasksPerNode=2", "-N 2", "-ppn 2"},
		{"tasks=6 tasksPerNode=4", "-n 6 -N 4", "-ppn 4 -n 6"},
		{"nodes=3", "-n 3 -N 1", "-ppn 1 -n 3"},
		{"nodes=2 tasksPerNode=4", "-n 8 -N 4", "-ppn 4 -n 8"},
		{"nodes=2 tasks=5", "-n 5 -N 3", "-ppn 3 -n 5"},
		{"nodes=1 tasks=5", "-n 5 -N 5", "-ppn 5 -n 5"},
		{"nodes=3 tasks=6 tasksPerNode=4", "-n 6 -N 2", "-ppn 2 -n 6"},
	} {
		for name, want := range map[string]string{"openmpi": "mpirun " + c.openmpi, "mpich": "mpiexec " + c.mpich} {
			rendering, err := renderedPortable(t, name, c.request+" processes=false "+map[string]string{"mpich": "tagOutput=false"}[name])
			require.NoError(t, err, "%s: %s", name, c.request)
			words := rendering.Commands[slices.IndexFunc(rendering.Commands, func(each *command.Invocation) bool { return each.Command.Element.IsSubmit() })].Arguments
			require.Contains(t, strings.Join(words, " ")+"\n", want+" run\n", "%s: %s", name, c.request)
			require.Equal(t, strings.Contains(c.request, "nodes="), words[0] == "sh", "only nodes have to be looked at")
		}
	}
	_, err := renderedPortable(t, "mpich", "nodes=2 perNode=4")
	require.ErrorContains(t, err, `it sets "perNode" to "1", which already has the value "4"`)
}
