package coalloc

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
)

// Waits describes what the ensemble waits for, or how it has ended.
func (s *Status) Waits() string {
	text, isKnown := map[State]string{
		Prepared:   "recorded; nothing is submitted yet",
		Submitting: "rmctl is submitting its parts",
		Releasing:  "the release is on record and on its way to the processes",
		Running:    "its processes were released",
		Ending:     "it failed or was canceled; rmctl cancels its jobs",
		Done:       "all its parts have ended",
		Failed:     "it failed",
		Canceled:   "it was canceled",
	}[s.State]
	switch {
	case s.State == Waiting:
		text = s.waiting()
	case !isKnown:
		text = "its state is unknown"
	}
	return withReason(text, s.Reason)
}

func withReason(text, reason string) string {
	if reason != "" {
		return text + ": " + reason
	}
	return text
}

func (s *Status) waiting() string {
	missing := s.Missing()
	switch {
	case len(missing) == 0 && s.Committed:
		return "all required parts have checked in; the release follows"
	case len(missing) == 0:
		return "all required parts have checked in; waiting for the commit"
	}
	text := "waiting for " + strings.Join(missing, ", ")
	if !s.Committed {
		text += " and the commit"
	}
	return text
}

// Missing returns what the release waits for: labels of parts, and descriptions of sets of alternatives.
func (s *Status) Missing() (labels []string) {
	for i := range s.Parts {
		p := &s.Parts[i]
		isIn := p.State == PartCheckedIn || p.State == PartReleased || p.State == PartDone
		waits := p.Gate != NoGate || p.State == PartFailed
		if p.Kind != Optional && waits && !isIn && p.State != PartDeleted && s.setOf(p) == nil {
			labels = append(labels, p.Label)
		}
	}
	for _, set := range s.Sets {
		if set.CheckedIn < set.Needed {
			labels = append(labels, fmt.Sprintf("%d more of set %s", set.Needed-set.CheckedIn, set.Name))
		}
	}
	return labels
}

// setOf returns the set of alternatives that a part is in; nil if none.
func (s *Status) setOf(p *PartStatus) *SetStatus {
	i := slices.IndexFunc(s.Sets, func(set SetStatus) bool { return slices.Contains(set.Parts, p.Label) })
	if i < 0 {
		return nil
	}
	return &s.Sets[i]
}

// Waits describes what the set waits for, and which alternatives have failed or were deleted.
func (s *SetStatus) Waits() string {
	text := fmt.Sprintf("%d of %d required parts have checked in", min(s.CheckedIn, s.Needed), s.Needed)
	switch {
	case s.CheckedIn >= s.Needed:
	case s.Possible < s.Needed:
		text += "; too few parts are left"
	default:
		text += "; waiting for " + strings.Join(s.Waiting, ", ")
	}
	if len(s.Out) > 0 {
		text += "; out: " + strings.Join(s.Out, ", ")
	}
	return text
}

// Hints returns the commands with which a user can continue, for each part whose failure blocks the release.
func (s *Status) Hints() (lines []string) {
	if !s.Released.IsZero() || s.State != Waiting && s.State != Submitting {
		return nil
	}
	for i := range s.Parts {
		p := &s.Parts[i]
		set := s.setOf(p)
		if p.State == PartFailed && p.Kind != Optional && (set == nil || set.Possible < set.Needed) {
			lines = append(lines, "part "+p.Label+" has failed; "+barrier.Advice(&barrier.Ensemble{ID: s.ID, Committed: s.Committed}, p.Label))
		}
	}
	return lines
}

// Waits describes what the part waits for, or how it has ended.
func (p *PartStatus) Waits() string {
	job := "its job"
	if p.JobID != "" {
		job = "job " + p.JobID
	}
	switch p.State {
	case PartSubmitting:
		return withReason("rmctl is submitting it to "+p.Target, p.Reason)
	case PartPending:
		return withReason(job+" waits in the queue of "+p.Target, p.Reason) + p.start()
	case PartActive:
		return withReason(fmt.Sprintf("%s runs; %s", job, p.arrivals()), p.Reason)
	case PartCheckedIn:
		wait := " and wait at the barrier"
		if p.Count == 1 {
			wait = " and waits at the barrier"
		}
		return withReason(p.arrivals()+wait, p.Reason)
	case PartReleased:
		return withReason("its processes were released", p.Reason)
	case PartDone:
		return job + " has ended" + p.ending()
	case PartFailed:
		if p.Reason != "" {
			return "it failed: " + p.Reason
		}
		return "it failed" + p.ending()
	case PartDeleted:
		text := "it was deleted"
		if p.Unconfirmed {
			text += "; " + p.Target + " has not confirmed yet that " + job + " is gone"
		}
		return withReason(text, p.Reason)
	}
	return withReason("its state is unknown", p.Reason)
}

// start returns the expected start of a job that waits, with words before it.
func (p *PartStatus) start() string {
	switch {
	case !p.ExpectedStart.IsZero():
		return "; expected start " + p.ExpectedStart.Local().Format(time.DateTime)
	case p.StartProblem != "":
		return "; expected start unknown: " + p.StartProblem
	}
	return ""
}

// arrivals says how many processes of a part have checked in.
func (p *PartStatus) arrivals() string {
	if p.Count == 1 && p.CheckedIn == 1 {
		return "its process has checked in"
	}
	return fmt.Sprintf("%d of %d processes have checked in", p.CheckedIn, p.Count)
}

// ending returns the exit code or signal of a part, with words before it.
func (p *PartStatus) ending() string {
	switch {
	case p.Signal != nil && *p.Signal != 0:
		return fmt.Sprintf(" by signal %d", *p.Signal)
	case p.ExitCode != nil:
		return fmt.Sprintf(" with exit code %d", *p.ExitCode)
	}
	return ""
}

// ExitCode returns the worst exit code of the parts of an ended ensemble, as a shell reports it: 0 only if the
// ensemble is DONE. Optional parts count, too.
func (s *Status) ExitCode() int {
	worst := 0
	for _, p := range s.Parts {
		worst = max(worst, p.exit())
	}
	if s.State != Done {
		worst = max(worst, 1)
	}
	return worst
}

func (p *PartStatus) exit() int {
	switch {
	case p.ExitCode != nil && *p.ExitCode != 0:
		return *p.ExitCode & 0xff
	case p.Signal != nil && *p.Signal != 0:
		return (128 + *p.Signal) & 0xff
	case p.State == PartFailed:
		return 1
	}
	return 0
}
