package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// journalPace is how often a stream looks for events, which other processes may have
// recorded.
const journalPace = 200 * time.Millisecond

// maxStreams bounds the streams of events.
const maxStreams = 1000

// A journal knows the newest event of this user's jobs. It reads the record once for
// all streams.
type journal struct {
	streams atomic.Int32
	mutex   sync.Mutex
	newest  int64
	read    time.Time // when newest was read
}

// last returns the cursor of the newest event.
func (j *journal) last(ctx context.Context, store *jobstore.Store) (int64, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if time.Since(j.read) < journalPace/2 { // a stream alone reads each time
		return j.newest, nil
	}
	newest, err := store.LastEvent(ctx)
	if err == nil {
		j.newest, j.read = newest, time.Now()
	}
	return newest, err
}

// journalEvents streams the events of this user's jobs as rmctl watch --json prints
// them: those after the client's cursor, each at least once and those of a job in order.
// After a failure the client reconnects with its cursor.
func (a *API) journalEvents(w http.ResponseWriter, r *http.Request) error {
	last, err := a.Store.LastEvent(r.Context())
	if err != nil {
		return err
	}
	cursor, err := readCursor(r, last)
	if err != nil {
		return err
	}
	defer a.journal.streams.Add(-1)
	if a.journal.streams.Add(1) > maxStreams {
		return answer.Errorf(http.StatusServiceUnavailable, "%d event streams are already open; close some", maxStreams)
	}
	stream, err := answer.Open(w)
	if err != nil {
		return err
	}
	if err := a.streamJournal(r, stream, cursor); err != nil {
		a.Log.Info("event stream ended", "address", r.RemoteAddr, "error", err)
	}
	return nil
}

// streamJournal sends the events after cursor until the client leaves or the server
// ends.
func (a *API) streamJournal(r *http.Request, stream *answer.Stream, cursor int64) error {
	pace, pause := time.NewTicker(journalPace), time.NewTicker(answer.Pause)
	defer pace.Stop()
	defer pause.Stop()
	for known := cursor; ; {
		newest, err := a.journal.last(r.Context(), a.Store)
		if err == nil && newest > known {
			known = newest
			cursor, err = a.sendEvents(r, stream, cursor)
		}
		if err != nil {
			return err
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-pace.C:
		case <-pause.C:
			if err := stream.Send([]byte(":\n\n")); err != nil {
				return err
			}
		}
	}
}

// sendEvents sends the events after cursor that match a request, and returns the cursor
// of the last event.
func (a *API) sendEvents(r *http.Request, stream *answer.Stream, cursor int64) (int64, error) {
	query := r.URL.Query()
	for {
		events, err := a.Store.Events(r.Context(), cursor)
		if err != nil || len(events) == 0 {
			return cursor, err
		}
		for _, event := range events {
			cursor = event.Sequence
			if !matchesEvent(query, event) {
				continue
			}
			if err := sendEvent(stream, event); err != nil {
				return cursor, err
			}
		}
	}
}

// matchesEvent reports whether an event belongs to the target and the job
// in a query, if it has them.
func matchesEvent(query url.Values, event job.Event) bool {
	if query.Has("manager") && event.Target != query.Get("manager") {
		return false
	}
	return !query.Has("job") || event.ID == query.Get("job") || event.Tag == query.Get("job")
}

// readCursor returns the cursor that a stream starts after: that of the header
// Last-Event-ID of a browser that reconnects, else after=CURSOR, else the newest one.
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
		return 0, answer.Errorf(http.StatusBadRequest, "invalid after %.50q: use the cursor of an event, or 0 for all", text)
	}
	if cursor > newest {
		return 0, answer.Errorf(http.StatusConflict, "invalid after %d: the newest event is %d; if the record was replaced, start from 0", cursor, newest)
	}
	return cursor, nil
}

func sendEvent(s *answer.Stream, event job.Event) error {
	data, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	return s.Send(answer.EventText(strconv.FormatInt(event.Sequence, 10), string(event.Kind), data))
}
