package agent_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// mostBesideModel bounds the memory of a client in addition to the model.
const mostBesideModel = 64 << 20

// heap returns the heap memory in use.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// write sends any bytes and reports whether the agent accepted them.
func (c *client) write(text []byte) bool {
	_, err := c.to.Write(text)
	return err == nil
}

// Endless commands of a client cost little memory, and the session works afterwards.
func TestEndlessCommandsCostLittleMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // do not measure garbage
	long := strings.Repeat("x", 4<<20)
	for name, command := range map[string]func(i int) proxy.Command{
		"unknown commands": func(int) proxy.Command {
			return proxy.Command{ID: proxy.UnknownCommand, Code: 0x77, Arguments: []string{long}}
		},
		"refused submissions":      func(i int) proxy.Command { return submission(fmt.Sprint(i, strings.Repeat("y", 900)), "nosuch", long) },
		"submissions without id":   func(int) proxy.Command { return submission("", "progArgs", long) },
		"submissions with long id": func(int) proxy.Command { return submission(long, "progArgs", "x") },
		"one submission":           func(int) proxy.Command { return submission("JOB_1", "progArgs", long) },
		"terminations":             func(int) proxy.Command { return about(proxy.TerminateJob, long) },
		"filters": func(int) proxy.Command {
			return proxy.Command{ID: proxy.FilterEvents, Attributes: proxy.Attributes{{ID: "id", Value: long}}}
		},
		"changes": func(int) proxy.Command { return about(proxy.ChangeJob, long) },
		"many attributes": func(int) proxy.Command {
			return proxy.Command{ID: proxy.SubmitJob, Attributes: make(proxy.Attributes, 50_000)}
		},
		"starts": func(int) proxy.Command {
			return proxy.Command{ID: proxy.StartEvents, Attributes: proxy.Attributes{{ID: "rmctlFeatures", Value: long}}}
		},
		"second INIT": func(int) proxy.Command {
			return proxy.Command{ID: proxy.Init, Attributes: proxy.Attributes{{ID: "version", Value: long}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, nil)
				c.put(model.Queue, "", "batch", "queueState", "NORMAL")
				c.start()
				c.scheduler.refuses = errors.New("refused")
				before, worst := heap(), uint64(0)
				for i := range 30 {
					sent := command(i)
					c.next++
					sent.Transaction = c.next
					require.True(t, c.write(sent.Frame().Append(nil)))
					c.got()
					c.raw, c.scheduler.submitted = nil, nil
					worst = max(worst, heap())
				}
				require.Less(t, worst, before+mostBesideModel)
				c.scheduler.refuses = nil
				submitted := c.send(proxy.SubmitJob, "jobSubId=LAST", "execName=true")
				require.Contains(t, c.got(), fmt.Sprintf("OK %d", submitted))
				c.quit()
			})
		})
	}
}

func submission(id, attribute, value string) proxy.Command {
	return proxy.Command{ID: proxy.SubmitJob, Attributes: proxy.Attributes{{ID: "jobSubId", Value: id}, {ID: "execName", Value: "true"}, {ID: attribute, Value: value}}}
}

func about(id proxy.CommandID, job string) proxy.Command {
	return proxy.Command{ID: id, Attributes: proxy.Attributes{{ID: "jobId", Value: job}, {ID: "operation", Value: job}}}
}

// Pending submissions take little memory, however many there are.
func TestPendingSubmissionsCostLittleMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch", "queueState", "NORMAL")
		c.start()
		c.scheduler.hold = make(chan struct{})
		before := heap()
		long := strings.Repeat("x", 1<<20)
		for i := range 100 {
			c.send(proxy.SubmitJob, fmt.Sprint("jobSubId=", i), "execName=true", "progArgs="+long)
		}
		refused := 0
		for _, update := range c.got() {
			if strings.HasPrefix(update, "SUBMITJOB_ERROR") {
				refused++
			}
		}
		require.Greater(t, refused, 80)
		runtime.GC()
		require.Less(t, heap(), before+mostBesideModel)
		close(c.scheduler.hold)
		c.quit()
	})
}

// Invalid bytes end the session without waiting for the peer.
func TestClientsThatSendInvalidBytesAreDisconnected(t *testing.T) {
	for name, text := range map[string]string{
		"text": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "a frame that is too large": "ffffffff 0001:00000001:00000000", "too many arguments": "00000017 0001:00000001:ffffffff",
		"binary": "\x00\x00\x00\x1e\x00\x01\x01\x02\x00\x07version", "broken frames": strings.Repeat("00000017 0001;00000001:00000000", 6),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, nil)
				go c.write([]byte(text))
				var broken *proxy.FrameError
				require.ErrorAs(t, <-c.ended, &broken)
			})
		})
	}
}

// A client that sends nothing, or half a frame, does not block the model.
func TestSilentClientsDoNotBlockTheModel(t *testing.T) {
	for _, half := range []string{"", "0000", "00fffff0 0005:00000009:00000002 0000000e:jobSub"} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, nil)
			c.put(model.Queue, "", "batch", "queueState", "NORMAL")
			c.start()
			require.True(t, c.write([]byte(half)))
			c.put(model.Job, "batch", "7", "jobState", "RUNNING")
			require.NotEmpty(t, c.got(), "what happens is reported as before")
			require.NoError(t, c.to.Close())
			<-c.ended
		})
	}
}

// Open transactions are not reused, and commands out of order change nothing.
func TestCommandsOutOfOrderAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch", "queueState", "NORMAL")
		for _, id := range []proxy.CommandID{proxy.SubmitJob, proxy.StartEvents, proxy.ModelDefinition} {
			c.send(id, "jobSubId=JOB_1", "execName=true")
		}
		require.Empty(t, c.scheduler.submitted)
		require.Len(t, c.got(), 3)
		c.start()
		c.next-- // that of START_EVENTS
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=true")
		require.Empty(t, c.got())
		require.Empty(t, c.scheduler.submitted)
		for range 3 {
			c.send(proxy.StartEvents)
			require.Len(t, c.got(), 1)
		}
		c.quit()
	})
}

// FuzzCommands sends any bytes as commands. The agent must survive, and the session must end with its
// client.
func FuzzCommands(f *testing.F) {
	for _, command := range []proxy.Command{submission("JOB_1", "progArgs", "x"), about(proxy.TerminateJob, "42"), about(proxy.ChangeJob, "hold"), {ID: proxy.StopEvents}, {ID: proxy.StartEvents}, {ID: proxy.Quit}} {
		command.Transaction = 9
		f.Add(command.Frame().Append(nil))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, nil)
			c.put(model.Queue, "", "batch", "queueState", "NORMAL")
			c.start("details", "operations")
			go func() {
				c.write(text)
				_ = c.to.Close() // the session may have ended already
			}()
			<-c.ended
		})
	})
}
