package model

import (
	"iter"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// A Snapshot is the model after one update. It never changes and is safe for concurrent use. Snapshots
// share unchanged parts.
type Snapshot struct {
	revision    uint64
	definitions definitions
	managers    table
	below       map[string]*Manager
	outdated    chan struct{} // closed when there is a newer snapshot
}

// A Manager is one resource manager in a snapshot.
type Manager struct {
	element  *Element
	byID     [kinds]table
	byParent [kinds]table // of nodes, jobs and processes
	byNode   table        // processes
}

// Revision returns the number of the update. Numbers increase with each update.
func (s *Snapshot) Revision() uint64 { return s.revision }

// Definition returns the definition of the attribute with this id.
func (s *Snapshot) Definition(id string) (*Definition, bool) {
	definition, known := s.definitions[id]
	return definition, known
}

// Managers yields the resource managers in the order of their ids.
func (s *Snapshot) Managers() iter.Seq[*Manager] {
	return func(yield func(*Manager) bool) {
		for element := range s.managers.from(&Element{}) {
			if !yield(s.below[element.id]) {
				return
			}
		}
	}
}

// Manager returns the resource manager with this id.
func (s *Snapshot) Manager(id string) (*Manager, bool) {
	manager, known := s.below[id]
	return manager, known
}

// Element returns the resource manager's own element.
func (m *Manager) Element() *Element { return m.element }

// Get returns the element of a kind with this id.
func (m *Manager) Get(kind Kind, id string) (*Element, bool) {
	return m.elements(kind).get(&Element{id: id})
}

// Len returns how many elements of a kind there are.
func (m *Manager) Len(kind Kind) int {
	return m.elements(kind).length
}

// All yields the elements of a kind in the order of their ids, numbers in ids by
// their value.
func (m *Manager) All(kind Kind) iter.Seq[*Element] {
	return m.elements(kind).from(&Element{})
}

// Children yields the elements of a kind that belong to the element with this id,
// in the order of their ids.
func (m *Manager) Children(kind Kind, parent string) iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		if !kind.nested() {
			m.All(kind)(yield)
			return
		}
		for element := range m.byParent[kind].from(&Element{parent: parent}) {
			if element.parent != parent || !yield(element) {
				return
			}
		}
	}
}

// OnNode yields the processes that run on the node with this id, in the order of
// their ids.
func (m *Manager) OnNode(node string) iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for element := range m.byNode.from(onNode(node)) {
			if element.node() != node || !yield(element) {
				return
			}
		}
	}
}

// onNode is the position in a table by nodes where the processes of a node begin.
func onNode(node string) *Element {
	return &Element{shape: nodeShape, values: []string{node}}
}

var nodeShape = &shape{index: map[string]int{vocabulary.AttributeProcessNodeID: 0}}

// elements returns the elements of a kind by id, none for kinds outside resource managers.
func (m *Manager) elements(kind Kind) *table {
	if kind >= kinds {
		return &table{}
	}
	return &m.byID[kind]
}

// nested reports whether the parents of the kind are elements of the resource manager.
func (k Kind) nested() bool { return k == Node || k == Job || k == Process }
