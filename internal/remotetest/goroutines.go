package remotetest

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// GoroutinesEnd does the work and fails the test unless all goroutines that it
// started end, at the latest soon after it. Nothing else may start or end some
// meanwhile.
func GoroutinesEnd(t testing.TB, work func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	work()
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
			require.LessOrEqual(t, runtime.NumGoroutine(), before, "goroutines were left:\n%s", stacks)
		}
	}
}
