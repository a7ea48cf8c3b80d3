package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

const (
	// Silence is how long a client may be silent before its guard releases all processes.
	Silence    = 30 * time.Second
	beatsEvery = 5 * time.Second
	mostKnown  = 1 << 16
	// drainWithin is enough to read a full pipe.
	drainWithin = 50 * time.Millisecond
)

// The lines that a client sends.
const (
	lineReady    = "ready\n" // from the guard
	lineBeat     = "beat\n"
	lineDebugger = "debugger %d %d\n"  // pid and start
	lineProgram  = "program %d %d\n"   // pid and start
	lineEnded    = "ended %d\n"        // pid of a debugger or a program
	lineAttach   = "attach %d %d %t\n" // pid, start, and whether it was stopped before
	lineDetached = "detached %d\n"     // pid
)

// An attached process is one that may be under a debugger.
type attached struct {
	start      uint64
	wasStopped bool
}

// A state is the state of a guard.
type state struct {
	debuggers map[int]uint64 // their starts
	processes map[int]attached
	programs  map[int]uint64 // that end with the client; their starts
}

// Serve guards the processes that a client names on a stream, until the stream ends, the client is silent for
// too long, or the context ends. Then it ends the debuggers and releases the processes. When the stream ends, it
// also ends the programs that the client started.
func Serve(ctx context.Context, client io.Reader, ready io.Writer, silence time.Duration) {
	if _, err := io.WriteString(ready, lineReady); err != nil {
		return
	}
	lines := make(chan string)
	ended := make(chan struct{})
	defer close(ended)
	// The reader ends with the process if the stream stays open.
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(client)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text() + "\n":
			case <-ended:
				return
			}
		}
	}()
	known := state{debuggers: map[int]uint64{}, processes: map[int]attached{}, programs: map[int]uint64{}}
	isGone := known.follow(ctx, lines, silence)
	if !isGone && len(known.programs) > 0 {
		known.release()
		for line := range lines {
			known.apply(line)
		}
		isGone = true
	}
	if isGone {
		known.endPrograms()
	}
	known.release()
}

// follow applies lines until the stream ends, the client is silent or the context ends. It reports whether the
// stream has ended.
func (s *state) follow(ctx context.Context, lines <-chan string, silence time.Duration) bool {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		select {
		case line, isOpen := <-lines:
			if !isOpen {
				return true
			}
			s.apply(line)
			timer.Reset(silence)
		case <-timer.C:
			return s.drain(lines)
		case <-ctx.Done():
			return s.drain(lines)
		}
	}
}

// drain applies the lines that the client has sent already, and reports whether the stream has ended.
func (s *state) drain(lines <-chan string) bool {
	timer := time.NewTimer(drainWithin)
	defer timer.Stop()
	for {
		select {
		case line, isOpen := <-lines:
			if !isOpen {
				return true
			}
			s.apply(line)
		case <-timer.C:
			return false
		}
	}
}

// apply applies a line. It ignores lines that it does not know: a client of another version
// must not keep the guard from its work.
func (s *state) apply(line string) {
	var pid int
	var start uint64
	var wasStopped bool
	if len(s.debuggers) >= mostKnown || len(s.processes) >= mostKnown || len(s.programs) >= mostKnown {
		return
	}
	if count, _ := fmt.Sscanf(line, lineDebugger, &pid, &start); count == 2 && pid > 1 {
		s.debuggers[pid] = start
	} else if count, _ := fmt.Sscanf(line, lineAttach, &pid, &start, &wasStopped); count == 3 && pid > 1 {
		s.processes[pid] = attached{start, wasStopped}
	} else if count, _ := fmt.Sscanf(line, lineDetached, &pid); count == 1 {
		delete(s.processes, pid)
	} else if count, _ := fmt.Sscanf(line, lineProgram, &pid, &start); count == 2 && pid > 1 {
		s.programs[pid] = start
	} else if count, _ := fmt.Sscanf(line, lineEnded, &pid); count == 1 {
		delete(s.debuggers, pid)
		delete(s.programs, pid)
	}
}

// endPrograms kills the programs that the client started, before their debuggers let them run.
func (s *state) endPrograms() {
	for pid, start := range s.programs {
		if status, exists := ReadStatus(pid); exists && status.Start == start {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// release ends all debuggers and releases all processes.
func (s *state) release() {
	var group sync.WaitGroup
	for pid, start := range s.debuggers {
		group.Go(func() { End(pid, start) })
	}
	group.Wait()
	for pid, process := range s.processes {
		group.Go(func() { Release(context.Background(), pid, process.start, process.wasStopped) })
	}
	group.Wait()
}
