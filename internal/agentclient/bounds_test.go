package agentclient

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

func TestLinesOfAgentsAreBounded(t *testing.T) {
	var logged strings.Builder
	r := &reporter{log: slog.New(slog.NewTextHandler(&logged, nil))}
	w := &lineWriter{line: r.line}
	for i := range 1500 {
		_, err := fmt.Fprintf(w, "line %d\x1b[31m\n", i)
		require.NoError(t, err)
	}
	for range 1000 {
		_, err := w.Write([]byte(strings.Repeat("x", 1000)))
		require.NoError(t, err)
		require.LessOrEqual(t, len(w.pending), longestPending)
	}
	w.end()
	report := r.snapshot()
	require.Len(t, report.Lines, keptLines)
	require.Equal(t, "line 1499 [31m", report.Lines[keptLines-2])
	require.Equal(t, strings.Repeat("x", longestLine), report.Lines[keptLines-1])
	require.Equal(t, loggedLines, strings.Count(logged.String(), "\n"))
	require.Equal(t, []Oddity{{oddLines, 501}}, report.Oddities)
}

func TestOutputOfRemovedJobsMakesRoom(t *testing.T) {
	var o outputs
	chunk := strings.Repeat("x", 1<<19)
	for i := range 200 {
		job := fmt.Sprint(i)
		require.True(t, o.add(job, Stdout, chunk), job)
		o.remove(job)
		o.remove(job)
		require.LessOrEqual(t, o.bytes, longestLogs)
		require.LessOrEqual(t, len(o.removed), len(o.jobs))
	}
	_, known := o.get("0", Stdout)
	require.False(t, known)
	text, known := o.get("199", Stdout)
	require.True(t, known)
	require.Len(t, text, len(chunk))
	for i := range 100 {
		o.add(fmt.Sprint("running", i), Stdout, chunk)
	}
	require.LessOrEqual(t, o.bytes, longestLogs+100*reservedNote)
	text, known = o.get("running0", Stdout)
	require.True(t, known)
	require.Len(t, text, len(chunk), "jobs that were not removed keep theirs")
}

func TestReadingWaitsForTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		put := 0
		go func() {
			for q.put(proxy.Update{}, mostQueued/4) {
				put++
			}
		}()
		synctest.Wait()
		require.Equal(t, 4, put)
		events, end := q.take()
		require.Len(t, events, 4)
		require.NoError(t, end)
		synctest.Wait()
		require.Equal(t, 8, put)
		close(q.stopped)
	})
}

func named(kind model.Kind, ids, name string) proxy.Update {
	event := announced(kind, "0", ids)
	event.Groups[0].Attributes = proxy.Attributes{{ID: "name", Value: name}}
	return event
}

func TestElementsMayShareAName(t *testing.T) {
	s := following()
	require.NoError(t, s.apply([]proxy.Update{named(model.Queue, "1-3", "batch"), named(model.Queue, "4", "2")}))
	require.Equal(t, map[string]string{"queue batch": "agent name=batch", "queue 2": "agent name=batch", "queue 3": "agent name=batch", "queue 4": "agent name=2"}, contents(s),
		"the name of the last one is the id of another")
	s.announce()
	require.NoError(t, s.apply([]proxy.Update{named(model.Queue, "11", "batch")}))
	s.settle(false)
	require.Equal(t, map[string]string{"queue batch": "agent name=batch"}, contents(s))
}

// The next session reuses ids for other jobs.
func TestJobsWithoutASchedulerIDBelongToTheirSession(t *testing.T) {
	s := following()
	events := []proxy.Update{announced(model.Queue, "0", "1"), announced(model.Job, "1", "5")}
	require.NoError(t, s.apply(events))
	seen := []map[string]string{contents(s)}
	for range 2 {
		s.begin("7f3a2c41", s.report)
		s.announce()
		require.NoError(t, s.apply(events))
		s.settle(false)
		require.Len(t, contents(s), 2)
		require.NotContains(t, seen, contents(s))
		seen = append(seen, contents(s))
	}
}
