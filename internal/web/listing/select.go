package listing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// A ListedJob is a job and the target that it belongs to.
type ListedJob struct {
	Manager *model.Manager
	Job     *model.Element
}

// JobSorts are the sort keys of a table of jobs, nil for the order of the model, that of ids.
var JobSorts = map[string]func(*model.Element) sortKey{
	"id":    nil,
	"name":  func(e *model.Element) sortKey { return sortKey{text: strings.ToLower(e.Name())} },
	"user":  func(e *model.Element) sortKey { return textKey(e, vocabulary.AttributeJobUser) },
	"queue": func(e *model.Element) sortKey { return sortKey{text: e.Parent()} },
	"state": func(e *model.Element) sortKey {
		return sortKey{number: float64(slices.Index(stateOrder, groupOf(e)))}
	},
	"procs":     func(e *model.Element) sortKey { return numberKey(e, AttributeProcesses) },
	"submitted": func(e *model.Element) sortKey { return timeKey(e, vocabulary.AttributeJobSubmitted) },
	"started":   func(e *model.Element) sortKey { return timeKey(e, vocabulary.AttributeJobStarted) },
	"ended":     func(e *model.Element) sortKey { return timeKey(e, vocabulary.AttributeJobEnded) },
}

// stateOrder is the order of jobs by state: problems first.
var stateOrder = []model.State{vocabulary.StateError, Failed, vocabulary.StateSuspended, vocabulary.StateRunning, vocabulary.StateStarted, vocabulary.StatePending, vocabulary.StateUnknown, "", vocabulary.StateTerminated}

// A sortKey is the key of a job. Jobs without one come last in both directions.
type sortKey struct {
	isMissing bool
	number    float64
	text      string
}

func textKey(e *model.Element, attribute string) sortKey {
	text := GivenText(e, attribute)
	return sortKey{isMissing: text == "", text: text}
}

func numberKey(e *model.Element, attribute string) sortKey {
	value, isGiven := GivenOf(e, attribute)
	return sortKey{isMissing: !isGiven, number: value.Double()}
}

func timeKey(e *model.Element, attribute string) sortKey {
	value, isGiven := GivenOf(e, attribute)
	at := value.Time()
	return sortKey{isMissing: !isGiven || at.IsZero(), number: float64(at.Unix())}
}

// Chosen are the jobs that match a query, in its order, and the number that match it apart
// from their state.
type Chosen struct {
	Jobs    []ListedJob
	ByState map[model.State]int
	All     int // of every state
}

// Choose returns the jobs that match a query, computed once for all pages of the table.
func (l *Ledger) Choose(s *model.Snapshot, q JobsQuery) *Chosen {
	return Kept(l, s, q.selection(), func() *Chosen { return l.chooseJobs(s, q) })
}

func (l *Ledger) chooseJobs(s *model.Snapshot, q JobsQuery) *Chosen {
	c := &Chosen{ByState: map[model.State]int{}}
	filter, _ := JobFilterOf(q.State)
	text := strings.ToLower(q.Text)
	jobs := l.knownJobs(s)
	for _, at := range l.order(s, q) {
		job := &jobs[at]
		if q.Manager != "" && job.Manager.Element().ID() != q.Manager || q.Queue != "" && job.Job.Parent() != q.Queue ||
			q.Mine && !job.IsMine || q.User != "" && job.User != q.User || text != "" && !mentions(job.Job, text) {
			continue
		}
		c.All++
		c.ByState[job.State]++
		if q.State == "" || slices.Contains(filter.States, job.State) {
			c.Jobs = append(c.Jobs, job.ListedJob)
		}
	}
	return c
}

// A knownJob is a job with the values that queries compare.
type knownJob struct {
	ListedJob
	User   string
	State  model.State
	IsMine bool
}

// knownJobs returns all jobs, by target and id, computed once for all queries.
func (l *Ledger) knownJobs(s *model.Snapshot) []knownJob {
	return shared(l, s, "known jobs", func() []knownJob {
		var all []knownJob
		for m := range s.Managers() {
			own := l.Owner(s, m)
			all = slices.Grow(all, m.Len(model.Job))
			for job := range m.All(model.Job) {
				known := knownJob{ListedJob: ListedJob{m, job}}
				for definition, value := range job.Attributes() {
					switch definition.ID {
					case vocabulary.AttributeJobUser:
						known.User = value.Text()
					case vocabulary.AttributeJobState:
						known.State = groupFor(model.State(value.Text()), GivenText(job, vocabulary.AttributeJobDetail))
					case vocabulary.AttributeJobLaunched:
						known.IsMine = value.Boolean()
					}
				}
				known.IsMine = known.IsMine || own[known.User]
				all = append(all, known)
			}
		}
		return all
	})
}

// order returns the indices of the known jobs in the order of a query, computed once for all
// queries with that order.
func (l *Ledger) order(s *model.Snapshot, q JobsQuery) []int32 {
	return shared(l, s, "order of jobs\x00"+q.sorting(), func() []int32 { return sortJobs(l.knownJobs(s), q) })
}

// sortJobs returns the indices of jobs, which are in the order of their ids, in the order of
// a query.
func sortJobs(jobs []knownJob, q JobsQuery) []int32 {
	places := make([]int32, len(jobs))
	for i := range places {
		places[i] = int32(i)
	}
	key := JobSorts[q.Sort]
	if key == nil {
		if q.Descending {
			slices.Reverse(places)
		}
		return places
	}
	keys := make([]sortKey, len(jobs))
	for i := range jobs {
		keys[i] = key(jobs[i].Job)
	}
	slices.SortStableFunc(places, func(i, j int32) int {
		a, b := &keys[i], &keys[j]
		if a.isMissing != b.isMissing {
			if a.isMissing {
				return 1
			}
			return -1
		}
		order := cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
		if q.Descending {
			return -order
		}
		return order
	})
	return places
}

// mentions reports whether a job's id, name, user, queue or reason contains a text, which is
// in lower case.
func mentions(job *model.Element, text string) bool {
	if Contains(job.ID(), text) || Contains(job.Name(), text) || Contains(job.Parent(), text) {
		return true
	}
	for definition, value := range job.Attributes() {
		if (definition.ID == vocabulary.AttributeJobUser || definition.ID == vocabulary.AttributeJobMessage) && Contains(value.Text(), text) {
			return true
		}
	}
	return false
}

// Contains reports whether text contains part, which is in lower case, in any case.
func Contains(text, part string) bool {
	return strings.Contains(text, part) || strings.Contains(strings.ToLower(text), part)
}
