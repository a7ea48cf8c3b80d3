package agentclient

import (
	"strings"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// processID returns the id in the model of a process of a job.
func processID(job *element, wire string) string { return job.id + "." + wire }

// newProcess puts a process into the model.
func (p *pass) newProcess(job *element, wire string, given *attributes) {
	if len(wire) > longestWire-longestID {
		p.report.count(oddID, 1)
		return
	}
	p.touched[job.id] = true
	if p.owners != nil {
		p.owners[strings.Clone(wire)] = job
	}
	list := given.list
	if state, known := processState(given.word, given.signal); known {
		list = append(list, model.Attribute{ID: vocabulary.AttributeProcessState, Text: string(state)})
	} else if _, isKnown := p.before.Get(model.Process, processID(job, wire)); !isKnown {
		list = append(list, model.Attribute{ID: vocabulary.AttributeProcessState, Text: vocabulary.StateUnknown})
	}
	p.putProcess(job, wire, withOutput(list, given, nil), given)
}

// haveStates reports whether events say the state of each process.
func haveStates(groups []proxy.Group) bool {
	for _, group := range groups {
		if _, given := group.Attributes.Value(vocabulary.AttributeProcessState); !given {
			return false
		}
	}
	return true
}

// putProcess puts a process with attributes and output into the model.
func (p *pass) putProcess(job *element, wire string, list []model.Attribute, given *attributes) {
	p.update.Put(model.Row{Manager: p.manager, Kind: model.Process, Parent: job.id, ID: processID(job, wire), Attributes: list})
	p.chunks(job, given)
}

// changeProcesses changes processes. It reports false if their job was changed in this update, since it
// reads the existing processes from the model.
func (p *pass) changeProcesses(event *proxy.Update) bool {
	job, known := p.find(model.Job, event.Parent)
	if event.Parent != "" && !known {
		p.report.count(oddProcess, 1)
		return true
	}
	if p.isTouched(job) {
		return false
	}
	for _, group := range event.Groups {
		given := p.convert(model.Process, group.Attributes)
		for wire := range group.IDs.All() {
			p.changeProcess(p.owner(job, wire), wire, &given)
		}
	}
	return true
}

// isTouched reports whether processes of a job, or of any job if it is nil, were changed in this update,
// and marks them as changed.
func (p *pass) isTouched(job *element) bool {
	if job == nil {
		return len(p.touched) > 0
	}
	if p.isOutdated(job) {
		return true
	}
	p.touched[job.id] = true
	return false
}

// isOutdated reports whether the processes of a job differ from those before the update.
func (p *pass) isOutdated(job *element) bool { return p.touched[job.id] || p.touched[anyJob] }

// changeProcess changes a process.
func (p *pass) changeProcess(job *element, wire string, given *attributes) {
	if job == nil {
		p.report.count(oddElement, 1)
		return
	}
	shown, known := p.before.Get(model.Process, processID(job, wire))
	if !known {
		p.report.count(oddElement, 1)
		p.chunks(job, given) // still output of the job
		return
	}
	p.touched[job.id] = true
	list := given.list
	if given.word != "" {
		signal, _ := shown.Value(attributeSignalName)
		state, isState := processState(given.word, given.signal || signal.Text() != "")
		if isState {
			list = append(list, model.Attribute{ID: vocabulary.AttributeProcessState, Text: string(state)})
		} else {
			p.report.count(oddState, 1)
		}
	}
	p.putProcess(job, wire, withOutput(list, given, shown), given)
}

// withOutput returns attributes with the output of a process, appended to its earlier output.
func withOutput(list []model.Attribute, given *attributes, shown *model.Element) []model.Attribute {
	for stream, id := range [...]string{Stdout: attributeStdout, Stderr: attributeStderr} {
		text := given.ends[stream]
		if text == "" {
			continue
		}
		if shown != nil {
			before, _ := shown.Value(id)
			text = before.Text() + text
		}
		list = append(list, model.Attribute{ID: id, Text: plaintext.End(text, shownBytes)})
	}
	return list
}

// removeProcesses removes processes under the same condition as changeProcesses.
func (p *pass) removeProcesses(event *proxy.Update) bool {
	job, known := p.find(model.Job, event.Parent)
	if event.Parent != "" && !known {
		p.report.count(oddProcess, 1)
		return true
	}
	if p.isTouched(job) {
		return false
	}
	for _, group := range event.Groups {
		for wire := range group.IDs.All() {
			owner := p.owner(job, wire)
			if owner == nil {
				p.report.count(oddElement, 1)
				continue
			}
			p.touched[owner.id] = true
			p.update.Remove(p.manager, model.Process, processID(owner, wire))
			delete(p.owners, wire)
		}
	}
	return true
}

// owner returns the job of a process. Agents before May 2010 send no job, but unique ids of processes.
func (p *pass) owner(job *element, wire string) *element {
	if job != nil {
		return job
	}
	if p.owners == nil {
		p.owners = map[string]*element{}
		for process := range p.before.All(model.Process) {
			if owner, known := p.index[model.Job].byID[process.Parent()]; known {
				p.owners[strings.TrimPrefix(process.ID(), owner.id+".")] = owner
			}
		}
	}
	if owner := p.owners[wire]; owner != nil && owner.isAlive() {
		return owner
	}
	return nil
}
