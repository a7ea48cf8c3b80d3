package stacks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/sorting"
)

// An Answer is a stack, and the ranks that have it.
type Answer struct {
	Ranks ranges.Set
	Stack Stack
}

// A Missing names ranks without a stack, and says why.
type Missing struct {
	Ranks  ranges.Set
	Nodes  []string // where the ranks are unknown
	Reason string
}

// A Tree is one tree of the frames of all ranks.
type Tree struct {
	roots   []*node
	ranks   ranges.Set
	moved   ranges.Set // their stacks differ between samples
	samples int
	classes int // different stacks
	omitted int // threads, of all ranks and samples
	missing []Missing
}

// A node is a frame that some ranks have in common, with all frames above it.
type node struct {
	frame    Frame
	bySample []ranges.Set
	ranks    ranges.Set // in any sample
	threads  int        // in all ranks and samples
	isFirst  bool       // the first thread of a rank is here
	ends     []ranges.Set
	children []*node
	byFrame  map[Frame]*node
}

// NewTree makes one tree of the stacks of all ranks and samples.
func NewTree(answers []Answer, missing []Missing) *Tree {
	tree := &Tree{samples: 1, missing: mergeMissing(missing)}
	for _, answer := range answers {
		tree.samples = max(tree.samples, answer.Stack.Sample+1)
	}
	var root node
	for _, answer := range answers {
		tree.ranks = append(tree.ranks, answer.Ranks...)
		tree.omitted += answer.Stack.Omitted * answer.Ranks.Count()
		for i, thread := range answer.Stack.Threads {
			root.add(thread, i == 0, answer.Stack.Sample, tree.samples, answer.Ranks)
		}
	}
	tree.ranks = tree.ranks.Merged()
	root.finish()
	tree.roots = root.children
	tree.compare(answers)
	return tree
}

// add adds the frames of a thread below a node.
func (n *node) add(thread Thread, isFirst bool, sample, samples int, ranks ranges.Set) {
	at := n
	for _, frame := range thread.Frames {
		child := at.byFrame[frame]
		if child == nil {
			child = &node{frame: frame, bySample: make([]ranges.Set, samples), ends: make([]ranges.Set, samples)}
			if at.byFrame == nil {
				at.byFrame = map[Frame]*node{}
			}
			at.byFrame[frame] = child
			at.children = append(at.children, child)
		}
		child.bySample[sample] = append(child.bySample[sample], ranks...)
		child.isFirst = child.isFirst || isFirst
		child.threads += max(thread.Count, 1) * ranks.Count()
		at = child
	}
	if at != n {
		at.ends[sample] = append(at.ends[sample], ranks...)
	}
}

// finish merges the sets of ranks, and sorts the branches: branches of few ranks, which deviate,
// come first, then branches of first threads.
func (n *node) finish() {
	n.byFrame = nil
	for sample := range n.bySample {
		n.bySample[sample] = n.bySample[sample].Merged()
		n.ends[sample] = n.ends[sample].Merged()
		n.ranks = append(n.ranks, n.bySample[sample]...)
	}
	n.ranks = n.ranks.Merged()
	for _, child := range n.children {
		child.finish()
	}
	sorting.Stable(n.children, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.ranks.Count(), b.ranks.Count()), cmp.Compare(a.first(), b.first()), cmp.Compare(b.order(), a.order()), compareFrames(a.frame, b.frame))
	})
}

func (n *node) first() int {
	if len(n.ranks) == 0 {
		return 0
	}
	return n.ranks[0].First
}

func (n *node) order() int {
	if n.isFirst {
		return 1
	}
	return 0
}

func compareFrames(a, b Frame) int {
	return cmp.Or(strings.Compare(a.Function, b.Function), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		strings.Compare(a.Module, b.Module), cmp.Compare(a.Omitted, b.Omitted))
}

// isSteady reports whether the same ranks are in a branch in all samples.
func (n *node) isSteady() bool {
	for _, ranks := range n.bySample {
		if !slices.Equal(ranks, n.bySample[0]) {
			return false
		}
	}
	return true
}

// compare counts the different stacks, and finds the ranks with stacks that differ between samples.
// A rank without one of the samples has not moved by that.
func (t *Tree) compare(answers []Answer) {
	classes := map[string][]ranges.Set{} // by the encoded stack: the ranks in each sample
	for _, answer := range answers {
		stack := answer.Stack.withoutNames()
		key := string(stack.Encode())
		if classes[key] == nil {
			classes[key] = make([]ranges.Set, t.samples)
		}
		classes[key][answer.Stack.Sample] = append(classes[key][answer.Stack.Sample], answer.Ranks...)
	}
	t.classes = len(classes)
	if t.samples == 1 {
		return
	}
	var once, twice ranges.Set // the ranks of one class, and those of several ones
	for _, samples := range classes {
		var all ranges.Set
		for _, ranks := range samples {
			all = append(all, ranks...)
		}
		all = all.Merged()
		twice = append(twice, once.Without(once.Without(all))...)
		once = once.Union(all)
	}
	t.moved = twice.Merged()
}

// mergeMissing merges entries with equal reasons.
func mergeMissing(missing []Missing) []Missing {
	var merged []Missing
	at := map[string]int{}
	for _, each := range missing {
		index, isKnown := at[each.Reason]
		if !isKnown {
			index = len(merged)
			at[each.Reason] = index
			merged = append(merged, Missing{Reason: each.Reason})
		}
		merged[index].Ranks = append(merged[index].Ranks, each.Ranks...)
		if len(each.Ranks) == 0 {
			merged[index].Nodes = append(merged[index].Nodes, each.Nodes...)
		}
	}
	for i, each := range merged {
		merged[i].Ranks = each.Ranks.Merged()
		sorting.Stable(each.Nodes, sorting.CompareNumbered)
		merged[i].Nodes = slices.Compact(each.Nodes)
	}
	return merged
}

// A Document is a tree as JSON.
type Document struct {
	Ranks   string            `json:"ranks"`
	Samples int               `json:"samples"`
	Stacks  int               `json:"stacks"`          // different ones
	Moved   string            `json:"moved,omitempty"` // ranks with stacks that differ between samples
	Omitted int               `json:"omittedThreads,omitempty"`
	Tree    []Branch          `json:"tree"`
	Missing []MissingDocument `json:"missing,omitempty"`
}

// A Branch is a frame that ranks have in common, with all frames above it.
type Branch struct {
	Frame
	Ranks    string   `json:"ranks"`
	Threads  int      `json:"threads"`           // in all ranks and samples
	Samples  []string `json:"samples,omitempty"` // the ranks in each sample, if they differ
	Children []Branch `json:"children,omitempty"`
}

// A MissingDocument is a [Missing] as JSON.
type MissingDocument struct {
	Ranks  string   `json:"ranks,omitempty"`
	Nodes  []string `json:"nodes,omitempty"`
	Reason string   `json:"reason"`
}

// Document returns the tree for JSON.
func (t *Tree) Document() Document {
	document := Document{Ranks: t.ranks.String(), Samples: t.samples, Stacks: t.classes, Moved: t.moved.String(), Omitted: t.omitted, Tree: branches(t.roots)}
	for _, each := range t.missing {
		document.Missing = append(document.Missing, MissingDocument{each.Ranks.String(), each.Nodes, each.Reason})
	}
	return document
}

func branches(nodes []*node) []Branch {
	list := make([]Branch, len(nodes))
	for i, each := range nodes {
		list[i] = Branch{Frame: each.frame, Ranks: each.ranks.String(), Threads: each.threads}
		if !each.isSteady() {
			for _, ranks := range each.bySample {
				list[i].Samples = append(list[i].Samples, ranks.String())
			}
		}
		if len(each.children) > 0 {
			list[i].Children = branches(each.children)
		}
	}
	return list
}

// Folded returns the stacks for flame graph tools: a line for each different stack with
// its frames, joined by semicolons, and the number of its ranks, added up over all samples.
func (t *Tree) Folded() string {
	var text strings.Builder
	var walk func(nodes []*node, before string)
	walk = func(nodes []*node, before string) {
		for _, each := range nodes {
			line := before + foldedName(each.frame)
			count := 0
			for _, ranks := range each.ends {
				count += ranks.Count()
			}
			if count > 0 {
				text.WriteString(line + " " + strconv.Itoa(count) + "\n")
			}
			walk(each.children, line+";")
		}
	}
	walk(t.roots, "")
	return text.String()
}

// foldedName returns a frame without the characters that separate frames and stacks.
func foldedName(frame Frame) string {
	return strings.ReplaceAll(plain(frame), ";", `\x3b`)
}
