package answer

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	WriteTimeout = 10 * time.Second // of a client that reads nothing
	Pause        = 20 * time.Second // between comments that keep a stream without events alive
)

// A Stream is a response of server-sent events.
type Stream struct{ w http.ResponseWriter }

// GiveTime sets a new deadline for the rest of a response, for one that waits for a
// scheduler or is sent in parts.
func GiveTime(w http.ResponseWriter, limit time.Duration) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("extend the deadline: %w", err)
	}
	return nil
}

// Open starts the response. From then on each write has its own deadline.
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

// EventText returns the text of an event: its id, if it has one, its type and its data,
// which must have no line breaks.
func EventText(id, kind string, data []byte) []byte {
	var text strings.Builder
	if id != "" {
		fmt.Fprintf(&text, "id: %s\n", id)
	}
	fmt.Fprintf(&text, "event: %s\ndata: %s\n\n", kind, data)
	return []byte(text.String())
}
