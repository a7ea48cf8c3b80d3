package listing

import (
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// mostUsers bounds the users that the filter of jobs suggests.
const mostUsers = 500

// A census counts the jobs and nodes of a target.
type census struct {
	Jobs    Tally
	Queues  map[string]*Tally // jobs by the id of their queue
	Users   []string          // owners of jobs, sorted
	Nodes   map[string]*NodeTally
	AnyNode NodeTally
}

// A Tally is a number of jobs by their state.
type Tally struct {
	All     int
	ByState map[model.State]int
	Mine    int
}

func (t *Tally) add(state model.State, isMine bool) {
	t.All++
	if t.ByState == nil {
		t.ByState = map[model.State]int{}
	}
	t.ByState[state]++
	if isMine {
		t.Mine++
	}
}

// Count takes the census of a target.
func Count(m *model.Manager, own Owner) *census {
	c := &census{Queues: map[string]*Tally{}, Nodes: map[string]*NodeTally{}}
	users := map[string]bool{}
	for job := range m.All(model.Job) {
		queue := c.Queues[job.Parent()]
		if queue == nil {
			queue = &Tally{}
			c.Queues[job.Parent()] = queue
		}
		state, isMine := groupOf(job), own.Has(job)
		queue.add(state, isMine)
		c.Jobs.add(state, isMine)
		if user := GivenText(job, vocabulary.AttributeJobUser); user != "" && len(users) < mostUsers {
			users[user] = true
		}
	}
	c.Users = slices.Sorted(maps.Keys(users))
	for node := range m.All(model.Node) {
		machine := c.Nodes[node.Parent()]
		if machine == nil {
			machine = &NodeTally{}
			c.Nodes[node.Parent()] = machine
		}
		look := LookOf(node)
		machine.Add(node, look)
		c.AnyNode.Add(node, look)
	}
	return c
}

// SeenState returns the state of an element, empty if it is unknown.
func SeenState(e *model.Element) model.State { return model.State(GivenState(e)) }

// Failed is the group of jobs that started and failed. Their state is TERMINATED, as that of jobs
// that did well.
const Failed model.State = "FAILED"

// groupOf returns the state by which a job is counted: its own one, or Failed.
func groupOf(job *model.Element) model.State {
	return groupFor(SeenState(job), GivenText(job, vocabulary.AttributeJobDetail))
}

func groupFor(s model.State, detail string) model.State {
	if s == vocabulary.StateTerminated && job.Detail(detail) == job.Failed {
		return Failed
	}
	return s
}

// An Owner says which jobs are "mine": those submitted through rmctl, and those of the names
// that the user has at a target.
type Owner map[string]bool

// ownerOf returns the names of a user: the one on this machine, and the owners of jobs
// submitted through rmctl.
func ownerOf(m *model.Manager, user string) Owner {
	names := Owner{}
	if user != "" {
		names[user] = true
	}
	for job := range m.All(model.Job) {
		if !isOurs(job) {
			continue
		}
		if name := GivenText(job, vocabulary.AttributeJobUser); name != "" {
			names[name] = true
		}
	}
	return names
}

func (o Owner) Has(job *model.Element) bool {
	name := GivenText(job, vocabulary.AttributeJobUser)
	return o[name] || isOurs(job)
}

// isOurs reports whether a job was submitted through rmctl.
func isOurs(job *model.Element) bool {
	ours, _ := GivenOf(job, vocabulary.AttributeJobLaunched)
	return ours.Boolean()
}

// A Ledger caches values computed from one revision of the model. It may be used
// concurrently.
type Ledger struct {
	user string // on this machine

	mu       sync.Mutex
	revision uint64
	entries  map[string]*entry
}

// mostEntries bounds the values that are cached for single queries.
const mostEntries = 64

type entry struct {
	once  sync.Once
	value any
}

func NewLedger(user string) *Ledger { return &Ledger{user: user} }

// shared returns the value of a key for a snapshot, which compute makes at first. There are
// few such keys, whatever users request.
func shared[T any](l *Ledger, s *model.Snapshot, key string, compute func() T) T {
	return cached(l, s, key, math.MaxInt, compute)
}

// Kept is shared for any number of keys; the ledger caches some of them.
func Kept[T any](l *Ledger, s *model.Snapshot, key string, compute func() T) T {
	return cached(l, s, key, mostEntries, compute)
}

func cached[T any](l *Ledger, s *model.Snapshot, key string, most int, compute func() T) T {
	l.mu.Lock()
	if s.Revision() > l.revision || l.entries == nil {
		l.revision, l.entries = s.Revision(), map[string]*entry{}
	}
	if s.Revision() < l.revision || len(l.entries) >= most && l.entries[key] == nil {
		l.mu.Unlock()
		return compute()
	}
	if l.entries[key] == nil {
		l.entries[key] = &entry{}
	}
	e := l.entries[key]
	l.mu.Unlock()
	e.once.Do(func() { e.value = compute() })
	value, _ := e.value.(T)
	return value
}

// Census returns the census of a target.
func (l *Ledger) Census(s *model.Snapshot, m *model.Manager) *census {
	return shared(l, s, "census\x00"+m.Element().ID(), func() *census { return Count(m, l.Owner(s, m)) })
}

// Owner returns which jobs of a target are "mine".
func (l *Ledger) Owner(s *model.Snapshot, m *model.Manager) Owner {
	return shared(l, s, "owner\x00"+m.Element().ID(), func() Owner { return ownerOf(m, l.user) })
}
