package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// printable makes text safe for a terminal, with its line breaks and tabs.
func printable(text string) string { return tui.Printable(text) }

// oneLine is printable on one line.
func oneLine(text string) string { return tui.OneLine(text) }

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool { return terminal.Is(stream) }

// printAll prints things of one kind: with --json one document per line, otherwise a
// table with a row for each. Without things, it prints nothing.
func printAll[T any](a *app, things []T, document func(T) any, header []string, row func(T) []string) error {
	columns := make([]listings.Column[T], len(header))
	for i, title := range header {
		columns[i] = listings.Column[T]{Title: title, Cell: func(thing T) string { return row(thing)[i] }}
	}
	kind := listings.Kind[T]{Columns: columns, Document: func(thing T, _ string) any { return document(thing) }}
	return kind.PrintAll(a.listing(), things, "")
}

// listing returns where and how listings without flags of their own are printed.
func (a *app) listing() listings.Output {
	return listings.Output{Writer: a.stdout, Target: a.target, Say: a.say}.WithJSON(a.json)
}

// chosen returns where and how the listing of a command is printed. With -o json its errors are
// JSON, too.
func (a *app) chosen(choices *listings.Choices) (listings.Output, error) {
	output, err := choices.Apply(a.listing(), a.json)
	a.json = a.json || choices.IsJSON()
	return output, err
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
	return slog.New(terminal.Sentences(a.stderr, options.Level.Level(), prefix))
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
