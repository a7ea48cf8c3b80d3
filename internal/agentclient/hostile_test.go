package agentclient_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// mostBesideModel is what an agent may cost besides the elements that it announced.
const mostBesideModel = 64 << 20

func live() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// An agent that sends too much costs little memory.
func TestEndlessEventsCostLittleMemory(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	numbers := strings.Repeat("9,7,", 20_000) + "1"
	for name, event := range map[string]string{
		"changes of unknown jobs":     "e6 1 1-900000 1 jobState=RUNNING",
		"long values":                 "e6 1 10 1 jobStatus=" + long,
		"long ids":                    "dc 5 1 " + long + "x 1 name=x",
		"many ids":                    "f1 " + numbers,
		"output":                      "e9 10 1 0-100 1 processStdout=" + long,
		"processes of unknown jobs":   "df 99 1 1-900000 1 processState=RUNNING",
		"parents that are missing":    "dc " + long + "y 1 10 1 name=x",
		"definitions":                 "fb 1 6 x STRING " + long + " " + long + " true " + long,
		"ids that are announced":      "e0 0 1 1-900 1 name=batch",
		"messages":                    "1 2 messageLevel=INFO messageText=" + long,
		"events of an unknown kind":   "77 " + long,
		"a job that is its own queue": "dc 10 1 10 1 name=x",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before, worst := live(), atomic.Uint64{}
				s := acting(t, func(a *agenttest.Agent) {
					a.Begin("")
					a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 1 jobId=77", "df 10 1 0-100 0")
					for i := range 40 {
						a.Events(event)
						if i%10 == 9 {
							worst.Store(max(worst.Load(), live()))
						}
					}
				})
				require.NotEmpty(t, ids(s, model.Job))
				require.Less(t, worst.Load(), before+mostBesideModel)
			})
		})
	}
}

func TestHalfAFrameBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 1 jobId=77")
			a.Write([]byte("00fffff0 00dc:00000003:00000007 00000004:10"))
			for {
				a.Next()
			}
		})
		require.Equal(t, []string{"77"}, ids(s, model.Job))
		silent := &agentclient.NoAnswerError{}
		require.ErrorAs(t, s.Terminate(t.Context(), "77"), &silent)
		begun := time.Now()
		require.NoError(t, s.Close())
		require.Equal(t, 500*time.Millisecond, time.Since(begun), "QUIT has no answer either")
	})
}

// An agent that reads nothing does not block commands.
func TestAgentsThatDoNotReadBlockNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, &agenttest.Place{Agent: func(ctx context.Context, command remote.Command) int {
			agenttest.Acting(func(a *agenttest.Agent) {
				a.Begin("")
				a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 1 jobId=77")
			}).Agent(ctx, command)
			<-ctx.Done()
			return 1
		}})
		require.NoError(t, s.Listed(t.Context()))
		silent := &agentclient.NoAnswerError{}
		require.ErrorAs(t, s.Terminate(t.Context(), "77"), &silent)
		require.ErrorAs(t, s.Terminate(t.Context(), "77"), &silent)
	})
}

// Invalid events are ignored; some agents send one for each job.
func TestBrokenEventsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := agentclient.Start(context.Background(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 9 jobId=77", "dc 5 x 10 0", "dc 5 1 11 1 jobId=78")
			for range 10 {
				a.Events("df 11 2", "e9 11 1 0 1 processStdout=x")
			}
			a.Await(proxy.Quit)
		})})
		require.NoError(t, err)
		require.NoError(t, s.Listed(t.Context()))
		require.Equal(t, []string{"78"}, ids(s, model.Job))
		require.Equal(t, 12, odd(s, "events that cannot be parsed"))
		require.Equal(t, "xxxxxxxxxx", output(t, s, "78", agentclient.Stdout), "a process that was not announced writes for its job")
		require.NoError(t, s.Close())
	})
}

// FuzzSession sends any bytes as events.
func FuzzSession(f *testing.F) {
	for _, line := range []string{"e0 0 1 5 1 name=batch", "dc 5 1 10 2 jobId=77 jobState=RUNNING", "df 10 1 0-3 1 processState=RUNNING", "e9 1 0 1 processStdout=x", "f0", "eb 1 1 1 rmState=STOPPED"} {
		words := strings.Fields(line)
		frame := proxy.Frame{Transaction: 3, Arguments: words[1:]}
		_, err := fmt.Sscanf(words[0], "%x", &frame.ID)
		require.NoError(f, err)
		f.Add(frame.Append(nil))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		synctest.Test(t, func(t *testing.T) {
			s, err := agentclient.Start(context.Background(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(func(a *agenttest.Agent) {
				a.Begin("")
				a.Write(bytes.Clone(text))
			})})
			require.NoError(t, err)
			<-s.Done()
			require.Error(t, s.Err())
			manager, known := s.Model().Snapshot().Manager(s.Manager())
			require.True(t, known)
			require.EqualValues(t, "ERROR", manager.Element().State())
		})
	})
}
