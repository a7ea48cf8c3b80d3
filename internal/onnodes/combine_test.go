package onnodes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/tree"
	"github.com/rmctl/rmctl/job"
)

func set(t *testing.T, text string) ranges.Set {
	t.Helper()
	parsed, isSet := ranges.Parse(text)
	require.True(t, isSet)
	return parsed
}

func body(function string) json.RawMessage {
	return stacks.Stack{Threads: []stacks.Thread{{Frames: []stacks.Frame{{Function: function}}}}}.Encode()
}

func textOf(all []Stacks) string {
	text := ""
	for _, each := range all {
		text += each.Namespace + "\n" + stacks.NewTree(each.Answers, each.Missing).Text()
	}
	return text
}

func TestEachExpectedRankWithoutAStackHasAReason(t *testing.T) {
	t.Parallel()
	three, nine := 3, 9
	s := &session{job: &Reachable{Processes: []job.Process{{Rank: 4, ExitCode: &three}, {Rank: 5, Signal: &nine}, {Rank: 7}}}, problems: map[string]string{"n3": "start: no route to host"}}
	text := textOf(s.combine([]tree.Part{
		{Ranks: set(t, "0-1"), Body: body("main")},
		{Ranks: set(t, "2"), Nodes: []string{"n2"}, Problem: "gdb is missing"},
		{Nodes: []string{"n4"}, Problem: "lost"},
	}, set(t, "0-7"), nil))
	require.Contains(t, text, "ranks 0-1: 1 different stack\n")
	for _, line := range []string{
		"rank 2: gdb is missing\n", "node n3: start: no route to host\n", "node n4: lost\n", "rank 4: the process has ended with exit code 3\n",
		"rank 5: the process has ended by signal 9\n", "3 ranks 3,6-7: not on the nodes that answered\n",
	} {
		require.Contains(t, text, "\n"+line)
	}
}

func TestOnlyRequestedRanksAreMissing(t *testing.T) {
	t.Parallel()
	s := &session{job: &Reachable{}}
	text := textOf(s.combine([]tree.Part{{Ranks: set(t, "2"), Body: body("main")}}, set(t, "0-7"), set(t, "2-3")))
	require.Contains(t, text, "rank 2: 1 different stack")
	require.Contains(t, text, "Missing\nrank 3: no process with this rank runs\n")
}

func TestRanksOfSeveralNamespacesStayApart(t *testing.T) {
	t.Parallel()
	s := &session{job: &Reachable{}}
	all := s.combine([]tree.Part{
		{Namespace: "7.1", Ranks: set(t, "0"), Body: body("b")}, {Namespace: "7.0", Ranks: set(t, "0"), Body: body("a")},
		{Namespace: "7.1", Ranks: set(t, "1"), Problem: "ended"},
	}, set(t, "0-7"), nil)
	require.Len(t, all, 2)
	require.Equal(t, "7.0", all[0].Namespace)
	require.Empty(t, all[0].Missing, "the expected ranks of each namespace are unknown")
	require.Len(t, all[1].Missing, 1)
}

func TestInvalidStacksAreMissing(t *testing.T) {
	t.Parallel()
	s := &session{job: &Reachable{}}
	text := textOf(s.combine([]tree.Part{{Ranks: set(t, "0"), Body: json.RawMessage(`{"threads":7}`)}}, nil, nil))
	require.Contains(t, text, "rank 0: invalid stack")
}

func TestAJobWithoutProcessesSaysSo(t *testing.T) {
	t.Parallel()
	require.Contains(t, textOf((&session{job: &Reachable{}}).combine(nil, nil, nil)), "no process of the job was found on its nodes")
}

func TestJobsWhoseProcessesCannotBeReachedAreRefused(t *testing.T) {
	t.Parallel()
	definition := &config.Definition{Name: "mine"}
	for reason, j := range map[string]Reachable{
		"job 7 has ended (COMPLETED): it has no processes any more":     {Job: job.Job{ID: "7", Observation: job.Observation{Detail: job.Completed}}},
		"job 7 is QUEUED: it has no processes yet":                      {Job: job.Job{ID: "7", Observation: job.Observation{Detail: job.Submitted}}},
		"job t has no id: rmctl does not know whether it was submitted": {Job: job.Job{Tag: "t"}},
		"definition mine has no x:on-nodes":                             {Job: job.Job{ID: "7", Observation: job.Observation{Detail: job.Running}}},
	} {
		j.Definition = definition
		require.ErrorContains(t, j.CheckRunning(), reason)
	}
	relayed := Reachable{Job: job.Job{ID: "7", Observation: job.Observation{Detail: job.Running}}, Definition: definition, RelayAddress: "login"}
	require.NoError(t, relayed.CheckRunning(), "tracked processes connect by themselves")
}

func TestNodesOfAJobAreThoseOfItsSchedulerOrItsProcesses(t *testing.T) {
	t.Parallel()
	j := &Reachable{Job: job.Job{Observation: job.Observation{Nodes: "n[01-03],gpu1"}}, Processes: []job.Process{{Node: "other"}}}
	names, err := j.nodeNames()
	require.NoError(t, err)
	require.Equal(t, []string{"gpu1", "n01", "n02", "n03"}, names)
	j.Nodes = ""
	names, err = j.nodeNames()
	require.NoError(t, err)
	require.Equal(t, []string{"other"}, names)
	for _, list := range []string{"n[1-99999999]", "n[1-", "n[3-1]"} {
		j.Nodes = list
		_, err = j.nodeNames()
		require.Error(t, err, list)
	}
}

func TestNodesHaveThePositionsOfTheirListNotOfTheirNames(t *testing.T) {
	t.Parallel()
	j := &Reachable{Job: job.Job{Observation: job.Observation{Nodes: "n[10,02],gpu1,n02"}}, Processes: []job.Process{{Node: "other"}}}
	_, err := j.nodeNames()
	require.NoError(t, err)
	require.Equal(t, []string{"0", "1", "2", ""}, []string{j.indexOf("n10"), j.indexOf("n02"), j.indexOf("gpu1"), j.indexOf("other")})
	j.Nodes = ""
	_, err = j.nodeNames()
	require.NoError(t, err)
	require.Empty(t, j.indexOf("other"), "processes come in any order")
}

func TestHostsAreTheSameWithAndWithoutDomain(t *testing.T) {
	t.Parallel()
	require.True(t, isSameHost("N1", "n1.example.org"))
	require.True(t, isSameHost("n1.example.org", "n1.example.org"))
	require.False(t, isSameHost("n1.example.org", "n1.example.com"))
	require.False(t, isSameHost("n1", "n2"))
}

func TestARelayGetsTheRecordedProcessesOfItsNode(t *testing.T) {
	t.Parallel()
	code := 0
	j := &Reachable{Processes: []job.Process{{Rank: 0, Node: "n1", PID: 10}, {Rank: 1, Node: "n2", PID: 20}, {Rank: 2, Node: "n1.example.org", PID: 30}, {Rank: 3, Node: "n1", PID: 40, ExitCode: &code}}}
	require.Equal(t, map[int]int{0: 10, 2: 30}, j.pidsOn("n1"))
	require.Equal(t, "0-3", j.expected().String())
}

func TestEachWayToANodeThatFailedIsNamed(t *testing.T) {
	s := &session{problems: map[string]string{}}
	s.note("n1", "step", "job is suspended")
	s.note("n1", "shell", "connection refused")
	s.note("n2", "step", "no such node")
	s.note("n2", "shell", "")
	require.Equal(t, map[string]string{"n1": "step: job is suspended; shell: connection refused"}, s.problems)
}
