package control

import (
	"crypto/rand"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
)

// newMark returns a mark for the columns that a query prints: @ and letters and digits,
// as other characters change the formats of some schedulers. It is random, so that no text
// of a user can hold it.
func newMark() string { return "@" + rand.Text()[:markLength] }

const markLength = 16

// readingOf returns the reader's knowledge about a job from a status command.
func readingOf(known job.Job, tasks reader.Memory) command.Reading {
	return command.Reading{Job: known.ID, Identity: known.Identity, Memory: tasks}
}

// doubtOf returns why the answer of a reader says nothing about a job; nil if it does, or
// does not have the job.
func doubtOf(which *config.Command, result *command.Result, known job.Job) error {
	if result.Outcome != config.Incomplete && result.Outcome != config.Unreadable {
		return nil
	}
	doubt := &readingError{Command: which.Name, Kind: result.Outcome}
	switch found := elementOf(result.Answer, known); {
	case found != nil:
		doubt.Reason = found.Unreadable + found.Incomplete
	case result.Answer.Absence != nil && result.Answer.Absence.Doubt != "":
		doubt.Reason = result.Answer.Absence.Doubt
	case result.Answer.Damage != nil:
		doubt.Reason, doubt.Line = result.Answer.Damage.What, result.Answer.Damage.Line
	case len(result.Answer.Rejected) > 0:
		doubt.Reason, doubt.Line = result.Answer.Rejected[0].Why, result.Answer.Rejected[0].Line
	}
	return doubt
}

// elementOf returns the part of an answer about a job, or nil.
func elementOf(answer *reader.Answer, known job.Job) *reader.Element {
	if answer == nil {
		return nil
	}
	if found := answer.Find(known.ID); found != nil || known.ShortID == "" {
		return found
	}
	return answer.Find(known.ShortID)
}
