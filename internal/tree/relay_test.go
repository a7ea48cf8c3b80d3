package tree

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
)

func ask(kind string) Question { return Question{Kind: kind, Timeout: 10 * time.Second} }

func TestEqualAnswersOfNodesBecomeOne(t *testing.T) {
	f := connect(t, Options{Node: "login"})
	f.launched(t, 3, 4, Launching{})
	parts, err := f.Ask(t.Context(), ask("same"))
	require.NoError(t, err)
	require.Equal(t, []Part{{Ranks: setOf(t, "0-11"), Body: json.RawMessage(`{"stack":"main <- MPI_Barrier"}`)}}, parts)

	question := ask("classes")
	question.Body, question.Ranks = json.RawMessage("2"), setOf(t, "1-6,40")
	parts, err = f.Ask(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, []Part{
		{Ranks: setOf(t, "1,3,5"), Body: json.RawMessage("1")},
		{Ranks: setOf(t, "2,4,6"), Body: json.RawMessage("0")},
		{Ranks: setOf(t, "40"), Problem: "no process of the job has this rank"},
	}, parts)

	members, err := f.Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 4)
	require.Equal(t, "n002", members[3].Node)
	require.Equal(t, []Group{{Variable: "PMIX_RANK", Ranks: setOf(t, "8-11")}}, members[3].Groups)
}

func TestProblemsOfNodesNameTheirRanks(t *testing.T) {
	t.Parallel()
	for kind, problem := range map[string]string{
		"fail":    "no debugger[2J here",
		"hang":    "no answer within 1s",
		"deaf":    "no answer within 1s",
		"wrong":   "no answer",
		"broken":  "invalid answer: it is not JSON",
		"long":    "the answer is too long",
		"unknown": "no answer",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := connect(t, Options{Node: "login"})
			f.launched(t, 2, 2, Launching{})
			question := ask(kind)
			if kind == "hang" || kind == "deaf" {
				question.Timeout = time.Second
			}
			parts, err := f.Ask(t.Context(), question)
			require.NoError(t, err)
			require.Equal(t, []Part{{Ranks: setOf(t, "0-3"), Nodes: []string{"n000", "n001"}, Problem: problem}}, parts)
		})
	}
}

func TestALostNodeIsNamedAndTheRestAnswers(t *testing.T) {
	f := connect(t, Options{Node: "login"})
	f.launched(t, 3, 2, Launching{})
	question := ask("exit")
	question.Ranks = setOf(t, "2")
	parts, err := f.Ask(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, []Part{{Ranks: setOf(t, "2"), Nodes: []string{"n001"}, Problem: "relay on n001 lost: exit status 3"}}, parts)
	require.Eventually(t, func() bool {
		parts, err = f.Ask(t.Context(), ask("same"))
		return err == nil && len(parts) == 2 && parts[1].Problem == "relay on n001 lost: exit status 3"
	}, 10*time.Second, 10*time.Millisecond, "%v", parts)
	require.Equal(t, "0-1,4-5", parts[0].Ranks.String())
	require.Equal(t, "2-3", parts[1].Ranks.String())

	f.launched(t, 2, 2, Launching{}) // n000 again, too: its ranks are those of the same place
	parts, err = f.Ask(t.Context(), ask("same"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Equal(t, "0-5", parts[0].Ranks.String())
}

func TestLaunchesThatFailNameTheReason(t *testing.T) {
	t.Parallel()
	f := connect(t, Options{Node: "login"})
	shell := func(node, script string) Launch { return Launch{Node: node, Words: []string{"sh", "-c", script}} }
	problems, err := f.Launch(t.Context(), []Launch{
		shell("a", "echo first; echo 'no such \x1b[31mnode' >&2; exit 4"),
		{Node: "b", Words: []string{"/nonexistent/srun"}},
		{Node: "c", Words: []string{"no-such-program"}},
		shell("d", "sleep 100 & exec sleep 100"),
		{Node: "e"},
		shell("f", "yes"),
		shell("g", "head -c 1000000 /dev/zero"),
	}, Launching{Timeout: 5 * time.Second})
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"a": "exit status 4: no such [31mnode",
		"b": "starting: fork/exec /nonexistent/srun: no such file or directory",
		"c": "starting: no-such-program: executable file not found in $PATH",
		"d": "no relay within 5s",
		"e": "starting: no command",
		"f": "handshake failed: no relay in the first 1000 lines",
		"g": "handshake failed: a line is longer than 16384 bytes",
	}, problems)
}

func TestLinesBeforeTheRelayAreSkipped(t *testing.T) {
	f := connect(t, Options{Node: "login"})
	launch := launchesOf(t, 1, 2)[0]
	launch.Words = []string{"sh", "-c", `echo Welcome; echo '{"type":"news"}'; printf 'no end of the line'; exec "$0"`, launch.Words[0]}
	problems, err := f.Launch(t.Context(), []Launch{launch}, Launching{})
	require.NoError(t, err)
	require.Empty(t, problems)
	parts, err := f.Ask(t.Context(), ask("same"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
}

func TestARankOnTwoMachinesHasNoAnswer(t *testing.T) {
	f := connect(t, Options{Node: "login"})
	f.launched(t, 2, 4, Launching{})
	other := part{Play: "relay", Node: "x", Place: "x", Ranks: "2-5"}.launch(t)
	problems, err := f.Launch(t.Context(), []Launch{other}, Launching{})
	require.NoError(t, err)
	require.Empty(t, problems)
	parts, err := f.Ask(t.Context(), ask("same"))
	require.NoError(t, err)
	require.Equal(t, []Part{
		{Ranks: setOf(t, "0-1,6-7"), Body: json.RawMessage(`{"stack":"main <- MPI_Barrier"}`)},
		{Ranks: setOf(t, "2-3"), Nodes: []string{"n000", "x"}, Problem: "processes on n000 and on x have the same rank in PMIX_RANK"},
		{Ranks: setOf(t, "4-5"), Nodes: []string{"n001", "x"}, Problem: "processes on n001 and on x have the same rank in PMIX_RANK"},
	}, parts)
}

func TestARankTwiceOnANodeHasNoAnswer(t *testing.T) {
	local := newFakeLocal("0-2")
	local.extra = []RankProcess{{Rank: 1, Variable: "PMI_RANK", PID: 77}, {Rank: 1, Namespace: "step.2", PID: 78}}
	f := connect(t, Options{Node: "here", Local: local})
	parts, err := f.Ask(t.Context(), ask("rank"))
	require.NoError(t, err)
	require.Equal(t, []Part{
		{Ranks: setOf(t, "0"), Body: json.RawMessage("0")},
		{Ranks: setOf(t, "1"), Nodes: []string{"here"}, Problem: "processes 1001 and 77 on here have the same rank in PMI_RANK"},
		{Ranks: setOf(t, "2"), Body: json.RawMessage("2")},
		{Ranks: setOf(t, "1"), Namespace: "step.2", Body: json.RawMessage("1")},
	}, parts)
}

func TestNodesLaunchFurtherNodes(t *testing.T) {
	f := connect(t, Options{Node: "login", FanOut: 3})
	launches := launchesOf(t, 12, 2)
	launches[4] = Launch{Node: "n004", Words: []string{"false"}} // the head of a group
	launches[6] = Launch{Node: "n006", Words: []string{"false"}} // one behind it
	problems, err := f.Launch(t.Context(), launches, Launching{FromNodes: true})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"n004": "exit status 1", "n006": "exit status 1"}, problems)
	require.Len(t, f.relay.visible(nil), 0, "those that a client launched are its own")
	f.relay.mutex.Lock()
	require.Len(t, f.relay.children, 3)
	f.relay.mutex.Unlock()
	parts, err := f.Ask(t.Context(), ask("same"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Equal(t, "0-7,10-11,14-23", parts[0].Ranks.String())

	question := ask("exit") // of a head: those behind it are lost, too
	question.Ranks = setOf(t, "0")
	_, err = f.Ask(t.Context(), question)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		parts, err = f.Ask(t.Context(), ask("same"))
		return err == nil && len(parts) == 2 && parts[0].Problem == "relay on n000 lost: exit status 3" && len(parts[0].Nodes) == 4
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, "0-7", parts[0].Ranks.String())
}

func TestQuestionsEndWithTheirAsker(t *testing.T) {
	f := connect(t, Options{Node: "login"})
	f.launched(t, 1, 1, Launching{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := f.Ask(ctx, Question{Kind: "hang", Timeout: time.Minute})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	parts, err := f.Ask(t.Context(), ask("same"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Eventually(t, func() bool {
		f.relay.mutex.Lock()
		defer f.relay.mutex.Unlock()
		for u := range f.relay.uppers {
			u.mutex.Lock()
			defer u.mutex.Unlock()
			return len(u.running) == 0
		}
		return false
	}, 5*time.Second, time.Millisecond, "the question goes on although its client has gone")
}

func TestLaunchedProcessesEndWithTheClient(t *testing.T) {
	f := connect(t, Options{Node: "login", FanOut: 2})
	f.launched(t, 6, 1, Launching{FromNodes: true})
	stubborn := launchesOf(t, 1, 1)[0]
	stubborn.Words = []string{"sh", "-c", `trap "" TERM; "$0"; sleep 100`, stubborn.Words[0]}
	problems, err := f.Launch(t.Context(), []Launch{stubborn}, Launching{})
	require.NoError(t, err)
	require.Empty(t, problems)
	var groups []int
	f.relay.mutex.Lock()
	for c := range f.relay.children {
		groups = append(groups, c.process.command.Process.Pid)
	}
	f.relay.mutex.Unlock()
	require.Len(t, groups, 3)
	require.NoError(t, f.Close())
	f.served <- <-f.served
	require.Empty(t, runningIn(t, groups))
}

func TestSetsWithoutRanksOfOthersIntersect(t *testing.T) {
	require.Equal(t, setOf(t, "2-3,7"), intersect(setOf(t, "0-3,7-9"), setOf(t, "2-7")))
	require.Empty(t, intersect(ranges.Set{}, setOf(t, "1")))
}
