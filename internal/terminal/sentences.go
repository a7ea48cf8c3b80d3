package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/tui"
)

// Sentences returns a handler that prints records from a level on as sentences. Each line
// begins with the prefix.
func Sentences(w io.Writer, level slog.Level, prefix string) slog.Handler {
	return &sentences{level: level, prefix: prefix, writer: w, lock: &sync.Mutex{}}
}

// sentences is a [slog.Handler] for readers: each record is a line with the message, the error,
// and other attributes in brackets, safe for a terminal.
type sentences struct {
	level  slog.Level
	prefix string // of each line
	writer io.Writer
	lock   *sync.Mutex // of the writer
	known  []slog.Attr // of all lines
}

// Enabled implements [slog.Handler].
func (s *sentences) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level }

// WithAttrs implements [slog.Handler].
func (s *sentences) WithAttrs(known []slog.Attr) slog.Handler {
	with := *s
	with.known = append(s.known[:len(s.known):len(s.known)], known...)
	return &with
}

// WithGroup implements [slog.Handler]: a sentence has no groups.
func (s *sentences) WithGroup(string) slog.Handler { return s }

// Handle implements [slog.Handler].
func (s *sentences) Handle(_ context.Context, record slog.Record) error {
	var line strings.Builder
	line.WriteString(record.Message)
	var details []string
	add := func(attr slog.Attr) bool {
		switch text := attr.Value.Resolve().String(); {
		case attr.Key == "error" || attr.Key == "reason" || attr.Key == "why":
			line.WriteString(": " + text)
		case text != "":
			details = append(details, attr.Key+" "+text)
		}
		return true
	}
	for _, attr := range s.known {
		add(attr)
	}
	record.Attrs(add)
	if len(details) > 0 {
		line.WriteString(" (" + strings.Join(details, ", ") + ")")
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	_, err := fmt.Fprintf(s.writer, "%s%s\n", s.prefix, tui.OneLine(line.String()))
	return err
}
