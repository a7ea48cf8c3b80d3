package job

import (
	"cmp"
	"encoding/json"
	"time"
)

// A Document is a job in JSON, as commands print it with --json and the server
// answers with it. The names are a contract with scripts. Unknown members are left
// out. Times are as of [Timestamp], but those that the scheduler writes are as it
// writes them.
type Document struct {
	ID          string    `json:"id"`
	Target      string    `json:"target"`
	Owner       string    `json:"owner,omitempty"` // of jobs in a listing of everybody's
	State       string    `json:"state,omitempty"`
	Detail      string    `json:"detail,omitempty"`
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
	Ensemble    string    `json:"ensemble,omitempty"` // that the job is a part of
	Part        string    `json:"part,omitempty"`     // label of the part
	Processes   []Process `json:"processes,omitempty"`
	Listed      string    `json:"listed,omitempty"` // the time of the listing, if listings repeat
	Seen        string    `json:"seen,omitempty"`   // the old name of listed, for one release

	// Attributes are those of a listed job that rmctl has no names for: an object with texts and lists of texts.
	Attributes json.RawMessage `json:"attributes,omitempty"`
}

// Document returns what is known of the job, without its processes. Submitted is when
// the submission was recorded.
func (j *Job) Document() Document {
	d := j.Observation.document()
	d.ID, d.Target, d.Tag, d.Phase, d.Error = j.ID, j.Target, j.Tag, string(j.Phase), j.Error
	d.Submitted, d.Observed, d.Source = Timestamp(j.SubmittedAt()), Timestamp(j.Observed), j.Source
	d.Ensemble, d.Part = j.Ensemble, j.Part
	d.Stale, d.StaleReason, d.Missing, d.Irregular = j.Stale, j.StaleReason, j.Missing, j.Irregular
	return d.withState(j.DetailOrUndetermined())
}

// ListedDocument returns the listed state of a job of any user.
func ListedDocument(id, target string, listed Observation) Document {
	d := listed.document()
	d.ID, d.Target, d.Owner = id, target, listed.Owner
	return d.withState(listed.Detail)
}

func (o *Observation) document() Document {
	return Document{
		Native: o.Native, Queue: o.Queue, Name: o.Name, ExitCode: o.ExitCode, Signal: o.Signal, Reason: o.Reason, Nodes: o.Nodes,
		Submitted: o.Submitted, Started: o.Started, Ended: o.Ended,
	}
}

func (d Document) withState(detail Detail) Document {
	if detail != "" {
		d.State, d.Detail = string(detail.Primary()), string(detail)
	}
	return d
}

// DetailOrUndetermined returns the state, which is undetermined before it was observed.
func (o *Observation) DetailOrUndetermined() Detail {
	return cmp.Or(o.Detail, Undetermined)
}

// Timestamp returns a time after RFC 3339, and an empty text for the zero time.
func Timestamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}

// MarshalJSON returns the event as scripts and clients read it. Who has seen a cursor
// need not read the event again.
func (e Event) MarshalJSON() ([]byte, error) {
	document := struct {
		Cursor   int64     `json:"cursor"`
		Event    EventKind `json:"event"`
		Tag      string    `json:"tag"`
		Target   string    `json:"target"`
		ID       string    `json:"id,omitempty"`
		Ensemble string    `json:"ensemble,omitempty"`
		Part     string    `json:"part,omitempty"`
		Before   Detail    `json:"before,omitempty"`
		State    Detail    `json:"state,omitempty"`
		Detail   Detail    `json:"detail,omitempty"`
		Native   string    `json:"native,omitempty"`
		Reason   string    `json:"reason,omitempty"`
		ExitCode *int      `json:"exitCode,omitempty"`
		Signal   *int      `json:"signal,omitempty"`
		Observed string    `json:"observed,omitempty"`
		Seen     string    `json:"seen,omitempty"` // the old name of observed, for one release
		Recorded string    `json:"recorded"`
		Source   string    `json:"source,omitempty"`
		Stream   string    `json:"stream,omitempty"`
		Line     int       `json:"line,omitempty"`
		Text     string    `json:"text,omitempty"`
		Evidence string    `json:"evidence,omitempty"`
	}{
		Cursor: e.Sequence, Event: e.Kind, Tag: e.Tag, Target: e.Target, ID: e.ID, Ensemble: e.Ensemble, Part: e.Part,
		Before: e.Before, Detail: e.Detail, Native: e.Native, Reason: e.Reason, ExitCode: e.ExitCode, Signal: e.Signal,
		Observed: Timestamp(e.Observed), Seen: Timestamp(e.Observed), Recorded: Timestamp(e.Recorded),
		Source: e.Source, Stream: e.Origin.Stream, Line: e.Origin.Line, Text: e.Origin.Text, Evidence: cmp.Or(e.Evidence, e.Origin.Text),
	}
	if e.Detail != "" {
		document.State = e.Detail.Primary()
	}
	return json.Marshal(document)
}
