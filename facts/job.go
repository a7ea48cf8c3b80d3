// Package facts is how jobs, their histories and processes, queues, nodes,
// launch configurations and renderings are told in JSON: by the commands of rmctl
// with --json, and by its server. The names are a contract with scripts.
package facts

import (
	"cmp"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/state"
)

// A Job is what is known of a job. Times are as of [Timestamp], but those that its
// scheduler tells, which are as of [ListedJob].
type Job struct {
	ID          string    `json:"id"`
	Target      string    `json:"target"`
	State       string    `json:"state"`
	Detail      string    `json:"detail"`
	Native      string    `json:"native,omitempty"`
	Queue       string    `json:"queue,omitempty"`
	Name        string    `json:"name,omitempty"`
	ExitCode    *int      `json:"exitCode,omitempty"`
	Signal      *int      `json:"signal,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Nodes       string    `json:"nodes,omitempty"`
	Submitted   string    `json:"submitted,omitempty"`
	Started     string    `json:"started,omitempty"`
	Ended       string    `json:"ended,omitempty"`
	Observed    string    `json:"observed,omitempty"`
	Source      string    `json:"source,omitempty"`
	Stale       bool      `json:"stale,omitempty"`
	StaleReason string    `json:"staleReason,omitempty"`
	Missing     bool      `json:"missing,omitempty"`
	Irregular   string    `json:"irregular,omitempty"`
	Tag         string    `json:"tag,omitempty"`
	Phase       string    `json:"phase,omitempty"`
	Error       string    `json:"error,omitempty"`
	Processes   []Process `json:"processes,omitempty"`
}

// OfJob returns a job without its processes.
func OfJob(job job.Job) Job {
	return Job{
		ID: job.ID, Target: job.Target, State: string(job.Detail.Primary()), Detail: string(Detail(job)),
		Native: job.Native, Queue: job.Queue, Name: job.Name, ExitCode: job.ExitCode, Signal: job.Signal, Reason: job.Reason,
		Nodes: job.Nodes, Submitted: Timestamp(control.SubmittedAt(job)), Started: job.Started, Ended: job.Ended,
		Observed: Timestamp(job.Observed), Source: job.Source, Stale: job.Stale, StaleReason: job.StaleReason,
		Missing: job.Missing, Irregular: job.Irregular, Tag: job.Tag, Phase: string(job.Phase), Error: job.Error,
	}
}

// Detail returns the state of a job, which is undetermined before it was seen.
func Detail(job job.Job) state.Detail {
	if job.Detail == "" {
		return state.Undetermined
	}
	return job.Detail
}

// Timestamp returns a time after RFC 3339, and nothing for one that is not known.
func Timestamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}

// A Process is one process of a parallel job.
type Process struct {
	Rank     int    `json:"rank"`
	Node     string `json:"node,omitempty"`
	PID      int    `json:"pid,omitempty"`
	State    string `json:"state"`
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   *int   `json:"signal,omitempty"`
	Output   string `json:"output,omitempty"`
}

// OfProcess returns a process.
func OfProcess(p job.Process) Process {
	return Process{Rank: p.Rank, Node: p.Node, PID: p.PID, State: p.State, ExitCode: p.ExitCode, Signal: p.Signal, Output: p.Output}
}

// An Event is one entry of a job's history. Cursor grows with each event of a user;
// who has seen one need not read it again.
type Event struct {
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

// OfEvent returns an event.
func OfEvent(event job.Event) Event {
	printed := Event{
		Cursor: event.Sequence, Event: string(event.Kind), Tag: event.Tag, Target: event.Target, ID: event.ID,
		Before: string(event.Before), Detail: string(event.Detail), Native: event.Native, Reason: event.Reason,
		ExitCode: event.ExitCode, Signal: event.Signal, Seen: Timestamp(event.Observed), Recorded: Timestamp(event.Recorded),
		Source: event.Source, Stream: event.Origin.Stream, Line: event.Origin.Line, Text: event.Origin.Text,
		Evidence: cmp.Or(event.Evidence, event.Origin.Text),
	}
	if event.Detail != "" {
		printed.State = string(event.Detail.Primary())
	}
	return printed
}
