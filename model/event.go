package model

// An EventType says what an event tells.
type EventType string

// The types of events.
const (
	Added   EventType = "new"     // elements are there that were not
	Changed EventType = "changed" // attributes were added, removed or changed
	Removed EventType = "removed" // elements are gone
	Failed  EventType = "failed"  // a resource manager got into the state ERROR
	Lost    EventType = "lost"    // the listener was too slow; the snapshot tells what it missed
)

// A Ref names an element. Its zero value names the universe.
type Ref struct {
	Manager string // id of the resource manager; of a resource manager, its own
	Kind    Kind
	ID      string // of a resource manager its id once more
}

// A Change is a change of one element. [Differences] tells its attributes.
type Change struct {
	Before *Element // nil for a new element
	After  *Element // nil for a removed element
}

// Element returns the newest version there is.
func (c Change) Element() *Element {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// An Event tells of changes in one update. A listener of an element gets an event
// of its own, with itself as Source and one change; a listener of an element's
// children gets one event for all of them that changed in the same way, with their
// parent as Source. It is shared by listeners and must not be changed.
type Event struct {
	Type     EventType
	Source   Ref
	Of       Kind // of the elements that changed
	Changes  []Change
	Cause    error // of a Failed event
	Snapshot *Snapshot
}

// IDs returns the ids of the elements that changed: numbers as a set, others in
// their order.
func (e *Event) IDs() (RangeSet, []string) {
	return RangeSetOfIDs(func(yield func(string) bool) {
		for _, change := range e.Changes {
			if !yield(change.Element().id) {
				return
			}
		}
	})
}

// events returns what listeners are told of an update: what is gone from the bottom
// up, what is new from the top down, what changed, and what failed.
func (u *Update) events(after *Snapshot) []*Event {
	removed, added, changed := newGroups(Removed, after), newGroups(Added, after), newGroups(Changed, after)
	for _, change := range u.changes {
		switch {
		case change.Before == nil && change.After == nil: // added and removed at once
		case change.Before == nil:
			added.add(change.manager, change.After, change.Change)
		case change.After == nil:
			removed.add(change.manager, change.Before, change.Change)
		default:
			u.addMoved(removed, added, changed, change)
		}
	}
	var events []*Event
	for kind := Process; kind > Universe; kind-- {
		events = append(events, removed.of[kind]...)
	}
	for _, groups := range []*groups{added, changed} {
		for kind := ResourceManager; kind < kinds; kind++ {
			events = append(events, groups.of[kind]...)
		}
	}
	for _, failure := range u.failures {
		events = append(events, &Event{Type: Failed, Source: Ref{failure.manager, ResourceManager, failure.manager}, Of: ResourceManager, Cause: failure.cause, Snapshot: after})
	}
	return events
}

// addMoved tells the parents of an element that changed: one that it left, one that
// it came to, or the one that it stays with.
func (u *Update) addMoved(removed, added, changed *groups, change managedChange) {
	before, after := change.Before, change.After
	if before.parent == after.parent {
		changed.addTo(parentOf(change.manager, after), change.Change)
	} else {
		removed.addTo(parentOf(change.manager, before), change.Change)
		added.addTo(parentOf(change.manager, after), change.Change)
	}
	if after.kind != Process {
		return
	}
	switch was, is := nodeOf(change.manager, before), nodeOf(change.manager, after); {
	case was == is:
		changed.addTo(is, change.Change)
	default:
		removed.addTo(was, change.Change)
		added.addTo(is, change.Change)
	}
}

func parentOf(manager string, element *Element) Ref {
	switch kind := element.kind.Parent(); kind {
	case Universe:
		return Ref{}
	case ResourceManager:
		return Ref{manager, ResourceManager, manager}
	default:
		return Ref{manager, kind, element.parent}
	}
}

// nodeOf names the node of a process; with an empty id, none.
func nodeOf(manager string, process *Element) Ref {
	return Ref{manager, Node, process.node()}
}

func refOf(manager string, element *Element) Ref { return Ref{manager, element.kind, element.id} }

// groups are the events of one type, by the kind of the elements.
type groups struct {
	eventType EventType
	snapshot  *Snapshot
	of        [kinds][]*Event
	bySource  map[groupKey]*Event
}

type groupKey struct {
	source Ref
	of     Kind
}

func newGroups(eventType EventType, snapshot *Snapshot) *groups {
	return &groups{eventType: eventType, snapshot: snapshot, bySource: map[groupKey]*Event{}}
}

// add tells an element's parent of a change, and a process's node, too.
func (g *groups) add(manager string, element *Element, change Change) {
	g.addTo(parentOf(manager, element), change)
	if element.kind == Process {
		g.addTo(nodeOf(manager, element), change)
	}
}

func (g *groups) addTo(source Ref, change Change) {
	if source.Kind == Node && source.ID == "" {
		return
	}
	kind := change.Element().kind
	key := groupKey{source, kind}
	event, known := g.bySource[key]
	if !known {
		event = &Event{Type: g.eventType, Source: source, Of: kind, Snapshot: g.snapshot}
		g.bySource[key] = event
		g.of[kind] = append(g.of[kind], event)
	}
	event.Changes = append(event.Changes, change)
}
