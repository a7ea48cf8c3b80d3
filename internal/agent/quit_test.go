package agent_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// fill puts so many jobs into the model that an announcement takes many frames.
func (c *client) fill() {
	c.put(model.Queue, "", "batch")
	require.Empty(c.t, c.model.Update(func(u *model.Update) {
		for i := range 20_000 {
			u.Put(model.Row{Manager: manager, Kind: model.Job, Parent: "batch", ID: strconv.Itoa(i), Attributes: []model.Attribute{{ID: "jobState", Text: "RUNNING"}}})
		}
	}))
}

// begin starts an announcement, lets the client read the first frame, and sends commands.
func (c *client) begin(commands ...proxy.CommandID) (begun time.Time) {
	c.send(proxy.Init, "version=2.0", "baseId=1000")
	c.send(proxy.ModelDefinition)
	c.got()
	c.stall()
	c.send(proxy.StartEvents)
	synctest.Wait()
	begun = time.Now()
	for _, command := range commands {
		c.send(command)
	}
	synctest.Wait()
	return begun
}

func TestQuitEndsAnAnnouncement(t *testing.T) {
	for name, commands := range map[string][]proxy.CommandID{
		"at once": {proxy.Quit}, "behind other commands": {proxy.TerminateJob, proxy.StopEvents, proxy.Quit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, nil)
				c.fill()
				begun := c.begin(commands...)
				c.goOn()
				require.NoError(t, <-c.ended)
				require.Zero(t, time.Since(begun))
				updates := c.got()
				require.Equal(t, "(closed)", updates[len(updates)-1])
				require.Regexp(t, "^SHUTDOWN ", updates[len(updates)-2])
				require.Contains(t, updates, "OK 3", "START_EVENTS is over")
				require.Less(t, strings.Count(strings.Join(updates, "\n"), "NEW_JOB"), 3, "the rest is not sent")
			})
		})
	}
}

func TestASlowReaderOfAnAnnouncementIsClosedOneSecondAfterItsQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.fill()
		begun := c.begin(proxy.Quit)
		require.Error(t, <-c.ended)
		require.Equal(t, 900*time.Millisecond, time.Since(begun))
		c.goOn()
	})
}

// An agent that must end reports it, even during an announcement.
func TestAnAgentThatMustEndSendsShutdown(t *testing.T) {
	for name, isUnderWay := range map[string]bool{"after the announcement": false, "during the announcement": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				c := dial(t, nil)
				c.quit()
				c.life = ctx
				c.connect()
				c.fill()
				c.next = 0
				c.begin()
				if !isUnderWay {
					c.goOn()
					c.got()
				}
				wanted := errors.New("no longer needed")
				end(wanted)
				if isUnderWay {
					synctest.Wait()
					c.goOn()
				}
				require.ErrorIs(t, <-c.ended, wanted)
				updates := c.got()
				require.Equal(t, []string{"OK 3", "SHUTDOWN 0", "(closed)"}, updates[len(updates)-3:])
			})
		})
	}
}

func TestAnAgentThatMustEndDoesNotWaitForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		c := dial(t, nil)
		c.quit()
		c.life = ctx
		c.connect()
		c.fill()
		c.next = 0
		c.begin()
		begun := time.Now()
		end()
		require.ErrorIs(t, <-c.ended, context.Canceled)
		require.Equal(t, 900*time.Millisecond, time.Since(begun))
		c.goOn()
	})
}
