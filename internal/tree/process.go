package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Times of the end of a launched process.
const (
	stopGrace       = 2 * time.Second        // after its input has ended, and after SIGTERM
	explainLimit    = 3 * time.Second        // for the process behind a lost connection to end
	complaintsLimit = 500 * time.Millisecond // for stderr, which others may hold open
)

// mostComplaints is how much of the end of what a process prints to stderr is kept.
const mostComplaints = 2 << 10

// A process is a launched relay, or a command that starts one elsewhere.
type process struct {
	command    *exec.Cmd
	noSignals  bool // it ends with its input only
	input      *os.File
	output     *os.File
	complaints *os.File

	mutex  sync.Mutex
	last   []byte // of the complaints
	read   chan struct{}
	exited chan struct{}
	err    error // final once exited is closed
	ending sync.Once
}

// startProcess starts a command in a separate process group. A command that must get no signals
// gets a separate session, so that signals for others do not reach it.
func startProcess(words, environment []string, noSignals bool) (*process, error) {
	if len(words) == 0 {
		return nil, errors.New("no command")
	}
	p := &process{noSignals: noSignals, read: make(chan struct{}), exited: make(chan struct{})}
	p.command = &exec.Cmd{Path: words[0], Args: words, Env: environment, SysProcAttr: &syscall.SysProcAttr{Setpgid: !noSignals, Setsid: noSignals}}
	if !noSignals {
		endWithParent(p.command.SysProcAttr)
	}
	path, err := lookPath(words[0], environment)
	if err != nil {
		return nil, err
	}
	p.command.Path = path
	var ends []*os.File
	pipe := func() (reader, writer *os.File) {
		if err == nil {
			reader, writer, err = os.Pipe()
			ends = append(ends, reader, writer)
		}
		return reader, writer
	}
	stdin, input := pipe()
	output, stdout := pipe()
	complaints, stderr := pipe()
	if err == nil {
		p.command.Stdin, p.command.Stdout, p.command.Stderr = stdin, stdout, stderr
		err = p.command.Start()
	}
	if err != nil {
		for _, end := range ends {
			_ = end.Close() // the error above says more
		}
		return nil, err
	}
	for _, end := range []*os.File{stdin, stdout, stderr} {
		_ = end.Close() // the process has them
	}
	p.input, p.output, p.complaints = input, output, complaints
	go p.keepComplaints()
	go p.reap()
	return p, nil
}

// lookPath finds a program in the PATH of an environment.
func lookPath(name string, environment []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	for _, variable := range environment {
		search, isPath := strings.CutPrefix(variable, "PATH=")
		for _, directory := range strings.Split(search, ":") {
			if !isPath || !strings.HasPrefix(directory, "/") {
				continue
			}
			path := directory + "/" + name
			if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// Read implements [io.Reader].
func (p *process) Read(buffer []byte) (int, error) { return p.output.Read(buffer) }

// Write implements [io.Writer].
func (p *process) Write(data []byte) (int, error) { return p.input.Write(data) }

// Close implements [io.Closer]: the process sees the end of its input.
func (p *process) Close() error { return errors.Join(p.input.Close(), p.output.Close()) }

func (p *process) keepComplaints() {
	defer close(p.read)
	buffer := make([]byte, 1<<10)
	for {
		n, err := p.complaints.Read(buffer)
		p.mutex.Lock()
		p.last = append(p.last, buffer[:n]...)
		p.last = p.last[max(0, len(p.last)-mostComplaints):]
		p.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// reap waits for the end of the process, and kills what is left of its group.
func (p *process) reap() {
	awaitEnd(p.command.Process.Pid)
	p.signal(syscall.SIGKILL)
	p.err = p.command.Wait()
	closeWithin(p.read, p.complaints, complaintsLimit)
	close(p.exited)
}

// closeWithin waits for a reader to end, and closes what it reads.
func closeWithin(ended <-chan struct{}, source io.Closer, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	_ = source.Close() // it was only read
	<-ended
}

// stop ends the process: it closes the input, then sends signals. A process that must get no
// signals may go on.
func (p *process) stop() {
	p.ending.Do(func() {
		_ = p.Close() // the link may have closed it before
		if p.noSignals {
			return
		}
		for _, number := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if p.endsWithin(stopGrace) {
				return
			}
			p.signal(number)
		}
	})
	p.endsWithin(stopGrace)
}

// signal sends a signal to what is left of the group, if the process may get signals.
func (p *process) signal(number syscall.Signal) {
	if !p.noSignals {
		_ = syscall.Kill(-p.command.Process.Pid, number) // it may have ended just now
	}
}

func (p *process) endsWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// explain adds the end and the error messages of the process to the reason of a loss.
func (p *process) explain(reason error) error {
	if !p.endsWithin(explainLimit) {
		return reason
	}
	text := "its process ended"
	if p.err != nil {
		text = p.err.Error()
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	lines := bytes.Split(bytes.TrimSpace(p.last), []byte("\n"))
	if last := OneLine(string(lines[len(lines)-1])); last != "" {
		text += ": " + last
	}
	return errors.New(text)
}
