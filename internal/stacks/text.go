package stacks

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/ranges"
)

const (
	longestName = 200 // characters of a name that are shown
	longestSet  = 120 // characters of a set of ranks that are shown
)

// Text returns the tree for a terminal. Where ranks diverge, a line names the ranks of each branch, branches of
// few ranks first.
func (t *Tree) Text() string {
	var text strings.Builder
	text.WriteString(t.summary())
	if len(t.roots) == 1 {
		t.writeChain(&text, t.roots[0], "", "")
	} else {
		t.writeBranches(&text, t.roots, "")
	}
	for i, each := range t.missing {
		if i == 0 {
			text.WriteString("\nMissing\n")
		}
		fmt.Fprintf(&text, "%s: %s\n", each.who(), plaintext.Clean(each.Reason, 1000))
	}
	return text.String()
}

// summary returns the lines before the tree.
func (t *Tree) summary() string {
	if len(t.ranks) == 0 {
		return "no stacks\n"
	}
	text := fmt.Sprintf("%s: %s", named(t.ranks), counted(t.classes, "different stack"))
	if t.samples > 1 {
		text += fmt.Sprintf(" in %d samples", t.samples)
		if steady := t.ranks.Without(t.moved); len(steady) > 0 {
			text += "\nsame stack in all samples: " + named(steady)
		}
		if len(t.moved) > 0 {
			text += "\nmoved between samples: " + named(t.moved)
		}
	}
	if t.omitted > 0 {
		text += fmt.Sprintf("\n%s omitted: only the first %d of a process are read", counted(t.omitted, "thread"), MostThreads)
	}
	return text + "\n\n"
}

// writeChain writes a frame and the frames below it, up to where the ranks diverge.
func (t *Tree) writeChain(text *strings.Builder, from *node, first, indent string) {
	for at := from; ; at = at.children[0] {
		text.WriteString(first + plain(at.frame) + "\n")
		first = indent
		if len(at.children) == 1 && at.children[0].threads == at.threads {
			continue
		}
		if ended := at.ended(); len(at.children) > 0 && len(ended) > 0 {
			verb := "end"
			if ended.Count() == 1 {
				verb = "ends"
			}
			text.WriteString(indent + "|-- " + named(ended) + ": " + verb + " here\n")
		}
		t.writeBranches(text, at.children, indent)
		return
	}
}

// writeBranches writes branches with the ranks of each.
func (t *Tree) writeBranches(text *strings.Builder, branches []*node, indent string) {
	for i, branch := range branches {
		mark, below := "|-- ", "|   "
		if i == len(branches)-1 {
			mark, below = "`-- ", "    "
		}
		text.WriteString(indent + mark + t.label(branch) + "\n")
		t.writeChain(text, branch, indent+below, indent+below)
	}
}

// ended returns the ranks with a thread that goes no further.
func (n *node) ended() ranges.Set {
	var all ranges.Set
	for _, ranks := range n.ends {
		all = append(all, ranks...)
	}
	return all.Merged()
}

// label returns the ranks of a branch, the number of threads unless each rank has one
// there, and the samples.
func (t *Tree) label(branch *node) string {
	label := named(branch.ranks)
	total := 0
	for _, ranks := range branch.bySample {
		total += ranks.Count()
	}
	if branch.threads != total {
		label += ", " + counted(branch.threads/max(1, len(branch.samples())), "thread")
	}
	if branch.isSteady() {
		return label
	}
	samples := branch.samples()
	for _, sample := range samples {
		if branch.bySample[sample-1].String() != branch.ranks.String() {
			return label + fmt.Sprintf(", ranks in each sample: %s", branch.changes())
		}
	}
	parts := make([]string, len(samples))
	for i, sample := range samples {
		parts[i] = strconv.Itoa(sample)
	}
	if len(parts) == 1 {
		return label + ", only in sample " + parts[0]
	}
	return label + ", only in samples " + shortened(strings.Join(parts, ","))
}

// samples returns the samples with this branch, counted from 1.
func (n *node) samples() []int {
	var samples []int
	for i, ranks := range n.bySample {
		if len(ranks) > 0 {
			samples = append(samples, i+1)
		}
	}
	return samples
}

// changes returns how many ranks each sample has in a branch.
func (n *node) changes() string {
	parts := make([]string, len(n.bySample))
	for i, ranks := range n.bySample {
		parts[i] = strconv.Itoa(ranks.Count())
	}
	return shortened(strings.Join(parts, ", "))
}

// who names the ranks or nodes without stacks.
func (m Missing) who() string {
	if len(m.Ranks) > 0 {
		return named(m.Ranks)
	}
	if len(m.Nodes) == 0 {
		return "all ranks"
	}
	cleaned := make([]string, len(m.Nodes))
	for i, name := range m.Nodes {
		cleaned[i] = plaintext.Clean(name, longestName)
	}
	if len(cleaned) == 1 {
		return "node " + cleaned[0]
	}
	return "nodes " + shortened(strings.Join(cleaned, ","))
}

// named returns a set of ranks with the word for it.
func named(ranks ranges.Set) string {
	switch count := ranks.Count(); count {
	case 1:
		return "rank " + ranks.String()
	case 2:
		return "ranks " + ranks.String()
	default:
		return fmt.Sprintf("%d ranks %s", count, shortened(ranks.String()))
	}
}

func counted(count int, what string) string {
	if count == 1 {
		return "1 " + what
	}
	return strconv.Itoa(count) + " " + what + "s"
}

// shortened cuts a list behind a comma.
func shortened(list string) string {
	if len(list) <= longestSet {
		return list
	}
	cut := strings.LastIndexByte(list[:longestSet], ',')
	if cut < 0 {
		cut = longestSet
	}
	return list[:cut] + ",…"
}

// plain returns a frame for people: without control characters, and with the base name of the file.
func plain(frame Frame) string {
	if frame.Omitted > 0 {
		return fmt.Sprintf("... %s omitted", counted(frame.Omitted, "frame"))
	}
	text := plaintext.Clean(frame.Function, longestName)
	if text == "" {
		text = "??"
	}
	switch {
	case frame.File != "" && frame.Line > 0:
		text += fmt.Sprintf(" at %s:%d", plaintext.Clean(path.Base(frame.File), longestName), frame.Line)
	case frame.File != "":
		text += " at " + plaintext.Clean(path.Base(frame.File), longestName)
	case frame.Module != "":
		text += " in " + plaintext.Clean(frame.Module, longestName)
	}
	if frame.Python {
		text += " (Python)"
	}
	return text
}
