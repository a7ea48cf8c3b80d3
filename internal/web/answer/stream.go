package answer

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	WriteTimeout = 10 * time.Second // a client that takes nothing for so long is gone
	Pause        = 20 * time.Second // without events, a comment is sent so often, which shows that both are there
)

// A Stream is an answer of server-sent events that has begun.
type Stream struct{ w http.ResponseWriter }

// GiveTime replaces the limit for the rest of an answer, for one that waits for a
// scheduler or is sent in parts.
func GiveTime(w http.ResponseWriter, limit time.Duration) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("give the answer time: %w", err)
	}
	return nil
}

// Open begins the answer. From then on each write has its own time limit.
func Open(w http.ResponseWriter) (*Stream, error) {
	s := &Stream{w: w}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if err := s.Send([]byte("retry: 2000\n\n")); err != nil {
		return nil, fmt.Errorf("begin a stream of events: %w", err)
	}
	return s, nil
}

// Send writes events to the client now.
func (s *Stream) Send(text []byte) error {
	if err := GiveTime(s.w, WriteTimeout); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

// EventText returns an event as it is written: its id, if it has one, its type
// and its data, which has no line ends.
func EventText(id, kind string, data []byte) []byte {
	var text strings.Builder
	if id != "" {
		fmt.Fprintf(&text, "id: %s\n", id)
	}
	fmt.Fprintf(&text, "event: %s\ndata: %s\n\n", kind, data)
	return []byte(text.String())
}
