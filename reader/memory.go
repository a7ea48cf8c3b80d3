package reader

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/job"
)

// A Memory is what is known of the tasks of a job: which there are, and the state of each
// when it was last seen. Schedulers forget tasks that ended earlier, and rows get lost. The
// end of an array is believed only if all tasks that are remembered have ended.
type Memory struct {
	// Of says of which job: its identity, or the time of its submission. The memory of
	// another job does not count.
	Of    string
	Tasks map[job.Detail]Ranges // Undetermined for a state that is not understood
}

// ParseMemory reads what String has written. What is none of that is forgotten.
func ParseMemory(text string) Memory {
	parts := strings.Split(text, ";")
	of, isQuoted := strings.CutPrefix(parts[0], "of=")
	if !isQuoted {
		return Memory{}
	}
	memory := Memory{Of: of, Tasks: map[job.Detail]Ranges{}}
	for _, part := range parts[1:] {
		state, numbers, _ := strings.Cut(part, ":")
		detail, isKnown := job.ParseDetail(state)
		ranges, isRanges := ParseRanges(numbers)
		if isKnown && isRanges {
			memory.Tasks[detail] = ranges
		}
	}
	return memory
}

// String writes the memory as one line; empty without tasks.
func (m Memory) String() string {
	if len(m.Tasks) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("of=" + m.Of)
	for _, state := range slices.Sorted(maps.Keys(m.Tasks)) {
		if len(m.Tasks[state]) > 0 {
			fmt.Fprintf(&text, ";%s:%s", state, m.Tasks[state])
		}
	}
	return text.String()
}

// about returns the memory if it is that of a job, or an empty one of that job.
func (m Memory) about(of string) Memory {
	of = strings.ReplaceAll(of, ";", " ") // which separates the states in the text of a memory
	if m.Of != of || m.Tasks == nil {
		return Memory{Of: of, Tasks: map[job.Detail]Ranges{}}
	}
	return Memory{Of: of, Tasks: maps.Clone(m.Tasks)}
}

// learn notes the state of tasks.
func (m Memory) learn(tasks Ranges, state job.Detail) {
	for other, numbers := range m.Tasks {
		if left := numbers.without(tasks); len(left) > 0 {
			m.Tasks[other] = left
		} else {
			delete(m.Tasks, other)
		}
	}
	m.Tasks[state] = m.Tasks[state].union(tasks)
}

// all returns the numbers of all tasks.
func (m Memory) all() Ranges {
	var all Ranges
	for _, numbers := range m.Tasks {
		all = all.union(numbers)
	}
	return all
}
