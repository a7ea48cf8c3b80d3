package mutate

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	mostPlaces = 32 // lines of one output that an operator damages
	mostFields = 16 // fields of one line that an operator damages
)

// An output is the output and exit code of a command.
type output struct {
	Stdout, Stderr []byte
	Exit           int
}

func (a output) equal(other output) bool {
	return a.Exit == other.Exit && bytes.Equal(a.Stdout, other.Stdout) && bytes.Equal(a.Stderr, other.Stderr)
}

// A mutant is a recorded output that was damaged in one way.
type mutant struct {
	Operator string // as docs/prove/break.md names it
	Place    string // damaged part of the output, for people
	Output   output
}

// mutants damages an output as sites and failures do. The same output gives the same
// mutants in the same order; none equals the output. Each operator gives at most some
// hundreds, spread over the output.
func mutants(output output) []mutant {
	d := &damage{original: output, lines: bytes.SplitAfter(output.Stdout, []byte("\n"))}
	if last := len(d.lines) - 1; len(d.lines[last]) == 0 {
		d.lines = d.lines[:last]
	}
	for _, each := range damagers {
		d.operator = each.operator
		each.make(d)
	}
	return d.mutants
}

// chosenMutants returns at most that many mutants in order: an equal share of each
// operator, or all if it has fewer, spread over the output.
func chosenMutants(mutants []mutant, most int) []mutant {
	if len(mutants) <= most {
		return mutants
	}
	places := map[string][]int{}
	for i, mutant := range mutants {
		places[mutant.Operator] = append(places[mutant.Operator], i)
	}
	operators := slices.SortedFunc(maps.Keys(places), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(places[a]), len(places[b])), strings.Compare(a, b))
	})
	var chosen []int
	for i, operator := range operators {
		share := max(0, most-len(chosen)) / (len(operators) - i)
		for _, index := range spread(len(places[operator]), share) {
			chosen = append(chosen, places[operator][index])
		}
	}
	slices.Sort(chosen)
	list := make([]mutant, len(chosen))
	for i, index := range chosen {
		list[i] = mutants[index]
	}
	return list
}

// spread returns at most that many indices below count, evenly spread, the first
// and, of several, the last among them.
func spread(count, most int) []int {
	most = min(most, count)
	indices := make([]int, 0, max(most, 0))
	for i := range most {
		index := 0
		if most > 1 {
			index = i * (count - 1) / (most - 1)
		}
		indices = append(indices, index)
	}
	return indices
}
