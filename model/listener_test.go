package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// fetched returns the events that a listener holds, up to one that follows them.
func fetched(t *testing.T, m *model.Model, l *model.Listener) []*model.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	revision := m.Snapshot().Revision()
	var events []*model.Event
	for {
		if len(events) > 0 && events[len(events)-1].Snapshot.Revision() >= revision {
			// what follows in the same update is there already
			done, stop := context.WithCancel(ctx)
			stop()
			event, err := l.Next(done)
			if err != nil {
				return events
			}
			events = append(events, event)
			continue
		}
		event, err := l.Next(ctx)
		require.NoError(t, err)
		events = append(events, event)
	}
}

func told(events []*model.Event) []string {
	var lines []string
	for _, event := range events {
		set, others := event.IDs()
		lines = append(lines, fmt.Sprintf("%s %s below %s %s: %s%v", event.Type, event.Of, event.Source.Kind, event.Source.ID, set, others))
	}
	return lines
}

func TestChildrenAreToldInBulk(t *testing.T) {
	m := cluster(t)
	l := m.Listen(t.Context(), 100)
	defer l.Close()
	m.Update(func(u *model.Update) {
		for i := range 50 {
			u.Put(row(model.Job, "batch", fmt.Sprint(100+i)))
		}
		u.Put(row(model.Job, "batch", "7", "userId=bob"))
		u.Put(row(model.Job, "batch", "7", "userId=bob", "jobStatus=R"))
		u.Put(row(model.Job, "batch", "8"))
		u.Remove("rm", model.Job, "8")
		u.Put(row(model.Queue, "", "debug"))
		u.Remove("rm", model.Machine, "m1")
	})
	events := fetched(t, m, l)
	require.Equal(t, []string{
		"removed node below machine m1: [n1 n2]",
		"removed machine below resource manager rm: [m1]",
		"new job below queue batch: 100-149[]",
		"changed job below queue batch: 7[]",
	}, told(events))
	change := events[3].Changes[0]
	require.Equal(t, []string{"userId", "jobStatus"}, model.Differences(change.Before, change.After))
	require.Same(t, change.After, get(t, m, model.Job, "7"))
}

func TestListenersGetWhatTheyAskFor(t *testing.T) {
	m := cluster(t)
	job := m.Listen(t.Context(), 10, model.Interest{Of: model.Ref{Manager: "rm", Kind: model.Job, ID: "7"}})
	node := m.Listen(t.Context(), 10, model.Interest{Of: model.Ref{Manager: "rm", Kind: model.Node, ID: "n1"}, Children: true})
	debug := m.Listen(t.Context(), 10, model.Interest{Of: model.Ref{Manager: "rm", Kind: model.Queue, ID: "debug"}, Children: true})
	put(m, row(model.Job, "batch", "9"), row(model.Job, "batch", "7", "jobState=TERMINATED"), row(model.Process, "7", "7.0", "processState=EXITED"))
	put(m, row(model.Job, "debug", "7"), row(model.Process, "7", "7.0", "processNodeId=n2"))
	require.Equal(t, []string{"changed job below job 7: 7[]", "changed job below job 7: 7[]"}, told(fetched(t, m, job)))
	require.Equal(t, []string{"changed process below node n1: [7.0]", "removed process below node n1: [7.0]"}, told(fetched(t, m, node)))
	require.Equal(t, []string{"new job below queue debug: 7[]"}, told(fetched(t, m, debug)), "a job that moved is new to its queue")
}

func TestRowsThatChangeNothingTellNothing(t *testing.T) {
	m := cluster(t)
	l := m.Listen(t.Context(), 10)
	before := get(t, m, model.Job, "7")
	put(m, row(model.Job, "batch", "7", "userId=ann"), whole(row(model.Job, "batch", "7", "jobState=RUNNING", "userId=ann")))
	require.Same(t, before, get(t, m, model.Job, "7"))
	put(m, row(model.Job, "batch", "9"))
	require.Equal(t, []string{"new job below queue batch: 9[]"}, told(fetched(t, m, l)))
}

func TestFailuresTellTheirCause(t *testing.T) {
	m := cluster(t)
	l := m.Listen(t.Context(), 10)
	lost := errors.New("connection lost")
	m.Update(func(u *model.Update) { u.Fail("rm", lost) })
	events := fetched(t, m, l)
	require.Equal(t, model.Failed, events[len(events)-1].Type)
	require.ErrorIs(t, events[len(events)-1].Cause, lost)
}

func TestSlowListenersLoseEventsButNotThePicture(t *testing.T) {
	m := cluster(t)
	l := m.Listen(t.Context(), 3)
	for i := range 50 {
		put(m, row(model.Job, "batch", fmt.Sprint(100+i)))
	}
	event, err := l.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, model.Lost, event.Type)
	manager, _ := event.Snapshot.Manager("rm")
	require.Equal(t, 51, manager.Len(model.Job))
	put(m, row(model.Job, "batch", "200"))
	require.Equal(t, []string{"new job below queue batch: 200[]"}, told(fetched(t, m, l)))
}

func TestListenersThatAreGoneAreForgotten(t *testing.T) {
	m := cluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := m.Listen(ctx, 3)
	cancel()
	_, err := l.Next(t.Context())
	require.ErrorIs(t, err, model.ErrListenerClosed)
	l.Close()
	l.Close()
	put(m, row(model.Job, "batch", "200"))
	_, err = l.Next(t.Context())
	require.ErrorIs(t, err, model.ErrListenerClosed)
}

// A listener that applies what it is told, and reads anew what it lost, has the
// picture of the model. Nothing is told twice.
func TestListenersBesideAWriterHaveItsPicture(t *testing.T) {
	m := cluster(t)
	l := m.Listen(t.Context(), 2, model.Interest{Of: model.Ref{Manager: "rm", Kind: model.Queue, ID: "debug"}, Children: true})
	const updates = 5000
	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := range updates {
			m.Update(func(u *model.Update) {
				u.Put(row(model.Job, "debug", fmt.Sprint(1000+i)))
				if i >= 10 && i < updates-1 {
					u.Remove("rm", model.Job, fmt.Sprint(1000+i-10))
				}
			})
		}
	}()
	defer func() { <-written }()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	seen := map[string]bool{}
	for !seen[fmt.Sprint(1000+updates-1)] {
		event, err := l.Next(ctx)
		require.NoError(t, err)
		if event.Type == model.Lost {
			clear(seen)
			manager, _ := event.Snapshot.Manager("rm")
			for job := range manager.Children(model.Job, "debug") {
				seen[job.ID()] = true
			}
			continue
		}
		for _, change := range event.Changes {
			id := change.Element().ID()
			require.Equal(t, event.Type == model.Removed, seen[id], "%s %s", event.Type, id)
			seen[id] = event.Type != model.Removed
		}
	}
	manager, _ := m.Snapshot().Manager("rm")
	for job := range manager.Children(model.Job, "debug") {
		require.True(t, seen[job.ID()], job.ID())
		delete(seen, job.ID())
	}
	for id, there := range seen {
		require.False(t, there, id)
	}
}
