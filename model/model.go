package model

import (
	"context"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// A Model is changed by updates, one at a time, and read by snapshots.
// Its methods may be called by any goroutine.
type Model struct {
	current atomic.Pointer[Snapshot]

	mu        sync.Mutex // held by the writer
	managers  map[string]*Manager
	order     table // the managers' own elements
	shapes    *shape
	shapeSize int      // number of shapes reachable from shapes
	texts     []string // recent texts, by hash
	seed      maphash.Seed
}

// maxShapes and maxTexts bound the shapes and texts that the writer keeps to share them between elements.
// When a limit is exceeded, it starts over.
const (
	maxShapes      = 10_000
	maxTexts       = 1 << 14
	maxSharedBytes = 64 // longer texts are rarely equal
)

// New returns an empty model.
func New() *Model {
	m := &Model{seed: maphash.MakeSeed(), managers: map[string]*Manager{}, order: table{order: byID}}
	m.forget()
	m.current.Store(&Snapshot{definitions: predefinedDefinitions(), managers: m.order.frozen(), outdated: make(chan struct{})})
	return m
}

// Snapshot returns the current snapshot.
func (m *Model) Snapshot() *Snapshot { return m.current.Load() }

// Next waits for a snapshot that is newer than the given one and returns the newest,
// or the error of ctx. Slow callers miss snapshots between; [Manager.Changes] compares
// any two.
func (m *Model) Next(ctx context.Context, last *Snapshot) (*Snapshot, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-last.outdated:
		return m.Snapshot(), nil
	}
}

// Update calls change with an [Update], then publishes all changes at once. It returns the problems, each
// kind once with a count.
//
// Updates wait for each other, never for readers. Do not use the [Update] after change has returned.
func (m *Model) Update(change func(*Update)) []Problem {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.current.Load()
	u := &Update{model: m, revision: before.revision + 1, definitions: before.definitions, touched: map[string]bool{}}
	change(u)
	after := m.freeze(before, u)
	m.current.Store(after)
	close(before.outdated)
	return u.problems
}

// freeze returns the snapshot after an update.
func (m *Model) freeze(before *Snapshot, u *Update) *Snapshot {
	below := maps.Clone(before.below)
	if below == nil {
		below = map[string]*Manager{}
	}
	for id := range u.touched {
		manager, kept := m.managers[id]
		if !kept {
			delete(below, id)
			continue
		}
		below[id] = manager.frozen()
	}
	return &Snapshot{revision: u.revision, definitions: u.definitions, managers: m.order.frozen(), below: below, outdated: make(chan struct{})}
}

func newManager() *Manager {
	m := &Manager{byNode: table{order: byNode}}
	for kind := Machine; kind < kinds; kind++ {
		m.byID[kind].order = byID
		m.byParent[kind].order = byParent
	}
	return m
}

func (m *Manager) frozen() *Manager {
	copied := &Manager{element: m.element, byNode: m.byNode.frozen()}
	for kind := Machine; kind < kinds; kind++ {
		copied.byID[kind] = m.byID[kind].frozen()
		copied.byParent[kind] = m.byParent[kind].frozen()
	}
	return copied
}

// store adds an element or replaces its previous version, which is nil for a new element.
func (m *Manager) store(before, element *Element) {
	if before != nil && (before.parent != element.parent || before.node() != element.node()) {
		m.remove(before)
	}
	m.byID[element.kind].store(element)
	if element.kind.nested() {
		m.byParent[element.kind].store(element)
	}
	if element.kind == Process && element.node() != "" {
		m.byNode.store(element)
	}
}

func (m *Manager) remove(element *Element) {
	m.byID[element.kind].remove(element)
	if element.kind.nested() {
		m.byParent[element.kind].remove(element)
	}
	if element.kind == Process && element.node() != "" {
		m.byNode.remove(element)
	}
}

// keep returns a copy of a text that shares no memory with its row. Equal recent texts share one copy.
func (m *Model) keep(text string) string {
	if len(text) > maxSharedBytes {
		return strings.Clone(text)
	}
	kept := &m.texts[maphash.String(m.seed, text)%maxTexts]
	if *kept != text {
		*kept = strings.Clone(text)
	}
	return *kept
}

// longer returns the shape with one more attribute.
func (m *Model) longer(s *shape, definition *Definition) *shape {
	longer, made := s.with(definition)
	if made {
		m.shapeSize++
	}
	return longer
}

// forget drops the shared shapes and texts.
func (m *Model) forget() {
	m.shapes, m.shapeSize, m.texts = &shape{}, 0, make([]string, maxTexts)
}
