package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// journalPace is how often the record is looked at for events that other processes
// have written, while anybody wants them.
const journalPace = 200 * time.Millisecond

// maxFollowers bounds how many streams of events there may be.
const maxFollowers = 1000

// A journal notifies those who follow the events of this user's jobs of new ones. It
// reads the record once for all of them.
type journal struct {
	store    *jobstore.Store
	mutex    sync.Mutex
	news     chan struct{} // closed when there is something new
	last     int64         // the newest event that was seen
	waiting  int
	awakened chan struct{} // holds at most one
}

func newJournal(store *jobstore.Store) *journal {
	return &journal{store: store, news: make(chan struct{}), awakened: make(chan struct{}, 1)}
}

// follow counts one more who waits, until leave is called.
func (j *journal) follow() (leave func(), err error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.waiting >= maxFollowers {
		return nil, answer.Errorf(http.StatusServiceUnavailable, "%d streams of events are open already; close some", maxFollowers)
	}
	j.waiting++
	select {
	case j.awakened <- struct{}{}:
	default:
	}
	return func() {
		j.mutex.Lock()
		defer j.mutex.Unlock()
		j.waiting--
	}, nil
}

// next returns what is closed when there are events that were not there before.
func (j *journal) next() <-chan struct{} {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.news
}

// run looks for events until ctx ends, as long as anybody waits for them. What goes
// wrong is reported once, until it goes well again.
func (j *journal) run(ctx context.Context, failed func(error)) {
	problem := ""
	pace := time.NewTicker(journalPace)
	defer pace.Stop()
	for {
		j.mutex.Lock()
		isAlone := j.waiting == 0
		j.mutex.Unlock()
		if isAlone {
			select {
			case <-ctx.Done():
				return
			case <-j.awakened:
			}
		}
		last, err := j.store.LastEvent(ctx)
		switch {
		case err == nil:
			problem = ""
			j.tell(last)
		case err.Error() != problem && ctx.Err() == nil:
			problem = err.Error()
			failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
	}
}

func (j *journal) tell(last int64) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if last != j.last {
		j.last = last
		close(j.news)
		j.news = make(chan struct{})
	}
}

// journalEvents streams the events of this user's jobs as rmctl watch --json prints
// them: those after the event whose cursor the client names, each at least once
// and those of a job in their order.
func (a *API) journalEvents(w http.ResponseWriter, r *http.Request) error {
	last, err := a.Store.LastEvent(r.Context())
	if err != nil {
		return err
	}
	cursor, err := readCursor(r, last)
	if err != nil {
		return err
	}
	leave, err := a.journal.follow()
	if err != nil {
		return err
	}
	defer leave()
	stream, err := answer.Open(w)
	if err != nil {
		return err
	}
	a.streamJournal(r, stream, cursor)
	return nil
}

// streamJournal sends the events after cursor until the client leaves or the server
// ends. After a failure the client returns with its cursor.
func (a *API) streamJournal(r *http.Request, stream *answer.Stream, cursor int64) {
	ctx, query := r.Context(), r.URL.Query()
	pause := time.NewTicker(answer.Pause)
	defer pause.Stop()
	for {
		news := a.journal.next() // before the look, so that nothing falls between the two
		events, err := a.Store.Events(ctx, cursor)
		if err != nil {
			a.Log.Info("a stream of events ended", "address", r.RemoteAddr, "error", err)
			return
		}
		for _, event := range events {
			cursor = event.Sequence
			if !isWantedEvent(query, event) {
				continue
			}
			if err := sendEvent(stream, event); err != nil {
				a.Log.Debug("a client left its stream", "address", r.RemoteAddr, "error", err)
				return
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-news:
		case <-pause.C:
			if err := stream.Send([]byte(":\n\n")); err != nil {
				return
			}
		}
	}
}

// isWantedEvent reports whether an event belongs to the resource manager and the job
// that a query names, if it names them.
func isWantedEvent(query url.Values, event job.Event) bool {
	if query.Has("manager") && event.Target != query.Get("manager") {
		return false
	}
	return !query.Has("job") || event.ID == query.Get("job") || event.Tag == query.Get("job")
}

// readCursor reads behind which event a stream begins: after=CURSOR, what a browser
// sends that comes back, or else the newest event.
func readCursor(r *http.Request, newest int64) (int64, error) {
	text := r.URL.Query().Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		text = last
	}
	if text == "" {
		return newest, nil
	}
	cursor, err := strconv.ParseInt(text, 10, 64)
	if err != nil || cursor < 0 {
		return 0, answer.Errorf(http.StatusBadRequest, "after=%.50q: write the cursor of an event, or 0 for all", text)
	}
	if cursor > newest {
		return 0, answer.Errorf(http.StatusConflict, "after=%d: the newest event is %d; if the record was begun anew, begin after 0", cursor, newest)
	}
	return cursor, nil
}

// sendEvent sends one event of the journal.
func sendEvent(s *answer.Stream, event job.Event) error {
	data, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	return s.Send(answer.EventText(strconv.FormatInt(event.Sequence, 10), string(event.Kind), data))
}
