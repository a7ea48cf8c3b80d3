package server

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// addrNoRandomize makes a program have the same addresses each time, as debuggers do: pointers that are equal in
// all ranks are shown once then.
const addrNoRandomize = 0x0040000

// forkStopped starts a program that is stopped before its first instruction, without a tracer: debuggers
// attach to it as to a process that runs already. If the program is a wrapper that becomes the real one,
// it is stopped in the real one. The function hold is called with the process before that could run. The caller stays
// on its thread until the end of the program, which ends with the thread.
func forkStopped(p plan, hold func(pid int) error) (pid int, err error) {
	restore := fixAddresses()
	pid, err = syscall.ForkExec(p.path, p.words, &syscall.ProcAttr{
		Dir: p.directory, Env: p.environment, Files: p.files,
		Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL},
	})
	restore()
	if errors.Is(err, syscall.EPERM) {
		err = fmt.Errorf("%w%s", err, ptraceHint(scopeFile))
	}
	if err != nil {
		return 0, err
	}
	err = awaitProgram(pid, p.isWrapped)
	if err == nil {
		err = hold(pid)
	}
	if err == nil {
		err = stopUntraced(pid)
	}
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = wait(pid, 0) // it was killed
		return 0, err
	}
	return pid, nil
}

// fixAddresses switches random addresses off for programs that this thread starts, where the system
// permits that.
func fixAddresses() (restore func()) {
	const query = 0xffffffff
	before, _, failure := syscall.RawSyscall(syscall.SYS_PERSONALITY, query, 0, 0)
	if failure != 0 {
		return func() {}
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_PERSONALITY, before|addrNoRandomize, 0, 0)
	return func() { _, _, _ = syscall.RawSyscall(syscall.SYS_PERSONALITY, before, 0, 0) }
}

// awaitProgram waits until a process is stopped at the exec of its program.
func awaitProgram(pid int, isWrapped bool) error {
	status, err := wait(pid, unix.WALL)
	if err == nil && !status.Stopped() {
		err = endedEarly(status)
	}
	if err == nil {
		err = syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXEC)
	}
	signal := 0
	for isWrapped && err == nil {
		if err = syscall.PtraceCont(pid, signal); err != nil {
			break
		}
		if status, err = wait(pid, unix.WALL); err != nil {
			break
		}
		switch {
		case !status.Stopped():
			err = endedEarly(status)
		case status.TrapCause() == unix.PTRACE_EVENT_EXEC:
			return nil
		}
		signal = int(status.StopSignal())
		if signal == int(unix.SIGTRAP) {
			signal = 0
		}
	}
	if err != nil {
		return fmt.Errorf("waiting for the start of the program: %w", err)
	}
	return nil
}

func endedEarly(status syscall.WaitStatus) error {
	if status.Signaled() {
		return fmt.Errorf("it was ended by %s", unix.SignalName(status.Signal()))
	}
	return fmt.Errorf("it exited with code %d", status.ExitStatus())
}

// stopUntraced lets a stopped process go such that it stops again, without a tracer.
func stopUntraced(pid int) error {
	err := unix.Kill(pid, unix.SIGSTOP)
	if err == nil {
		err = syscall.PtraceDetach(pid)
	}
	if err != nil {
		return fmt.Errorf("stopping the program: %w", err)
	}
	status, err := wait(pid, unix.WUNTRACED)
	if err == nil && !status.Stopped() {
		err = endedEarly(status)
	}
	if err != nil {
		return fmt.Errorf("stopping the program: %w", err)
	}
	return nil
}

// ptraceHint returns a fix for the kernel's restriction of debuggers.
func ptraceHint(scopeFile string) string {
	scope, _ := os.ReadFile(scopeFile)
	switch string(scope) {
	case "1\n":
		return ": kernel.yama.ptrace_scope is 1; start the program by rmctl, or have root set it to 0 on the nodes"
	case "2\n":
		return ": kernel.yama.ptrace_scope is 2, for root only; have root set it to 0 or 1 on the nodes"
	case "3\n":
		return ": kernel.yama.ptrace_scope is 3, which forbids debuggers until the node restarts"
	}
	return ""
}

func nameOfSignal(signal syscall.Signal) string { return unix.SignalName(signal) }
