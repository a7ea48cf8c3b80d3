package mi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	longestLine = 16 << 20
	closeWithin = 2 * time.Second
)

// arguments are the arguments of gdb. With them, gdb runs no files of the user or of the program,
// fetches nothing from the network, and never prompts. It ignores settings that it does not know.
var arguments = []string{
	"--interpreter=mi", "-nx", "-q",
	"-iex", "set debuginfod enabled off",
	"-iex", "set auto-load safe-path $debugdir:$datadir/auto-load",
	"-iex", "set auto-load local-gdbinit off",
	"-iex", "set confirm off",
	"-iex", "set pagination off",
	"-iex", "set width 0",
	"-iex", "set print frame-info short-location",
	"-iex", "set print frame-arguments none",
	"-iex", "set source open off",
	"-iex", "set index-cache enabled off",
	"-iex", "set history save off",
	"-iex", "set stop-on-solib-events 0",
}

// A child is a gdb with pipes to it.
type child struct {
	command *exec.Cmd
	input   *os.File
	output  *os.File
	lines   *bufio.Reader
}

// start starts a debugger, a path or a name in PATH, empty for gdb, with arguments after the usual ones.
func start(debugger string, further ...string) (*child, error) {
	if debugger == "" {
		debugger = "gdb"
	}
	path, err := exec.LookPath(debugger)
	if err != nil {
		return nil, MissingError{debugger}
	}
	childInput, input, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("could not start %s: %w", debugger, err)
	}
	defer childInput.Close()
	output, childOutput, err := os.Pipe()
	if err != nil {
		_ = input.Close()
		return nil, fmt.Errorf("could not start %s: %w", debugger, err)
	}
	defer childOutput.Close()
	command := exec.Command(path, append(arguments[:len(arguments):len(arguments)], further...)...) //nolint:noctx // close ends it
	command.Stdin, command.Stdout, command.Dir = childInput, childOutput, "/"
	command.Env = environment()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		_, _ = input.Close(), output.Close()
		return nil, fmt.Errorf("could not start %s: %w", debugger, err)
	}
	withoutCore(command.Process.Pid)
	return &child{command: command, input: input, output: output, lines: bufio.NewReaderSize(output, 32<<10)}, nil
}

// environment returns the variables of gdb: only a few, because variables of users change its output.
func environment() []string {
	variables := []string{"LC_ALL=C.UTF-8", "TERM=dumb", "HOME=/nonexistent", "PYTHONNOUSERSITE=1"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "TMPDIR"} {
		if value, isSet := os.LookupEnv(name); isSet {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// PID returns the process of the debugger, which leads a process group.
func (c *child) PID() int { return c.command.Process.Pid }

// readLine reads a line without its line break.
func (c *child) readLine() (string, error) {
	var line []byte
	for {
		part, err := c.lines.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > longestLine {
			return "", errors.New("a line is too long")
		}
		if err == nil {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

// close closes the input of the debugger, upon which gdb detaches and ends, and reads its output with drain. After a while, or
// at once if the debugger is broken, it sends a signal to its group.
func (c *child) close(isBroken bool, drain func()) {
	_ = c.input.Close()
	ended := make(chan struct{})
	killer := time.AfterFunc(closeWithin, func() { _ = syscall.Kill(-c.PID(), syscall.SIGKILL) })
	if isBroken {
		_ = syscall.Kill(-c.PID(), syscall.SIGKILL)
	}
	go func() {
		defer close(ended)
		_ = c.output.SetReadDeadline(time.Now().Add(closeWithin))
		drain()
	}()
	_ = c.command.Wait()
	killer.Stop()
	_ = c.output.Close()
	<-ended
}

// discard reads the rest of the output.
func (c *child) discard() { _, _ = io.Copy(io.Discard, c.output) }
