package agentclient

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// States of jobs and processes in the protocol of 2010. Words shared with the model mean the same.
const (
	wordStarting  = "STARTING"
	wordCompleted = "COMPLETED"
)

// allocated are words for the status of a job that has resources and does not run yet.
var allocated = []string{vocabulary.StateStarted, "ALLOCATED"}

// jobState returns the model's state for a word and a status, if there is one. Either may be empty. The
// status decides if the word is ambiguous.
func jobState(word, status string) (model.State, bool) {
	switch word {
	case "":
		return "", false
	case wordStarting:
		if slices.Contains(allocated, strings.ToUpper(status)) {
			return vocabulary.StateStarted, true
		}
		return vocabulary.StatePending, true
	case wordCompleted:
		if status == vocabulary.StateError {
			return vocabulary.StateError, true
		}
		return vocabulary.StateTerminated, true
	}
	return model.State(word), slices.Contains(model.States(model.Job), model.State(word))
}

// processState returns the model's state for a word, if there is one, depending on whether a signal ended
// the process.
func processState(word string, isSignalled bool) (model.State, bool) {
	if word == wordCompleted {
		if isSignalled {
			return vocabulary.StateSignalled, true
		}
		return vocabulary.StateExited, true
	}
	return model.State(word), slices.Contains(model.States(model.Process), model.State(word))
}

// managerStates returns the states that lead a resource manager from its state to the agent's word. They
// never include STOPPED, which would remove all elements.
func managerStates(now model.State, word string) []model.State {
	switch word {
	case vocabulary.StateStarted, vocabulary.StateSuspended:
	case vocabulary.StateError, vocabulary.StateStopped, vocabulary.StateStopping:
		if now == vocabulary.StateError {
			return nil
		}
		return []model.State{vocabulary.StateError}
	default:
		return nil
	}
	path := []model.State{model.State(word)}
	if word == vocabulary.StateSuspended && now != vocabulary.StateStarted {
		path = []model.State{vocabulary.StateStarted, vocabulary.StateSuspended}
	}
	if now == vocabulary.StateError || now == vocabulary.StateStopped {
		path = append([]model.State{vocabulary.StateStarting}, path...)
	}
	if now == model.State(word) {
		return nil
	}
	return path
}
