package live

import (
	"net/http"
	"time"

	"github.com/rmctl/rmctl/internal/web/answer"
)

// EventsPath is the address of the stream of what a page shows live.
const EventsPath = "/events"

// Stream sends the changes of one view: view=NAME and the query of the page's address.
// drawn=MARK or the header Last-Event-ID is the mark of the drawing that the client shows.
func (h *Hub) Stream(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	name, mark := query.Get("view"), query.Get("drawn")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		mark = last
	}
	query.Del("view")
	query.Del("drawn")
	watcher, err := h.watch(name, query, mark)
	if err != nil {
		return err
	}
	defer watcher.leave()
	stream, err := answer.Open(w)
	if err != nil {
		return err
	}
	pause := time.NewTicker(answer.Pause)
	defer pause.Stop()
	for {
		var text []byte
		select {
		case <-r.Context().Done():
			return nil
		case event, isOpen := <-watcher.events:
			if !isOpen {
				h.log.Info("disconnected a client that did not read", "address", r.RemoteAddr, "view", name)
				return nil
			}
			text = event
		case <-pause.C:
			text = []byte(":\n\n")
		}
		if err := stream.Send(text); err != nil {
			h.log.Debug("client closed its stream", "address", r.RemoteAddr, "view", name, "error", err)
			return nil
		}
	}
}
