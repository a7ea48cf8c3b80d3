package mi

import "golang.org/x/sys/unix"

// withoutCore keeps a debugger that crashes from leaving a core file in the directory of the user: launchers of MPI
// permit core files, for programs.
func withoutCore(pid int) { _ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) }
