package control_test

import (
	"bytes"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// arraysWriting is a scheduler whose job 7 is an array with the tasks in the file "jobs"; each
// task writes to out.7.TASK.
func arraysWriting(t *testing.T, outputs string) (*site, job.Job) {
	t.Helper()
	s := newSite(t, define(t, `<attribute name="stdout_remote_path" visible="false"><default>out.${ptp_rm:@jobId#name}</default></attribute>
		<attribute name="array" type="string"/><x:ids form="(\d+)(?:_(\d+))?" columns="job task" `+outputs+`/>`+submitting(`echo job 7`, "")+
		running("get-job-status", `cat jobs`, "", `<x:read><x:table columns="id word"/><x:states of="word">
			<x:state is="COMPLETED" words="CD"/><x:state is="RUNNING" words="R"/><x:state is="QUEUED_ACTIVE" words="PD"/></x:states></x:read>`)+
		`<x:portable name="array" attribute="array"/>`))
	for _, task := range []string{"1", "2", "3"} {
		s.write(t, "out.7."+task, "task "+task+"\n")
	}
	return s, s.submits(t, job.Submission{Executable: "x", Values: []job.Assignment{{Name: "array", Value: "2-3"}}})
}

const outputs = `outputs="out.@job=out.@job.@task"`

func TestTheOutputOfAnArrayIsThatOfATask(t *testing.T) {
	for name, c := range map[string]struct{ jobs, task, chosen string }{
		"the first that has begun":          {"7_1 PD\n7_2 R\n7_3 R\n", "", "2"},
		"all wait":                          {"7_1 PD\n7_2 PD\n", "", "1"},
		"all have ended":                    {"7_1 CD\n7_2 CD\n7_3 CD\n", "", "1"},
		"the one that is wanted":            {"7_1 R\n7_2 R\n7_3 R\n", "3", "3"},
		"its scheduler does not list tasks": {"7 R\n", "", "2"},
		"another task is requested":         {"7 R\n", "3", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			s, j := arraysWriting(t, outputs)
			s.write(t, "jobs", c.jobs)
			var text bytes.Buffer
			chosen := ""
			stream := control.Stream{Task: c.task, Chosen: func(task, name string) {
				require.Equal(t, s.path("out.7."+task), name)
				chosen = task
			}}
			require.NoError(t, s.Output(t.Context(), j, stream, &text))
			require.Equal(t, "task "+c.chosen+"\n", text.String())
			require.Equal(t, c.chosen, chosen)
		})
	}
}

func TestFollowingAnArrayFollowsOneTask(t *testing.T) {
	s, j := arraysWriting(t, outputs)
	s.write(t, "jobs", "7_1 PD\n7_2 R\n7_3 R\n")
	s.whilePausing = func() error {
		s.ahead += time.Minute
		s.write(t, "jobs", "7_1 CD\n7_2 CD\n7_3 CD\n")
		s.write(t, "out.7.2", "task 2\nmore\n")
		return nil
	}
	var text bytes.Buffer
	var chosen []string
	require.NoError(t, s.Follow(t.Context(), j, control.Stream{Chosen: func(task, _ string) { chosen = append(chosen, task) }}, &text))
	require.Equal(t, "task 2\nmore\n", text.String())
	require.Equal(t, []string{"2"}, chosen)
}

func TestErrorsSayWhyATaskHasNoOutput(t *testing.T) {
	s, j := arraysWriting(t, outputs)
	s.write(t, "jobs", "7_1 R\n7_9 R\n")
	require.ErrorIs(t, s.Output(t.Context(), j, control.Stream{Task: "9"}, &bytes.Buffer{}), fs.ErrNotExist)
	require.ErrorContains(t, s.Output(t.Context(), j, control.Stream{Task: "../x"}, &bytes.Buffer{}), `job 7: invalid task "../x": enter a number`)
	s, j = arraysWriting(t, "")
	s.write(t, "jobs", "7_1 R\n7_2 R\n")
	require.ErrorContains(t, s.Output(t.Context(), j, control.Stream{Task: "1"}, &bytes.Buffer{}), "does not say where the tasks of an array write")
	require.ErrorIs(t, s.Output(t.Context(), j, control.Stream{}, &bytes.Buffer{}), fs.ErrNotExist, "the file of the job is not there")
}
