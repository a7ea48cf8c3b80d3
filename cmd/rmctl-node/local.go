package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/stacks/collect"
	"github.com/rmctl/rmctl/internal/tree"
)

// A node answers questions about the selected processes of a job on this node.
type node struct {
	selection rank.Selection

	turn    sync.Mutex
	unknown []string // why processes of the job have no rank
}

// newNode returns a node for the processes that a word selects.
func newNode(word string) (tree.Local, error) {
	selection, err := rank.ParseSelection(word)
	if err != nil {
		return nil, err
	}
	return &node{selection: selection}, nil
}

// Processes implements [tree.Local].
func (n *node) Processes(context.Context) ([]tree.RankProcess, error) {
	members, err := n.selection.Find("")
	if err != nil {
		return nil, err
	}
	var unknown []string
	var processes []tree.RankProcess
	for _, member := range members {
		if member.Problem != "" {
			unknown = append(unknown, fmt.Sprintf("process %d has no rank: %s", member.PID, member.Problem))
			continue
		}
		processes = append(processes, processOf(member))
	}
	n.turn.Lock()
	n.unknown = unknown
	n.turn.Unlock()
	return processes, nil
}

// processOf returns a process as the tree has it.
func processOf(member rank.Member) tree.RankProcess {
	return tree.RankProcess{
		Namespace: member.Namespace, Rank: member.Rank, Variable: member.Variable,
		PID: member.PID, Start: member.Start, Executable: member.Executable,
	}
}

// Answer implements [tree.Local].
func (n *node) Answer(ctx context.Context, question tree.Question, processes []tree.RankProcess, give func(tree.Part)) error {
	n.turn.Lock()
	unknown := n.unknown
	n.turn.Unlock()
	for _, problem := range unknown {
		give(tree.Part{Problem: problem})
	}
	return answer(ctx, question, processes, give)
}

// answer answers a question about processes of this node.
func answer(ctx context.Context, question tree.Question, processes []tree.RankProcess, give func(tree.Part)) error {
	switch question.Kind {
	case stacks.Kind:
		return answerStacks(ctx, question, processes, give)
	case server.KindAttach:
		return attachServers(question, processes, give)
	}
	return fmt.Errorf("unknown question %.40q: rmctl-node and rmctl have different versions", question.Kind)
}

// answerStacks reads the stacks of processes, or of core files.
func answerStacks(ctx context.Context, question tree.Question, processes []tree.RankProcess, give func(tree.Part)) error {
	request, err := stacks.ParseRequest(question.Body)
	if err != nil {
		return err
	}
	options := collect.Options{Guard: guardWords()}
	pass := func(result collect.Result) {
		give(tree.Part{Namespace: result.Namespace, Ranks: ranges.Set{{First: result.Rank, Last: result.Rank}}, Body: result.Stack, Problem: result.Problem})
	}
	if len(request.Cores) > 0 {
		return answerCores(ctx, options, request, give)
	}
	targets := make([]collect.Target, len(processes))
	for i, process := range processes {
		targets[i] = collect.Target{Namespace: process.Namespace, Rank: process.Rank, PID: process.PID, Start: process.Start}
	}
	return collect.Collect(ctx, options, request, targets, pass)
}

// answerCores reads core files. The tree knows only ranks of processes, so the answers contain the
// ranks of files.
func answerCores(ctx context.Context, options collect.Options, request stacks.Request, give func(tree.Part)) error {
	return collect.Cores(ctx, options, request, rankOfCore, func(result collect.Result) {
		body, err := json.Marshal(stacks.CoreAnswer{Rank: result.Rank, Stack: result.Stack, Problem: result.Problem})
		if err != nil {
			give(tree.Part{Problem: err.Error()})
			return
		}
		give(tree.Part{Body: body})
	})
}

// rankOfCore returns the rank in the environment of a core file.
func rankOfCore(environment map[string]string) (int, bool) {
	identity, hasRank, err := rank.Of(func(name string) string { return environment[name] }, "")
	return identity.Rank, hasRank && err == nil
}
