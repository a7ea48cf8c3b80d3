package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
)

// A State is a state of an element of one kind.
type State string

// nodeExtraStates are the extra states of nodes.
var nodeExtraStates = []State{vocabulary.NodeUserExclusive, vocabulary.NodeUserShared, vocabulary.NodeOtherExclusive, vocabulary.NodeOtherShared, vocabulary.NodeRunningProcess, vocabulary.NodeExitedProcess, vocabulary.NodeNone}

// statesOf lists the states of each kind.
var statesOf = [kinds][]State{
	ResourceManager: {vocabulary.StateStarting, vocabulary.StateStarted, vocabulary.StateStopping, vocabulary.StateStopped, vocabulary.StateSuspended, vocabulary.StateError},
	Machine:         {vocabulary.StateUp, vocabulary.StateDown, vocabulary.StateAlert, vocabulary.StateError, vocabulary.StateUnknown},
	Queue:           {vocabulary.StateNormal, vocabulary.StateCollecting, vocabulary.StateDraining, vocabulary.StateStopped},
	Node:            {vocabulary.StateUp, vocabulary.StateDown, vocabulary.StateError, vocabulary.StateUnknown},
	Job:             {vocabulary.StatePending, vocabulary.StateStarted, vocabulary.StateRunning, vocabulary.StateTerminated, vocabulary.StateSuspended, vocabulary.StateError, vocabulary.StateUnknown},
	Process:         {vocabulary.StateStarting, vocabulary.StateRunning, vocabulary.StateExited, vocabulary.StateSignalled, vocabulary.StateSuspended, vocabulary.StateError, vocabulary.StateUnknown},
}

// stateAttributes name the attribute that holds the state of each kind.
var stateAttributes = [kinds]string{
	ResourceManager: vocabulary.AttributeRMState, Machine: vocabulary.AttributeMachineState, Queue: vocabulary.AttributeQueueState,
	Node: vocabulary.AttributeNodeState, Job: vocabulary.AttributeJobState, Process: vocabulary.AttributeProcessState,
}

// StateAttribute returns the id of the attribute that holds the state of elements
// of a kind; the universe has none.
func (k Kind) StateAttribute() string {
	if k >= kinds {
		return ""
	}
	return stateAttributes[k]
}

// States returns the states of elements of a kind; the universe has none.
func States(kind Kind) []State {
	if kind >= kinds {
		return nil
	}
	return slices.Clone(statesOf[kind])
}

// transitions lists for each kind which states may follow a state, besides itself.
// Machines, queues and nodes change as they like and are not listed.
//
// Schedulers are polled, so a job or a process may skip states; a requeued job returns to an earlier one.
// Ended jobs do not continue, but whether an ended job had started may become known later.
var transitions = sync.OnceValue(func() map[Kind]map[State][]State {
	return map[Kind]map[State][]State{
		ResourceManager: {
			vocabulary.StateStopped:   {vocabulary.StateStarting},
			vocabulary.StateStarting:  {vocabulary.StateStarted, vocabulary.StateStopped, vocabulary.StateStopping, vocabulary.StateError},
			vocabulary.StateStarted:   {vocabulary.StateStopping, vocabulary.StateSuspended, vocabulary.StateError},
			vocabulary.StateSuspended: {vocabulary.StateStarted, vocabulary.StateStopping, vocabulary.StateError},
			vocabulary.StateStopping:  {vocabulary.StateStopped, vocabulary.StateError},
			vocabulary.StateError:     {vocabulary.StateStopped, vocabulary.StateStarting}, // rmctl retries a lost connection
		},
		Job: {
			vocabulary.StatePending:    {vocabulary.StateStarted, vocabulary.StateRunning, vocabulary.StateSuspended, vocabulary.StateTerminated, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateStarted:    {vocabulary.StatePending, vocabulary.StateRunning, vocabulary.StateSuspended, vocabulary.StateTerminated, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateRunning:    {vocabulary.StatePending, vocabulary.StateStarted, vocabulary.StateSuspended, vocabulary.StateTerminated, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateSuspended:  {vocabulary.StatePending, vocabulary.StateStarted, vocabulary.StateRunning, vocabulary.StateTerminated, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateUnknown:    {vocabulary.StatePending, vocabulary.StateStarted, vocabulary.StateRunning, vocabulary.StateSuspended, vocabulary.StateTerminated, vocabulary.StateError},
			vocabulary.StateTerminated: {vocabulary.StateError},
			vocabulary.StateError:      {vocabulary.StateTerminated},
		},
		Process: {
			vocabulary.StateStarting:  {vocabulary.StateRunning, vocabulary.StateSuspended, vocabulary.StateExited, vocabulary.StateSignalled, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateRunning:   {vocabulary.StateSuspended, vocabulary.StateExited, vocabulary.StateSignalled, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateSuspended: {vocabulary.StateRunning, vocabulary.StateExited, vocabulary.StateSignalled, vocabulary.StateError, vocabulary.StateUnknown},
			vocabulary.StateUnknown:   {vocabulary.StateStarting, vocabulary.StateRunning, vocabulary.StateSuspended, vocabulary.StateExited, vocabulary.StateSignalled, vocabulary.StateError},
			vocabulary.StateExited:    {},
			vocabulary.StateSignalled: {},
			vocabulary.StateError:     {},
		},
	}
})

// errTransition is wrapped by the error for a state that cannot follow another.
var errTransition = errors.New("illegal transition")

// checkTransition returns an error that wraps errTransition unless a state may follow another one. Every
// state may follow itself.
func checkTransition(kind Kind, from, to State) error {
	rules, ruled := transitions()[kind]
	if !ruled || from == to || slices.Contains(rules[from], to) {
		return nil
	}
	return fmt.Errorf("%w of a %s from %s to %s", errTransition, kind, from, to)
}

// Ended reports whether a job or a process in this state will never run again.
func Ended(kind Kind, s State) bool {
	switch kind {
	case Job:
		return s == vocabulary.StateTerminated || s == vocabulary.StateError
	case Process:
		return s == vocabulary.StateExited || s == vocabulary.StateSignalled || s == vocabulary.StateError
	default:
		return false
	}
}

// JobState returns the model's state for an observation of a job. ERROR means that a job failed without
// evidence that it started: no start time, no exit code but 0, no signal. The control vocabulary does not
// distinguish jobs that have resources from jobs that run: STARTED is never returned.
func JobState(seen *job.Observation) State {
	switch seen.Detail.Primary() {
	case job.Submitted:
		return vocabulary.StatePending
	case job.Suspended:
		return vocabulary.StateSuspended
	case job.Running:
		return vocabulary.StateRunning
	case job.Completed:
		hasStarted := seen.Started != "" || seen.ExitCode != nil && *seen.ExitCode > 0 || seen.Signal != nil && *seen.Signal != 0
		if seen.Detail == job.Failed && !hasStarted {
			return vocabulary.StateError
		}
		return vocabulary.StateTerminated
	default:
		return vocabulary.StateUnknown
	}
}
