package coalloc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/rendezvous"
)

// recordOf returns the journal's record of a new ensemble.
func recordOf(r *Request, now time.Time) (barrier.Ensemble, []barrier.Part, error) {
	if len(r.Parts) == 0 {
		return barrier.Ensemble{}, nil, ErrNoParts
	}
	whole := *r
	whole.Parts = make([]Part, len(r.Parts))
	for i, part := range r.Parts {
		whole.Parts[i] = withDefaults(part)
	}
	if err := whole.Check(); err != nil {
		return barrier.Ensemble{}, nil, err
	}
	specs, err := specsOf(whole.Parts)
	sets := make([]barrier.Set, len(r.Sets))
	for i, set := range r.Sets {
		sets[i] = barrier.Set(set)
	}
	return barrier.Ensemble{
		Name: r.Name, HoldFirst: r.HoldFirst, CommitLimit: r.Limits.Commit, Sets: sets, State: barrier.Prepared, Created: now,
	}, barrier.NewParts(specs), err
}

// specsOf returns the journal's records of parts, each with a tag for its submission.
func specsOf(parts []Part) ([]barrier.Spec, error) {
	specs := make([]barrier.Spec, len(parts))
	var problems []error
	for i, part := range parts {
		part = withDefaults(part)
		problems = append(problems, part.Check())
		document, err := json.Marshal(part)
		problems = append(problems, err)
		specs[i] = barrier.Spec{
			Label: part.Label, Target: part.Target, Document: string(document), Tag: cmp.Or(part.Tag, uuid.NewString()),
			Kind: part.Kind, Gate: part.Gate, Count: part.Count,
			StartLimit: part.Start, CheckInLimit: part.CheckIn, WallTime: wallTimeOf(part.Submission),
		}
	}
	return specs, errors.Join(problems...)
}

func withDefaults(part Part) Part {
	part.Kind, part.Gate, part.Count = cmp.Or(part.Kind, Required), cmp.Or(part.Gate, Held), max(part.Count, 1)
	return part
}

// partOf returns a part as it was requested.
func partOf(spec barrier.Spec) (Part, error) {
	var part Part
	if err := json.Unmarshal([]byte(spec.Document), &part); err != nil {
		return part, fmt.Errorf("reading part %s from the record: %w", spec.Label, err)
	}
	return part, nil
}

// admitted returns what the server needs to know of a part.
func admitted(p *barrier.Part, joins bool, rosters []barrier.Roster) rendezvous.Part {
	admitted := rendezvous.Part{
		Serial: p.Serial, Index: p.Index, Label: p.Label, Count: p.Count, Gate: string(p.Gate), Joins: joins, Incarnation: p.Incarnation,
	}
	for _, roster := range rosters {
		if roster.Serial == p.Serial && roster.Incarnation != 0 { // 0 is that of a part without a gate
			admitted.Released, admitted.Incarnation, admitted.Instances = true, roster.Incarnation, roster.Instances
		}
	}
	return admitted
}

// statusOf returns the status of a recorded ensemble.
func statusOf(e barrier.Ensemble, parts []barrier.Part) Status {
	s := Status{
		ID: e.ID, Name: e.Name, State: e.State, Reason: e.Reason, Committed: e.Committed,
		Created: e.Created, Released: e.Released, Ended: e.Ended, At: e.At, Parts: make([]PartStatus, len(parts)),
	}
	for i, p := range parts {
		s.Parts[i] = PartStatus{
			Label: p.Label, Index: p.Index, Serial: p.Serial, Incarnation: p.Incarnation, Target: p.Target, Kind: p.Kind, Gate: p.Gate,
			Count: p.Count, CheckedIn: p.Present, State: p.State, Reason: p.Reason, Tag: p.Tag, JobID: p.JobID,
			ExitCode: p.ExitCode, Signal: p.Signal, Unconfirmed: p.Unconfirmed,
			Submitted: p.Submitted, Active: p.Active, Arrived: p.Arrived, Released: p.Released, Ended: p.Ended,
		}
	}
	s.Sets = setsOf(e.Sets, parts)
	return s
}

// setsOf returns the status of sets of alternatives.
func setsOf(sets []barrier.Set, parts []barrier.Part) []SetStatus {
	states := map[string]PartState{} // a part that takes the place of another one may have its label
	for _, p := range parts {
		states[p.Label] = p.State
	}
	var list []SetStatus
	for i, set := range sets {
		s := SetStatus{Name: setName(set, i), Needed: set.AtLeast, Parts: set.Labels}
		deleted := 0
		for _, label := range set.Labels {
			switch states[label] {
			case PartCheckedIn, PartReleased, PartDone:
				s.CheckedIn++
			case PartDeleted:
				deleted++
				s.Out = append(s.Out, label)
			case PartFailed:
				s.Out = append(s.Out, label)
			default:
				s.Waiting = append(s.Waiting, label)
			}
		}
		if deleted < len(set.Labels) {
			s.Needed = min(s.Needed, len(set.Labels)-deleted)
		}
		s.Possible = s.CheckedIn + len(s.Waiting)
		list = append(list, s)
	}
	return list
}

// eventsOf converts recorded events for users.
func eventsOf(notices []barrier.Notice) []EnsembleEvent {
	events := make([]EnsembleEvent, len(notices))
	for i, n := range notices {
		events[i] = EnsembleEvent{Sequence: n.Sequence, Time: n.Time, Kind: n.Kind, Label: n.Label, State: n.State, Text: n.Text}
	}
	return events
}

// processEventOf converts an event of the server to an input of the machine.
func processEventOf(event rendezvous.ProcessEvent) (barrier.ProcessEvent, bool) {
	kind, isKnown := processKinds[event.Kind]
	return barrier.ProcessEvent{
		Kind: kind, Serial: event.Serial, Incarnation: event.Incarnation, Rank: event.Rank,
		Instance: event.Instance, Host: event.Host, Reason: event.Reason, Complete: event.Complete,
	}, isKnown
}

var processKinds = map[rendezvous.EventKind]barrier.ProcessKind{
	rendezvous.CheckedIn: barrier.CheckedIn, rendezvous.Lost: barrier.Lost, rendezvous.VotedNo: barrier.Voted, rendezvous.Refused: barrier.Refused,
	rendezvous.NewIncarnation: barrier.NewIncarnation, rendezvous.Late: barrier.Late, rendezvous.ReleaseReceived: barrier.Received,
}
