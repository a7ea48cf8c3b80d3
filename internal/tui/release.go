package tui

import (
	"context"
	"time"
)

// releaseTime is far longer than a goroutine waits for a processor.
const releaseTime = 100 * time.Millisecond

// AwaitRelease is to be called first by what Bubble Tea has left the terminal to; it ends with
// ctx. The goroutine that draws stops its ticker some time after it was told to: were
// the terminal given back before that, nothing would be drawn any more.
func AwaitRelease(ctx context.Context) {
	timer := time.NewTimer(releaseTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
