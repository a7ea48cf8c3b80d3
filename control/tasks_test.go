package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

// arrays is a scheduler with two arrays, 1 and 2, whose tasks are the lines of the file
// "jobs": an id and a word.
func arrays(t *testing.T) (*site, []job.Job) {
	t.Helper()
	const table = `<x:read><x:table columns="id word"/><x:states of="word">
		<x:state is="COMPLETED" words="CD"/><x:state is="FAILED" words="F"/><x:state is="RUNNING" words="R"/></x:states></x:read>`
	s := newSite(t, define(t, `<x:ids form="(\d+)(?:_(\d+))?" columns="job task"/>`+
		running("submit-batch", `number=$(cat number 2>/dev/null || echo 0); number=$((number+1)); echo $number >number; echo job $number`, `waitForId="true"`, jobIDParser)+
		running("get-job-status", `echo x >>asked; cat jobs`, "", table),
		`<monitor-data schedulerType="test">`+running("x:list-jobs", `cat jobs`, "", table)+`</monitor-data>`))
	s.stopClock()
	jobs := []job.Job{s.submits(t, job.Submission{Executable: "x"}), s.submits(t, job.Submission{Executable: "x"})}
	s.ahead += time.Minute
	return s, jobs
}

func TestAForgottenTaskStillCounts(t *testing.T) {
	s, jobs := arrays(t)
	for _, step := range []struct {
		jobs     string
		expected job.Detail
	}{
		{"1_1 F\n1_2 R\n1_3 R\n", job.Running},
		{"1_2 R\n", job.Running},
		{"1_2 CD\n1_3 CD\n", job.Failed},
	} {
		s.write(t, "jobs", step.jobs)
		s.ahead += time.Minute
		jobs[0] = s.status(t, jobs[0])
		require.Equal(t, step.expected, jobs[0].Detail, step.jobs)
	}
}

// A job in an unknown state exists: other commands that do not find it do not make it a
// forgotten one.
func TestAJobThatOneCommandFindsIsNotForgotten(t *testing.T) {
	const table = `<x:read><x:table columns="id word"/><x:states of="word"><x:state is="RUNNING" words="R"/></x:states></x:read>`
	const fallback = `<x:fallback name="past" on="ok"><arg>/bin/sh -c '. ./past'</arg>` + table + `</x:fallback>`
	for script, forgotten := range map[string]bool{`echo 7 NOVEL`: false, `:`: true, `echo 8 R`: true} {
		for _, past := range []string{`:`, `exit 44`} {
			s := newSite(t, define(t, `<x:ids form="(\d+)" columns="job"/><x:outcome kind="not-found" exit="44"/>`+
				running("submit-batch", `echo job 7`, `waitForId="true"`, jobIDParser)+running("get-job-status", script, "", table+fallback)))
			s.write(t, "past", past)
			seen := s.status(t, s.submits(t, job.Submission{Executable: "x"}))
			require.Equal(t, forgotten, seen.Missing, script)
			require.Equal(t, job.Submitted, seen.Detail, "what is known stands")
		}
	}
}

func TestALostRowEndsNoArray(t *testing.T) {
	s, jobs := arrays(t)
	s.write(t, "jobs", "1_1 CD\n1_2 R\n")
	j := s.status(t, jobs[0])
	s.write(t, "jobs", "1_1 CD\n")
	s.ahead += time.Minute
	j, err := s.Status(t.Context(), j, true)
	require.ErrorContains(t, err, "is incomplete: the end of task 2 is unknown")
	require.Equal(t, job.Running, j.Detail)
	require.True(t, j.Stale)

	// What that query found out counts, although it gave no state.
	s.write(t, "jobs", "1_2 CD\n1_3 F\n")
	require.Equal(t, job.Failed, s.status(t, j).Detail)
}

func TestListingsRememberTasks(t *testing.T) {
	s, jobs := arrays(t)
	s.write(t, "jobs", "1_1 F\n1_2 R\n2_1 R\n")
	updated := s.updates(t, jobs, false)
	require.Equal(t, []job.Detail{job.Running, job.Running}, details(updated))
	require.False(t, s.exists("asked"))

	s.ahead += time.Minute
	s.write(t, "jobs", "1_2 CD\n2_1 R\n")
	require.Equal(t, job.Failed, s.updates(t, jobs, false)[0].Detail, "of the task that is forgotten")

	s.ahead += time.Minute
	s.write(t, "jobs", "1_2 CD\n2_2 CD\n")
	updated, err := s.Update(t.Context(), jobs, false)
	require.Error(t, err, "the job is queried by itself, and its first task has no end")
	require.Equal(t, job.Running, updated[1].Detail)
	require.True(t, s.exists("asked"))
}
