package stacks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/stacks"
)

func thread(name string, functions ...string) stacks.Thread {
	thread := stacks.Thread{Name: name}
	for _, function := range functions {
		thread.Frames = append(thread.Frames, stacks.Frame{Function: function, File: "/src/a.c", Line: 7})
	}
	return thread
}

func set(t *testing.T, text string) ranges.Set {
	t.Helper()
	parsed, isSet := ranges.Parse(text)
	require.True(t, isSet)
	return parsed
}

func TestEqualStacksAreEqualBytes(t *testing.T) {
	a := stacks.Stack{Threads: []stacks.Thread{thread("main", "main"), thread("b", "start"), thread("a", "start"), thread("b", "start")}}
	b := stacks.Stack{Threads: []stacks.Thread{thread("main", "main"), thread("a", "start"), thread("b", "start"), thread("b", "start")}}
	require.Equal(t, string(a.Encode()), string(b.Encode()))
	decoded, err := stacks.Decode(a.Encode())
	require.NoError(t, err)
	require.Equal(t, 2, decoded.Threads[2].Count)
	require.Equal(t, string(a.Encode()), string(decoded.Encode()))
	a.Threads[0], a.Threads[1] = a.Threads[1], a.Threads[0]
	require.NotEqual(t, string(a.Encode()), string(b.Encode()), "the first thread stays the first")
}

func TestLongStacksKeepTheirEnds(t *testing.T) {
	long := stacks.Thread{Frames: make([]stacks.Frame, 100_000)}
	for i := range long.Frames {
		long.Frames[i].Line = i
	}
	decoded, err := stacks.Decode(stacks.Stack{Threads: []stacks.Thread{long}}.Encode())
	require.NoError(t, err)
	frames := decoded.Threads[0].Frames
	require.Len(t, frames, stacks.KeptOutside+1+stacks.KeptInside)
	require.Equal(t, 100_000-stacks.KeptOutside-stacks.KeptInside, frames[stacks.KeptOutside].Omitted)
	require.Equal(t, 99_999, frames[len(frames)-1].Line)
	require.Contains(t, stacks.NewTree([]stacks.Answer{{Ranks: set(t, "0"), Stack: decoded}}, nil).Text(), "\n... 99750 frames omitted\n")

	again, err := stacks.Decode(stacks.Stack{Threads: []stacks.Thread{{Frames: append([]stacks.Frame{{Function: "outside"}}, frames...)}}}.Encode())
	require.NoError(t, err)
	require.Equal(t, 99_751, again.Threads[0].Frames[stacks.KeptOutside].Omitted, "omitted frames add up")
}

func TestDeviatingBranchesComeFirst(t *testing.T) {
	waiting := stacks.Stack{Threads: []stacks.Thread{thread("", "main", "MPI_Barrier", "poll")}}
	computing := stacks.Stack{Threads: []stacks.Thread{thread("", "main", "compute")}}
	tree := stacks.NewTree([]stacks.Answer{
		{Ranks: set(t, "0-2,4-7"), Stack: waiting},
		{Ranks: set(t, "3"), Stack: computing},
	}, []stacks.Missing{
		{Ranks: set(t, "9"), Reason: "the process has ended"}, {Ranks: set(t, "12"), Reason: "lost node"}, {Ranks: set(t, "8"), Reason: "the process has ended"},
		{Nodes: []string{"n10"}, Reason: "no relay"}, {Nodes: []string{"n2"}, Reason: "no relay"},
	})
	require.Equal(t, `8 ranks 0-7: 2 different stacks

main at a.c:7
|-- rank 3
|   compute at a.c:7
`+"`"+`-- 7 ranks 0-2,4-7
    MPI_Barrier at a.c:7
    poll at a.c:7

Missing
ranks 8-9: the process has ended
rank 12: lost node
nodes n2,n10: no relay
`, tree.Text())
	require.Equal(t, "main at a.c:7;compute at a.c:7 1\nmain at a.c:7;MPI_Barrier at a.c:7;poll at a.c:7 7\n", tree.Folded())
	encoded, err := json.Marshal(tree.Document())
	require.NoError(t, err)
	require.Contains(t, string(encoded), `{"ranks":"0-7","samples":1,"stacks":2,"tree":[{"function":"main","file":"/src/a.c","line":7,"ranks":"0-7","threads":8,"children":[{"function":"compute",`)
	require.Contains(t, string(encoded), `"missing":[{"ranks":"8-9","reason":"the process has ended"},`)
}

func TestStacksThatEndAboveOthersHaveTheirRanks(t *testing.T) {
	tree := stacks.NewTree([]stacks.Answer{
		{Ranks: set(t, "0"), Stack: stacks.Stack{Threads: []stacks.Thread{thread("", "main")}}},
		{Ranks: set(t, "1"), Stack: stacks.Stack{Threads: []stacks.Thread{thread("", "main", "f"), thread("", "main", "f")}}},
	}, nil)
	require.Contains(t, tree.Text(), "main at a.c:7\n|-- rank 0: ends here\n`-- rank 1, 2 threads\n    f at a.c:7\n")
}

func TestSamplesAreCompared(t *testing.T) {
	f := func(sample int, functions ...string) stacks.Stack {
		return stacks.Stack{Sample: sample, Threads: []stacks.Thread{thread("", functions...)}}
	}
	tree := stacks.NewTree([]stacks.Answer{
		{Ranks: set(t, "0-2"), Stack: f(0, "main", "wait")}, {Ranks: set(t, "0-1"), Stack: f(1, "main", "wait")},
		{Ranks: set(t, "3"), Stack: f(0, "main", "a")}, {Ranks: set(t, "3"), Stack: f(1, "main", "b")},
	}, nil)
	text := tree.Text()
	require.Contains(t, text, "4 ranks 0-3: 3 different stacks in 2 samples\nsame stack in all samples: 3 ranks 0-2\nmoved between samples: rank 3\n")
	require.Contains(t, text, "|-- rank 3, only in sample 1\n|   a at")
	require.Contains(t, text, "-- 3 ranks 0-2, ranks in each sample: 3, 2\n")
	document := tree.Document()
	require.Equal(t, "3", document.Moved)
	require.Equal(t, []string{"0-2", "0-1"}, document.Tree[0].Children[2].Samples)
}

func TestFirstThreadsComeFirstAndNamesDoNotCount(t *testing.T) {
	a := stacks.Stack{Threads: []stacks.Thread{thread("x", "main"), thread("worker 1", "clone3")}}
	b := stacks.Stack{Threads: []stacks.Thread{thread("x", "main"), thread("worker 2", "clone3")}}
	require.Equal(t, "ranks 0-1: 1 different stack\n\n|-- ranks 0-1\n|   main at a.c:7\n`-- ranks 0-1\n    clone3 at a.c:7\n",
		stacks.NewTree([]stacks.Answer{{Ranks: set(t, "0"), Stack: a}, {Ranks: set(t, "1"), Stack: b}}, nil).Text())
}

func TestManyThreadsAreOmitted(t *testing.T) {
	many := stacks.Stack{Threads: make([]stacks.Thread, stacks.MostThreads+3)}
	stack, err := stacks.Decode(many.Encode())
	require.NoError(t, err)
	tree := stacks.NewTree([]stacks.Answer{{Ranks: set(t, "0-1"), Stack: stack}}, nil)
	require.Contains(t, tree.Text(), "\n6 threads omitted: only the first 512 of a process are read\n")
	require.Equal(t, 6, tree.Document().Omitted)
}

func TestOutsideTextIsPlain(t *testing.T) {
	evil := stacks.Frame{Function: "a\x1b[2Jb\xff;c\n\u202e", File: "/x/\x07y.c\r", Line: 1}
	stack, err := stacks.Decode(stacks.Stack{Threads: []stacks.Thread{{Name: "\x1b]0;x\a", Frames: []stacks.Frame{evil, {Module: "/lib/\x1bz.so"}, {Function: strings.Repeat("é", 5000)}}}}}.Encode())
	require.NoError(t, err)
	tree := stacks.NewTree([]stacks.Answer{{Ranks: set(t, "0"), Stack: stack}}, []stacks.Missing{{Nodes: []string{"\x1bn"}, Reason: "\x1b[31mred\nline"}})
	for _, text := range []string{tree.Text(), tree.Folded()} {
		require.True(t, utf8.ValidString(text))
		for _, r := range text {
			require.True(t, r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r), "%q", text)
		}
	}
	require.Equal(t, 1, strings.Count(tree.Folded(), "\n"))
	require.Equal(t, 2, strings.Count(tree.Folded(), ";"), "only between frames: %s", tree.Folded())
	require.Contains(t, tree.Text(), "?? in z.so")
}

func TestRequestsAreChecked(t *testing.T) {
	request, err := stacks.ParseRequest([]byte(`{"samples":3,"every":1000000000}`))
	require.NoError(t, err)
	require.Equal(t, stacks.Request{Samples: 3, Every: time.Second}, request)
	_, err = stacks.ParseRequest(nil)
	require.NoError(t, err)
	for _, body := range []string{`{"samples":-1}`, `{"samples":1000}`, `{"every":-1}`, `[]`, `{"cores":["a"],"samples":2}`} {
		_, err = stacks.ParseRequest([]byte(body))
		require.Error(t, err, body)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"threads":[{"frames":[{"function":"main","line":3}]}]}`))
	f.Add([]byte(`{"sample":1,"threads":[{"count":2,"frames":[{"omitted":3}]},{"frames":null}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		stack, err := stacks.Decode(body)
		if err != nil {
			return
		}
		encoded := stack.Encode()
		again, err := stacks.Decode(encoded)
		require.NoError(t, err)
		require.Equal(t, string(encoded), string(again.Encode()))
		tree := stacks.NewTree([]stacks.Answer{{Ranks: ranges.Set{{First: 0, Last: 3}}, Stack: stack}}, nil)
		require.NotEmpty(t, tree.Text())
	})
}
