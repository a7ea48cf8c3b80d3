package reader

import (
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/timezone"
)

// ofOneSubmission returns the records of the queried job if its id was reused: those with its identity
// or, if that is unknown, those of the newest submission.
func (c *collection) ofOneSubmission(said []*saying) []*saying {
	if len(said) == 0 {
		return said
	}
	if c.query.Identity != "" {
		isOther := func(each *saying) bool {
			identity := c.fact(each, factIdentity)
			return identity != "" && !timezone.IsSameTime(identity, c.query.Identity)
		}
		return slices.DeleteFunc(said, isOther)
	}
	newest := said[0]
	for _, each := range said[1:] {
		if sortable(c.fact(each, factSubmitted)) > sortable(c.fact(newest, factSubmitted)) {
			newest = each
		}
	}
	submitted, identity := c.fact(newest, factSubmitted), c.fact(newest, factIdentity)
	return slices.DeleteFunc(said, func(each *saying) bool {
		isSame := identity != "" && c.fact(each, factIdentity) == identity // such as a requeued task
		return !isSame && c.fact(each, factSubmitted) != submitted && c.fact(each, factSubmitted) != ""
	})
}

// sortable returns a time in a form that sorts by time, and any other text unchanged.
func sortable(text string) string {
	if moment, isTime := timezone.ParseTime(text, time.UTC); isTime {
		return moment.UTC().Format(time.RFC3339Nano)
	}
	return text
}

// withoutYielding removes records whose states yield to those of other records of the same task.
func withoutYielding(said []*saying) []*saying {
	counts := map[string]bool{}
	for _, each := range said {
		counts[each.task] = counts[each.task] || !each.state.yields()
	}
	return slices.DeleteFunc(said, func(each *saying) bool { return each.state.yields() && counts[each.task] })
}

// distinct returns one record for each task. If two records of a task differ in state, it trusts neither,
// unless the last one counts.
func (c *collection) distinct(said []*saying) (kept []*saying, unreadable string) {
	if len(said) == 1 {
		return said, ""
	}
	said = withoutYielding(said)
	at := map[string]int{}
	for _, each := range said {
		i, isRepeated := at[each.task]
		switch {
		case !isRepeated:
			at[each.task] = len(kept)
			kept = append(kept, each)
		case !c.definition.RepeatsLast && each.state != kept[i].state:
			return nil, fmt.Sprintf("conflicting states in lines %d and %d", kept[i].line, each.line)
		default:
			kept[i] = each
		}
	}
	return kept, ""
}
