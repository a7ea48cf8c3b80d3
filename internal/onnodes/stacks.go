package onnodes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/tree"
)

// Stacks are the stacks of the ranks that belong together.
type Stacks struct {
	Namespace string // of the ranks; empty for the only one
	Answers   []stacks.Answer
	Missing   []stacks.Missing
}

// spare is the share of the time of a request that remains for the way back.
const spare = 2 * time.Second

// mostLaunchTime bounds how long the relays of nodes may take to start.
const mostLaunchTime = time.Minute

// ReadStacks reads the stacks of the ranks of a running job, nil for all, or core files. The
// deadline of the context bounds it: what answers in time counts.
func ReadStacks(ctx context.Context, j *Reachable, request stacks.Request, ranks ranges.Set) (all []Stacks, err error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	ofCores := len(request.Cores) > 0
	if !ofCores {
		err := j.CheckRunning()
		if err != nil && j.Detail.Ended() {
			err = fmt.Errorf("%w\nread its core files with --core", err)
		}
		if err != nil {
			return nil, err
		}
	}
	use := forQuestions
	if ofCores {
		use = forFiles
	}
	s, err := openTop(ctx, j, use)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if !ofCores {
		names, err := s.nodesWithout(ctx)
		if err == nil {
			err = s.launch(ctx, names, launchTime(ctx))
		}
		if err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	question := tree.Question{Kind: stacks.Kind, Ranks: ranks, Body: body, Timeout: remaining(ctx) - spare}
	if ofCores {
		question.Ranks = nil // files have ranks of their own
	}
	parts, err := s.client.Ask(ctx, question)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading stacks: %w", err)
	case ofCores:
		return []Stacks{combineCores(parts, ranks)}, nil
	}
	return s.combine(parts, j.expected(), ranks), nil
}

// combineCores returns the stacks in core files, those of some ranks if they are named.
func combineCores(parts []tree.Part, ranks ranges.Set) Stacks {
	var all Stacks
	for _, part := range parts {
		var answer stacks.CoreAnswer
		if part.Problem != "" || json.Unmarshal(part.Body, &answer) != nil || answer.Rank < 0 {
			all.Missing = append(all.Missing, stacks.Missing{Nodes: part.Nodes, Reason: cmp.Or(part.Problem, "invalid answer")})
			continue
		}
		only := ranges.Set{{First: answer.Rank, Last: answer.Rank}}
		if ranks != nil && len(only.Without(ranks)) > 0 {
			continue
		}
		stack, err := stacks.Decode(answer.Stack)
		switch {
		case answer.Problem != "":
			all.Missing = append(all.Missing, stacks.Missing{Ranks: only, Reason: answer.Problem})
		case err != nil:
			all.Missing = append(all.Missing, stacks.Missing{Ranks: only, Reason: err.Error()})
		default:
			all.Answers = append(all.Answers, stacks.Answer{Ranks: only, Stack: stack})
		}
	}
	if ranks != nil && len(all.Answers)+len(all.Missing) == 0 {
		all.Missing = append(all.Missing, stacks.Missing{Ranks: ranks, Reason: "no core file of this rank"})
	}
	return all
}

// remaining returns how much time a context has left.
func remaining(ctx context.Context) time.Duration {
	deadline, isSet := ctx.Deadline()
	if !isSet {
		return mostLaunchTime
	}
	return max(time.Until(deadline), spare+time.Second)
}

// launchTime returns how long relays may take to start, so that time for answers remains.
func launchTime(ctx context.Context) time.Duration {
	return min(remaining(ctx)/2, mostLaunchTime)
}

// combine sorts answers by namespace, and names the ranks without an answer.
func (s *session) combine(parts []tree.Part, expected, ranks ranges.Set) []Stacks {
	byName := map[string]*Stacks{}
	of := func(namespace string) *Stacks {
		if byName[namespace] == nil {
			byName[namespace] = &Stacks{Namespace: namespace}
		}
		return byName[namespace]
	}
	var unnamed []stacks.Missing // belongs to no namespace
	for _, part := range parts {
		if part.Problem != "" {
			missing := stacks.Missing{Ranks: part.Ranks, Nodes: part.Nodes, Reason: part.Problem}
			if part.Namespace == "" {
				unnamed = append(unnamed, missing)
			} else {
				of(part.Namespace).Missing = append(of(part.Namespace).Missing, missing)
			}
			continue
		}
		stack, err := stacks.Decode(part.Body)
		if err != nil {
			unnamed = append(unnamed, stacks.Missing{Ranks: part.Ranks, Nodes: part.Nodes, Reason: err.Error()})
			continue
		}
		of(part.Namespace).Answers = append(of(part.Namespace).Answers, stacks.Answer{Ranks: part.Ranks, Stack: stack})
	}
	for node, problem := range s.problems {
		unnamed = append(unnamed, stacks.Missing{Nodes: []string{node}, Reason: problem})
	}
	all := make([]Stacks, 0, len(byName)+1)
	for _, each := range byName {
		all = append(all, *each)
	}
	slices.SortFunc(all, func(a, b Stacks) int { return compareText(a.Namespace, b.Namespace) })
	if len(all) == 0 {
		all = append(all, Stacks{})
	}
	if len(all) == 1 { // otherwise the expected ranks of each are unknown
		unnamed = append(unnamed, s.absent(all[0], unnamed, expected, ranks)...)
	}
	all[0].Missing = append(all[0].Missing, unnamed...)
	return all
}

// absent names expected ranks that have neither an answer nor a reason.
func (s *session) absent(found Stacks, unnamed []stacks.Missing, expected, ranks ranges.Set) []stacks.Missing {
	hasLostNodes := false
	if ranks != nil {
		expected = expected.Without(expected.Without(ranks))
	}
	for _, answer := range found.Answers {
		expected = expected.Without(answer.Ranks)
	}
	for _, missing := range slices.Concat(found.Missing, unnamed) {
		expected = expected.Without(missing.Ranks)
		hasLostNodes = hasLostNodes || len(missing.Ranks) == 0
	}
	var absent []stacks.Missing
	ended := s.job.ended()
	for _, span := range expected {
		for rank := span.First; rank <= span.Last && len(ended) > 0; rank++ {
			if reason := ended[rank]; reason != "" {
				only := ranges.Set{{First: rank, Last: rank}}
				absent = append(absent, stacks.Missing{Ranks: only, Reason: reason})
				expected = expected.Without(only)
			}
		}
	}
	switch {
	case len(expected) > 0 && hasLostNodes:
		absent = append(absent, stacks.Missing{Ranks: expected, Reason: "not on the nodes that answered"})
	case len(expected) > 0:
		absent = append(absent, stacks.Missing{Ranks: expected, Reason: "no process with this rank runs"})
	case len(found.Answers)+len(found.Missing)+len(unnamed)+len(absent) == 0:
		absent = append(absent, stacks.Missing{Reason: "no process of the job was found on its nodes"})
	}
	return absent
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
