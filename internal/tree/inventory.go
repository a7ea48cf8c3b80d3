package tree

import (
	"cmp"
	"slices"

	"github.com/rmctl/rmctl/internal/ranges"
)

// groupsOf returns the ranks of processes by namespace and variable.
func groupsOf(processes []RankProcess) []Group {
	type key struct{ namespace, variable string }
	sets := map[key]ranges.Set{}
	for _, process := range processes {
		if process.Rank >= 0 {
			at := key{process.Namespace, process.Variable}
			sets[at] = append(sets[at], ranges.Range{First: process.Rank, Last: process.Rank})
		}
	}
	groups := make([]Group, 0, len(sets))
	for at, set := range sets {
		groups = append(groups, Group{at.namespace, at.variable, set.Merged()})
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Variable, b.Variable))
	})
	return groups
}

// members returns the relays at and below this one that answer an asker, and the height
// of the tree below.
func (r *Relay) members(u *upper) (members []Member, height int) {
	children := r.visible(u)
	attached, _ := r.attachedChild()
	isOwn := attached == nil || r.answersLocally()
	r.mutex.Lock()
	own := Member{ID: r.id, Node: r.options.Node, Place: r.options.Place, Tracked: r.options.tracked, Idle: r.options.Idle, Groups: r.known}
	lost := slices.Clone(r.lost)
	r.mutex.Unlock()
	if isOwn {
		members = append(members, own)
	}
	for _, c := range children {
		below, itsHeight := c.snapshot()
		height = max(height, itsHeight+1)
		for _, member := range below {
			if c.attached && member.Place == r.options.Place {
				member.Node = r.options.Node // as the launcher of this relay knows it
			}
			members = append(members, member)
		}
	}
	return append(members, lost...), min(height, mostHeight)
}

// forgetFound drops lost members if their node or machine has a relay again.
func (r *Relay) forgetFound() {
	if len(r.lost) == 0 {
		return
	}
	nodes, places := map[string]bool{}, map[string]bool{r.options.Place: true}
	for c := range r.children {
		members, _ := c.snapshot()
		for _, member := range members {
			if member.Problem == "" {
				nodes[member.Node], places[member.Place] = true, true
			}
		}
	}
	r.lost = slices.DeleteFunc(r.lost, func(member Member) bool { return nodes[member.Node] || places[member.Place] })
}

// withoutWrappers leaves out tracked processes without a rank variable if others have
// ranks: they are wrappers of the scripts that start these.
func withoutWrappers(members []Member, others ...[]Member) []Member {
	hasRanks := slices.ContainsFunc(append(others, members), func(some []Member) bool {
		return slices.ContainsFunc(some, func(member Member) bool { return hasRanked(member.Groups) })
	})
	if !hasRanks {
		return members
	}
	members = slices.Clone(members)
	for i := range members {
		if members[i].Tracked && !hasRanked(members[i].Groups) {
			members[i].Groups = nil
		}
	}
	return members
}

// intersect returns the numbers that are in both.
func intersect(a, b ranges.Set) ranges.Set { return a.Without(a.Without(b)) }

// A claim is a relay that serves some ranks of a namespace.
type claim struct {
	member *Member
	group  *Group
}

// conflictsOf returns, by namespace, the ranks that relays of different machines serve,
// as parts that name both places and the variable.
func conflictsOf(members []Member) map[string][]Part {
	claims := map[string][]claim{}
	for i := range members {
		if members[i].Problem != "" {
			continue
		}
		for j := range members[i].Groups {
			group := &members[i].Groups[j]
			claims[group.Namespace] = append(claims[group.Namespace], claim{&members[i], group})
		}
	}
	conflicts := map[string][]Part{}
	for namespace, all := range claims {
		if parts := conflictsIn(namespace, all); len(parts) > 0 {
			conflicts[namespace] = parts
		}
	}
	return conflicts
}

func conflictsIn(namespace string, claims []claim) []Part {
	var all ranges.Set
	count := 0
	for _, one := range claims {
		count += one.group.Ranks.Count()
		all = append(all, one.group.Ranks...)
	}
	if all.Merged().Count() == count {
		return nil
	}
	var seen, twice ranges.Set
	for _, one := range claims {
		twice = twice.Union(intersect(one.group.Ranks, seen))
		seen = seen.Union(one.group.Ranks)
	}
	var parts []Part
	for _, segment := range segmentsOf(twice, claims) {
		if problem, nodes := conflictAt(segment.First, claims); problem != "" {
			parts = append(parts, Part{Namespace: namespace, Ranks: ranges.Set{segment}, Nodes: nodes, Problem: problem})
		}
	}
	return parts
}

// segmentsOf cuts ranges so that each claim covers all of a segment or nothing of it.
func segmentsOf(set ranges.Set, claims []claim) []ranges.Range {
	var starts []int
	for _, one := range claims {
		for _, each := range one.group.Ranks {
			starts = append(starts, each.First, each.Last+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	var segments []ranges.Range
	for _, each := range set {
		at, _ := slices.BinarySearch(starts, each.First+1)
		for ; at < len(starts) && starts[at] <= each.Last; at++ {
			segments = append(segments, ranges.Range{First: each.First, Last: starts[at] - 1})
			each.First = starts[at]
		}
		segments = append(segments, each)
	}
	return segments
}

// conflictAt describes the machines that serve a rank, if there are several.
func conflictAt(rank int, claims []claim) (problem string, nodes []string) {
	places, variable := map[string]bool{}, ""
	for _, one := range claims {
		if len(intersect(ranges.Set{{First: rank, Last: rank}}, one.group.Ranks)) > 0 && !places[one.member.Place] {
			places[one.member.Place] = true
			nodes = append(nodes, one.member.Node)
			variable = cmp.Or(variable, one.group.Variable)
		}
	}
	if len(nodes) < 2 {
		return "", nil
	}
	return OneLine("processes on " + nodes[0] + " and on " + nodes[1] + " have the same rank in " + cmp.Or(variable, "the environment")), nodes
}
