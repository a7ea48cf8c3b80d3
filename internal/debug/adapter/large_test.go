package adapter_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

// BenchmarkRanks measures what an editor waits for with 4,096 ranks: the list of threads, and all frames of all classes.
func BenchmarkRanks(b *testing.B) {
	const size = 4096
	for name, differ := range map[string]func(rank int) int{"equal": nil, "different": func(rank int) int { return rank }} {
		b.Run(name, func(b *testing.B) {
			f := &fleet{size: size, differ: differ}
			e := open(b, adapter.Options{Launch: f.launch})
			e.check = false
			e.begin(map[string]any{"program": "a", "stop": "main"})
			e.start()
			id := e.threads("ranks 0-4095: work at solver.c:10")[0]
			for b.Loop() {
				ask[*dap.ThreadsResponse](e, "threads", nil)
				body := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": id}).Body
				require.NotEmpty(b, body.StackFrames)
			}
			b.StopTimer()
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB")
		})
	}
	b.Run("apart", func(b *testing.B) { // each rank in another place
		f := &fleet{size: size}
		e := open(b, adapter.Options{Launch: f.launch})
		e.check = false
		e.begin(map[string]any{"program": "a", "stop": "main"})
		e.start()
		e.threads("ranks 0-4095: work at solver.c:10")
		for b.Loop() {
			for number, r := range f.ranks {
				r.queue <- func() {
					r.resume()
					r.line += number
					r.stop(debug.Notice{Reason: debug.ReasonBreakpoint})
				}
			}
			for len(f.session.Classes()) < size {
				time.Sleep(time.Millisecond)
			}
			for len(ask[*dap.ThreadsResponse](e, "threads", nil).Body.Threads) < size {
				runtime.Gosched()
			}
			b.StopTimer()
			for _, r := range f.ranks {
				r.queue <- func() {
					r.resume()
					r.line = 10
					r.stop(debug.Notice{Reason: debug.ReasonBreakpoint})
				}
			}
			for len(f.session.Classes()) > 1 {
				time.Sleep(time.Millisecond)
			}
			e.threads("ranks 0-4095: work at solver.c:10")
			b.StartTimer()
		}
	})
}
