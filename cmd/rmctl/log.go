package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// log returns the logger that -v asks for: warnings always, what is done with
// -v, every command that is run with -vv. Users are told in sentences; lines that are
// kept, and those of -vv, have their time and all details.
func (a *app) log() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	switch {
	case a.verbose == 1:
		options.Level = slog.LevelInfo
	case a.verbose > 1:
		options.Level = slog.LevelDebug
	}
	if a.keepsLog || a.verbose > 1 {
		return slog.New(slog.NewTextHandler(a.stderr, options))
	}
	prefix := "rmctl: "
	if a.isBrief {
		prefix = ""
	}
	return slog.New(&sentences{level: options.Level.Level(), prefix: prefix, writer: a.stderr, lock: &sync.Mutex{}})
}

// sentences is a [slog.Handler] that writes for a person: the message, the error
// behind it, and what else is known in brackets, on one line that a terminal only
// shows.
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
	_, err := fmt.Fprintf(s.writer, "%s%s\n", s.prefix, oneLine(line.String()))
	return err
}
