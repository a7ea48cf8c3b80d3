package agentclient

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// mostElements bounds the elements that an agent may announce at a time.
const mostElements = 1_000_000

// mostAttributes bounds the attributes that elements of one kind may have.
const mostAttributes = 128

// suffixLength is the length of the session id's prefix in job ids.
const suffixLength = 8

// kinds are the kinds of elements that have a record, parents first.
var kinds = []model.Kind{model.Machine, model.Queue, model.Node, model.Job}

// A State is a client's view of an agent and its elements over successive sessions.
type State struct {
	manager string
	model   *model.Model
	outputs outputs
	ended   endedJobs

	// lastEvent is the number of the newest event of the agent's record, 0 if unknown.
	lastEvent  uint64
	isComplete bool // the agent reported that readers need not wait longer
	areListed  bool // the agent's scheduler has listed its jobs, or cannot

	mu          sync.Mutex
	offered     []string // features of the agent
	features    []string // supported by both ends
	definitions []proxy.Definition
	defined     int             // version of the definitions
	arrays      map[string]bool // ids of attributes that are arrays
	index       map[model.Kind]*index
	submissions map[string]*submission // by jobSubId of this client
	owners      map[string]*element    // jobs by process id; nil until an event names no job
	generation  uint32                 // number of the current announcement
	suffix      string                 // of ids of jobs without an id of their scheduler
	sessions    int
	most        int // elements
	report      *reporter

	managerState model.State // also during an update
}

// An index finds the elements of one kind.
type index struct {
	byWire     map[string]*element
	byID       map[string]*element
	attributes map[string]bool // that elements of the kind have
}

// An element is the record of an element of the model.
type element struct {
	id         string // in the model
	wire       string // protocol id; empty for a job that ended in an earlier session
	parent     *element
	generation uint32 // latest announcement that contained it
	word       string // of a job, its latest state in the protocol
	isGone     bool
	isStandIn  bool // created for a child, not announced
}

// isAlive reports whether the element is in the model.
func (e *element) isAlive() bool { return !e.isGone && (e.parent == nil || !e.parent.isGone) }

// newState returns a state without elements.
func newState(manager string) *State {
	s := &State{manager: manager, most: mostElements, model: model.New(), arrays: map[string]bool{},
		managerState: vocabulary.StateStopped, index: map[model.Kind]*index{}, submissions: map[string]*submission{}}
	for _, kind := range kinds {
		s.index[kind] = &index{byWire: map[string]*element{}, byID: map[string]*element{}, attributes: map[string]bool{}}
	}
	s.index[model.Process] = &index{attributes: map[string]bool{}}
	s.index[model.ResourceManager] = &index{attributes: map[string]bool{}}
	for _, id := range []string{"progArgs", "env", "debugArgs"} {
		s.arrays[id] = true
	}
	s.model.Update(func(u *model.Update) { u.Put(model.Row{Kind: model.ResourceManager, ID: manager}) })
	return s
}

// begin prepares for a session with a new agent, whose ids refer to other elements.
func (s *State) begin(session string, report *reporter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
	s.suffix = session[:min(len(session), suffixLength)]
	if s.sessions++; s.sessions > 1 {
		s.suffix += "-" + strconv.Itoa(s.sessions)
	}
	s.offered, s.features, s.definitions, s.owners = nil, nil, nil, nil
	for _, kind := range kinds {
		index := s.index[kind]
		clear(index.byWire)
		for _, element := range index.byID {
			element.wire = ""
		}
	}
	s.setManager(vocabulary.StateStarting, "")
}

// agree stores and returns the features that both ends support.
func (s *State) agree(wanted []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, feature := range wanted {
		if slices.Contains(s.offered, feature) {
			s.features = append(s.features, feature)
		}
	}
	return s.features
}

// announce starts an announcement: elements missing from it are removed once it is complete. It returns
// the number of the last known event, or 0.
func (s *State) announce() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	s.isComplete, s.areListed = false, false
	s.setManager(vocabulary.StateStarted, "")
	if !s.has(featureResume) {
		return 0
	}
	return s.lastEvent
}

// end marks the state as out of date, with the reason.
func (s *State) end(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setManager(vocabulary.StateError, plaintext.Clean(reason, longestValue))
}

// suspend marks events as stopped.
func (s *State) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setManager(vocabulary.StateSuspended, "")
}

// setManager changes the state of the resource manager, with the reason why it may be out of date.
func (s *State) setManager(word, stale string) {
	s.model.Update(func(u *model.Update) {
		s.putManager(u, word, []model.Attribute{{ID: vocabulary.AttributeStale, Text: stale}})
	})
}

// putManager changes the resource manager.
func (s *State) putManager(u *model.Update, word string, attributes []model.Attribute) {
	for _, state := range managerStates(s.managerState, word) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: s.manager,
			Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: string(state)}}})
		s.managerState = state
	}
	u.Put(model.Row{Kind: model.ResourceManager, ID: s.manager, Attributes: attributes})
}

// settle removes elements missing from the announcement. Ended jobs stay if the agent omits them for a
// returning client.
func (s *State) settle(keepEnded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	manager, _ := s.model.Snapshot().Manager(s.manager)
	var stale []*element
	var kindOf []model.Kind
	for _, kind := range slices.Backward(kinds) {
		for _, element := range s.index[kind].byID {
			if element.generation == s.generation || !element.isAlive() {
				continue
			}
			if kind == model.Job && keepEnded {
				if shown, known := manager.Get(kind, element.id); known && model.Ended(kind, shown.State()) {
					element.generation = s.generation
					continue
				}
			}
			stale, kindOf = append(stale, element), append(kindOf, kind)
		}
	}
	if len(stale) == 0 {
		return
	}
	s.model.Update(func(u *model.Update) {
		for i, element := range stale {
			s.remove(u, manager, kindOf[i], element)
		}
	})
	s.sweep()
}

// remove removes an element. The model passed is the one before the update.
func (s *State) remove(u *model.Update, before *model.Manager, kind model.Kind, e *element) {
	s.rememberJobs(before, kind, e)
	u.Remove(s.manager, kind, e.id)
	e.isGone = true
	if kind == model.Job {
		s.outputs.remove(e.id)
	}
}

// sweep drops the records of removed elements, including children of removed parents.
func (s *State) sweep() {
	for _, kind := range slices.Backward(kinds) {
		index := s.index[kind]
		for id, element := range index.byID {
			if element.isAlive() {
				continue
			}
			if kind == model.Job {
				s.outputs.remove(element.id)
			}
			delete(index.byID, id)
		}
		for wire, element := range index.byWire {
			if !element.isAlive() {
				delete(index.byWire, wire)
			}
		}
	}
	for process, job := range s.owners {
		if !job.isAlive() {
			delete(s.owners, process)
		}
	}
}

// records returns how many records there are.
func (s *State) records() int {
	count := len(s.owners)
	for _, kind := range kinds {
		count += len(s.index[kind].byID) + len(s.index[kind].byWire)
	}
	return count
}

// total returns how many elements the model has.
func (s *State) total() int {
	manager, _ := s.model.Snapshot().Manager(s.manager)
	count := manager.Len(model.Process)
	for _, kind := range kinds {
		count += manager.Len(kind)
	}
	return count
}

// has reports whether both ends support a feature.
func (s *State) has(feature string) bool { return slices.Contains(s.features, feature) }

// isForeign reports whether the agent is not rmctl and uses other states and values.
func (s *State) isForeign() bool { return !s.has(featureDetails) }

// wire returns the agent's id of a job.
func (s *State) wire(job string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, known := s.index[model.Job].byID[job]
	if !known || !element.isAlive() || element.wire == "" {
		return "", false
	}
	return element.wire, true
}

// queueWire returns the agent's id of a queue, and its name.
func (s *State) queueWire(queue string) (wire, name string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, known := s.index[model.Queue].byID[queue]
	if !known || !element.isAlive() || element.wire == "" {
		return "", "", false
	}
	manager, _ := s.model.Snapshot().Manager(s.manager)
	if shown, isShown := manager.Get(model.Queue, queue); isShown {
		name = shown.Name()
	}
	return element.wire, name, true
}

// A submission is a submission by this client.
type submission struct {
	job    string           // id in the model; empty until announced
	found  chan struct{}    // closed once announced
	wanted proxy.Attributes // submitted attributes, until announced
}

// expect registers a pending submission, so that its job is recognized.
func (s *State) expect(id string, wanted proxy.Attributes) *submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.submissions[id]; known != nil {
		return known
	}
	expected := &submission{found: make(chan struct{}), wanted: wanted}
	s.submissions[strings.Clone(id)] = expected
	return expected
}

// jobOf returns the job of a submission.
func (s *State) jobOf(expected *submission) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return expected.job, expected.job != ""
}

// progress returns the reported progress of the announcement: whether readers can stop waiting, and
// whether all jobs are announced.
func (s *State) progress() (isComplete, areListed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isComplete, s.areListed
}

// Defined returns a number that changes with the definitions.
func (s *Session) Defined() int {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.defined
}
