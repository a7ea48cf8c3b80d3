package tree

import (
	"cmp"
	"slices"

	"github.com/rmctl/rmctl/internal/ranges"
)

// A merger collects parts and merges equal ones.
type merger struct {
	byKey map[partKey]int
	parts []Part
}

// A partKey identifies equal parts.
type partKey struct {
	namespace, body, problem string
	hasRanks                 bool
}

func (m *merger) add(part Part) {
	key := partKey{part.Namespace, string(part.Body), part.Problem, len(part.Ranks) > 0}
	at, known := m.byKey[key]
	if !known {
		m.byKey[key] = len(m.parts)
		part.Ranks, part.Nodes = slices.Clone(part.Ranks), slices.Clone(part.Nodes)
		m.parts = append(m.parts, part)
		return
	}
	into := &m.parts[at]
	into.Ranks = append(into.Ranks, part.Ranks...)
	into.Nodes = append(into.Nodes, part.Nodes...)
}

// finish returns the parts, the one with the lowest rank first.
func (m *merger) finish() []Part {
	for i := range m.parts {
		part := &m.parts[i]
		part.Ranks = part.Ranks.Merged()
		slices.Sort(part.Nodes)
		part.Nodes = slices.Compact(part.Nodes)
	}
	slices.SortStableFunc(m.parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(firstOf(a), firstOf(b)))
	})
	return m.parts
}

func firstOf(part Part) int {
	if len(part.Ranks) == 0 {
		return -1
	}
	return part.Ranks[0].First
}

// merge makes the answer of a relay from the parts of its sources: no rank has answers of two
// sources, and ranks of a source without an answer have a problem.
func merge(m message, sources []source, members []Member) []Part {
	merged := merger{byKey: map[partKey]int{}}
	settled := map[string]ranges.Set{} // ranks with a part, by namespace
	asked, isNamed := m.ranks()
	ofAsked := func(set ranges.Set) ranges.Set {
		if isNamed {
			return intersect(set, asked)
		}
		return set
	}
	if m.Topic != "" {
		for namespace, parts := range conflictsOf(members) {
			for _, part := range parts {
				if part.Ranks = ofAsked(part.Ranks); len(part.Ranks) > 0 {
					merged.add(part)
					settled[namespace] = settled[namespace].Union(part.Ranks)
				}
			}
		}
	}
	for _, from := range sources {
		addAnswers(&merged, from.parts, settled, ofAsked)
	}
	for _, from := range sources {
		if from.problem != "" {
			addProblems(&merged, from.members, from.problem, settled, ofAsked, !isNamed)
		}
	}
	for _, member := range members {
		if member.Problem != "" {
			addProblems(&merged, []Member{member}, member.Problem, settled, ofAsked, !isNamed)
		}
	}
	return merged.finish()
}

// addAnswers adds the parts of one source, without ranks that earlier ones settled.
func addAnswers(merged *merger, parts []Part, settled map[string]ranges.Set, ofAsked func(ranges.Set) ranges.Set) {
	own := map[string]ranges.Set{}
	for _, part := range parts {
		if len(part.Ranks) > 0 {
			part.Ranks = ofAsked(part.Ranks).Without(settled[part.Namespace])
			if len(part.Ranks) == 0 {
				continue
			}
			own[part.Namespace] = append(own[part.Namespace], part.Ranks...)
		}
		merged.add(part)
	}
	for namespace, set := range own {
		settled[namespace] = settled[namespace].Union(set.Merged())
	}
}

// addProblems adds a problem for the unsettled ranks of members, and for members without ranks
// if the question goes to all ranks.
func addProblems(merged *merger, members []Member, problem string, settled map[string]ranges.Set, ofAsked func(ranges.Set) ranges.Set, all bool) {
	for _, member := range members {
		hasRanks := false
		for _, group := range member.Groups {
			hasRanks = hasRanks || len(group.Ranks) > 0
			set := ofAsked(group.Ranks).Without(settled[group.Namespace])
			if len(set) == 0 {
				continue
			}
			merged.add(Part{Namespace: group.Namespace, Ranks: set, Nodes: []string{member.Node}, Problem: problem})
			settled[group.Namespace] = settled[group.Namespace].Union(set)
		}
		if !hasRanks && all && !member.Idle {
			merged.add(Part{Nodes: []string{member.Node}, Problem: problem})
		}
	}
}
