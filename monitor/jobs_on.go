package monitor

import (
	"iter"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// JobsOn yields the jobs that have a node, in the order of their ids: those whose list
// of nodes names it, and those whose processes were seen on it. It looks at all jobs of
// the resource manager.
func JobsOn(m *model.Manager, node string) iter.Seq[*model.Element] {
	return func(yield func(*model.Element) bool) {
		seen := map[string]bool{}
		for process := range m.OnNode(node) {
			seen[process.Parent()] = true
		}
		isNode := func(name string) bool {
			_, isNode := m.Get(model.Node, name)
			return isNode
		}
		for job := range m.All(model.Job) {
			has := seen[job.ID()]
			if nodes, isTold := job.Value(vocabulary.AttributeJobNodes); isTold && !has && hasNodes(job.State()) {
				has = namesHost(nodes.Text(), node, isNode)
			}
			if has && !yield(job) {
				return
			}
		}
	}
}

// hasNodes reports whether jobs in a state have their nodes.
func hasNodes(state model.State) bool {
	return state == vocabulary.StateRunning || state == vocabulary.StateSuspended || state == vocabulary.StateStarted
}

// mostSteps bounds the comparisons with one list of nodes: far more than a real one
// takes, and so few that hostile ones cost little.
const mostSteps = 1 << 14

// namesHost reports whether eachHost would visit a node, which may be written with
// its domain, without counting through what the list stands for.
func namesHost(list, node string, isNode func(string) bool) bool {
	left := mostSteps
	for word := range hostWords(list) {
		if stands(word, node, &left) {
			return true
		}
		if short, domain, isLong := strings.Cut(word, "."); isLong && stands(short, node, &left) && !isNode(node+"."+domain) {
			return true
		}
	}
	return false
}

// stands reports whether a pattern, as expand takes it, stands for a name, in no
// more steps than are left.
func stands(pattern, name string, left *int) bool {
	before, rest, bracketed := strings.Cut(pattern, "[")
	name, begins := strings.CutPrefix(name, before)
	if *left--; *left < 0 || !begins || !bracketed {
		return begins && name == "" && *left >= 0
	}
	numbers, rest, closed := strings.Cut(rest, "]")
	if !closed {
		return false
	}
	for part := range strings.SplitSeq(numbers, ",") {
		if *left--; *left < 0 {
			return false
		}
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			if after, begins := strings.CutPrefix(name, part); begins && stands(rest, after, left) {
				return true
			}
			continue
		}
		for digits := len(low); digits <= min(max(len(low), len(high)), len(name), maxDigits); digits++ {
			if inRange(name[:digits], low, high) && stands(rest, name[digits:], left) {
				return true
			}
		}
	}
	return false
}

// inRange reports whether a range of numbers has one in this spelling: with as many
// digits as the first number has at least, and zeros before it only to fill these.
func inRange(digits, low, high string) bool {
	first, errFirst := strconv.ParseUint(low, 10, 63)
	last, errLast := strconv.ParseUint(high, 10, 63)
	number, err := strconv.ParseUint(digits, 10, 63)
	isPlain := len(digits) == len(low) || digits[0] != '0'
	return errFirst == nil && errLast == nil && err == nil && isPlain && first <= number && number <= last
}
