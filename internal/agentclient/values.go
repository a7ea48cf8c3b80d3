package agentclient

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// Attributes with a special meaning.
const (
	attributeSubmission = "jobSubId"
	attributeJobID      = "jobId"
	attributePBSJob     = "Job_Name"  // of the PBS agent in Java: the id of its scheduler
	attributePBSOwner   = "job_owner" // of the same agent: user@host
	attributeStdout     = "processStdout"
	attributeStderr     = "processStderr"
	attributeSignalName = "processSignalName"
)

// noValue is the PBS agent's (Java) word for a missing value.
const noValue = "null"

const (
	longestValue        = 500 // characters, like facts of listings
	longestID           = 250 // characters
	longestWire         = 1024
	longestName         = 100 // characters of the id of an attribute
	mostElementsOfArray = 1000
)

// attributes are those of one group of an event.
type attributes struct {
	list       []model.Attribute // without the states of jobs and processes
	word       string            // state of a job or process in the protocol
	submission string            // jobSubId
	queue      string            // id of a queue in the protocol
	signal     bool              // whether a signal ended the process
	output     [2][]string       // chunks
	ends       [2]string         // ends shown in the model
}

// shownBytes is the length of the end of each process stream in the model.
const shownBytes = 512

// write adds a chunk of output.
func (a *attributes) write(stream Stream, chunk string) {
	a.output[stream] = append(a.output[stream], chunk)
	end := a.ends[stream] + chunk[max(0, len(chunk)-shownBytes):]
	a.ends[stream] = end[max(0, len(end)-shownBytes):]
}

// text returns the value of an attribute.
func (a *attributes) text(id string) string {
	for i := range a.list {
		if a.list[i].ID == id {
			return a.list[i].Text
		}
	}
	return ""
}

// set sets an attribute. The last value wins; values of an array are collected.
func (a *attributes) set(id, text string, isArray bool) {
	for i := range a.list {
		if a.list[i].ID != id {
			continue
		}
		if a.list[i].Text = text; isArray && len(a.list[i].Elements) < mostElementsOfArray {
			a.list[i].Elements = append(a.list[i].Elements, text)
		}
		return
	}
	attribute := model.Attribute{ID: id, Text: text}
	if isArray {
		attribute.Elements = []string{text}
	}
	a.list = append(a.list, attribute)
}

// convert converts attributes of the protocol to those of the model.
func (p *pass) convert(kind model.Kind, given []proxy.Attribute) attributes {
	converted := attributes{list: make([]model.Attribute, 0, min(len(given)+1, mostAttributes))}
	for i := range given {
		p.add(&converted, kind, given[i].ID, given[i].Value)
	}
	if owner := converted.text(attributePBSOwner); owner != "" && converted.text(vocabulary.AttributeJobUser) == "" {
		user, _, _ := strings.Cut(owner, "@")
		converted.set(vocabulary.AttributeJobUser, user, false)
	}
	return converted
}

// add converts one attribute.
func (p *pass) add(to *attributes, kind model.Kind, id, value string) {
	if value == noValue && p.isForeign() {
		return
	}
	switch {
	case kind == model.Process && id == attributeStdout:
		to.write(Stdout, value)
		return
	case kind == model.Process && id == attributeStderr:
		to.write(Stderr, value)
		return
	case (kind == model.Job || kind == model.Process) && id == kind.StateAttribute():
		to.word = plaintext.Clean(value, longestName)
		return
	case !p.isAccepted(kind, id):
		return
	}
	value = plaintext.Clean(value, longestValue)
	switch id {
	case attributeSubmission:
		to.submission = value
	case attributeSignalName:
		to.signal = value != ""
	case vocabulary.AttributeJobQueue:
		to.queue = value
		value = p.translate(model.Queue, value)
	case vocabulary.AttributeProcessNodeID:
		value = p.translate(model.Node, value)
	}
	to.set(id, value, p.arrays[id])
}

// isAccepted reports whether elements of a kind may have an attribute. The number of undefined attributes
// is limited.
func (p *pass) isAccepted(kind model.Kind, id string) bool {
	known := p.index[kind].attributes
	if known[id] {
		return true
	}
	if id == vocabulary.AttributeID || id != plaintext.Clean(id, longestName) {
		p.report.count(oddAttribute, 1)
		return false
	}
	if len(known) >= mostAttributes {
		p.report.count(oddAttributes, 1)
		return false
	}
	known[strings.Clone(id)] = true
	return true
}

// translate returns the id in the model for an element named by an attribute.
func (p *pass) translate(kind model.Kind, wire string) string {
	if element, known := p.find(kind, wire); known {
		return element.id
	}
	return wire
}

// complete returns the attributes of an element with its state.
func (p *pass) complete(kind model.Kind, e *element, given *attributes, isNew bool) []model.Attribute {
	if kind != model.Job {
		return given.list
	}
	if given.word != "" && given.word != e.word {
		e.word = strings.Clone(given.word)
	}
	word, status := given.word, given.text(vocabulary.AttributeJobStatus)
	if word == "" && status != "" && p.isForeign() {
		word = e.word
	}
	state, known := jobState(word, status)
	switch {
	case known:
	case isNew:
		state = vocabulary.StateUnknown
	default:
		if word != "" {
			p.report.count(oddState, 1)
		}
		return given.list
	}
	p.scratch = append(append(p.scratch[:0], given.list...), model.Attribute{ID: vocabulary.AttributeJobState, Text: string(state)})
	return p.scratch
}

// chunks stores the output of a process.
func (p *pass) chunks(job *element, given *attributes) {
	for stream, chunks := range given.output {
		for _, chunk := range chunks {
			if !p.outputs.add(job.id, Stream(stream), chunk) {
				p.report.count(oddOutput, 1)
			}
		}
	}
}

// define adds a definition of an attribute.
func (p *pass) define(definition proxy.Definition) {
	if definition.ID == proxy.FeaturesAttribute && len(p.definitions) == 0 {
		p.offered = strings.Split(definition.Default, ",")
		return
	}
	definition = printable(definition)
	at := slices.IndexFunc(p.definitions, func(d proxy.Definition) bool { return d.ID == definition.ID })
	if at < 0 && (definition.ID == "" || len(p.definitions) >= mostDefinitions || len(definition.Values) > mostElementsOfArray) {
		p.report.count(oddDefinition, 1)
		return
	}
	p.defined++
	if at >= 0 {
		p.definitions[at] = definition
	} else {
		p.definitions = append(p.definitions, definition)
	}
	if _, known := p.model.Snapshot().Definition(definition.ID); known {
		return // predefined by the model, or from an earlier session
	}
	if definition.Type == string(model.Array) {
		p.arrays[definition.ID] = true
	}
	if lacksDefault(definition) && len(p.offered) > 0 {
		return // an attribute of submissions
	}
	defined, err := definition.Model()
	if err == nil {
		err = p.update.Define(*defined)
	}
	if err != nil {
		p.report.count(oddDefinition, 1)
	}
}

// lacksDefault reports whether a definition has no default and the empty text is not a valid one.
func lacksDefault(d proxy.Definition) bool {
	return d.Default == "" && d.Type != string(model.String) && d.Type != string(model.Array)
}

// printable returns a definition whose texts are short and printable, and share no memory with
// the event that it came in.
func printable(d proxy.Definition) proxy.Definition {
	clean := func(text string) string { return strings.Clone(plaintext.Clean(text, longestValue)) }
	cleaned := proxy.Definition{ID: strings.Clone(plaintext.Clean(d.ID, longestName)), Type: clean(d.Type), Name: clean(d.Name),
		Description: clean(d.Description), Display: d.Display, Default: clean(d.Default), Minimum: clean(d.Minimum),
		Maximum: clean(d.Maximum), DateStyle: clean(d.DateStyle), TimeStyle: clean(d.TimeStyle), Locale: clean(d.Locale)}
	for _, value := range d.Values[:min(len(d.Values), mostElementsOfArray)] {
		cleaned.Values = append(cleaned.Values, clean(value))
	}
	return cleaned
}

// mostDefinitions bounds the definitions of a session.
const mostDefinitions = 1000

// changeManager applies changes of the resource manager.
func (p *pass) changeManager(given []proxy.Attribute) {
	word := ""
	kept := make([]proxy.Attribute, 0, len(given))
	for _, attribute := range given {
		switch attribute.ID {
		case proxy.LastEventAttribute:
			if number, err := strconv.ParseUint(attribute.Value, 10, 64); err == nil && p.has(featureResume) {
				p.lastEvent, p.isComplete = number, true
			}
		case vocabulary.AttributeRMState:
			word = attribute.Value
			p.isComplete = p.isComplete || word == vocabulary.StateError
		default:
			p.noteProgress(attribute)
			kept = append(kept, attribute)
		}
	}
	converted := p.convert(model.ResourceManager, kept)
	p.putManager(p.update, word, converted.list)
}

// noteProgress stores an rmctl agent's progress report about its scheduler's listings.
func (p *pass) noteProgress(attribute proxy.Attribute) {
	switch attribute.ID {
	case vocabulary.AttributeListedJobs:
		p.areListed = p.areListed || attribute.Value != ""
	case vocabulary.AttributeUnlisted:
		p.areListed = p.areListed || attribute.Value == model.Job.String()
	case vocabulary.AttributeStale:
		p.isComplete = p.isComplete || attribute.Value != ""
	}
}
