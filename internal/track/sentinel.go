package track

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sentinelCommand is the command of rmctl-node that runs [Sentinel].
const sentinelCommand = "sentinel"

const (
	// sentinelPatience bounds how long a signal waits for the report of the sentinel.
	sentinelPatience = 50 * time.Millisecond
	// reportAge is the age from which a report no longer matches a signal that arrives now.
	reportAge = time.Second
)

// A sentinel is a process next to the program that reports the signals it receives. Launchers and
// terminals send a signal to all processes of a group or a job: the program receives it, too, and would
// receive it twice if the wrapper passed it on. If only the wrapper receives a signal, the sentinel
// reports nothing.
type sentinel struct {
	process *os.Process
	reports *os.File

	mutex sync.Mutex
	seen  map[syscall.Signal][]time.Time
	news  chan struct{} // closed at the next report
	ended chan struct{}
}

// startSentinel starts the sentinel; nil if that fails: all signals are passed on then.
func startSentinel() *sentinel {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	reports, far, err := os.Pipe()
	if err != nil {
		return nil
	}
	process, err := os.StartProcess(self, []string{self, sentinelCommand}, &os.ProcAttr{
		Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{nil, far, nil}, Sys: &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL},
	})
	_ = far.Close() // the sentinel has a copy
	if err != nil {
		_ = reports.Close() // only read
		return nil
	}
	s := &sentinel{process: process, reports: reports, seen: map[syscall.Signal][]time.Time{}, news: make(chan struct{}), ended: make(chan struct{})}
	go s.read() // until end
	return s
}

func (s *sentinel) read() {
	defer close(s.ended)
	buffer := make([]byte, mostSignals)
	for {
		count, err := s.reports.Read(buffer)
		s.mutex.Lock()
		for _, number := range buffer[:count] {
			s.seen[syscall.Signal(number)] = append(s.seen[syscall.Signal(number)], time.Now())
		}
		close(s.news)
		s.news = make(chan struct{})
		s.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// end ends the sentinel.
func (s *sentinel) end() {
	if s == nil {
		return
	}
	_ = s.process.Kill() // may have ended
	<-s.ended
	_, _ = s.process.Wait()
	_ = s.reports.Close() // only read
}

// got reports whether the sentinel received a signal that just arrived here.
func (s *sentinel) got(which syscall.Signal) bool {
	if s == nil {
		return false
	}
	deadline := time.NewTimer(sentinelPatience)
	defer deadline.Stop()
	for {
		isSeen, news := s.take(which)
		if isSeen {
			return true
		}
		select {
		case <-news:
		case <-s.ended:
			return false
		case <-deadline.C:
			return false
		}
	}
}

// take removes a recent report of a signal, if there is one.
func (s *sentinel) take(which syscall.Signal) (isSeen bool, news <-chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(s.seen[which]) > 0 {
		at := s.seen[which][0]
		s.seen[which] = s.seen[which][1:]
		if time.Since(at) < reportAge {
			return true, s.news
		}
	}
	return false, s.news
}

// Sentinel prints a byte for each signal that this process receives, until the reader closes the pipe.
func Sentinel() int {
	caught := make(chan os.Signal, mostSignals)
	signal.Notify(caught, passed...)
	signal.Ignore(unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU) // only SIGSTOP stops it
	for each := range caught {
		number, isNumber := each.(syscall.Signal)
		if !isNumber {
			continue
		}
		if _, err := os.Stdout.Write([]byte{byte(number)}); err != nil {
			return 1
		}
	}
	return 0
}
