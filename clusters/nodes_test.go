package clusters_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/job"
)

// answering is the program that x:on-nodes starts in these tests: it prints its process id,
// answers each line, and at the end of its input prints a last line and ends.
const answering = `#!/bin/sh
echo "$$"
while IFS= read -r line; do
	case $line in
	=*) eval "echo \"\${${line#=}-}\"" ;;
	*) echo "<$line>" ;;
	esac
done
echo ended
exit 7
`

// A nodeAccess starts processes on the nodes of a job with the commands of a definition.
type nodeAccess struct {
	definition  *config.Definition
	environment []string
	user        *syscall.Credential // nil for the user of the tests
	program     string              // answering
	signal      syscall.Signal      // that ends the local process, and with it the process on the node
}

// newNodeAccess adds settings to the environment of its processes.
func newNodeAccess(t *testing.T, definition string, settings ...string) *nodeAccess {
	t.Helper()
	loaded, _, err := check.UsableDefinition(definition)
	require.NoError(t, err)
	folder, err := os.MkdirTemp("", "rmctl-nodes-") // not below a directory that only root can read
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	program := filepath.Join(folder, "answering")
	require.NoError(t, os.WriteFile(program, []byte(answering), 0o755))
	return &nodeAccess{definition: loaded, environment: append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder}, settings...), program: program, signal: syscall.SIGKILL}
}

// resolve returns the command line for a process on a node of a job.
func (a *nodeAccess) resolve(t *testing.T, name, id, node string) *command.Invocation {
	t.Helper()
	selected, _, err := a.definition.Select("on-nodes:" + name)
	require.NoError(t, err)
	env := attribute.NewEnvironment()
	env.SetVariable("job", nil)
	require.NoError(t, env.Variable("job").Set(attribute.FieldName, id))
	env.SetVariable("node.name", node)
	env.SetVariable("node.command", a.program)
	ids, err := reader.NewIDs(a.definition.IDs)
	require.NoError(t, err)
	jobPart, taskPart, isID := ids.Split(id)
	require.True(t, isID)
	env.SetVariable("job.id.job", jobPart)
	env.SetVariable("job.id.task", taskPart)
	invocation, err := command.Resolve(selected, config.Scope{Environment: env, Job: "job"}, job.Environment{})
	require.NoError(t, err)
	if selected.Over != "" {
		invocation.Arguments = onnodes.OverSSH(node, []string{a.program})
	}
	return invocation
}

// A nodeProcess is one that runs on a node, with its streams.
type nodeProcess struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	output  io.Closer
	stdout  *bufio.Reader
	stderr  *strings.Builder
	pid     int // on the node, which is this machine
}

// qrshGaveUp matches what qrsh prints if the execution daemon of a busy machine has not started its task
// within a minute, and, for a while after that, if the daemon still has that task.
var qrshGaveUp = regexp.MustCompile("got no connection within|didn't accept task")

// start starts a process on a node of a job. It tries again if qrsh gave up: nothing runs then.
func (a *nodeAccess) start(t *testing.T, invocation *command.Invocation) *nodeProcess {
	t.Helper()
	var p *nodeProcess
	var line string
	var err error
	require.Eventually(t, func() bool {
		p, line, err = a.try(t, invocation)
		return err == nil || !qrshGaveUp.MatchString(p.stderr.String())
	}, 5*time.Minute, 100*time.Millisecond)
	require.NoError(t, err, "%q: %s", line, p.stderr)
	p.pid, err = strconv.Atoi(line)
	require.NoError(t, err)
	return p
}

// try starts a process, and returns its first line.
func (a *nodeAccess) try(t *testing.T, invocation *command.Invocation) (p *nodeProcess, line string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	t.Cleanup(cancel)
	p = &nodeProcess{command: exec.CommandContext(ctx, "env", invocation.Arguments...), stderr: &strings.Builder{}}
	p.command.WaitDelay = time.Minute
	p.command.Env = slices.Clone(a.environment)
	for _, variable := range invocation.Environment {
		p.command.Env = append(p.command.Env, variable.Name+"="+variable.Value)
	}
	p.command.Stderr = p.stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: !invocation.Command.NoSignals, Setsid: invocation.Command.NoSignals, Credential: a.user}
	p.stdin, err = p.command.StdinPipe()
	require.NoError(t, err)
	stdout, err := p.command.StdoutPipe()
	require.NoError(t, err)
	p.output, p.stdout = stdout, bufio.NewReader(stdout)
	require.NoError(t, p.command.Start())
	line, err = p.line()
	return p, line, err
}

// line returns the next line. After an error, stderr is complete.
func (p *nodeProcess) line() (string, error) {
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		_ = p.command.Wait()
	}
	return strings.TrimSuffix(line, "\n"), err
}

func (p *nodeProcess) reads(t *testing.T) string {
	t.Helper()
	line, err := p.line()
	require.NoError(t, err, "%q: %s", line, p.stderr)
	return line
}

// asks writes a line and returns the next one.
func (p *nodeProcess) asks(t *testing.T, line string) string {
	t.Helper()
	_, err := io.WriteString(p.stdin, line+"\n")
	require.NoError(t, err)
	return p.reads(t)
}

// ends closes the input, with which the process ends.
func (p *nodeProcess) ends(t *testing.T) {
	t.Helper()
	require.NoError(t, p.stdin.Close())
	_, _ = io.Copy(io.Discard, p.stdout)
	_ = p.command.Wait() // schedulers have their own codes
	p.isGone(t)
}

// isEnded kills the local process and its group; the process on the node must end, too.
func (p *nodeProcess) isEnded(t *testing.T, by syscall.Signal) {
	t.Helper()
	require.NoError(t, syscall.Kill(-p.command.Process.Pid, by))
	require.NoError(t, p.stdin.Close())
	_, _ = io.Copy(io.Discard, p.stdout)
	_ = p.command.Wait()
	p.isGone(t)
}

// isLeft closes both streams at once, as happens when the starting process ends.
func (p *nodeProcess) isLeft(t *testing.T) {
	t.Helper()
	require.NoError(t, p.output.Close())
	require.NoError(t, p.stdin.Close())
	_ = p.command.Wait()
	p.isGone(t)
}

func (p *nodeProcess) isGone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return syscall.Kill(p.pid, 0) == syscall.ESRCH }, time.Minute, 10*time.Millisecond, "process %d is still there", p.pid)
}

// serves tests a command on a node: lines of any length pass both ways at once; it has the
// variables of the job's processes; it ends with its input, and on request. The job keeps
// running.
func (a *nodeAccess) serves(t *testing.T, name, id, node string, ofJob map[string]string) {
	t.Helper()
	invocation := a.resolve(t, name, id, node)
	p := a.start(t, invocation)
	require.Equal(t, "<a b>", p.asks(t, "a b"))
	require.Equal(t, `<{"n": 1}>`, p.asks(t, `{"n": 1}`))
	long := strings.Repeat("0123456789", 100_000)
	require.Equal(t, "<"+long+">", p.asks(t, long))
	require.NotEmpty(t, invocation.Processes)
	for _, variable := range invocation.Processes {
		name, value, isGiven := strings.Cut(variable, "=")
		if !isGiven {
			value = p.asks(t, "="+name)
		}
		require.Equal(t, ofJob[name], value, name)
	}
	p.ends(t)
	if invocation.Command.NoSignals {
		a.start(t, invocation).isLeft(t)
	} else {
		a.start(t, invocation).isEnded(t, a.signal)
	}
	p = a.start(t, invocation)
	require.NoError(t, syscall.Kill(p.pid, syscall.SIGKILL)) // as if there were no memory left
	p.isGone(t)
	p.ends(t)
	p = a.start(t, invocation)
	require.Equal(t, "<still there>", p.asks(t, "still there"))
	p.ends(t)
}

// finds tests that a command over ssh finds the processes of a job.
func (a *nodeAccess) finds(t *testing.T, name, id string, ofJob map[string]string) {
	t.Helper()
	variables := a.resolve(t, name, id, "node1").Processes
	require.NotEmpty(t, variables)
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		require.Equal(t, ofJob[name], value, name)
	}
}

// A waitingJob writes its environment to a file, and waits.
func waitingJob(file string) []string {
	return []string{"--", "sh", "-c", fmt.Sprintf("env >%[1]s.new; mv %[1]s.new %[1]s; exec sleep 600", file)}
}

// variablesIn waits for the environment in a file.
func variablesIn(t *testing.T, file string) map[string]string {
	t.Helper()
	require.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, 5*time.Minute, 50*time.Millisecond)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	variables := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		variables[name] = value
	}
	return variables
}

func TestNodesOfSlurmJobs(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "nodes")
	a := newNodeAccess(t, "slurm", cluster.Setting())
	a.signal = syscall.SIGTERM // where srun is killed, slurmstepd waits for another one: relays end by themselves then
	d := rmctltest.NewDesk(t, "", cluster.Setting())
	variables := func(name string) string { return filepath.Join(d.Home, name) }
	id := d.Does(append([]string{"submit", "-t", "slurm", "-s", "nodes=2", "-s", "exclusive=true"}, waitingJob(variables("batch"))...)...)
	for _, node := range []string{"node1", "node2"} {
		for _, name := range []string{"step", "step-of-task"} {
			a.serves(t, name, id, node, variablesIn(t, variables("batch")))
		}
	}
	a.finds(t, "shell", id, variablesIn(t, variables("batch")))
	require.Equal(t, "RUNNING", cluster.Asks(t, "squeue", "-h", "-j", id, "-o", "%T"))
	d.Does("cancel", id)

	array := d.Does(append([]string{"submit", "-t", "slurm", "-s", "array=3-4"}, waitingJob(variables("task.$SLURM_ARRAY_TASK_ID"))...)...)
	for _, task := range []string{"3", "4"} {
		ofTask := variablesIn(t, variables("task."+task))
		a.serves(t, "step-of-task", array+"_"+task, cluster.Asks(t, "squeue", "-h", "-j", array+"_"+task, "-o", "%N"), ofTask)
		a.finds(t, "shell-of-task", array+"_"+task, ofTask)
	}
	d.Does("cancel", array)

	parts := cluster.Asks(t, "sbatch", "--parsable", "--chdir="+d.Home, "--nodes=1", "--wrap="+waitingJob(variables("parts"))[3], ":", "--nodes=1")
	ofParts := variablesIn(t, variables("parts"))
	for _, part := range []string{"0", "1"} {
		_, node, _ := strings.Cut(cluster.Asks(t, "squeue", "-h", "-j", parts, "-o", "%i %N"), parts+"+"+part+" ")
		a.serves(t, "step-of-component", parts+"+"+part, strings.Fields(node)[0], ofParts)
		a.finds(t, "shell", parts+"+"+part, ofParts)
	}
	cluster.Asks(t, "scancel", parts)
}

func TestNodesOfGridEngineJobs(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "nodes")
	a := newNodeAccess(t, "gridengine", cell.Settings()...)
	d := rmctltest.NewDesk(t, "", cell.Settings()...)
	host, err := os.Hostname()
	require.NoError(t, err)
	file := filepath.Join(d.Home, "variables")
	id := d.Does(append([]string{"submit", "-t", "gridengine", "-s", "pe=mpi", "-s", "slots=4"}, waitingJob(file)...)...)
	a.serves(t, "task", id, host, variablesIn(t, file))
	require.Contains(t, cell.Asks(t, "qstat", "-j", id), "job_number")
	d.Does("cancel", id)
	array := d.Does(append([]string{"submit", "-t", "gridengine", "-s", "pe=mpi", "-s", "slots=2", "-s", "array=3-4"}, waitingJob(file+".$SGE_TASK_ID")...)...)
	a.serves(t, "task", array+".4", host, variablesIn(t, file+".4"))
	a.finds(t, "shell", array+".4", variablesIn(t, file+".4"))
	d.Does("cancel", array)
}

// It is not parallel: a machine can run only one OAR.
func TestNodesOfOARJobs(t *testing.T) {
	rmctltest.StartOAR(t, "suite")
	a := newNodeAccess(t, "oar")
	d := rmctltest.NewDesk(t, "", "RMCTL_BACKGROUND=off")
	d.BelongsTo(rmctltest.OARUser)
	a.user = credentialOf(t, rmctltest.OARUser)
	file := filepath.Join(d.Home, "variables")
	id := d.Does(append([]string{"submit", "-t", "oar", "-s", "nodes=2", "-s", "wallTime=10m"}, waitingJob(file)...)...)
	for _, node := range []string{"node1", "node2"} {
		a.serves(t, "oarsh", id, node, variablesIn(t, file))
	}
	require.Contains(t, d.Does("status", "--json", "--fresh", id), `"detail":"RUNNING"`)
	d.Does("cancel", id)
}

func credentialOf(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	owner, err := user.Lookup(name)
	require.NoError(t, err)
	id, err := strconv.ParseUint(owner.Uid, 10, 32)
	require.NoError(t, err)
	group, err := strconv.ParseUint(owner.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(id), Gid: uint32(group)}
}

// Through ssh all kinds of login shells pass the words and ids on.
func TestNodesByShell(t *testing.T) {
	t.Parallel()
	daemons := rmctltest.SSHD(t, "nodes")
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ssh"), fmt.Appendf(nil, "#!/bin/sh\nexec /usr/bin/ssh -F %s \"$@\"\n", daemons.Configuration), 0o755))
	for definition, of := range map[string]struct {
		id        string
		variables map[string]string
	}{
		"pbs":        {"12[3].pbs01", map[string]string{"PBS_JOBID": "12[3].pbs01"}},
		"torque":     {"12.pbs01", map[string]string{"PBS_JOBID": "12.pbs01"}},
		"gridengine": {"12.3", map[string]string{"JOB_ID": "12", "SGE_TASK_ID": "3"}},
		"flux":       {"f2xVgHmUM", map[string]string{"FLUX_JOB_ID": "f2xVgHmUM"}},
		"openmpi":    {"6cb1a1b8-7c0c", map[string]string{"RMCTL_TAG": "6cb1a1b8-7c0c"}},
		"mpich":      {"6cb1a1b8-7c0c", map[string]string{"RMCTL_TAG": "6cb1a1b8-7c0c"}},
	} {
		a := newNodeAccess(t, definition)
		a.environment[0] = "PATH=" + folder + ":" + os.Getenv("PATH")
		for _, shell := range []string{"sh", "bash", "zsh", "csh", "tcsh", "fish"} {
			a.serves(t, "shell", of.id, "rmtest-"+shell, of.variables)
		}
	}
}
