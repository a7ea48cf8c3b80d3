package reader

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/job"
)

// taskExpressions say which tasks of a job a record is about.
type taskExpressions struct {
	of, count, complete, withWhole *expression
	none                           []string
}

func newTaskExpressions(definition *config.Tasks) taskExpressions {
	if definition == nil {
		return taskExpressions{}
	}
	return taskExpressions{
		of: newExpression(definition.Of), count: newExpression(definition.Count),
		complete: newExpression(definition.Complete), withWhole: newExpression(definition.WithWhole), none: definition.None,
	}
}

// A saying is the content of one record about a job, a node or a queue.
type saying struct {
	id, job, alias string
	task           string     // as printed; empty for the whole job
	numbers        ranges.Set // of the tasks
	count          int        // of all tasks of the job; 0 if unknown
	isPart         bool       // the answer may not show the end of the array: complete is false, or count unreadable
	whole          wholeness
	state          state
	values         []string // of the facts
	origin         Origin
	line           int
}

// wholeness says whether a job is reported in addition to its tasks.
type wholeness byte

const (
	unknownTasks wholeness = iota
	withTasks
	withoutTasks
)

// add adds the tasks that a record is about.
func (t taskExpressions) add(said *saying, on *evaluation) error {
	task, err := t.of.text(on)
	if err != nil {
		return err
	}
	if task != "" && !slices.Contains(t.none, task) {
		said.task = task
	}
	if said.task != "" {
		var isNumber bool
		if said.numbers, isNumber = ranges.Parse(said.task); !isNumber {
			return fmt.Errorf("invalid task number %.100q", said.task)
		}
	}
	count, err := t.count.text(on)
	if err != nil {
		return err
	}
	number, isCount := ranges.ParseCount(count)
	isUncounted := !isCount && count != ""
	if said.count = number; isUncounted {
		said.count = math.MaxInt // unknown number of tasks
	}
	isComplete, err := t.complete.isTrue(on)
	said.isPart = isUncounted || !isComplete
	if err != nil || t.withWhole == nil {
		return err
	}
	said.whole = withoutTasks
	hasTasks, err := t.withWhole.isTrue(on)
	if hasTasks {
		said.whole = withTasks
	}
	return err
}

// precedence orders the states of tasks: the state of the job is the first that any task has.
var precedence = [...]func(job.Detail) bool{
	func(d job.Detail) bool { return d.Primary() == job.Running },
	func(d job.Detail) bool { return d.Primary() == job.Suspended },
	func(d job.Detail) bool { return d.Primary() == job.Submitted && !d.OnHold() },
	job.Detail.OnHold,
	func(d job.Detail) bool { return d.Primary() == job.Undetermined },
	func(d job.Detail) bool { return d == job.Failed },
	func(d job.Detail) bool { return d == job.Canceled },
	func(job.Detail) bool { return true },
}

// deciding returns the record that decides the state of a job: among those with the first state in the
// order of precedence, the one with the lowest task number.
func deciding(said []*saying) *saying {
	for _, has := range precedence {
		var decides *saying
		for _, each := range said {
			if has(each.state.detail()) && (decides == nil || each.isBefore(decides)) {
				decides = each
			}
		}
		if decides != nil {
			return decides
		}
	}
	return nil
}

// isBefore reports whether a record has a lower task number. The record of the whole job comes first, and
// a task whose state depends on others last.
func (s *saying) isBefore(other *saying) bool {
	if s.isMinor() != other.isMinor() {
		return other.isMinor()
	}
	if len(s.numbers) == 0 || len(other.numbers) == 0 {
		return len(s.numbers) < len(other.numbers)
	}
	return s.numbers[0].First < other.numbers[0].First
}

// isLiveTask reports whether a record is of a task in a known state that has not ended.
func (s *saying) isLiveTask() bool {
	detail := s.state.detail()
	return s.task != "" && !detail.Ended() && detail.Primary() != job.Undetermined
}

// isMinor reports whether the state of a task depends on the other tasks.
func (s *saying) isMinor() bool { return s.state.row != nil && s.state.row.Beside != "" }

// decidingState returns the state of a job with tasks in these states.
func decidingState(states []job.Detail) job.Detail {
	for _, has := range precedence {
		if at := slices.IndexFunc(states, has); at >= 0 {
			return states[at]
		}
	}
	return job.Undetermined
}

// merge returns the facts of a job from the records of its tasks: those of the deciding task, but the
// nodes of all, the first start, the last end, the CPUs of running tasks, and no paths if there are
// several tasks.
func (t *factTable) merge(said []*saying, decides *saying) []string {
	values := decides.values
	if len(said) == 1 {
		return values
	}
	at := func(name string) (int, bool) { i, has := t.at[name]; return i, has }
	for _, path := range []string{factOutput, factError} {
		if i, has := at(path); has {
			values[i] = ""
		}
	}
	if i, has := at(factNodes); has {
		values[i] = joinedNodes(said, i)
	}
	if i, has := at(factCPUs); has {
		values[i] = addedCPUs(said, i)
	}
	if i, has := at(factStarted); has {
		values[i] = extreme(said, i, func(a, b string) bool { return a < b })
	}
	if i, has := at(factEnded); has {
		values[i] = extreme(said, i, func(a, b string) bool { return a > b })
	}
	return values
}

// joinedNodes returns the nodes of all tasks, each once.
func joinedNodes(said []*saying, at int) string {
	var nodes []string
	seen := map[string]bool{}
	for _, each := range said {
		if node := each.values[at]; node != "" && !seen[node] {
			seen[node] = true
			nodes = append(nodes, node)
		}
	}
	return clean(strings.Join(nodes, ","))
}

// addedCPUs returns the total CPUs of running tasks.
func addedCPUs(said []*saying, at int) string {
	total := 0
	for _, each := range said {
		if each.state.detail().Primary() == job.Running {
			number, _ := strconv.Atoi(each.values[at])
			total += number
		}
	}
	if total == 0 {
		return ""
	}
	return strconv.Itoa(total)
}

// extreme returns the first or the last of several times in the same format.
func extreme(said []*saying, at int, isBefore func(a, b string) bool) string {
	found := ""
	for _, each := range said {
		if moment := each.values[at]; moment != "" && (found == "" || isBefore(sortable(moment), sortable(found))) {
			found = moment
		}
	}
	return found
}
