package server

import (
	"context"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
)

// detachWithin bounds how long a signal for the program waits for the debugger: Open MPI sends SIGKILL after a second.
const detachWithin = 600 * time.Millisecond

// endings are signals by which launchers and schedulers end a program. A debugger would only report them.
var endings = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGXCPU}

// signal passes a signal on to the program. One that ends programs ends the debugging, too: a stopped process would not
// get it.
func (s *server) signal(number syscall.Signal) {
	isEnding := slices.Contains(endings, os.Signal(number))
	if isEnding {
		ctx, cancel := context.WithTimeout(context.Background(), detachWithin)
		defer cancel()
		s.abortStart(ctx)
		s.release(ctx, nameOfSignal(number)+" arrived")
	}
	s.mutex.Lock()
	pid, start, isAttached := s.pid, s.before.Start, s.isAttached()
	s.mutex.Unlock()
	switch {
	case s.PID > 0 && isEnding: // it is for the server
		s.finish(Ending{}, nil)
	case s.PID > 0:
	case pid == 0 && isEnding:
		s.finish(Ending{Signal: number}, nil)
	case number == syscall.SIGCONT && isAttached: // the debugger keeps it stopped
	default:
		signalProcess(pid, start, number)
	}
}

// abortStart ends a start that is under way, and permits no other.
func (s *server) abortStart(ctx context.Context) {
	s.mutex.Lock()
	isReady := s.shown == debug.Ready
	s.mutex.Unlock()
	if isReady {
		s.cancelRequests()
		s.awaits(ctx, func() bool { return !s.isStarting })
	}
}
