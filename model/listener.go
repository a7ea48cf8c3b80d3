package model

import (
	"context"
	"errors"
	"sync"
)

// ErrListenerClosed is what [Listener.Next] returns once the listener is closed.
var ErrListenerClosed = errors.New("the listener is closed")

// An Interest says which events a listener wants.
type Interest struct {
	Of       Ref
	Children bool // of the element's children; else of the element itself
}

// A Listener holds events until they are fetched, a bounded number of them. It is
// used by one goroutine.
type Listener struct {
	model     *Model
	interests []Interest
	capacity  int
	wake      chan struct{} // holds one token while there may be something to fetch
	release   func() bool

	mu     sync.Mutex
	events []*Event
	lost   bool // events were dropped since the last was fetched
	closed bool
	since  uint64 // events up to this revision are known from a snapshot
}

// listeners are the listeners of a model, by what they want.
type listeners struct {
	mu         sync.Mutex
	everything map[*Listener]struct{}
	wanting    map[Interest]map[*Listener]struct{}
}

// Listen returns a listener for what the interests name, from the next update on.
// Without interests it is told of every element's children once, which is every
// change, and of every failure. It holds capacity events, at least one; when more
// come than are fetched, all are dropped and [Listener.Next] returns one of type
// [Lost]. The listener is closed when ctx ends.
func (m *Model) Listen(ctx context.Context, capacity int, interests ...Interest) *Listener {
	l := &Listener{model: m, interests: interests, capacity: max(capacity, 1), wake: make(chan struct{}, 1)}
	all := &m.listeners
	all.mu.Lock()
	if len(interests) == 0 {
		if all.everything == nil {
			all.everything = map[*Listener]struct{}{}
		}
		all.everything[l] = struct{}{}
	}
	for _, interest := range interests {
		if all.wanting == nil {
			all.wanting = map[Interest]map[*Listener]struct{}{}
		}
		if all.wanting[interest] == nil {
			all.wanting[interest] = map[*Listener]struct{}{}
		}
		all.wanting[interest][l] = struct{}{}
	}
	all.mu.Unlock()
	release := context.AfterFunc(ctx, l.close)
	l.mu.Lock()
	l.release = release
	l.mu.Unlock()
	return l
}

// Next returns the next event; it waits for one until ctx ends. After an event of
// type Lost, the events that its snapshot includes are not returned any more. Once
// the listener is closed, Next returns [ErrListenerClosed].
func (l *Listener) Next(ctx context.Context) (*Event, error) {
	for {
		if event, err := l.fetch(); event != nil || err != nil {
			return event, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.wake:
		}
	}
}

func (l *Listener) fetch() (*Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrListenerClosed
	}
	if l.lost {
		l.lost = false
		snapshot := l.model.Snapshot()
		l.since = snapshot.revision
		return &Event{Type: Lost, Snapshot: snapshot}, nil
	}
	for len(l.events) > 0 {
		event := l.events[0]
		l.events[0] = nil
		l.events = l.events[1:]
		if event.Snapshot.revision > l.since {
			return event, nil
		}
	}
	return nil, nil
}

// Close ends the listener; it may be closed more than once.
func (l *Listener) Close() {
	l.mu.Lock()
	release := l.release
	l.mu.Unlock()
	release()
	l.close()
}

func (l *Listener) close() {
	all := &l.model.listeners
	all.mu.Lock()
	delete(all.everything, l)
	for _, interest := range l.interests {
		delete(all.wanting[interest], l)
		if len(all.wanting[interest]) == 0 {
			delete(all.wanting, interest)
		}
	}
	all.mu.Unlock()
	l.mu.Lock()
	l.closed, l.events = true, nil
	l.mu.Unlock()
	l.awake()
}

// offer gives the listener an event; it never waits.
func (l *Listener) offer(event *Event) {
	l.mu.Lock()
	switch {
	case l.closed || l.lost:
	case len(l.events) >= l.capacity:
		l.events, l.lost = nil, true
	default:
		l.events = append(l.events, event)
	}
	l.mu.Unlock()
	l.awake()
}

func (l *Listener) awake() {
	select {
	case l.wake <- struct{}{}:
	default: // there is a token already
	}
}

// deliver tells the listeners of an update: first those of the elements that
// changed, then those of their parents.
func (all *listeners) deliver(u *Update, after *Snapshot) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.everything) == 0 && len(all.wanting) == 0 {
		return
	}
	for _, change := range u.changes {
		if change.Before == nil {
			continue
		}
		source := refOf(change.manager, change.Element())
		wanting := all.wanting[Interest{Of: source}]
		if len(wanting) == 0 {
			continue
		}
		eventType := Changed
		if change.After == nil {
			eventType = Removed
		}
		tell(wanting, &Event{Type: eventType, Source: source, Of: source.Kind, Changes: []Change{change.Change}, Snapshot: after})
	}
	for _, event := range u.events(after) {
		tell(all.wanting[Interest{event.Source, event.Type != Failed}], event)
		if !(event.Of == Process && event.Source.Kind == Node) { // told by the processes' job
			tell(all.everything, event)
		}
	}
}

func tell(wanting map[*Listener]struct{}, event *Event) {
	for listener := range wanting {
		listener.offer(event)
	}
}
