package agentclient

import (
	"strings"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// recognize returns the record of a new element and whether it is known: by its protocol id or, in a
// repeated announcement, by its id in the model. It returns nil for an element with an invalid id.
func (p *pass) recognize(kind model.Kind, wire string, given *attributes) (*element, bool) {
	if wire == "" || len(wire) > longestWire {
		return nil, false
	}
	identity := p.identity(kind, given)
	if known, isKnown := p.find(kind, wire); isKnown {
		if kind != model.Job || identity == "" || identity == known.id {
			return known, true
		}
		p.remove(p.update, p.before, kind, known) // the id belongs to another job now
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

// numbered returns the record of an element that has only a protocol id.
func (p *pass) numbered(kind model.Kind, wire string) (*element, bool) {
	ids := []string{wire, wire + "." + p.suffix}
	if kind == model.Job {
		ids = ids[1:] // the next session reuses the id
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

// isFree reports whether another protocol id may refer to an element: it was not announced yet in the
// current announcement.
func (p *pass) isFree(e *element) bool { return e.wire == "" || e.generation != p.generation }

// rename changes the protocol id of an element.
func (p *pass) rename(kind model.Kind, e *element, wire string) {
	if byWire := p.index[kind].byWire; byWire[e.wire] == e && p.isFree(e) {
		delete(byWire, e.wire)
	}
	e.wire = strings.Clone(wire)
	p.index[kind].byWire[e.wire] = e
}

// record creates the record of an element.
func (p *pass) record(kind model.Kind, id, wire string) *element {
	e := &element{id: strings.Clone(id), wire: strings.Clone(wire)}
	if e.id == e.wire {
		e.wire = e.id
	}
	p.index[kind].byID[e.id], p.index[kind].byWire[e.wire] = e, e
	return e
}

// identity returns the element's id in the model if it has one independent of the protocol.
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
