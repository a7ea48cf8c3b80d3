package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// printable makes text safe for a terminal, with its line breaks and tabs.
func printable(text string) string { return tui.Printable(text) }

// oneLine is printable on one line.
func oneLine(text string) string { return tui.OneLine(text) }

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool { return terminal.Is(stream) }

// printAll prints things of one kind: with --json the document of each on a line, otherwise a
// table with a row for each. If there are none, it prints nothing.
func printAll[T any](a *app, things []T, document func(T) any, header []string, row func(T) []string) error {
	p := newPrinter(a, document, header, row)
	p.table.Hold(len(things)) // all of them set the widths of the columns
	for _, thing := range things {
		if err := p.print(thing); err != nil {
			return err
		}
	}
	return p.flush()
}

// A printer prints things of one kind as printAll does, while others are still to come.
type printer[T any] struct {
	documentOf func(T) any
	rowOf      func(T) []string
	isJSON     bool
	documents  *bufio.Writer
	table      *terminal.LongTable
}

func newPrinter[T any](a *app, document func(T) any, header []string, row func(T) []string) *printer[T] {
	return &printer[T]{document, row, a.json, bufio.NewWriterSize(a.stdout, terminal.OutputBuffer), terminal.NewTable(a.stdout, header)}
}

func (p *printer[T]) print(thing T) error {
	if p.isJSON {
		return terminal.JSON(p.documents, p.documentOf(thing))
	}
	return p.table.Add(p.rowOf(thing))
}

// flush prints what is not printed yet.
func (p *printer[T]) flush() error {
	if err := p.documents.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return p.table.Flush()
}

// itself is the document of a thing that is one.
func itself[T any](thing T) any { return thing }

// say prints a message on standard error.
func (a *app) say(format string, arguments ...any) {
	fmt.Fprintf(a.stderr, "rmctl: %s\n", printable(fmt.Sprintf(format, arguments...)))
}

// sayNone prints why a list is empty, on a terminal only: scripts expect no lines.
func (a *app) sayNone(why string) {
	if !a.json && isTerminal(a.stdout) {
		a.say("%s", why)
	}
}

// remark returns what a user should know about a job besides its state.
func remark(j job.Job) string {
	var all remarks
	all.addEnd(j)
	if j.Detail.Primary() == job.Undetermined && j.Native != "" {
		all.add("the scheduler says %q", j.Native)
	}
	if j.Missing && j.ID != "" && !(j.Interactive && j.Stale) { // otherwise the reason says so
		all.add("no longer known to the scheduler")
	}
	if j.Irregular != "" {
		all.add("%s", j.Irregular)
	}
	all.addSubmission(j)
	if j.Successor != "" {
		all.add("its id was given to another job; how it ended is not known")
	}
	if j.Stale && j.ID != "" {
		all.add("stale: %s", j.StaleReason)
	}
	if j.Error != "" {
		all.add("%s", j.Error)
	}
	return terminal.AtMost(oneLine(strings.Join(all, "; ")), terminal.LongestCell)
}

// remarks are remarks on a job, each once.
type remarks []string

func (r *remarks) add(format string, arguments ...any) {
	if remark := fmt.Sprintf(format, arguments...); !slices.Contains(*r, remark) {
		*r = append(*r, remark)
	}
}

// addEnd adds how a job ended, and the reason for its state.
func (r *remarks) addEnd(j job.Job) {
	if j.ExitCode != nil && j.Detail.Ended() {
		r.add("exit code %d", *j.ExitCode)
	}
	if j.Signal != nil && *j.Signal != 0 {
		r.add("signal %d", *j.Signal)
	}
	if j.Reason != "" {
		r.add("%s", j.Reason)
	}
}

// addSubmission adds what is unknown about the submission of a job.
func (r *remarks) addSubmission(j job.Job) {
	switch {
	case j.ID == "" && j.Stale:
		r.add("submission %s: %s", j.Tag, j.StaleReason)
	case j.Phase == job.PhaseIntended:
		r.add("being submitted, or cut off while it was: submission %s", j.Tag)
	case j.Phase == job.PhaseUnknown:
		r.add("it is not known whether it was submitted")
	}
}

// log returns a logger for the level of -v: warnings, with -v also actions, with -vv also every
// command. Lines are sentences; those of -vv and of long-running processes have their time
// and all details.
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
	_, err := fmt.Fprintf(s.writer, "%s%s\n", s.prefix, oneLine(line.String()))
	return err
}
