package onnodes

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/tree"
)

// A Reached is a running job whose processes can be debugged.
type Reached struct {
	Directory string // of the job, on the target; processes pass it to [tree.DialStream]

	session *session
}

// Reach starts relays on the nodes of a running job. The caller closes the result.
func Reach(ctx context.Context, j *Reachable) (*Reached, error) {
	if err := j.CheckRunning(); err != nil {
		return nil, err
	}
	s, err := openTop(ctx, j, forDebuggers)
	if err != nil {
		return nil, err
	}
	names, err := s.nodesWithout(ctx)
	if err == nil {
		err = s.launch(ctx, names, launchTime(ctx))
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &Reached{Directory: s.directory, session: s}, nil
}

// AcceptStream returns the next stream of a process. The caller closes it. An error means that
// the relay has ended, or the context.
func (r *Reached) AcceptStream(ctx context.Context) (net.Conn, error) {
	return r.session.client.AcceptStream(ctx)
}

// StartDebuggers asks the relays to start a debugger for each of some ranks, nil for all. It returns the ranks that have
// one, and why others have none.
func (r *Reached) StartDebuggers(ctx context.Context, kind string, body []byte, ranks ranges.Set) (started ranges.Set, missing []stacks.Missing, err error) {
	parts, err := r.session.client.Ask(ctx, tree.Question{Kind: kind, Ranks: ranks, Body: body, Timeout: remaining(ctx) - spare})
	if err != nil {
		return nil, nil, fmt.Errorf("starting debuggers: %w", err)
	}
	found := Stacks{}
	for _, part := range parts {
		if part.Problem != "" {
			missing = append(missing, stacks.Missing{Ranks: part.Ranks, Nodes: part.Nodes, Reason: part.Problem})
			continue
		}
		started = started.Union(part.Ranks)
	}
	found.Missing = missing
	for node, problem := range r.session.problems {
		missing = append(missing, stacks.Missing{Nodes: []string{node}, Reason: problem})
	}
	if len(started) > 0 {
		found.Answers = []stacks.Answer{{Ranks: started}}
	}
	return started, append(missing, r.session.absent(found, nil, r.session.job.expected(), ranks)...), nil
}

// Close ends all relays, after what was written to streams before.
func (r *Reached) Close() error { return r.session.close() }
