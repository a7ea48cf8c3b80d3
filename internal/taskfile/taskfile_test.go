package taskfile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/taskfile"
	"github.com/rmctl/rmctl/job"
)

func TestPathOfATask(t *testing.T) {
	pairs := []string{"%a=@task", ".o@job=.o@job.@task"}
	for path, expected := range map[string]string{
		"/w/sim.o12": "/w/sim.o12.3", "/w/%a/sim-%a": "/w/3/sim-3", "/w/sim.o12/x": "/w/sim.o12/x", "/w/sim.o123": "/w/sim.o123",
	} {
		require.Equal(t, expected, taskfile.Path(pairs, path, "12", "3"))
	}
}

func TestTheFirstTaskHasStarted(t *testing.T) {
	set := func(text string) ranges.Set {
		found, isSet := ranges.Parse(text)
		require.True(t, isSet)
		return found
	}
	for _, c := range []struct {
		tasks   map[job.Detail]ranges.Set
		first   int
		isArray bool
	}{
		{nil, -1, false},
		{map[job.Detail]ranges.Set{job.Running: set("0")}, 0, false},
		{map[job.Detail]ranges.Set{job.QueuedActive: set("0-2"), job.Undetermined: set("3")}, 0, true},
		{map[job.Detail]ranges.Set{job.QueuedActive: set("0-2"), job.Completed: set("7"), job.Running: set("5-6")}, 5, true},
	} {
		first, isArray := taskfile.First(c.tasks)
		require.Equal(t, c.first, first)
		require.Equal(t, c.isArray, isArray)
	}
	first, isArray := taskfile.FirstOf("[4-9:2]%2")
	require.Equal(t, 4, first)
	require.True(t, isArray)
	_, isArray = taskfile.FirstOf("")
	require.False(t, isArray)
}
