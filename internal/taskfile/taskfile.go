// Package taskfile names the output files of array tasks.
package taskfile

import (
	"strings"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/job"
)

// Path returns the output path of a task, given that of the job. Pairs are the outputs of x:ids: texts in
// the path of the job with their replacements for a task. A text with the job id is replaced only at the
// end of the path.
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

// First returns the lowest number of the tasks that have started or, if none has, of all. It reports
// false unless there are several.
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

// FirstOf returns the first number of a user's indices, such as 1-9:2. It reports false for any other
// text.
func FirstOf(indices string) (first int, isArray bool) {
	indices, _, _ = strings.Cut(indices, "%") // limit of concurrent tasks
	set, isArray := ranges.Parse(indices)
	if !isArray {
		return 0, false
	}
	return set[0].First, true
}

// lower returns the lower number and ignores negative ones.
func lower(known, other int) int {
	if known < 0 {
		return other
	}
	return min(known, other)
}
