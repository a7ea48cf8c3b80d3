package remotetest

import (
	"runtime"
	"testing"
	"time"
)

// GoroutinesEnd does the work and fails the test unless all goroutines that it
// started end, at the latest soon after it. Nothing else may start or end some
// meanwhile.
func GoroutinesEnd(t testing.TB, work func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	work()
	requireGoroutines(t, before)
}

// goroutinesEnd fails the test unless all goroutines that it and its subtests
// start end with them.
func goroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() { requireGoroutines(t, before) })
}

// requireGoroutines waits until no more goroutines run than before.
func requireGoroutines(t testing.TB, before int) {
	t.Helper()
	impatience := time.NewTimer(patience)
	defer impatience.Stop()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-poll.C:
		case <-impatience.C:
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			// To stop here, in a cleanup, would keep the failure from being reported.
			t.Errorf("goroutines were left:\n%s", stacks)
			return
		}
	}
}
