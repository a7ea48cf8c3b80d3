package agentclient

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// A pass puts some events into the model in one update.
type pass struct {
	*State
	update  *model.Update
	before  *model.Manager  // as it was before the update
	touched map[string]bool // ids of jobs whose processes differ from before
	total   int             // at most so many elements
	found   []*submission   // whose jobs were announced
	err     error           // ends the session

	scratch []model.Attribute
}

// anyJob stands for all jobs in the ids of jobs.
const anyJob = ""

// apply puts events into the model, in as few updates as possible. An error ends the
// session.
func (s *State) apply(events []proxy.Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(events) > 0 {
		p := pass{State: s, touched: map[string]bool{}, total: s.total()}
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

// take puts an event into the model. It reports false for one that needs to see what the
// update has done so far; the first one never does.
func (p *pass) take(event *proxy.Update, isFirst bool) bool {
	switch event.Change {
	case proxy.New:
		return p.takeNew(event, isFirst)
	case proxy.Changed:
		return p.takeChanged(event)
	case proxy.Removed:
		return p.takeRemoved(event)
	case proxy.RemovedAll:
		p.removeAll()
	case proxy.Defined:
		for _, definition := range event.Definitions {
			p.define(definition)
		}
	}
	return true
}

// takeNew puts new elements into the model, or changes those that were announced before.
func (p *pass) takeNew(event *proxy.Update, isFirst bool) bool {
	count := 1 // a placeholder
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
	parent, known := p.parentOf(event)
	if !known {
		p.report.count(oddProcess, count-1)
		return true
	}
	if event.Kind == model.Process && !isFirst && p.isOutdated(parent) && !haveStates(event.Groups) {
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

// countKnown returns how many elements there would be after an event with new ones,
// some of which may be known already.
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

// parentOf finds the element that new elements belong to. It makes one for a queue or
// machine that was not announced: its jobs and nodes exist.
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
		return nil, true // whatever the agent takes for the resource manager
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
	if parent.placeholder = true; kind == model.Queue {
		p.put(kind, parent, []model.Attribute{{ID: vocabulary.AttributeQueueStatus, Text: notAnnounced}}, false)
	}
	return parent, true
}

// notAnnounced is the status of a queue that only its jobs name.
const notAnnounced = "not announced"

// find returns the element with an id of the protocol.
func (p *pass) find(kind model.Kind, wire string) (*element, bool) {
	element, known := p.index[kind].byWire[wire]
	return element, known && element.isAlive()
}

// newElement puts an element into the model. It returns nil for one without a usable id.
func (p *pass) newElement(kind model.Kind, parent *element, wire string, given *attributes) *element {
	e, isKnown := p.recognise(kind, wire, given)
	if e == nil {
		p.report.count(oddID, 1)
		return nil
	}
	isAgain := isKnown && (e.generation != p.generation || e.placeholder)
	if kind == model.Node && isKnown && e.parent != parent {
		p.update.Remove(p.manager, kind, e.id) // nodes of the model stay in their machine
	}
	e.generation, e.parent, e.placeholder = p.generation, parent, false
	if own := p.submissions[given.submission]; kind == model.Job && own != nil && own.job == "" {
		p.put(kind, e, p.submitted(own), false)
		own.job, own.wanted = e.id, nil
		p.found = append(p.found, own)
	}
	p.put(kind, e, p.complete(kind, e, given, !isKnown), isAgain)
	return e
}

// submittedAttributes are those that a job has from its submission, as long as the agent says nothing
// of them. The environment may hold secrets.
var submittedAttributes = []string{"execName", "execPath", "workingDir", "progArgs", "jobNumProcs", vocabulary.AttributeJobUser}

// submitted returns what a job has from its submission.
func (p *pass) submitted(own *submission) []model.Attribute {
	kept := slices.DeleteFunc(slices.Clone(own.wanted), func(a proxy.Attribute) bool { return !slices.Contains(submittedAttributes, a.ID) })
	converted := p.convert(model.Job, kept)
	return converted.list
}

// put puts an element with attributes into the model.
func (p *pass) put(kind model.Kind, e *element, attributes []model.Attribute, whole bool) {
	row := model.Row{Manager: p.manager, Kind: kind, ID: e.id, Attributes: attributes, Whole: whole}
	if e.parent != nil {
		row.Parent = e.parent.id
	}
	p.update.Put(row)
}

// recognise returns the record of a new element, and whether it is known: by its id of the
// protocol, or, after all was announced again, by its id in the model. It returns nil for
// an element whose id cannot be used.
func (p *pass) recognise(kind model.Kind, wire string, given *attributes) (*element, bool) {
	if wire == "" || len(wire) > longestWire {
		return nil, false
	}
	identity := p.identity(kind, given)
	if known, isKnown := p.find(kind, wire); isKnown {
		if kind != model.Job || identity == "" || identity == known.id {
			return known, true
		}
		p.remove(p.update, kind, known) // the id was given to another job
		p.touched[known.id] = true
	}
	if identity != "" {
		known, isKnown := p.named(kind, identity)
		if !isKnown {
			return p.record(kind, identity, wire), false
		}
		if kind == model.Job || p.isFree(known) {
			p.rename(kind, known, wire)
			return known, true
		}
	}
	return p.numbered(kind, wire)
}

// numbered returns the record of an element that only the protocol gives an id.
func (p *pass) numbered(kind model.Kind, wire string) (*element, bool) {
	ids := []string{wire, wire + "." + p.suffix}
	if kind == model.Job {
		ids = ids[1:] // the next session uses the id again
	}
	for _, id := range ids {
		id = plaintext.Clean(id, longestID)
		known, isKnown := p.named(kind, id)
		if !isKnown && id != "" {
			return p.record(kind, id, wire), false
		}
		if isKnown && p.isFree(known) {
			p.rename(kind, known, wire)
			return known, true
		}
	}
	return nil, false
}

// named returns the element with an id of the model.
func (p *pass) named(kind model.Kind, id string) (*element, bool) {
	element, known := p.index[kind].byID[id]
	return element, known && element.isAlive()
}

// isFree reports whether an element may be meant by another id of the protocol: it was not
// announced yet in the announcement that is under way.
func (p *pass) isFree(e *element) bool { return e.wire == "" || e.generation != p.generation }

// rename gives an element another id of the protocol.
func (p *pass) rename(kind model.Kind, e *element, wire string) {
	if byWire := p.index[kind].byWire; byWire[e.wire] == e && p.isFree(e) {
		delete(byWire, e.wire)
	}
	e.wire = strings.Clone(wire)
	p.index[kind].byWire[e.wire] = e
}

// record makes the record of an element.
func (p *pass) record(kind model.Kind, id, wire string) *element {
	e := &element{id: strings.Clone(id), wire: strings.Clone(wire)}
	if e.id == e.wire {
		e.wire = e.id
	}
	p.index[kind].byID[e.id], p.index[kind].byWire[e.wire] = e, e
	return e
}

// identity returns the id in the model that an element has by itself; empty if only the
// protocol gives it one.
func (p *pass) identity(kind model.Kind, given *attributes) string {
	if kind != model.Job {
		return plaintext.Clean(given.text(vocabulary.AttributeName), longestID)
	}
	if own := p.submissions[given.submission]; own != nil && own.job != "" {
		return own.job
	}
	if given.text(attributeJobID) != "" {
		return given.text(attributeJobID)
	}
	if given.text(vocabulary.AttributeName) == "" && given.word == "" {
		return given.text(attributePBSJob)
	}
	return ""
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

// change changes an element. An agent that changes what it did not announce again still has it.
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

// takeRemoved removes elements and all below them.
func (p *pass) takeRemoved(event *proxy.Update) bool {
	if event.Kind == model.Process {
		return p.removeProcesses(event)
	}
	if p.index[event.Kind] == nil || event.Kind == model.ResourceManager {
		p.report.count(oddUnknown, 1)
		return true
	}
	for _, group := range event.Groups {
		for wire := range group.IDs.All() {
			e, known := p.find(event.Kind, wire)
			if !known {
				p.report.count(oddElement, 1)
				continue
			}
			p.remove(p.update, event.Kind, e)
			p.removedJobs(event.Kind, e)
			delete(p.index[event.Kind].byWire, wire)
			delete(p.index[event.Kind].byID, e.id)
		}
	}
	return true
}

// removedJobs notes that the processes of a job, or of any job of a queue, are gone.
func (p *pass) removedJobs(kind model.Kind, e *element) {
	switch kind {
	case model.Job:
		p.touched[e.id] = true
	case model.Queue:
		p.touched[anyJob] = true
	}
}

// removeAll removes all elements.
func (p *pass) removeAll() {
	for _, kind := range []model.Kind{model.Machine, model.Queue} {
		for _, e := range p.index[kind].byID {
			p.remove(p.update, kind, e)
		}
	}
	p.touched[anyJob] = true
	p.sweep()
}
