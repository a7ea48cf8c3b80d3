package guard

import (
	"context"
	"syscall"
	"time"
)

const (
	// killAfter is how long a debugger may take to detach by itself.
	killAfter = time.Second
	// releaseWithin bounds how long the release of a process takes.
	releaseWithin = 10 * time.Second
	step          = 5 * time.Millisecond
)

// End ends a debugger that leads a process group: first by SIGTERM, upon which gdb detaches, then by
// SIGKILL. The start makes sure that the pid is still that of the debugger.
func End(pid int, start uint64) {
	is := func() bool {
		status, exists := ReadStatus(pid)
		return exists && status.Start == start && !status.HasEnded()
	}
	if is() {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may be stopped
		waitUntil(context.Background(), killAfter, func() bool { return !is() })
	}
	// When gdb starts, it debugs its own children, which stay stopped if it is killed. The kernel does not reuse
	// the number of a group that has members.
	status, exists := ReadStatus(pid)
	if !exists || status.Start == start && status.group == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	if is() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		waitUntil(context.Background(), killAfter, func() bool { return !is() })
	}
}

// Release lets a process continue after its debugger ended, in whichever step. A debugger stops
// a process with SIGSTOP, which may still be pending or in effect, or held back in a thread that waits for
// a processor, where it is invisible. SIGCONT cancels all three. A process that was
// stopped before the debugger attached stays stopped. Release reports whether it restored the process.
func Release(ctx context.Context, pid int, start uint64, wasStopped bool) bool {
	const enough = 3 // checks in a row without a problem
	calm, isContinued := 0, false
	return waitUntil(ctx, releaseWithin, func() bool {
		all, exists := readThreads(pid)
		if !exists || all.Start != start || all.HasEnded() {
			return true
		}
		calm++
		switch {
		case all.isTraced:
			calm = 0 // the kernel takes a moment to end a debugger
		case wasStopped && !all.areStopped:
			calm = 0
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		case !wasStopped && (all.isStopping || !isContinued):
			calm, isContinued = 0, true
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		return calm >= enough
	})
}

// waitUntil waits until something holds, and reports whether it does.
func waitUntil(ctx context.Context, limit time.Duration, holds func() bool) bool {
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	deadline := time.After(limit)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			return holds()
		case <-ctx.Done():
			return holds()
		}
	}
	return true
}
