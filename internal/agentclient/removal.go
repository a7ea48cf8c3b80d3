package agentclient

import (
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// takeRemoved removes elements with their descendants.
func (p *pass) takeRemoved(event *proxy.Update, isFirst bool) bool {
	if event.Kind == model.Process {
		return p.removeProcesses(event)
	}
	if event.Kind == model.Queue && !isFirst && len(p.changed) > 0 {
		return false
	}
	if p.index[event.Kind] == nil || event.Kind == model.ResourceManager {
		p.report.count(oddUnknown, 1)
		return true
	}
	if event.Kind == model.Job && !isFirst && p.haveChanged(event.Groups) {
		return false
	}
	for _, group := range event.Groups {
		for wire := range group.IDs.All() {
			e, known := p.find(event.Kind, wire)
			if !known {
				p.report.count(oddElement, 1)
				continue
			}
			delete(p.index[event.Kind].byWire, wire)
			if e.wire != wire {
				continue // it has another id now
			}
			p.remove(p.update, p.before, event.Kind, e)
			p.removedJobs(event.Kind, e)
			delete(p.index[event.Kind].byID, e.id)
		}
	}
	return true
}

// haveChanged reports whether jobs that an event may remove have changed in this update. The remembered
// state of a removed job is read from the model before the update.
func (p *pass) haveChanged(groups []proxy.Group) bool {
	if len(p.changed) == 0 {
		return false
	}
	for _, group := range groups {
		for wire := range group.IDs.All() {
			if job, known := p.find(model.Job, wire); known && p.changed[job.id] {
				return true
			}
		}
	}
	return false
}

// removedJobs marks the processes of a job, or of all jobs of a queue, as removed.
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
			p.remove(p.update, p.before, kind, e)
		}
	}
	p.touched[anyJob] = true
	p.sweep()
}
