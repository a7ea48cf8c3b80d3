package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// An Update changes a model; see [Model.Update].
type Update struct {
	model       *Model
	revision    uint64
	definitions definitions
	touched     map[string]bool // ids of changed resource managers
	problems    []Problem       // each kind once, few
	values      []string        // of the current row
}

// A Row has the data of one element.
type Row struct {
	Manager    string // id of the resource manager; empty for a resource manager
	Kind       Kind
	Parent     string // id of the parent; empty for resource managers, machines and queues
	ID         string
	Attributes []Attribute
	Whole      bool // whether missing attributes are removed instead of kept
}

// An Attribute is an attribute of a row.
type Attribute struct {
	ID       string
	Text     string
	Elements []string // replaces Text for an array
}

// Define adds the definition of an attribute, which must not be changed afterwards.
// An error wraps [errDefinition]; an attribute that has a definition keeps it.
func (u *Update) Define(definition Definition) error {
	definitions, err := u.definitions.with(&definition)
	if err != nil {
		return fmt.Errorf("define an attribute: %w", err)
	}
	u.definitions = definitions
	return nil
}

// Put adds or changes the element of a row. Invalid parts are ignored and reported as problems. A job may
// move to another queue; nodes and processes keep their parent. A resource manager that becomes STOPPED
// loses all elements below it.
func (u *Update) Put(row Row) {
	if row.ID == "" || len(row.ID) > maxIDBytes || row.Kind == Universe || row.Kind >= kinds {
		u.problem(problemID, row, "", fmt.Errorf("invalid kind, or id without 1 to %d bytes", maxIDBytes))
		return
	}
	manager, before, placed := u.place(&row)
	if !placed {
		return
	}
	shape := u.resolve(row, before)
	if before != nil && before.parent == row.Parent && before.shape == shape && slices.Equal(before.values, u.values) {
		return
	}
	after := &Element{kind: row.Kind, parent: row.Parent, shape: shape, values: u.keepValues(before), revision: u.revision}
	if before != nil {
		after.id = before.id
		if before.parent == row.Parent {
			after.parent = before.parent
		} else {
			after.parent = u.model.keep(row.Parent)
		}
	} else {
		after.id, after.parent = strings.Clone(row.ID), u.model.keep(row.Parent)
	}
	if row.Kind == ResourceManager {
		u.putManager(manager, before, after)
		return
	}
	u.touched[row.Manager] = true
	manager.store(before, after)
}

// place finds the resource manager and the previous version of a row's element.
func (u *Update) place(row *Row) (*Manager, *Element, bool) {
	if row.Kind == ResourceManager {
		row.Manager, row.Parent = "", ""
		manager, known := u.model.managers[row.ID]
		if !known {
			return newManager(), nil, true
		}
		return manager, manager.element, true
	}
	manager, known := u.model.managers[row.Manager]
	if !known {
		u.problem(problemParent, *row, "", fmt.Errorf("no such resource manager: %s", quoted(row.Manager)))
		return nil, nil, false
	}
	if !row.Kind.nested() {
		row.Parent = row.Manager
	}
	before, _ := manager.Get(row.Kind, row.ID)
	if before != nil && before.parent == row.Parent {
		return manager, before, true
	}
	if before != nil && row.Kind != Job {
		u.problem(problemElsewhere, *row, "", fmt.Errorf("it already belongs to the %s %s, not to %s", row.Kind.parent(), quoted(before.parent), quoted(row.Parent)))
		return nil, nil, false
	}
	if row.Kind.nested() {
		if _, known := manager.Get(row.Kind.parent(), row.Parent); !known {
			u.problem(problemParent, *row, "", fmt.Errorf("unknown %s %s", row.Kind.parent(), quoted(row.Parent)))
			return nil, nil, false
		}
	}
	return manager, before, true
}

// resolve stores the element's new values in u.values and returns its shape.
func (u *Update) resolve(row Row, before *Element) *shape {
	if u.model.shapeSize >= maxShapes {
		u.model.forget()
	}
	shape := u.model.shapes
	u.values = u.values[:0]
	if before != nil && !row.Whole {
		shape = before.shape
		u.values = append(u.values, before.values...)
	}
	for _, attribute := range row.Attributes {
		text, definition, taken := u.check(row, attribute, before)
		if !taken {
			continue
		}
		if at, given := shape.index[definition.ID]; given {
			u.values[at] = text
			continue
		}
		shape = u.model.longer(shape, definition)
		u.values = append(u.values, text)
	}
	return u.keepState(row, before, shape)
}

// keepState adds the known state to a whole row without a state: omitting it must not bypass the rules of
// transitions.
func (u *Update) keepState(row Row, before *Element, shape *shape) *shape {
	attribute := row.Kind.StateAttribute()
	if before == nil {
		return shape
	}
	at, given := before.shape.index[attribute]
	if _, has := shape.index[attribute]; has || !given {
		return shape
	}
	u.values = append(u.values, before.values[at])
	return u.model.longer(shape, before.shape.definitions[at])
}

// check returns the new text of an attribute. If the row's text is invalid, it returns the old one.
func (u *Update) check(row Row, attribute Attribute, before *Element) (string, *Definition, bool) {
	definition, err := u.definition(attribute.ID)
	if err != nil {
		u.problem(problemDefinition, row, "", err)
		return "", nil, false
	}
	text, what, err := u.canonical(row, definition, attribute, before)
	if err == nil {
		return text, definition, true
	}
	u.problem(what, row, definition.ID, err)
	if before == nil {
		return "", nil, false
	}
	kept, given := before.given(definition.ID)
	return kept, definition, given
}

// canonical returns the text of an attribute in canonical form. With an error it also returns the kind of
// problem.
func (u *Update) canonical(row Row, definition *Definition, attribute Attribute, before *Element) (text, what string, err error) {
	if definition.ID == vocabulary.AttributeID {
		return "", problemID, fmt.Errorf("attribute %s: a row must not set its id as an attribute", vocabulary.AttributeID)
	}
	texts := attribute.Elements
	if definition.Type != Array {
		texts = []string{attribute.Text}
	}
	text, err = definition.canonical(texts)
	if err != nil {
		return "", problemValue, err
	}
	if before != nil && definition.ID == row.Kind.StateAttribute() {
		if err := checkTransition(row.Kind, before.State(), State(text)); err != nil {
			return "", problemTransition, err
		}
	}
	return text, "", nil
}

// definition returns the definition of an attribute. It creates one for an undefined attribute.
func (u *Update) definition(id string) (*Definition, error) {
	if definition, known := u.definitions[id]; known {
		return definition, nil
	}
	definition := adHoc(strings.Clone(id))
	definitions, err := u.definitions.with(definition)
	if err != nil {
		return nil, err
	}
	u.definitions = definitions
	return definition, nil
}

// keepValues returns a copy of the current values for the element. Unchanged values share memory with the
// previous version.
func (u *Update) keepValues(before *Element) []string {
	values := make([]string, len(u.values))
	for i, text := range u.values {
		if before != nil && i < len(before.values) && before.values[i] == text {
			values[i] = before.values[i]
			continue
		}
		values[i] = u.model.keep(text)
	}
	return values
}

// putManager adds a resource manager or changes it.
func (u *Update) putManager(manager *Manager, before, after *Element) {
	if before != nil && before.State() != vocabulary.StateStopped && after.State() == vocabulary.StateStopped {
		u.removeBelow(after.id, manager)
	}
	u.model.managers[after.id] = manager
	manager.element = after
	u.model.order.store(after)
	u.touched[after.id] = true
}

// Remove removes an element with its descendants, if it exists. A resource manager must be STOPPED; its
// id is both manager and id.
func (u *Update) Remove(manager string, kind Kind, id string) {
	below, known := u.model.managers[manager]
	if !known {
		return
	}
	if kind == ResourceManager {
		if state := below.element.State(); state != vocabulary.StateStopped {
			u.problem(problemRemoval, Row{Kind: kind, ID: id}, "", fmt.Errorf("it is %s; stop it first", state))
			return
		}
		u.removeBelow(below.element.id, below)
		u.touched[manager] = true
		u.model.order.remove(below.element)
		delete(u.model.managers, manager)
		return
	}
	if element, known := below.Get(kind, id); known {
		u.removeElement(manager, below, element)
	}
}

func (u *Update) removeElement(manager string, below *Manager, element *Element) {
	for _, kind := range element.kind.Children() {
		for _, child := range slices.Collect(below.Children(kind, element.id)) {
			u.removeElement(manager, below, child)
		}
	}
	u.touched[manager] = true
	below.remove(element)
}

// removeBelow removes all elements of a resource manager, queues first.
func (u *Update) removeBelow(manager string, below *Manager) {
	for _, kind := range []Kind{Queue, Machine} {
		for _, element := range slices.Collect(below.All(kind)) {
			u.removeElement(manager, below, element)
		}
	}
}
