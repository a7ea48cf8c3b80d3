package guard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Guard is the client's side of a guard.
type Guard struct {
	command *exec.Cmd
	pipe    *os.File
	beats   sync.WaitGroup
	ended   chan struct{}
	mutex   sync.Mutex // for the pipe: one line at a time
}

// startWithin bounds how long a guard may take to be ready.
const startWithin = 10 * time.Second

// Start starts a guard: a command that calls [Serve] with its standard input and output. It runs in a separate
// session, so that signals to the client's group do not reach it.
func Start(ctx context.Context, words []string) (*Guard, error) {
	if len(words) == 0 {
		return nil, errors.New("could not start the guard: it has no command")
	}
	input, pipe, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("could not start the guard: %w", err)
	}
	defer input.Close()
	ready, output, err := os.Pipe()
	if err != nil {
		_ = pipe.Close()
		return nil, fmt.Errorf("could not start the guard: %w", err)
	}
	defer ready.Close()
	command := exec.Command(words[0], words[1:]...) //nolint:noctx // the guard must outlive the client
	command.Stdin, command.Stdout, command.Dir = input, output, "/"
	command.Env = []string{} // it is no process of the job that finds its rank there
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = command.Start()
	_ = output.Close()
	if err != nil {
		_ = pipe.Close()
		return nil, fmt.Errorf("could not start the guard: %w", err)
	}
	guard := &Guard{command: command, pipe: pipe, ended: make(chan struct{})}
	limit, _ := ctx.Deadline()
	if latest := time.Now().Add(startWithin); limit.IsZero() || latest.Before(limit) {
		limit = latest
	}
	_ = ready.SetReadDeadline(limit)
	if line, err := bufio.NewReader(ready).ReadString('\n'); err != nil || line != lineReady {
		_ = command.Process.Kill()
		guard.Close()
		return nil, errors.New("could not start the guard: it did not become ready")
	}
	guard.beats.Go(guard.beat)
	return guard, nil
}

// beat sends a heartbeat from time to time.
func (g *Guard) beat() {
	ticker := time.NewTicker(beatsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = g.send(lineBeat)
		case <-g.ended:
			return
		}
	}
}

func (g *Guard) send(format string, values ...any) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if _, err := fmt.Fprintf(g.pipe, format, values...); err != nil {
		return errors.New("the guard has ended")
	}
	return nil
}

// AddDebugger makes the guard end a debugger when the client is gone. Call it before anything is attached.
func (g *Guard) AddDebugger(pid int) error {
	status, exists := ReadStatus(pid)
	if !exists {
		return errors.New("the debugger has ended")
	}
	return g.send(lineDebugger, pid, status.Start)
}

// AddProgram makes the guard kill a program that the client started when the client is gone.
func (g *Guard) AddProgram(pid int) error {
	status, exists := ReadStatus(pid)
	if !exists {
		return errors.New("the program has ended")
	}
	return g.send(lineProgram, pid, status.Start)
}

// RemoveProgram forgets a program that has ended.
func (g *Guard) RemoveProgram(pid int) { _ = g.send(lineEnded, pid) }

// RemoveDebugger forgets a debugger that has ended.
func (g *Guard) RemoveDebugger(pid int) { _ = g.send(lineEnded, pid) }

// Attach makes the guard release a process when the client is gone. Call it before the debugger attaches.
func (g *Guard) Attach(pid int, before Status) error {
	return g.send(lineAttach, pid, before.Start, before.IsStopped())
}

// Detached forgets a process that runs without a debugger.
func (g *Guard) Detached(pid int) { _ = g.send(lineDetached, pid) }

// Close ends the guard, which releases the remaining processes.
func (g *Guard) Close() {
	close(g.ended)
	g.beats.Wait()
	_ = g.pipe.Close()
	_ = g.command.Wait()
}
