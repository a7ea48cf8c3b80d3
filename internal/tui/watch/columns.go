package watch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A column is one of a table. Wider ones than the least may be cut to it; those of
// the highest rank are left out first where a terminal is too narrow.
type column struct {
	title     string
	least     int // of its width
	firm      int // up to which it is not cut to the least, as ids are not
	most      int // of its width, unless the screen has room for more
	rank      int
	right     bool                              // its cells are numbers
	state     bool                              // its cells are coloured by the state of the row
	attribute string                            // that it shows, and that rows are sorted by
	cell      func(r row, now time.Time) string // instead of the attribute's text
	key       func(r row) sortKey               // instead of the attribute's value
}

// text returns the cell of a row.
func (c column) text(r row, now time.Time) string {
	if c.cell != nil {
		return c.cell(r, now)
	}
	return r.text(c.attribute)
}

// sortKey returns what a row is sorted by in this column: numbers and times by their
// value, texts without regard to case.
func (c column) sortKey(r row) sortKey {
	if c.key != nil {
		return c.key(r)
	}
	value, _ := r.element.Value(c.attribute)
	switch {
	case value.Type() == model.Date:
		return sortKey{number: seconds(value.Time())}
	case value.Text() == "":
		return sortKey{number: math.Inf(-1)}
	case value.Type() == model.Integer, value.Type() == model.Double:
		return sortKey{number: value.Double()}
	}
	return sortKey{text: strings.ToLower(value.Text())}
}

// columnsOf returns the columns of the tables; the first one is the name, by which
// rows are sorted unless the user wants otherwise.
var columnsOf = sync.OnceValue(func() map[model.Kind][]column {
	return map[model.Kind][]column{
		model.ResourceManager: {
			{title: "TARGET", least: 10, firm: 20, most: 24, cell: name},
			{title: "STATE", least: 8, most: 9, rank: 1, cell: stateWord, attribute: vocabulary.AttributeRMState, state: true},
			{title: "FOR", least: 6, most: 7, rank: 4, right: true, cell: age(views.AttributeSince), attribute: views.AttributeSince},
			{title: "JOBS", least: 4, most: 9, rank: 3, right: true, cell: countOf(model.Job), key: byCount(model.Job)},
			{title: "NODES", least: 5, most: 9, rank: 6, right: true, cell: countOf(model.Node), key: byCount(model.Node)},
			{title: "QUEUES", least: 6, most: 9, rank: 7, right: true, cell: countOf(model.Queue), key: byCount(model.Queue)},
			{title: "SEEN", least: 6, most: 7, rank: 5, right: true, cell: lastSeen, key: func(r row) sortKey { return sortKey{number: seconds(newestListing(r))} }},
			{title: "HOST", least: 9, most: 24, rank: 8, attribute: views.AttributeHost},
			{title: "CAUSE", least: 20, most: 60, rank: 2, cell: cause, attribute: views.AttributeCause},
		},
		model.Queue: {
			{title: "QUEUE", least: 10, firm: 20, most: 24, cell: name},
			{title: "TARGET", least: 7, most: 16, rank: 6, cell: managerName, key: byManager},
			{title: "STATE", least: 11, most: 11, rank: 1, cell: stateWord, attribute: vocabulary.AttributeQueueState, state: true},
			{title: "RUNNING", least: 7, most: 9, rank: 2, right: true, attribute: vocabulary.AttributeQueueRunning},
			{title: "WAITING", least: 7, most: 9, rank: 3, right: true, attribute: vocabulary.AttributeQueueWaiting},
			{title: "NODES", least: 5, most: 9, rank: 5, right: true, attribute: vocabulary.AttributeQueueNodes},
			{title: "TIME LIMIT", least: 10, most: 14, rank: 4, right: true, attribute: vocabulary.AttributeQueueTimeLimit},
			{title: "NATIVE", least: 6, most: 16, rank: 8, attribute: vocabulary.AttributeQueueStatus},
			{title: "", least: 7, most: 7, rank: 7, cell: defaultMark, attribute: vocabulary.AttributeQueueDefault},
		},
		model.Node: {
			{title: "NODE", least: 8, firm: 20, most: 24, cell: name},
			{title: "TARGET", least: 7, most: 16, rank: 6, cell: managerName, key: byManager},
			{title: "STATE", least: 7, most: 8, rank: 1, cell: stateWord, attribute: vocabulary.AttributeNodeState, state: true},
			{title: "USED BY", least: 9, most: 15, rank: 4, cell: func(r row, _ time.Time) string { return usedBy(r.element) }, attribute: vocabulary.AttributeNodeExtraState},
			{title: "NATIVE", least: 8, most: 16, rank: 5, attribute: vocabulary.AttributeNodeStatus},
			{title: "CPUS", least: 7, most: 11, rank: 2, right: true, cell: nodeCPUs, attribute: vocabulary.AttributeNodeCPUsUsed},
			{title: "LOAD", least: 5, most: 8, rank: 7, right: true, cell: nodeLoad, attribute: vocabulary.AttributeNodeLoad},
			{title: "MEMORY", least: 6, most: 9, rank: 9, right: true, attribute: vocabulary.AttributeNodeMemory},
			{title: "QUEUES", least: 6, most: 24, rank: 8, attribute: vocabulary.AttributeNodeQueues},
			{title: "REASON", least: 8, most: 40, rank: 3, attribute: vocabulary.AttributeNodeReason},
		},
		model.Job: {
			{title: "JOB", least: 6, firm: 16, most: 24, cell: func(r row, _ time.Time) string { return r.element.ID() }},
			{title: "TARGET", least: 7, most: 14, rank: 5, cell: managerName, key: byManager},
			{title: "STATE", least: 9, most: 10, rank: 1, cell: jobState, key: byJobState, state: true},
			{title: "DETAIL", least: 8, most: 22, rank: 10, cell: jobDetail, attribute: vocabulary.AttributeJobDetail},
			{title: "QUEUE", least: 6, most: 14, rank: 6, cell: jobQueue, key: func(r row) sortKey { return sortKey{text: jobQueue(r, time.Time{})} }},
			{title: "USER", least: 6, most: 12, rank: 4, attribute: vocabulary.AttributeJobUser},
			{title: "NAME", least: 10, most: 32, rank: 2, attribute: vocabulary.AttributeName},
			{title: "AGE", least: 6, most: 7, rank: 8, right: true, cell: age(vocabulary.AttributeJobSubmitted), attribute: vocabulary.AttributeJobSubmitted},
			{title: "RAN", least: 6, most: 7, rank: 3, right: true, cell: jobRan, attribute: vocabulary.AttributeJobStarted},
			{title: "NODES", least: 6, most: 20, rank: 9, attribute: vocabulary.AttributeJobNodes},
			{title: "REASON", least: 8, most: 40, rank: 7, cell: jobReason, attribute: vocabulary.AttributeJobMessage},
		},
	}
})

func name(r row, _ time.Time) string { return r.element.Name() }

func managerName(r row, _ time.Time) string { return r.manager.Element().Name() }

// stateWord is the state of an element. A question mark says that it may be another
// by now, since its target was not listed again.
func stateWord(r row, _ time.Time) string {
	word := string(r.element.State())
	if r.element.Kind() != model.ResourceManager && isOld(r.manager) {
		word += "?"
	}
	return word
}

// isOld reports whether what is shown of a target is older than it should be.
func isOld(manager *model.Manager) bool {
	element := manager.Element()
	stale, _ := element.Value(vocabulary.AttributeStale)
	return element.State() != vocabulary.StateStarted || stale.Text() != ""
}

func byManager(r row) sortKey { return sortKey{text: r.manager.Element().ID()} }

// age shows how long ago the time of an attribute is.
func age(attribute string) func(row, time.Time) string {
	return func(r row, now time.Time) string { return since(date(r.element, attribute), now) }
}

// date returns an attribute that is a time; the zero time for other values.
func date(element *model.Element, id string) time.Time {
	value, _ := element.Value(id)
	return value.Time()
}

func seconds(at time.Time) float64 {
	if at.IsZero() {
		return math.Inf(-1)
	}
	return float64(at.UnixNano()) / float64(time.Second)
}

func countOf(kind model.Kind) func(row, time.Time) string {
	return func(r row, _ time.Time) string {
		if count := r.manager.Len(kind); count > 0 {
			return strconv.Itoa(count)
		}
		return "-"
	}
}

func byCount(kind model.Kind) func(row) sortKey {
	return func(r row) sortKey { return sortKey{number: float64(r.manager.Len(kind))} }
}

// newestListing is when something of a target was listed last.
func newestListing(r row) time.Time {
	var newest time.Time
	for _, id := range []string{vocabulary.AttributeListedJobs, vocabulary.AttributeListedNodes, vocabulary.AttributeListedQueues} {
		if at := date(r.element, id); at.After(newest) {
			newest = at
		}
	}
	return newest
}

func lastSeen(r row, now time.Time) string { return since(newestListing(r), now) }

// since is how long ago something was; a dash where that is not known.
func since(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return span(now.Sub(at).Truncate(agePace))
}

// cause is why a target is in ERROR, or why what is shown of it is old, or
// what was wrong with its listings.
func cause(r row, _ time.Time) string {
	if r.element.State() == vocabulary.StateError {
		return r.text(views.AttributeCause)
	}
	if stale := r.text(vocabulary.AttributeStale); stale != "" || r.element.State() != vocabulary.StateStarted {
		return stale
	}
	wrong, _ := r.element.Value(vocabulary.AttributeProblems)
	if problems := wrong.Array(); len(problems) > 1 {
		return fmt.Sprintf("%s; and %d more", problems[0], len(problems)-1)
	} else if len(problems) == 1 {
		return problems[0]
	}
	return ""
}

func defaultMark(r row, _ time.Time) string {
	if value, _ := r.element.Value(vocabulary.AttributeQueueDefault); value.Boolean() {
		return "default"
	}
	return ""
}

func nodeCPUs(r row, _ time.Time) string {
	used, all := r.text(vocabulary.AttributeNodeCPUsUsed), r.text(vocabulary.AttributeNodeCPUs)
	if used == "" && all == "" {
		return ""
	}
	return cmp.Or(used, "-") + "/" + cmp.Or(all, "-")
}

func nodeLoad(r row, _ time.Time) string {
	value, _ := r.element.Value(vocabulary.AttributeNodeLoad)
	if value.Text() == "" {
		return ""
	}
	return strconv.FormatFloat(value.Double(), 'f', 2, 64)
}

// jobState is the word for the state of a job; a question mark says that it may be
// another by now.
func jobState(r row, _ time.Time) string {
	word := jobWord(r)
	if r.text(vocabulary.AttributeJobDoubt) != "" || isOld(r.manager) && !model.Ended(model.Job, r.element.State()) {
		word += "?"
	}
	return word
}

// jobWord is the word for the state of a job.
func jobWord(r row) string { return job.Detail(r.text(vocabulary.AttributeJobDetail)).Word() }

// jobDetail is the state of a job as exactly as it is known; empty if the word for it
// says the same.
func jobDetail(r row, _ time.Time) string {
	if r.element.State() == vocabulary.StateError {
		return "failed to start"
	}
	if detail := r.text(vocabulary.AttributeJobDetail); detail != jobWord(r) {
		return detail
	}
	return ""
}

// jobReason is why a job is in its state, and why that is in doubt.
func jobReason(r row, _ time.Time) string {
	return strings.Trim(r.text(vocabulary.AttributeJobMessage)+"; "+r.text(vocabulary.AttributeJobDoubt), "; ")
}

// jobOrder puts what runs before what waits, and what has ended behind.
var jobOrder = []model.State{vocabulary.StateRunning, vocabulary.StateStarted, vocabulary.StateSuspended, vocabulary.StatePending, vocabulary.StateUnknown, vocabulary.StateTerminated, vocabulary.StateError}

func byJobState(r row) sortKey {
	return sortKey{number: float64(slices.Index(jobOrder, r.element.State())), text: r.text(vocabulary.AttributeJobDetail)}
}

func jobQueue(r row, _ time.Time) string {
	return cmp.Or(r.text(vocabulary.AttributeJobQueue), r.element.Parent())
}

// jobRan is how long a job runs or has run.
func jobRan(r row, now time.Time) string {
	started := date(r.element, vocabulary.AttributeJobStarted)
	if started.IsZero() {
		return "-"
	}
	if ended := date(r.element, vocabulary.AttributeJobEnded); !ended.IsZero() {
		return span(ended.Sub(started))
	}
	if model.Ended(model.Job, r.element.State()) {
		return "-"
	}
	return since(started, now)
}
