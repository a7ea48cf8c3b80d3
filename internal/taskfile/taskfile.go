// Package taskfile names the output files of array tasks.
package taskfile

import (
	"strings"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/job"
)

// Path returns the path of the output of a task, where that of the job is known. Pairs are
// the outputs of x:ids: what the path of the job has, and what that of a task has instead. A
// text with the id of the job counts only at the end of the path.
func Path(pairs []string, path, job, task string) string {
	for _, each := range pairs {
		from, to, _ := strings.Cut(each, "=")
		to = strings.NewReplacer("@job", job, "@task", task).Replace(to)
		if !strings.Contains(from, "@job") {
			path = strings.ReplaceAll(path, from, to)
		} else if before, isEnd := strings.CutSuffix(path, strings.ReplaceAll(from, "@job", job)); isEnd {
			return before + to
		}
	}
	return path
}

// First returns the lowest number of the tasks that have begun or, if none has, of all. It
// reports false unless there are several.
func First(tasks map[job.Detail]ranges.Set) (first int, isArray bool) {
	begun, all := -1, -1
	count := 0
	for state, numbers := range tasks {
		count += numbers.Count()
		for _, each := range numbers {
			all = lower(all, each.First)
			if state != job.Undetermined && state.Primary() != job.Submitted {
				begun = lower(begun, each.First)
			}
		}
	}
	if begun < 0 {
		begun = all
	}
	return begun, count > 1
}

// FirstOf returns the first number of indices that users write, such as 1-9:2. It reports
// false for any other text.
func FirstOf(indices string) (first int, isArray bool) {
	indices, _, _ = strings.Cut(indices, "%") // how many run at a time
	set, isArray := ranges.Parse(indices)
	if !isArray {
		return 0, false
	}
	return set[0].First, true
}

// lower returns the lower number; a negative one is none.
func lower(known, other int) int {
	if known < 0 {
		return other
	}
	return min(known, other)
}
