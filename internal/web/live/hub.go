// Package live keeps pages up to date: it draws each view once per change of the model for
// all clients, and sends them the changes as fragments of HTML.
package live

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/model"
)

const (
	drawPause    = 500 * time.Millisecond // between two drawings of a view
	maxWatchers  = 1000
	maxUnwatched = 256 // drawings kept for pages whose streams are not open yet
	watcherQueue = 8   // events queued for one client; one that is further behind is disconnected
)

// A Hub draws views and sends the changes to the clients that watch them. It draws each
// view with the same query once for all clients.
type Hub struct {
	model   *model.Model
	log     *slog.Logger
	views   map[string]View // complete before Run
	slow    map[string]bool // names of views that do more than read the model
	pause   time.Duration   // between two drawings of a view
	start   string          // distinguishes the marks of this server from those of earlier ones
	changed chan struct{}   // holds at most one
	mutex   sync.Mutex      // guards the following, and fields of a scene
	scenes  map[string]*scene
	clients int
	marks   uint64
}

// A scene is a view with one query.
type scene struct {
	name       string
	query      url.Values
	view       View
	isSlow     bool
	drawing    sync.Mutex // held while the view is drawn
	last       *Drawn     // guarded by hub.mutex, as the following
	isOutdated bool       // it shows more than the model, and that has changed
	revision   uint64     // of the model for which last was drawn or found unchanged
	at         time.Time  // when that was
	problem    string     // why the view could not be drawn since
	watchers   map[*watcher]struct{}
}

// A watcher is a client of a view.
type watcher struct {
	hub    *Hub
	scene  *scene
	events chan []byte // closed for a client that is too far behind
}

// New returns a hub without views.
func New(m *model.Model, log *slog.Logger) *Hub {
	return &Hub{model: m, log: log, views: map[string]View{}, slow: map[string]bool{}, pause: drawPause, start: rand.Text()[:8], changed: make(chan struct{}, 1), scenes: map[string]*scene{}}
}

// AddView adds a view by a name.
func (h *Hub) AddView(name string, v View) {
	h.views[name] = v
}

// AddSlowView adds a view that asks others than the model. It never delays other views: while it is drawn, it
// shows its last drawing.
func (h *Hub) AddSlowView(name string, v View) {
	h.AddView(name, v)
	h.slow[name] = true
}

// Draw returns the current drawing of a view for a query.
func (h *Hub) Draw(name string, query url.Values) (*Drawn, error) {
	sc, err := h.scene(name, query)
	if err != nil {
		return nil, err
	}
	return h.draw(sc, 0)
}

// Outdate makes Run draw views again, which show more than the model.
func (h *Hub) Outdate(names ...string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, sc := range h.scenes {
		if slices.Contains(names, sc.name) {
			sc.isOutdated = true
			h.wake()
		}
	}
}

// wake makes Run draw the views that have watchers.
func (h *Hub) wake() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// Run draws views when the model changes, until ctx ends.
func (h *Hub) Run(ctx context.Context) {
	last := h.model.Snapshot()
	h.wake() // for views drawn from an older snapshot
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() {
		for {
			newer, err := h.model.Next(ctx, last)
			if err != nil {
				return
			}
			last = newer
			h.wake()
		}
	})
	pause := time.NewTimer(0)
	defer pause.Stop()
	var slow sync.WaitGroup
	defer slow.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-h.changed:
		}
		for _, sc := range h.watched() {
			if sc.isSlow {
				slow.Go(func() { h.redraw(ctx, sc) })
			} else {
				h.redraw(ctx, sc)
			}
		}
		pause.Reset(h.pause)
	}
}

// redraw draws a scene for its watchers.
func (h *Hub) redraw(ctx context.Context, sc *scene) {
	if _, err := h.draw(sc, 0); err != nil && ctx.Err() == nil {
		h.log.Debug("cannot draw a view", "view", sc.name, "query", sc.query.Encode(), "error", err)
	}
}

// watched returns the scenes with watchers, and drops the others.
func (h *Hub) watched() []*scene {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var all []*scene
	for key, sc := range h.scenes {
		if len(sc.watchers) == 0 {
			delete(h.scenes, key)
			continue
		}
		all = append(all, sc)
	}
	return all
}

// scene returns the scene of a view with a query.
func (h *Hub) scene(name string, query url.Values) (*scene, error) {
	v, known := h.views[name]
	if !known {
		return nil, answer.Errorf(http.StatusNotFound, "no such view: %q", name)
	}
	sc := &scene{name: name, query: query, view: v, isSlow: h.slow[name], watchers: map[*watcher]struct{}{}}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if found, isKept := h.scenes[sc.key()]; isKept {
		return found, nil
	}
	if len(h.scenes) >= maxUnwatched {
		for key, other := range h.scenes {
			if len(other.watchers) == 0 {
				delete(h.scenes, key)
			}
		}
	}
	h.scenes[sc.key()] = sc
	return sc, nil
}

func (sc *scene) key() string { return sc.name + "?" + sc.query.Encode() }

// draw returns a drawing of a scene that is current or at most age old, and sends the
// changes to its watchers. Of a slow view that is being drawn, it returns the last drawing.
func (h *Hub) draw(sc *scene, age time.Duration) (*Drawn, error) {
	if !sc.drawing.TryLock() {
		if last := h.shown(sc); sc.isSlow && last != nil {
			return last, nil
		}
		sc.drawing.Lock()
	}
	defer sc.drawing.Unlock()
	snapshot := h.model.Snapshot()
	h.mutex.Lock()
	last := sc.last
	isCurrent := last != nil && sc.problem == "" && !sc.isOutdated && (sc.revision == snapshot.Revision() || time.Since(sc.at) < age)
	sc.isOutdated = false // a change from here on makes it outdated again
	h.mutex.Unlock()
	if isCurrent {
		return last, nil
	}
	regions, err := sc.view(snapshot, sc.query)
	if err != nil {
		return nil, h.failed(sc, err)
	}
	after := &Drawn{Name: sc.name, Query: sc.query.Encode(), regions: regions}
	changes := patches(last, after)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	sc.revision, sc.at = snapshot.Revision(), time.Now()
	if last != nil && len(changes) == 0 && sc.problem == "" {
		return last, nil
	}
	sc.problem = ""
	h.marks++
	after.Mark = fmt.Sprintf("%s-%d", h.start, h.marks)
	sc.last = after
	if len(sc.watchers) > 0 {
		h.notify(sc, event(after.Mark, changes))
	}
	return after, nil
}

// shown returns the last drawing of a scene; nil before the first.
func (h *Hub) shown(sc *scene) *Drawn {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return sc.last
}

// failed sends the watchers of a scene the reason why it cannot be drawn, once.
func (h *Hub) failed(sc *scene, err error) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if sc.problem == err.Error() {
		return err
	}
	sc.problem = err.Error()
	h.notify(sc, problemEvent(err))
	return err
}

// notify sends an event to all watchers of a scene. h.mutex is held.
func (h *Hub) notify(sc *scene, text []byte) {
	for w := range sc.watchers {
		select {
		case w.events <- text:
		default:
			close(w.events)
			h.remove(w)
		}
	}
}

// watch adds a watcher of a view. It gets the whole view unless mark is that of the newest
// drawing, which the client shows already.
func (h *Hub) watch(name string, query url.Values, mark string) (*watcher, error) {
	sc, err := h.scene(name, query)
	if err != nil {
		return nil, err
	}
	if _, err := h.draw(sc, h.pause); err != nil {
		return nil, err
	}
	w := &watcher{hub: h, events: make(chan []byte, watcherQueue)}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.clients >= maxWatchers {
		return nil, answer.Errorf(http.StatusServiceUnavailable, "%d pages are already open; close some", maxWatchers)
	}
	if current, isKept := h.scenes[sc.key()]; isKept {
		sc = current // another one if this one was dropped meanwhile
	}
	if sc.last != nil && sc.last.Mark != mark {
		w.events <- event(sc.last.Mark, patches(nil, sc.last))
	}
	w.scene = sc
	h.scenes[sc.key()] = sc
	sc.watchers[w] = struct{}{}
	h.clients++
	if sc.revision != h.model.Snapshot().Revision() {
		h.wake() // Run may have drawn the change before this client came
	}
	return w, nil
}

// leave removes the watcher.
func (w *watcher) leave() {
	w.hub.mutex.Lock()
	defer w.hub.mutex.Unlock()
	w.hub.remove(w)
}

// remove removes a watcher, and its scene with the last one. h.mutex is held.
func (h *Hub) remove(w *watcher) {
	if _, isWatching := w.scene.watchers[w]; !isWatching {
		return
	}
	delete(w.scene.watchers, w)
	h.clients--
	if len(w.scene.watchers) == 0 && h.scenes[w.scene.key()] == w.scene {
		delete(h.scenes, w.scene.key())
	}
}
