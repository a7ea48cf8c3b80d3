package main

import (
	"cmp"
	"time"

	"github.com/rmctl/rmctl/jobstore"
)

// eventJSON is how an event is printed as JSON; the names are a contract.
type eventJSON struct {
	Cursor   int64  `json:"cursor"`
	Event    string `json:"event"`
	Tag      string `json:"tag"`
	Target   string `json:"target"`
	ID       string `json:"id,omitempty"`
	Before   string `json:"before,omitempty"`
	State    string `json:"state,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Native   string `json:"native,omitempty"`
	Reason   string `json:"reason,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   *int   `json:"signal,omitempty"`
	Seen     string `json:"seen,omitempty"`
	Recorded string `json:"recorded"`
	Source   string `json:"source,omitempty"`
	Stream   string `json:"stream,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"`
	Evidence string `json:"evidence,omitempty"`
}

func eventToJSON(event jobstore.Event) eventJSON {
	printed := eventJSON{
		Cursor: event.Sequence, Event: string(event.Kind), Tag: event.Tag, Target: event.Target, ID: event.ID,
		Before: string(event.Before), Detail: string(event.Detail), Native: event.Native, Reason: event.Reason,
		ExitCode: event.ExitCode, Signal: event.Signal, Seen: timestamp(event.Seen), Recorded: timestamp(event.Recorded),
		Source: event.Source, Stream: event.Origin.Stream, Line: event.Origin.Line, Text: event.Origin.Text,
		Evidence: cmp.Or(event.Evidence, event.Origin.Text),
	}
	if event.Detail != "" {
		printed.State = string(event.Detail.Primary())
	}
	return printed
}

// clock is a time for people.
func clock(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}
