package reader

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/ranges"
)

// parts returns the sayings that count. If a job is reported in addition to its tasks, the whole job
// counts while it lasts and no task does, unless it yields to them.
func (c *collection) parts(said []*saying) []*saying {
	if len(said) == 1 {
		return said
	}
	yields := c.definition.Tasks != nil && c.definition.Tasks.WholeYields || slices.ContainsFunc(said, (*saying).isLiveTask)
	return slices.DeleteFunc(slices.Clone(said), func(each *saying) bool { return each.task == "" && (yields || each.state.detail().Ended()) })
}

// contradiction returns why the records of a job contradict each other: a task of a job without tasks.
func (c *collection) contradiction(said []*saying) string {
	if _, task := c.query.wanted(); task != "" {
		return ""
	}
	isTask := slices.IndexFunc(said, func(each *saying) bool { return each.task != "" })
	isWithout := slices.IndexFunc(said, func(each *saying) bool { return each.whole == withoutTasks })
	if isTask < 0 || isWithout < 0 {
		return ""
	}
	return fmt.Sprintf("line %d belongs to a task, but line %d says that the job has no tasks", said[isTask].line, said[isWithout].line)
}

// lacking returns what is missing to trust an end: the record of the whole job, or those of its tasks.
func lacking(said []*saying) string {
	hasWhole := slices.ContainsFunc(said, func(each *saying) bool { return each.task == "" })
	hasTask := slices.ContainsFunc(said, func(each *saying) bool { return each.task != "" })
	switch {
	case !slices.ContainsFunc(said, func(each *saying) bool { return each.whole == withTasks }):
		return ""
	case !hasWhole:
		return "the whole job is not reported"
	case !hasTask:
		return "none of its tasks is reported"
	}
	return ""
}

// onlyEnds returns the records that have ended, and the tasks of the others.
func onlyEnds(said []*saying) (ended []*saying, open ranges.Set) {
	for _, each := range said {
		if each.state.detail().Ended() {
			ended = append(ended, each)
		} else {
			open = append(open, each.numbers...)
		}
	}
	return ended, open.Merged()
}
