package jobdirectory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/job"
)

// member returns a tracked process that began some seconds after another one.
func member(node, variable string, rank, seconds int, state job.ProcessState) jobdirectory.Member {
	return jobdirectory.Member{
		Process: job.Process{Rank: rank, Node: node, PID: 100 + seconds, State: state}, Variable: variable,
		Begun: time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC),
	}
}

// written returns the directory of a job with processes, in one file per node.
func written(t *testing.T, members ...jobdirectory.Member) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "jobs", "tag")
	nodes := map[string][]jobdirectory.Member{}
	for _, each := range members {
		nodes[each.Node] = append(nodes[each.Node], each)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(directory, "processes"), 0o700))
	for node, processes := range nodes {
		content, err := json.Marshal(processes)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(directory, "processes", node+".json"), content, 0o600))
	}
	return directory
}

// read returns each rank as RANK:PID and the problem.
func read(t *testing.T, directory string) (found []string) {
	t.Helper()
	members, err := jobdirectory.Read(directory)
	require.NoError(t, err)
	for _, each := range members {
		found = append(found, strings.TrimSpace(fmt.Sprintf("%d:%d %s", each.Rank, each.PID, each.Problem)))
	}
	return found
}

func TestOneProcessOfEachRankIsRead(t *testing.T) {
	t.Parallel()
	const running, ended = jobdirectory.StateRunning, jobdirectory.StateExited
	for name, each := range map[string]struct {
		members []jobdirectory.Member
		want    []string
	}{
		"ranks of two nodes":              {[]jobdirectory.Member{member("n2", "PMI_RANK", 1, 1, running), member("n1", "PMI_RANK", 0, 2, running)}, []string{"0:102", "1:101"}},
		"one program after the other":     {[]jobdirectory.Member{member("n1", "PMI_RANK", 0, 1, ended), member("n2", "PMI_RANK", 0, 2, running)}, []string{"0:102"}},
		"the later one ended first":       {[]jobdirectory.Member{member("n1", "PMI_RANK", 0, 1, running), member("n2", "PMI_RANK", 0, 2, ended)}, []string{"0:101"}},
		"a script gives way to its ranks": {[]jobdirectory.Member{member("n1", "", 0, 1, running), member("n1", "PMI_RANK", 3, 2, running)}, []string{"3:102"}},
		"a serial program":                {[]jobdirectory.Member{member("n1", "", 0, 1, running)}, []string{"0:101"}},
		"a rank that two nodes have": {[]jobdirectory.Member{member("n1", "PMI_RANK", 0, 1, running), member("n2", "PMI_RANK", 0, 2, running)},
			[]string{"0:101 PMI_RANK says rank 0 for process 101 on n1 and for process 102 on n2"}},
		"no variable on two nodes": {[]jobdirectory.Member{member("n1", "", 0, 1, running), member("n2", "", 0, 2, running)},
			[]string{"0:101 process 101 on n1 and process 102 on n2 run without a variable with the rank: name one with --rank-from"}},
	} {
		require.Equal(t, each.want, read(t, written(t, each.members...)), name)
	}
	require.Empty(t, read(t, filepath.Join(t.TempDir(), "absent")))
}

func TestAReportOfManyProcessesIsBounded(t *testing.T) {
	t.Parallel()
	var members []jobdirectory.Member
	for rank := range 5000 {
		each := member(fmt.Sprintf("n%d", rank%10), "PMI_RANK", rank, 0, jobdirectory.StateExited)
		each.Output, each.ErrorOutput = strings.Repeat("é", 2000), strings.Repeat("\x1b", 4000)
		members = append(members, each)
	}
	report := jobdirectory.ReportOf(written(t, members...))
	require.Len(t, report.Processes, 5000)
	total := 0
	for _, process := range report.Processes {
		total += len(process.Output) + len(process.ErrorOutput)
		require.NotContains(t, process.Output, "\ufffd")
	}
	require.LessOrEqual(t, total, 4<<20)
	require.Equal(t, report.Checksum, jobdirectory.ReportOf(report.Directory).Checksum)
}

func TestOnlyDirectoriesOfJobsAreRemoved(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "jobs", "tag")
	require.NoError(t, jobdirectory.Prepare(directory, "", time.Now()))
	for _, other := range []string{filepath.Dir(directory), "/", "", "jobs/tag", directory + "/../../x", filepath.Dir(filepath.Dir(directory))} {
		require.Error(t, jobdirectory.Remove(other), other)
	}
	foreign := filepath.Join(filepath.Dir(directory), "no-job")
	require.NoError(t, os.Mkdir(foreign, 0o700))
	require.NoError(t, jobdirectory.Remove(foreign))
	require.DirExists(t, foreign)
	require.NoError(t, jobdirectory.Remove(directory))
	require.NoDirExists(t, directory)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"rank":0,"state":"RUNNING","wrapper":1,"begun":"2026-01-02T03:04:05Z"}]`))
	f.Add([]byte(`[{"rank":-1},{"rank":99999999999}]`))
	f.Fuzz(func(t *testing.T, content []byte) {
		directory := filepath.Join(t.TempDir(), "tag")
		require.NoError(t, os.MkdirAll(filepath.Join(directory, "processes"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(directory, "processes", "n.json"), content, 0o600))
		members, err := jobdirectory.Read(directory)
		require.Equal(t, json.Unmarshal(content, &[]jobdirectory.Member{}) == nil, err == nil)
		seen := map[int]bool{}
		for _, each := range members {
			require.False(t, seen[each.Rank], "one member for each rank")
			seen[each.Rank] = true
		}
	})
}
