package reader

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/job"
)

// A Memory is what is known of the tasks of a job: which there are, and the state of each
// when it was last seen. Schedulers forget tasks that ended earlier, and rows get lost. The
// end of an array is believed only if all tasks that are remembered have ended.
type Memory struct {
	// Of names the job: its identity, or the time of its submission. The memory of
	// another job does not count.
	Of    string
	Tasks map[job.Detail]ranges.Set // Undetermined for a state that is not understood
	// Missed is since when the ends of tasks are missing that the scheduler no longer has; zero
	// while none is.
	Missed time.Time
}

// ParseMemory reads what String has written, and forgets the rest.
func ParseMemory(text string) Memory {
	parts := strings.Split(text, ";")
	identity, isQuoted := strings.CutPrefix(parts[0], "of=")
	if !isQuoted {
		return Memory{}
	}
	memory := Memory{Of: identity, Tasks: map[job.Detail]ranges.Set{}}
	for _, part := range parts[1:] {
		if missed, isMissed := missedIn(part); isMissed {
			memory.Missed = missed
			continue
		}
		state, numbers, _ := strings.Cut(part, ":")
		detail, isKnown := job.ParseDetail(state)
		tasks, isRanges := ranges.Parse(numbers)
		if isKnown && isRanges {
			memory.Tasks[detail] = tasks
		}
	}
	return memory
}

// longestMemory bounds the text of a memory, in bytes. A longer one is forgotten.
const longestMemory = 64 << 10

// String writes the memory as one line; empty without tasks.
func (m Memory) String() string {
	if len(m.Tasks) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("of=" + m.Of)
	if !m.Missed.IsZero() {
		fmt.Fprintf(&text, ";%s%d", missedPrefix, m.Missed.Unix())
	}
	for _, state := range slices.Sorted(maps.Keys(m.Tasks)) {
		if len(m.Tasks[state]) > 0 {
			fmt.Fprintf(&text, ";%s:%s", state, m.Tasks[state])
		}
	}
	if text.Len() > longestMemory {
		return ""
	}
	return text.String()
}

// With returns the memory after a later one: the states there count.
func (m Memory) With(later Memory) Memory {
	if len(later.Tasks) == 0 {
		return m
	}
	merged := m.about(later.Of, "")
	merged.Missed = later.Missed
	for state, tasks := range later.Tasks {
		merged.learn(tasks, state)
	}
	return merged
}

// Conclude returns the state of a job that an output shows in a state, and why its end is
// not believed: tasks that the output lacks had not ended when they were last seen. A task
// that failed earlier decides, too.
func (m Memory) Conclude(seen job.Detail) (concluded job.Detail, incomplete string) {
	if !seen.Ended() || len(m.Tasks) == 0 {
		return seen, ""
	}
	states := slices.Sorted(maps.Keys(m.Tasks))
	for _, state := range states {
		if !state.Ended() {
			return seen, fmt.Sprintf("the end of task %s is unknown", m.Tasks[state])
		}
	}
	return decidingState(states), ""
}

// about returns the memory if it is that of a job, or an empty one of that job. An output
// that names neither its submission nor when it was made is about the job of before, as is
// one that does not name it where the memory has a name.
func (m Memory) about(identity, submitted string) Memory {
	_, isDated := timezone.ParseTime(m.Of, time.UTC)
	switch {
	case identity == "" && (submitted == "" || m.Of != "" && !isDated):
		identity = m.Of
	case identity == "":
		identity = submitted
	case isDated && timezone.IsSameTime(m.Of, submitted) && !timezone.IsSameTime(m.Of, identity):
		m.Of = identity
	}
	identity = strings.ReplaceAll(identity, ";", " ") // which separates the states in the text of a memory
	if timezone.IsSameTime(m.Of, identity) {
		identity = m.Of
	}
	if m.Of != identity || m.Tasks == nil {
		return Memory{Of: identity, Tasks: map[job.Detail]ranges.Set{}}
	}
	return Memory{Of: identity, Tasks: maps.Clone(m.Tasks), Missed: m.Missed}
}

// learn notes the state of tasks.
func (m Memory) learn(tasks ranges.Set, state job.Detail) {
	for other, numbers := range m.Tasks {
		if left := numbers.Without(tasks); len(left) > 0 {
			m.Tasks[other] = left
		} else {
			delete(m.Tasks, other)
		}
	}
	m.Tasks[state] = m.Tasks[state].Union(tasks)
}

// ended returns the numbers of the tasks that have ended.
func (m Memory) ended() ranges.Set {
	var ended ranges.Set
	for state, numbers := range m.Tasks {
		if state.Ended() {
			ended = ended.Union(numbers)
		}
	}
	return ended
}

// all returns the numbers of all tasks.
func (m Memory) all() ranges.Set {
	var all ranges.Set
	for _, numbers := range m.Tasks {
		all = all.Union(numbers)
	}
	return all
}
