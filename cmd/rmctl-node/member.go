package main

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/tree"
)

const (
	// joinAfter is the delay that keeps short programs out of the tree.
	joinAfter = 200 * time.Millisecond
	// leavePatience bounds how long a process stays after its program ended, for questions that are
	// being answered through it.
	leavePatience = time.Second
)

// join connects a tracked process to the tree of its job while the program runs, so that questions reach it
// without another process from the scheduler. A failure affects only questions.
func join(job string, running <-chan struct{}, member jobdirectory.Member) {
	if execution.ClosesWithin(running, joinAfter) {
		return
	}
	secret, err := tree.ReadSecret(job)
	if err != nil {
		return
	}
	private, err := tree.PrivateDirectory()
	if err != nil {
		return
	}
	process := tree.RankProcess{
		Namespace: member.Namespace, Rank: member.Rank, Variable: member.Variable, PID: member.PID, Start: member.Start,
	}
	membership := tree.Join(context.Background(), tree.JoinOptions{
		Job: job, Private: private, Node: member.Node, Secret: secret,
		Local: func(registered func() []tree.RankProcess) tree.Local { return &trackedNode{job, registered} },
	}, process)
	<-running
	left := make(chan struct{})
	go func() { // it ends with this process, which waits for it for a while
		defer close(left)
		membership.Leave()
	}()
	execution.ClosesWithin(left, leavePatience)
}

// A trackedNode answers for the tracked processes of this node.
type trackedNode struct {
	job        string
	registered func() []tree.RankProcess
}

// Processes implements [tree.Local]. A process without a rank gives way to ranks.
func (n *trackedNode) Processes(context.Context) ([]tree.RankProcess, error) {
	processes := n.registered()
	pids := make([]int, len(processes))
	for i, process := range processes {
		pids[i] = process.PID
	}
	programs, err := rank.Programs("", pids)
	if err != nil {
		return nil, err
	}
	var ranked, unranked []tree.RankProcess
	for _, process := range processes {
		start, isRunning := rank.StartOf(process.PID)
		if !isRunning || start != process.Start {
			continue
		}
		if program, isFound := programs[process.PID]; isFound {
			process.PID, process.Start, process.Executable = program.PID, program.Start, program.Executable
		}
		if process.Variable == "" {
			unranked = append(unranked, process)
		} else {
			ranked = append(ranked, process)
		}
	}
	if len(ranked) > 0 || len(unranked) == 0 || n.hasRanksElsewhere() {
		return ranked, nil
	}
	return unranked, nil
}

// hasRanksElsewhere reports whether the job has ranks on other nodes.
func (n *trackedNode) hasRanksElsewhere() bool {
	members, err := jobdirectory.Read(n.job)
	for _, member := range members {
		if err == nil && member.Variable != "" {
			return true
		}
	}
	return false
}

// Answer implements [tree.Local].
func (n *trackedNode) Answer(ctx context.Context, question tree.Question, processes []tree.RankProcess, give func(tree.Part)) error {
	return answer(ctx, question, processes, give)
}
