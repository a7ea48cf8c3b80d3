// Package track runs a program of a job in a wrapper that reports its rank, node, process, last
// output and end. The program runs as without the wrapper.
package track

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/rank"
)

// Options are the options of [Run].
type Options struct {
	Job      string   // directory of the job
	RankFrom string   // variable with the rank; empty for those of launchers
	Words    []string // the program and its arguments
	Node     string   // name of this node
	// Private returns a directory of this node that only this user can use; nil for the
	// directory of the job.
	Private func() (string, error)
	// While runs as long as the program runs; may be nil.
	While func(running <-chan struct{}, member jobdirectory.Member)
}

// innerVariable is the variable that scripts put before a command to track its
// processes: $RMCTL_NODE_TRACK prog.
const innerVariable = "RMCTL_NODE_TRACK"

// Exit codes of shells for programs that do not start.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Run runs the program and returns its exit code. If a signal ends the program, the same
// signal ends this process. The program runs even if recording fails.
func Run(o Options) int {
	runtime.LockOSThread() // the end of the thread that starts the program would end it
	caught := Catch()
	identity, _, problem := rank.Of(os.Getenv, o.RankFrom)
	p, err := start(o, identity)
	if err != nil {
		fmt.Fprintf(os.Stderr, "rmctl-node: %v\n", err)
		newRecorder(o, identity, problem, nil).failed(err)
		return ExitCodeOf(err)
	}
	ended := make(chan struct{})
	beside := startSentinel()
	forwarding := forward(caught, p.process, beside, ended)
	recorder := newRecorder(o, identity, problem, p)
	recorder.begin()
	status, err := p.wait()
	close(ended)
	forwarding.Wait()
	beside.end()
	if err != nil {
		fmt.Fprintf(os.Stderr, "rmctl-node: waiting for the program: %v\n", err)
		return 1
	}
	recorder.end(status)
	if status.Signaled() {
		EndBy(status.Signal())
	}
	return status.ExitStatus()
}

// A program is the running program, with its streams.
type program struct {
	process        *os.Process
	output, errors *stream
}

// start starts the program before any slow work.
func start(o Options, identity rank.Identity) (*program, error) {
	path, err := Find(o.Words[0], identity)
	if err != nil {
		return nil, err
	}
	isInteractive := isTerminal(os.Stdin) && (isTerminal(os.Stdout) || isTerminal(os.Stderr))
	output, err := newStream(os.Stdout, isInteractive)
	if err != nil {
		return nil, err
	}
	errorOutput, err := newStream(os.Stderr, isInteractive)
	if err != nil {
		output.close()
		return nil, err
	}
	path, words := traceable(scopeFile, path, o.Words)
	process, err := os.StartProcess(path, words, &os.ProcAttr{
		Env: append(os.Environ(), innerSetting(o)), Files: []*os.File{os.Stdin, output.far, errorOutput.far},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	output.started()
	errorOutput.started()
	if err != nil {
		output.close()
		errorOutput.close()
		return nil, err
	}
	return &program{process, output, errorOutput}, nil
}

// innerSetting returns the variable for programs that a script starts.
func innerSetting(o Options) string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	words := []string{self, "track", "--job", o.Job}
	if o.RankFrom != "" {
		words = append(words, "--rank-from", o.RankFrom)
	}
	return innerVariable + "=" + strings.Join(append(words, "--"), " ")
}

// Find returns the path of a program as the launcher of an identity finds it.
func Find(name string, identity rank.Identity) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil // PATH names the current directory
	}
	if err != nil && identity.Variable == "OMPI_COMM_WORLD_RANK" && !strings.Contains(name, "/") {
		if path, here := exec.LookPath("./" + name); here == nil { // as mpirun of Open MPI
			return path, nil
		}
	}
	return path, err
}

// ExitCodeOf returns the exit code of shells for a program that does not start.
func ExitCodeOf(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return exitNotFound
	}
	return exitNotExecutable
}

// wait waits until the program has ended and all of its output was passed on.
func (p *program) wait() (syscall.WaitStatus, error) {
	state, err := p.process.Wait()
	p.output.drain()
	p.errors.drain()
	if err != nil {
		return 0, err
	}
	status, isStatus := state.Sys().(syscall.WaitStatus)
	if !isStatus {
		return 0, errors.New("unknown end of the program")
	}
	return status, nil
}

// NodeName returns the name of this node as schedulers have it.
func NodeName() string {
	for _, variable := range []string{"SLURMD_NODENAME", "PBS_NODENAME"} {
		if name := os.Getenv(variable); name != "" && filepath.Base(name) == name && len(name) < 256 {
			return name
		}
	}
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
