package tree

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/ranges"
)

// answer passes a question down, asks Local, and sends the merged parts up.
func (r *Relay) answer(ctx context.Context, u *upper, m message) {
	if r.isFirst(m.ID) {
		parts := r.gather(ctx, u, m)
		if u.pushNow(ctx) != nil {
			return
		}
		for _, part := range parts {
			if u.sendPart(ctx, m.ID, part) != nil {
				return
			}
		}
	}
	_ = u.send(ctx, message{Kind: kindDone, ID: m.ID}) // an error ends the link
}

// sendPart sends a part, or why it cannot be sent.
func (u *upper) sendPart(ctx context.Context, id string, part Part) error {
	set := part.Ranks.String()
	line, err := encode(message{Kind: kindPart, ID: id, Namespace: part.Namespace, Ranks: &set, Nodes: part.Nodes, Body: part.Body, Problem: part.Problem})
	if err != nil {
		line, err = encode(message{Kind: kindPart, ID: id, Namespace: part.Namespace, Ranks: &set, Problem: OneLine(err.Error())})
	}
	if err != nil {
		return err
	}
	return u.enqueue(ctx, line)
}

// A source is where parts come from: a child or Local.
type source struct {
	parts   []Part
	members []Member // when the question came, and for a child also when it was answered
	problem string   // why a child has not answered
}

// gather merges the parts of all children and of Local.
func (r *Relay) gather(ctx context.Context, u *upper, m message) []Part {
	timeout := cmp.Or(time.Duration(m.Timeout)*time.Millisecond, usualTimeout)
	if attached, _ := r.attachedChild(); attached != nil {
		r.Refresh() // who of both answers depends on it
	}
	before, height := r.members(u)
	ctx, cancel := context.WithTimeoutCause(ctx, deadlineOf(timeout, height), errTimeout)
	defer cancel()
	children := r.visible(u)
	sources := make([]source, len(children)+1)
	var asking sync.WaitGroup
	for i, c := range children {
		asking.Go(func() { sources[i+1] = c.ask(ctx, m, timeout) })
	}
	asking.Go(func() {
		if r.answersLocally() {
			sources[0] = r.askLocal(ctx, m, timeout)
		}
	})
	asking.Wait()
	after, _ := r.members(u)
	return combine(m, sources, withAll(after, before))
}

// combine merges the parts of all sources, each only for ranks that the source serves.
func combine(m message, sources []source, members []Member) []Part {
	for i := range sources {
		own := withoutWrappers(sources[i].members, members)
		sources[i].members, sources[i].parts = own, within(sources[i].parts, ranksOf(own))
	}
	return merge(m, sources, withoutWrappers(members))
}

// withAll returns members, and the members of others that are not among them.
func withAll(members, others []Member) []Member {
	known := map[string]bool{}
	for _, member := range members {
		if member.Problem == "" {
			known[member.ID] = true
		}
	}
	all := slices.Clone(members)
	for _, other := range others {
		if !known[other.ID] {
			all = append(all, other)
		}
	}
	return all
}

// ask asks a child.
func (c *child) ask(ctx context.Context, m message, timeout time.Duration) source {
	members, height := c.snapshot()
	ctx, cancel := context.WithTimeoutCause(ctx, deadlineOf(timeout, height+1), errTimeout)
	defer cancel()
	expected := c.expect(m.ID)
	err := c.send(ctx, m)
	if err == nil {
		err = c.await(ctx, m.ID, expected)
	}
	after, _ := c.snapshot()
	found := source{members: withAll(after, members)}
	switch {
	case errors.Is(err, errTimeout):
		found.problem = OneLine(fmt.Sprintf("no answer from the relay on %s within %s", c.node, timeout))
	case err != nil:
		found.problem = lossOf(c.node, err)
	case expected.excess:
		found.problem = OneLine(fmt.Sprintf("answers from the relay on %s are too long", c.node))
		fallthrough
	default:
		found.parts = expected.parts
	}
	return found
}

// within leaves out answers for ranks that a source does not serve.
func within(parts []Part, served map[string]ranges.Set) []Part {
	var kept []Part
	for _, part := range parts {
		hadRanks := len(part.Ranks) > 0
		if part.Ranks = intersect(part.Ranks, served[part.Namespace]); hadRanks && len(part.Ranks) == 0 {
			continue
		}
		kept = append(kept, part)
	}
	return kept
}

// askLocal asks the processes of this node.
func (r *Relay) askLocal(ctx context.Context, m message, timeout time.Duration) source {
	r.mutex.Lock()
	known := r.known
	r.mutex.Unlock()
	found := source{members: []Member{{ID: r.id, Node: r.options.Node, Place: r.options.Place, Groups: known}}}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	processes, err := r.processes(limited)
	if err != nil {
		found.problem = OneLine(fmt.Sprintf("processes of %s: %v", r.options.Node, err))
		return found
	}
	found.members[0].Groups = groupsOf(processes)
	if m.Topic == "" { // the request is for members only
		return found
	}
	local := &localAnswer{node: r.options.Node, left: map[string]ranges.Set{}}
	asked := local.choose(m, processes)
	question := Question{Kind: m.Topic, Body: m.Body, Timeout: timeout}
	set, isNamed := m.ranks()
	if isNamed {
		question.Ranks = set
		if len(asked) == 0 {
			found.parts = local.parts
			return found
		}
	}
	answered := make(chan error, 1)
	go func() { answered <- r.options.Local.Answer(limited, question, asked, local.give) }()
	select {
	case err = <-answered:
	case <-ctx.Done(): // Local ignores its deadline
		err = context.Cause(ctx)
	}
	if limited.Err() != nil && (err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		err = context.Cause(limited)
	}
	if errors.Is(err, errTimeout) {
		err = fmt.Errorf("no answer within %s", timeout)
	}
	found.parts = local.finish(err)
	return found
}

// A localAnswer collects what Local gives.
type localAnswer struct {
	node string

	mutex  sync.Mutex
	left   map[string]ranges.Set // ranks without a part
	asked  map[string]ranges.Set
	parts  []Part
	bytes  int
	closed bool
}

// choose returns the processes of the ranks in a question. If two processes have a rank, it gives a problem for
// that rank instead.
func (a *localAnswer) choose(m message, processes []RankProcess) []RankProcess {
	type identity struct {
		namespace string
		rank      int
	}
	set, isNamed := m.ranks()
	first := map[identity]RankProcess{}
	twice := map[identity]bool{}
	for _, process := range processes {
		at := identity{process.Namespace, process.Rank}
		other, isTwice := first[at]
		first[at] = process
		if process.Rank < 0 || isNamed && len(intersect(ranges.Set{{First: process.Rank, Last: process.Rank}}, set)) == 0 || !isTwice || twice[at] {
			continue
		}
		twice[at] = true
		problem := fmt.Sprintf("processes %d and %d on %s have the same rank in %s", other.PID, process.PID, a.node, cmp.Or(process.Variable, "the environment"))
		a.parts = append(a.parts, Part{Namespace: process.Namespace, Ranks: ranges.Set{{First: process.Rank, Last: process.Rank}}, Nodes: []string{a.node}, Problem: OneLine(problem)})
	}
	var chosen []RankProcess
	for _, process := range processes {
		rank := ranges.Set{{First: process.Rank, Last: process.Rank}}
		if twice[identity{process.Namespace, process.Rank}] || process.Rank < 0 || isNamed && len(intersect(rank, set)) == 0 {
			continue
		}
		chosen = append(chosen, process)
		a.left[process.Namespace] = append(a.left[process.Namespace], rank...)
	}
	a.asked = map[string]ranges.Set{}
	for namespace, ranks := range a.left {
		a.left[namespace] = ranks.Merged()
		a.asked[namespace] = slices.Clone(a.left[namespace])
	}
	return chosen
}

// give keeps a part, unless the deadline has passed.
func (a *localAnswer) give(part Part) {
	part.Problem = OneLine(part.Problem)
	part.Ranks = slices.Clone(part.Ranks).Merged()
	part.Nodes = nil
	var body bytes.Buffer
	if len(part.Body) > 0 {
		if err := json.Compact(&body, part.Body); err != nil {
			part.Problem = "invalid answer: it is not JSON"
		}
	}
	part.Body = body.Bytes()
	if part.Problem != "" {
		part.Body = nil
	}
	if len(part.Body) == 0 {
		part.Body = nil
	}
	if part.Problem != "" || len(part.Ranks) == 0 {
		part.Nodes = []string{a.node}
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.closed || len(part.Ranks.Without(a.asked[part.Namespace])) > 0 {
		return
	}
	a.bytes += len(part.Body) + len(part.Problem) + 64
	if len(part.Body) > mostLineBytes/2 || a.bytes > mostAnswerBytes || len(a.parts) >= mostParts {
		part.Body, part.Problem, part.Nodes = nil, "the answer is too long", []string{a.node}
	}
	a.left[part.Namespace] = a.left[part.Namespace].Without(part.Ranks)
	a.parts = append(a.parts, part)
}

// finish returns the parts. Ranks without a part get the error as their problem.
func (a *localAnswer) finish(err error) []Part {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.closed = true
	problem := "no answer"
	if err != nil {
		problem = OneLine(err.Error())
	}
	hasLeft := false
	for namespace, ranks := range a.left {
		if len(ranks) > 0 {
			hasLeft = true
			a.parts = append(a.parts, Part{Namespace: namespace, Ranks: ranks, Nodes: []string{a.node}, Problem: problem})
		}
	}
	if err != nil && !hasLeft && len(a.asked) == 0 {
		a.parts = append(a.parts, Part{Nodes: []string{a.node}, Problem: problem})
	}
	return a.parts
}
