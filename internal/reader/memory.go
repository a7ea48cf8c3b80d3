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

// A Memory records the tasks of a job with the last known state of each. Schedulers forget tasks that
// ended earlier, and rows get lost. An array has ended only if all remembered tasks have.
type Memory struct {
	// Of identifies the job: its identity, or the time of its submission. The memory of another job is
	// ignored.
	Of    string
	Tasks map[job.Detail]ranges.Set // Undetermined for an unknown state
	// Missed is the time since when the ends of tasks have been missing that the scheduler forgot; zero
	// if none is missing.
	Missed time.Time
}

// ParseMemory parses the result of String. It ignores anything else.
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

// longestMemory bounds the text of a memory, in bytes. A longer one is dropped.
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

// With returns the memory updated with a later one, whose states win.
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

// Conclude returns the state of a job, given that in the output, and why its end is not trusted: tasks
// missing from the output had not ended when last seen. A task that failed earlier also counts.
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

// about returns the memory if it belongs to a job, or an empty memory for that job. An output without the
// identity of the job is assumed to be about the same job as the memory if it lacks the submission time
// too, or if the memory has an identity.
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
	identity = strings.ReplaceAll(identity, ";", " ") // ; separates states in the text of a memory
	if timezone.IsSameTime(m.Of, identity) {
		identity = m.Of
	}
	if m.Of != identity || m.Tasks == nil {
		return Memory{Of: identity, Tasks: map[job.Detail]ranges.Set{}}
	}
	return Memory{Of: identity, Tasks: maps.Clone(m.Tasks), Missed: m.Missed}
}

// learn records the state of tasks.
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
