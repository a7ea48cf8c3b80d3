//go:build linux

package mi_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

const busy = `
#include <pthread.h>
int counter;
int work(int n) {
	counter += n;
	return counter;
}
void *run(void *x) {
	for (;;) {
		work(1);
		work(2);
	}
}
int main(int argc, char **argv) {
	pthread_t thread;
	if (argc > 1) pthread_create(&thread, 0, run, 0);
	run(0);
}`

// TestRequestsAtRandomMomentsKeepTheOrderOfNotices checks that running and stopped alternate whatever comes at the same time.
func TestRequestsAtRandomMomentsKeepTheOrderOfNotices(t *testing.T) {
	for _, arguments := range [][]string{nil, {"thread"}} {
		random := rand.New(rand.NewPCG(26, uint64(len(arguments))))
		path := compile(t, "gcc", "busy.c", busy, "-pthread")
		s, started := attach(t, path, arguments...)
		s.toMain()
		isRunning := false
		settle := func() {
			for len(s.notices) > 0 {
				notice := <-s.notices
				switch notice.Report {
				case debug.ReportRunning:
					require.False(t, isRunning, "running twice")
					isRunning = true
				case debug.ReportStopped:
					require.True(t, isRunning, "stopped twice")
					require.NotEqual(t, debug.ReasonSignal, notice.Reason, "%+v", notice)
					isRunning = false
				}
			}
		}
		settle()
		for range 150 {
			switch random.IntN(6) {
			case 0, 1:
				s.Do(within(t), debug.Request{Verb: debug.Continue})
			case 2:
				s.Do(within(t), debug.Request{Verb: debug.Step, Text: []string{debug.StepInto, debug.StepOver}[random.IntN(2)], Count: 1 + random.IntN(20)})
			case 3:
				breakpoints := []debug.Breakpoint{{ID: 1, Function: "work", Condition: "counter % 1000 == 999"}, {ID: 2, File: "busy.c", Line: 11, Disabled: true}, {ID: 3, Watch: "counter", Condition: "counter == 0"}}
				s.Do(within(t), debug.Request{Verb: debug.SetBreakpoints, Breakpoints: breakpoints[:random.IntN(4)]})
			default:
				s.Do(within(t), debug.Request{Verb: debug.Halt})
				require.Eventually(t, func() bool { settle(); return !isRunning }, timeout, pause)
				require.NotEmpty(t, s.ask(debug.Request{Verb: debug.Stack}).Frames)
			}
		}
		s.Do(within(t), debug.Request{Verb: debug.Detach})
		requireRuns(t, started.pid)
		s.Close()
	}
}
