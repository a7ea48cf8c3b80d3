package agentclient

import (
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// A pass applies some events to the model in one update.
type pass struct {
	*State
	update  *model.Update
	before  *model.Manager  // as it was before the update
	touched map[string]bool // ids of jobs whose processes differ from before
	changed map[string]bool // ids of jobs that differ from before
	total   int             // upper bound of the number of elements
	found   []*submission   // whose jobs were announced
	err     error           // ends the session

	scratch []model.Attribute
}

// anyJob means all jobs among ids of jobs.
const anyJob = ""

// apply applies events to the model in as few updates as possible. An error ends the session.
func (s *State) apply(events []proxy.Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(events) > 0 {
		p := pass{State: s, touched: map[string]bool{}, changed: map[string]bool{}, total: s.total()}
		p.before, _ = s.model.Snapshot().Manager(s.manager)
		done := 0
		s.report.refused(s.model.Update(func(u *model.Update) {
			p.update = u
			for done < len(events) && p.err == nil && p.take(&events[done], done == 0) {
				done++
			}
		}))
		for _, submission := range p.found {
			close(submission.found)
		}
		if p.err != nil {
			return p.err
		}
		events = events[done:]
		if records := s.records(); records > 1000 && records > 4*s.total() {
			s.sweep()
		}
	}
	return nil
}

// take applies an event to the model. It reports false if the event depends on changes of the current
// update; the first event never does.
func (p *pass) take(event *proxy.Update, isFirst bool) bool {
	switch event.Change {
	case proxy.New:
		return p.takeNew(event, isFirst)
	case proxy.Changed:
		return p.takeChanged(event)
	case proxy.Removed:
		return p.takeRemoved(event, isFirst)
	case proxy.RemovedAll:
		if !isFirst && len(p.changed) > 0 {
			return false
		}
		p.removeAll()
	case proxy.Defined:
		for _, definition := range event.Definitions {
			p.define(definition)
		}
	}
	return true
}

// takeNew adds new elements to the model, or changes those announced before.
func (p *pass) takeNew(event *proxy.Update, isFirst bool) bool {
	if !p.hasRoom(event, isFirst) {
		return false
	}
	parent, known := p.parentOf(event)
	if !known {
		p.report.count(oddProcess, len(event.Groups))
		return true
	}
	if !isFirst && p.needsModel(event, parent) {
		return false
	}
	for _, group := range event.Groups {
		attributes := p.convert(event.Kind, group.Attributes)
		for wire := range group.IDs.All() {
			if event.Kind == model.Process {
				p.newProcess(parent, wire, &attributes)
			} else {
				p.newElement(event.Kind, parent, wire, &attributes)
			}
		}
	}
	return true
}

// hasRoom reports whether the model has room for new elements. If it has none for the first event of an
// update, the session ends.
func (p *pass) hasRoom(event *proxy.Update, isFirst bool) bool {
	count := 1 // a placeholder parent
	for _, group := range event.Groups {
		count += group.IDs.Len()
	}
	if p.total+count > p.most {
		if isFirst && p.countKnown(event) > p.most {
			p.err = errElements
		}
		if !isFirst || p.err != nil {
			return false
		}
	}
	p.total += count
	return true
}

// needsModel reports whether an event with new elements depends on changes of the current update.
func (p *pass) needsModel(event *proxy.Update, parent *element) bool {
	switch event.Kind {
	case model.Process:
		return p.isOutdated(parent) && !haveStates(event.Groups)
	case model.Job:
		return p.haveChanged(event.Groups)
	}
	return false
}

// countKnown returns the number of elements after an event with new ones if none of them is known yet.
func (p *pass) countKnown(event *proxy.Update) int {
	total := p.total
	for _, group := range event.Groups {
		total += group.IDs.Len()
		for wire := range group.IDs.All() {
			if p.isKnown(event, wire) {
				total--
			}
		}
	}
	return total
}

// isKnown reports whether the element of an event is in the model.
func (p *pass) isKnown(event *proxy.Update, wire string) bool {
	if event.Kind != model.Process {
		_, known := p.find(event.Kind, wire)
		return known
	}
	job, known := p.find(model.Job, event.Parent)
	if known {
		_, known = p.before.Get(model.Process, processID(job, wire))
	}
	return known
}

// parentOf finds the parent of new elements. It creates a queue or machine that was not announced, since
// its jobs and nodes exist.
func (p *pass) parentOf(event *proxy.Update) (*element, bool) {
	var kind model.Kind
	switch event.Kind {
	case model.Node:
		kind = model.Machine
	case model.Job:
		kind = model.Queue
	case model.Process:
		job, known := p.find(model.Job, event.Parent)
		return job, known
	default:
		return nil, true // ignore the agent's id of the resource manager
	}
	if parent, known := p.find(kind, event.Parent); known {
		return parent, true
	}
	p.report.count(oddPlaceholder, 1)
	nothing := attributes{}
	parent := p.newElement(kind, nil, event.Parent, &nothing)
	if parent == nil {
		return nil, false
	}
	if parent.isStandIn = true; kind == model.Queue {
		p.put(kind, parent, []model.Attribute{{ID: vocabulary.AttributeQueueStatus, Text: notAnnounced}}, false)
	}
	return parent, true
}

// notAnnounced is the status of a queue that is known only from its jobs.
const notAnnounced = "not announced"

// find returns the element with a protocol id.
func (p *pass) find(kind model.Kind, wire string) (*element, bool) {
	element, known := p.index[kind].byWire[wire]
	return element, known && element.isAlive()
}

// newElement adds an element to the model. It returns nil for one without a valid id.
func (p *pass) newElement(kind model.Kind, parent *element, wire string, given *attributes) *element {
	e, isKnown := p.recognize(kind, wire, given)
	if e == nil {
		p.report.count(oddID, 1)
		return nil
	}
	isAgain := isKnown && (e.generation != p.generation || e.isStandIn)
	if kind == model.Node && isKnown && e.parent != parent {
		p.update.Remove(p.manager, kind, e.id) // the model cannot move nodes to another machine
	}
	e.generation, e.parent, e.isStandIn = p.generation, parent, false
	if own := p.submissions[given.submission]; kind == model.Job && own != nil && own.job == "" {
		p.put(kind, e, p.submitted(own), false)
		own.job, own.wanted = e.id, nil
		p.found = append(p.found, own)
	}
	isStateKept := kind == model.Job && given.word == ""
	p.put(kind, e, p.complete(kind, e, given, !isKnown), isAgain && !isStateKept)
	return e
}

// submittedAttributes are taken from the submission until the agent sends them. The environment is not
// among them: it may contain secrets.
var submittedAttributes = []string{"execName", "execPath", "workingDir", "progArgs", "jobNumProcs", vocabulary.AttributeJobUser}

// submitted returns the attributes of a job from its submission.
func (p *pass) submitted(own *submission) []model.Attribute {
	kept := slices.DeleteFunc(slices.Clone(own.wanted), func(a proxy.Attribute) bool { return !slices.Contains(submittedAttributes, a.ID) })
	converted := p.convert(model.Job, kept)
	return converted.list
}

// put puts an element with attributes into the model.
func (p *pass) put(kind model.Kind, e *element, attributes []model.Attribute, whole bool) {
	if kind == model.Job {
		p.changed[e.id] = true
	}
	row := model.Row{Manager: p.manager, Kind: kind, ID: e.id, Attributes: attributes, Whole: whole}
	if e.parent != nil {
		row.Parent = e.parent.id
	}
	p.update.Put(row)
}

// takeChanged changes elements.
func (p *pass) takeChanged(event *proxy.Update) bool {
	switch event.Kind {
	case model.ResourceManager:
		for _, group := range event.Groups {
			p.changeManager(group.Attributes)
		}
	case model.Process:
		return p.changeProcesses(event)
	default:
		for _, group := range event.Groups {
			attributes := p.convert(event.Kind, group.Attributes)
			for wire := range group.IDs.All() {
				p.change(event.Kind, wire, &attributes)
			}
		}
	}
	return true
}

// change changes an element. The element also counts as announced, since the agent still has it.
func (p *pass) change(kind model.Kind, wire string, given *attributes) {
	e, known := p.find(kind, wire)
	if !known {
		p.report.count(oddElement, 1)
		return
	}
	e.generation = p.generation
	if queue, moved := p.find(model.Queue, given.queue); kind == model.Job && moved {
		e.parent = queue
	}
	p.put(kind, e, p.complete(kind, e, given, false), false)
}
