package reader

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/job"
)

// missedPrefix begins the part of a memory that says since when tasks are missing.
const missedPrefix = "missed="

// missedIn reads since when tasks are missing.
func missedIn(part string) (time.Time, bool) {
	text, isMissed := strings.CutPrefix(part, missedPrefix)
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), isMissed && err == nil
}

// concludeMissing gives the tasks that have ended, and whose end no output says, the state that
// the definition gives jobs that are missing for long. It reports false while that may not be
// known yet.
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
