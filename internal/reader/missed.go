package reader

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/job"
)

// missedPrefix begins the part of a memory with the time since when tasks are missing.
const missedPrefix = "missed="

// missedIn parses the time since when tasks are missing.
func missedIn(part string) (time.Time, bool) {
	text, isMissed := strings.CutPrefix(part, missedPrefix)
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), isMissed && err == nil
}

// concludeMissing gives tasks that ended unseen the definition's state for jobs missing for long. It
// reports false while it is too early.
func (c *collection) concludeMissing(element *Element, ofOthers job.Detail) (detail job.Detail, isOver bool) {
	if c.absence == nil || c.absence.State == "" || c.query.Now.IsZero() {
		return ofOthers, false
	}
	memory := &element.Memory
	if memory.Missed.IsZero() {
		memory.Missed = c.query.Now
	}
	canceled, isSet := c.query.Attribute(canceledAttribute)
	state, isOver := c.absence.StateOf(c.query.Now.Sub(memory.Missed), isSet && canceled == "true")
	if !isOver {
		return ofOthers, false
	}
	for open, tasks := range memory.Tasks {
		if !open.Ended() {
			memory.learn(tasks, state)
		}
	}
	detail = decidingState([]job.Detail{state, ofOthers})
	if detail != ofOthers {
		c.set(element, factReason, c.absence.Reason)
	}
	return detail, true
}
