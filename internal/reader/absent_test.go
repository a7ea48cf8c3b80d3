package reader_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
)

func TestAbsenceProvesWhatTheDefinitionSays(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)
	const jobs = `<x:reader name="jobs"><x:table columns="id state"/>%s</x:reader>`
	const settings = `<x:reader name="settings"><x:lines expression="MinJobAge *= (\d+ sec)" columns="kept"/><x:lines expression="oldest (.*)" columns="oldest"/>%s</x:reader>`
	const answers = `<x:reader name="answers"><x:lines expression="job (\d+)" columns="id"/><x:lines expression="(none)" columns="answer"/>%s</x:reader>`
	for _, c := range []struct {
		what, elements, absent, output string
		age                            time.Duration
		proves                         bool
	}{
		{"nothing is said", jobs, "", "", time.Second, false},
		{"always", jobs, "<x:absent/>", "", time.Hour * 1e5, true},
		{"of young ones", jobs, `<x:absent within="30d"/>`, "1 R\n", 29 * 24 * time.Hour, true},
		{"of young ones", jobs, `<x:absent within="30d"/>`, "1 R\n", 30 * 24 * time.Hour, false},
		{"within a setting", settings, `<x:absent within="kept"/>`, "x\nMinJobAge   = 300 sec\n", 299 * time.Second, true},
		{"within a setting", settings, `<x:absent within="kept"/>`, "MinJobAge   = 300 sec\n", 300 * time.Second, false},
		{"no setting", settings, `<x:absent within="kept"/>`, "nothing\n", time.Second, false},
		{"a setting of nothing", settings, `<x:absent within="kept"/>`, "MinJobAge = 0 sec\n", 0, false},
		{"since the oldest record", settings, `<x:absent since="oldest"/>`, "oldest 2026-03-04T11:00:00\n", time.Hour, true},
		{"since the oldest record", settings, `<x:absent since="oldest"/>`, "oldest 2026-03-04T11:00:00\n", time.Hour + time.Second, false},
		{"no oldest record", settings, `<x:absent since="oldest"/>`, "oldest none\n", time.Second, false},
		{"unless something holds", settings, `<x:absent unless="kept='1 sec'"/>`, "MinJobAge = 1 sec\n", time.Second, false},
		{"unless something holds", settings, `<x:absent unless="kept='1 sec'"/>`, "MinJobAge = 2 sec\n", time.Second, true},
		{"unless it has other jobs", jobs, `<x:absent unless="id"/>`, "1 R\n", time.Second, false},
		{"unless it has other jobs", jobs, `<x:absent unless="id"/>`, "", time.Second, true},
		{"unless it says so", answers, `<x:absent unless="not(answer)"/>`, "none\n", time.Second, true},
		{"unless it says so", answers, `<x:absent unless="not(answer)"/>`, "", time.Second, false},
		{"unless it says so", answers, `<x:absent unless="not(answer)"/>`, "job 1\n", time.Second, false},
	} {
		answer := read(t, replaced(c.elements, c.absent), c.output, reader.Query{})
		require.Equal(t, c.proves, answer.Absence.Proves(now.Add(-c.age), now), "%s: %s, %s ago", c.what, c.absent, c.age)
	}
}

func TestAbsenceDependsOnJoins(t *testing.T) {
	const elements = `<x:reader name="jobs"><x:table columns="id state"/>
		<x:join name="diag" by=""><arg>sdiag</arg><x:lines expression="queue size: (\d+)" columns="behind"/></x:join>
		<x:absent unless="diag/behind > 0"/></x:reader>`
	for behind, proves := range map[string]bool{"0": true, "3": false, "?": true} {
		joins := 0
		answer := read(t, elements, "", reader.Query{Join: func(join *config.Join) (reader.Joined, error) {
			joins++
			j, err := reader.NewJoinReader(join, reader.Query{})
			require.NoError(t, err)
			_, err = j.Write([]byte("queue size: " + behind + "\n"))
			require.NoError(t, err)
			return j.Close()
		}})
		require.Equal(t, 1, joins)
		require.Equal(t, proves, answer.Absence.Proves(time.Now(), time.Now()), behind)
	}
}

// A federation has a record of the job on its origin cluster and one on the cluster that runs it.
func TestARecordYieldsToAnotherOne(t *testing.T) {
	const elements = `<x:reader name="jobs"><x:table columns="id state"/><x:states of="state">
		<x:state is="COMPLETED" words="CD"/><x:state is="RUNNING" words="RV" yields="true"/><x:state is="RUNNING" words="R"/></x:states></x:reader>`
	ids, err := reader.NewIDs(nil)
	require.NoError(t, err)
	for output, state := range map[string]string{
		"1 RV\n": "RUNNING", "1 RV\n1 CD\n": "COMPLETED", "1 CD\n1 RV\n": "COMPLETED", "1 RV\n1 RV\n": "RUNNING", "1 R\n1 CD\n": "",
	} {
		require.Equal(t, state, read(t, elements, output, reader.Query{IDs: ids, Job: "1"}).Find("1").State, output)
	}
}

func TestALaterMemoryCounts(t *testing.T) {
	known := reader.ParseMemory("of=a;FAILED:1;RUNNING:2-4")
	merged := known.With(reader.ParseMemory("of=a;COMPLETED:2-3"))
	require.Equal(t, "of=a;COMPLETED:2-3;FAILED:1;RUNNING:4", merged.String())
	state, incomplete := merged.Conclude(job.Completed)
	require.Equal(t, "the end of task 4 is unknown", incomplete)
	require.Equal(t, job.Completed, state)
	merged = merged.With(reader.ParseMemory("of=a;COMPLETED:4"))
	state, incomplete = merged.Conclude(job.Completed)
	require.Empty(t, incomplete)
	require.Equal(t, job.Failed, state, "a task that failed earlier decides")
	require.Equal(t, "of=b;RUNNING:1", merged.With(reader.ParseMemory("of=b;RUNNING:1")).String(), "that of another job is forgotten")
	require.Equal(t, merged, merged.With(reader.Memory{}))
	state, _ = merged.Conclude(job.Running)
	require.Equal(t, job.Running, state)
}

func TestAccountingDoesNotEndAnArrayWithOpenTasks(t *testing.T) {
	const elements = `<x:ids form="(\d+)(?:_\[?([\d,-]+)\]?)?" columns="job task"/><x:reader name="sacct"><x:table columns="id state"/><x:states of="state">
		<x:state is="COMPLETED" words="CD"/><x:state is="RUNNING" words="R PD"/></x:states></x:reader>`
	definition := definitionWith(t, elements)
	definition.Readers[0].EndsOnly = true
	ids, err := reader.NewIDs(definition.IDs)
	require.NoError(t, err)
	for _, c := range []struct{ output, memory, state, incomplete string }{
		{"7_1 CD\n7_2 CD\n", "", "COMPLETED", ""},
		{"7_1 CD\n7_2 R\n", "", "", "the end of task 2 is unknown"},
		{"7_1 CD\n7_2 R\n", "of=;COMPLETED:2", "COMPLETED", ""},
		{"7_1 CD\n7_2 CD\n7_[2-3] PD\n", "of=;FAILED:3", "FAILED", ""},
		{"7_1 R\n", "", "", "the output does not say that it has ended"},
	} {
		r, err := reader.New(definition.Readers[0], reader.Query{IDs: ids, Job: "7", Memory: reader.ParseMemory(c.memory)})
		require.NoError(t, err)
		_, err = r.Write([]byte(c.output))
		require.NoError(t, err)
		answer, err := r.Close()
		require.NoError(t, err)
		require.Equal(t, []string{c.state, c.incomplete}, []string{answer.Find("7").State, answer.Find("7").Incomplete}, c.output)
	}
}

func TestMemoryBelongsToAJobNamedInDifferentWays(t *testing.T) {
	const tag, at = "01234567-89ab-4cde-8f01-23456789abcd", "2026-11-23T09:26:25Z"
	const elements = `<x:ids form="(\d+)(?:_\[?([\d,-]+)\]?)?" columns="job task"/><x:reader name="sacct"><x:table separator="|" columns="id state tag at"/><x:states of="state">
		<x:state is="COMPLETED" words="CD"/></x:states><x:fact name="identity" from="tag"/><x:fact name="submitted" from="at" as="time"/></x:reader>`
	ids, err := reader.NewIDs(definitionWith(t, elements).IDs)
	require.NoError(t, err)
	for _, c := range []struct{ output, memory, state, tasks string }{
		{"7_1|CD||" + at, "of=" + tag + ";FAILED:2", "FAILED", "of=" + tag + ";COMPLETED:1;FAILED:2"}, // accounting has no tag yet
		{"7_1|CD||", "of=" + tag + ";FAILED:2", "FAILED", "of=" + tag + ";COMPLETED:1;FAILED:2"},
		{"7_1|CD|" + tag + "|" + at, "of=" + at + ";FAILED:2", "FAILED", "of=" + tag + ";COMPLETED:1;FAILED:2"},
		{"7_1|CD|" + tag + "|2026-11-23T10:00:00Z", "of=" + at + ";FAILED:2", "COMPLETED", "of=" + tag + ";COMPLETED:1"},
		{"7_1|CD||2026-11-23T10:00:00Z", "of=" + at + ";FAILED:2", "COMPLETED", "of=2026-11-23T10:00:00Z;COMPLETED:1"},
		{"7_1|CD|" + strings.Replace(tag, "0", "9", 1) + "|" + at, "of=" + tag + ";FAILED:2", "COMPLETED", "of=" + strings.Replace(tag, "0", "9", 1) + ";COMPLETED:1"},
	} {
		found := read(t, elements, c.output+"\n", reader.Query{IDs: ids, Job: "7", Memory: reader.ParseMemory(c.memory)}).Find("7")
		require.Equal(t, []string{c.state, c.tasks}, []string{found.State, found.Fact("tasks")}, c.output)
	}
}

func replaced(elements, with string) string { return strings.Replace(elements, "%s", with, 1) }
