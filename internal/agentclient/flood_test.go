package agentclient_test

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// flood returns 1 MiB of the same frame.
func flood(frame proxy.Frame) []byte {
	one := frame.Append(nil)
	return []byte(strings.Repeat(string(one), 1<<20/len(one)))
}

// Small frames need more memory than their size: events are counted by their memory.
func TestEndlessSmallEventsCostLittle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // garbage is not what is measured
	many := make([]string, 2*50)
	for i := range many {
		many[i] = []string{"77", "0"}[i%2]
	}
	for name, frame := range map[string]proxy.Frame{
		"nothing":             {ID: 0x01, Transaction: 3},
		"unknown":             {ID: 0x77, Transaction: 3},
		"unknown transaction": {ID: 0xe6, Transaction: 9, Arguments: []string{"1", "10", "0"}},
		"no attributes":       {ID: 0xe6, Transaction: 3, Arguments: []string{"1", "10", "0"}},
		"no groups":           {ID: 0xe6, Transaction: 3, Arguments: []string{"0"}},
		"many groups":         {ID: 0xe6, Transaction: 3, Arguments: append([]string{"50"}, many...)},
		"empty attributes":    {ID: 0xe6, Transaction: 3, Arguments: append([]string{"1", "10", "100"}, strings.Split(strings.Repeat("a= ", 100)[:299], " ")...)},
		"ranges":              {ID: 0xf1, Transaction: 3, Arguments: []string{strings.Repeat("9,7,", 500) + "5"}},
		"definitions":         {ID: 0xfb, Transaction: 3, Arguments: []string{"1", "6", "", "", "", "", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := live()
				var worst atomic.Uint64
				chunk := flood(frame)
				s := acting(t, func(a *agenttest.Agent) {
					a.Begin("")
					a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 1 jobId=77")
					for range 16 {
						a.Write(chunk)
						var stats runtime.MemStats
						runtime.ReadMemStats(&stats)
						worst.Store(max(worst.Load(), stats.HeapAlloc))
					}
				})
				require.Equal(t, []string{"77"}, ids(s, model.Job))
				require.Less(t, worst.Load(), before+mostBesideModel)
			})
		})
	}
}
