package track

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// passed are the signals that the wrapper passes on to the program. Signals that stop processes
// stop the wrapper, too. Signals that the Go runtime needs are left out.
var passed = []os.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGVTALRM,
	unix.SIGXCPU, unix.SIGXFSZ, unix.SIGIO, unix.SIGPWR, unix.SIGCONT,
}

const mostSignals = 64

// Catch catches signals for the program. The program inherits the signals that this process
// ignores.
func Catch() <-chan os.Signal {
	caught := make(chan os.Signal, mostSignals)
	for _, each := range passed {
		if !signal.Ignored(each) {
			signal.Notify(caught, each)
		}
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a write fails instead
	return caught
}

// forward passes signals on to the program until it has ended, except those it received itself.
func forward(caught <-chan os.Signal, process *os.Process, beside *sentinel, ended <-chan struct{}) *sync.WaitGroup {
	var forwarding sync.WaitGroup
	forwarding.Go(func() {
		for {
			select {
			case each := <-caught:
				if number, isNumber := each.(syscall.Signal); isNumber && !beside.got(number) {
					_ = process.Signal(each) // may have ended
				}
			case <-ended:
				return
			}
		}
	})
	return &forwarding
}

// EndBy ends this process by a signal without a core dump.
func EndBy(which syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	signal.Reset()
	// The Go runtime keeps handlers for some signals. All zero means the default action, and no mask.
	var action [4]uint64
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(which), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	_ = unix.Kill(os.Getpid(), which)
	select {} // the signal arrives on any thread
}
