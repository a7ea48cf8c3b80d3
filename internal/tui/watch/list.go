package watch

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A ref names a row: an element of one kind.
type ref struct{ manager, id string }

// A row is an element of a list, and the target that it is of.
type row struct {
	manager *model.Manager
	element *model.Element
}

func (r row) ref() ref { return ref{r.manager.Element().ID(), r.element.ID()} }

// text returns an attribute of the row's element; empty where it has none.
func (r row) text(attribute string) string {
	value, _ := r.element.Value(attribute)
	return value.Text()
}

// A query is what a user wants to see of the elements of a kind. Its answer is
// made by [query.answer], which takes a while where there are many.
type query struct {
	kind     model.Kind
	snapshot *model.Snapshot

	manager string   // the one target; empty for all
	queue   string   // of jobs: their queue; empty for all
	words   []string // that a row holds, in lower case
	mine    bool     // of jobs: only those of the user
	states  int      // of jobs: which of stateFilters
	column  int      // that the rows are sorted by
	reverse bool

	user     string // of this machine
	selected ref    // whose place is wanted
}

// same reports whether two queries have the same answer on the same snapshot.
func (q query) same(other query) bool {
	return q.snapshot == other.snapshot && q.kind == other.kind && q.manager == other.manager && q.queue == other.queue &&
		slices.Equal(q.words, other.words) && q.mine == other.mine && q.states == other.states && q.column == other.column && q.reverse == other.reverse
}

// An answer is the rows of a query in their order.
type answer struct {
	query    query
	rows     []row
	total    int          // elements of the kind that could be shown
	managers int          // that have such elements
	at       int          // where the selected row is; -1 if it is not there
	count    map[sign]int // nodes by how they are shown
}

// A stateFilter chooses jobs by their states.
type stateFilter struct {
	name  string
	shows func(element *model.Element) bool
}

var stateFilters = [...]stateFilter{
	{"", func(*model.Element) bool { return true }},
	{"queued or held", isIn(vocabulary.StatePending)},
	{"running", isIn(vocabulary.StateRunning, vocabulary.StateStarted, vocabulary.StateSuspended)},
	{"ended", isIn(vocabulary.StateTerminated, vocabulary.StateError)},
	{"in error", func(element *model.Element) bool {
		return isIn(vocabulary.StateError, vocabulary.StateUnknown)(element) || hasFailed(element)
	}},
}

func isIn(states ...model.State) func(*model.Element) bool {
	return func(element *model.Element) bool { return slices.Contains(states, element.State()) }
}

// hasFailed reports whether a job failed, whether it had started or not.
func hasFailed(element *model.Element) bool {
	detail, _ := element.Value(vocabulary.AttributeJobDetail)
	return job.Detail(detail.Text()) == job.Failed
}

// answer finds and sorts the rows.
func (q query) answer() answer {
	a := answer{query: q, at: -1}
	for manager := range q.snapshot.Managers() {
		id := manager.Element().ID()
		if q.manager != "" && q.manager != id && q.kind != model.ResourceManager {
			continue
		}
		q.collect(manager, &a)
	}
	q.sort(a.rows)
	if q.kind == model.Node {
		a.count = map[sign]int{}
		for _, r := range a.rows {
			a.count[signOf(r.element)]++
		}
	}
	a.at = slices.IndexFunc(a.rows, func(r row) bool { return r.element.ID() == q.selected.id && r.ref() == q.selected })
	return a
}

// collect appends the rows of a target.
func (q query) collect(manager *model.Manager, a *answer) {
	if q.kind == model.ResourceManager {
		a.total++
		if r := (row{manager, manager.Element()}); q.holdsWords(r) {
			a.rows = append(a.rows, r)
		}
		return
	}
	if count := manager.Len(q.kind); count > 0 {
		a.total += count
		a.managers++
	}
	var users map[string]bool
	if q.mine {
		users = usersOf(manager, q.user)
	}
	a.rows = slices.Grow(a.rows, manager.Len(q.kind))
	for element := range q.elements(manager) {
		r := row{manager, element}
		switch {
		case q.kind == model.Job && q.states != 0 && !stateFilters[q.states].shows(element):
		case q.mine && !isMine(r, users):
		case len(q.words) > 0 && !q.holdsWords(r):
		default:
			a.rows = append(a.rows, r)
		}
	}
}

// elements yields the elements of the kind: jobs of the queue if there is one, and
// nodes by machine.
func (q query) elements(manager *model.Manager) iter.Seq[*model.Element] {
	switch {
	case q.kind == model.Job && q.queue != "":
		return manager.Children(model.Job, q.queue)
	case q.kind == model.Node:
		return nodesByMachine(manager)
	}
	return manager.All(q.kind)
}

// nodesByMachine yields the nodes of one machine after those of the other.
func nodesByMachine(manager *model.Manager) func(func(*model.Element) bool) {
	return func(yield func(*model.Element) bool) {
		for machine := range manager.All(model.Machine) {
			for node := range manager.Children(model.Node, machine.ID()) {
				if !yield(node) {
					return
				}
			}
		}
	}
}

// usersOf returns the names that the user goes by with a target: that of
// this machine, and those that own jobs which were submitted from here.
func usersOf(manager *model.Manager, user string) map[string]bool {
	users := map[string]bool{}
	if user != "" {
		users[user] = true
	}
	for job := range manager.All(model.Job) {
		if isOurs(job) {
			if owner, _ := job.Value(vocabulary.AttributeJobUser); owner.Text() != "" {
				users[owner.Text()] = true
			}
		}
	}
	return users
}

// isOurs reports whether a job was submitted through rmctl.
func isOurs(job *model.Element) bool {
	ours, _ := job.Value(vocabulary.AttributeJobLaunched)
	return ours.Boolean()
}

func isMine(r row, users map[string]bool) bool {
	return users[r.text(vocabulary.AttributeJobUser)] || isOurs(r.element)
}

// searched are the attributes that a search looks at, beside name and id.
var searched = map[model.Kind][]string{
	model.ResourceManager: {vocabulary.AttributeRMState, views.AttributeHost, views.AttributeCause, views.AttributeType},
	model.Queue:           {vocabulary.AttributeQueueState, vocabulary.AttributeQueueStatus},
	model.Node:            {vocabulary.AttributeNodeState, vocabulary.AttributeNodeExtraState, vocabulary.AttributeNodeStatus, vocabulary.AttributeNodeReason, vocabulary.AttributeNodeQueues},
	model.Job:             {vocabulary.AttributeJobUser, vocabulary.AttributeJobQueue, vocabulary.AttributeJobDetail, vocabulary.AttributeJobState, vocabulary.AttributeJobStatus, vocabulary.AttributeJobMessage, vocabulary.AttributeJobNodes},
}

// holdsWords reports whether each word is somewhere in what the row shows.
func (q query) holdsWords(r row) bool {
	for _, word := range q.words {
		if !holds(r.element.ID(), word) && !holds(r.element.Name(), word) && !holds(r.manager.Element().ID(), word) &&
			!(q.kind == model.Job && holds(jobWord(r), word)) &&
			!slices.ContainsFunc(searched[q.kind], func(attribute string) bool { return holds(r.text(attribute), word) }) {
			return false
		}
	}
	return true
}

func holds(text, word string) bool { return strings.Contains(strings.ToLower(text), word) }

// sort puts the rows in the order of a column; equal rows stay in the
// order of the model.
func (q query) sort(rows []row) {
	columns := columnsOf()[q.kind]
	if q.column < len(columns) && q.column > 0 {
		keys := make([]sortKey, len(rows))
		for i, r := range rows {
			keys[i] = columns[q.column].sortKey(r)
			keys[i].at = i
		}
		sorting.Stable(keys, func(a, b sortKey) int {
			return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text), a.at-b.at)
		})
		unsorted := slices.Clone(rows)
		for i, k := range keys {
			rows[i] = unsorted[k.at]
		}
	}
	if q.reverse {
		slices.Reverse(rows)
	}
}

// A sortKey is what rows are compared by: the number, then the text.
type sortKey struct {
	number float64
	text   string
	at     int
}
