package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/job"
)

// A State is a state of an element of one kind.
type State string

// States of elements. Each kind has some of them, which [States] returns.
const (
	StateError      State = "ERROR" // of a resource manager: not started, or lost; of jobs and processes: not started, or ended abnormally
	StateUnknown    State = "UNKNOWN"
	StateStarting   State = "STARTING"         // of a resource manager: being connected to
	StateStarted    State = "STARTED"          // of a resource manager: takes jobs; of a job: has resources, its processes do not run yet
	StateStopping   State = "STOPPING"         // being disconnected from
	StateStopped    State = "STOPPED"          // of a resource manager: its settings may be changed; of a queue: takes no jobs, starts none
	StateSuspended  State = "SUSPENDED"        // of a resource manager: connected, but not watched; else stopped for a time
	StateUp         State = "UP"               // of machines and nodes
	StateDown       State = "DOWN"             // of machines and nodes
	StateAlert      State = "ALERT"            // of a machine: something is unusual, such as a shutdown to come
	StateNormal     State = "NORMAL"           // of a queue
	StateCollecting State = "COLLECTING"       // of a queue: takes jobs, starts none
	StateDraining   State = "DRAINING"         // of a queue: takes no jobs, starts those it has
	StatePending    State = "PENDING"          // of a job: waits for resources
	StateRunning    State = "RUNNING"          // of jobs and processes
	StateTerminated State = "TERMINATED"       // of a job: ended
	StateExited     State = "EXITED"           // of a process
	StateSignalled  State = "EXITED_SIGNALLED" // of a process: ended by a signal
)

// Extra states of a node: by whom it is used.
const (
	NodeUserExclusive  State = "USER_ALLOC_EXCL"    // allocated to the user alone
	NodeUserShared     State = "USER_ALLOC_SHARED"  // allocated to the user and open to others
	NodeOtherExclusive State = "OTHER_ALLOC_EXCL"   // allocated to another user alone
	NodeOtherShared    State = "OTHER_ALLOC_SHARED" // allocated to another user and open to others
	NodeRunningProcess State = "RUNNING_PROCESS"
	NodeExitedProcess  State = "EXITED_PROCESS"
	NodeNone           State = "NONE"
)

// nodeExtraStates are the extra states of nodes.
var nodeExtraStates = []State{NodeUserExclusive, NodeUserShared, NodeOtherExclusive, NodeOtherShared, NodeRunningProcess, NodeExitedProcess, NodeNone}

// statesOf lists the states of each kind.
var statesOf = [kinds][]State{
	ResourceManager: {StateStarting, StateStarted, StateStopping, StateStopped, StateSuspended, StateError},
	Machine:         {StateUp, StateDown, StateAlert, StateError, StateUnknown},
	Queue:           {StateNormal, StateCollecting, StateDraining, StateStopped},
	Node:            {StateUp, StateDown, StateError, StateUnknown},
	Job:             {StatePending, StateStarted, StateRunning, StateTerminated, StateSuspended, StateError, StateUnknown},
	Process:         {StateStarting, StateRunning, StateExited, StateSignalled, StateSuspended, StateError, StateUnknown},
}

// stateAttributes name the attribute that holds the state of each kind.
var stateAttributes = [kinds]string{
	ResourceManager: AttributeRMState, Machine: AttributeMachineState, Queue: AttributeQueueState,
	Node: AttributeNodeState, Job: AttributeJobState, Process: AttributeProcessState,
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
// A scheduler is looked at from time to time, so a job or a process may be seen in
// any later state; a job that is queued anew is seen in an earlier one. What has
// ended does not go on: a job that ended may only turn out to have failed.
var transitions = sync.OnceValue(func() map[Kind]map[State][]State {
	return map[Kind]map[State][]State{
		ResourceManager: {
			StateStopped:   {StateStarting},
			StateStarting:  {StateStarted, StateStopped, StateStopping, StateError},
			StateStarted:   {StateStopping, StateSuspended, StateError},
			StateSuspended: {StateStarted, StateStopping, StateError},
			StateStopping:  {StateStopped, StateError},
			StateError:     {StateStopped, StateStarting}, // a lost connection is sought again
		},
		Job: {
			StatePending:    {StateStarted, StateRunning, StateSuspended, StateTerminated, StateError, StateUnknown},
			StateStarted:    {StatePending, StateRunning, StateSuspended, StateTerminated, StateError, StateUnknown},
			StateRunning:    {StatePending, StateStarted, StateSuspended, StateTerminated, StateError, StateUnknown},
			StateSuspended:  {StatePending, StateStarted, StateRunning, StateTerminated, StateError, StateUnknown},
			StateUnknown:    {StatePending, StateStarted, StateRunning, StateSuspended, StateTerminated, StateError},
			StateTerminated: {StateError},
			StateError:      {},
		},
		Process: {
			StateStarting:  {StateRunning, StateSuspended, StateExited, StateSignalled, StateError, StateUnknown},
			StateRunning:   {StateSuspended, StateExited, StateSignalled, StateError, StateUnknown},
			StateSuspended: {StateRunning, StateExited, StateSignalled, StateError, StateUnknown},
			StateUnknown:   {StateStarting, StateRunning, StateSuspended, StateExited, StateSignalled, StateError},
			StateExited:    {},
			StateSignalled: {},
			StateError:     {},
		},
	}
})

// errTransition is wrapped by the error for a state that cannot follow another.
var errTransition = errors.New("illegal transition")

// checkTransition returns an error that wraps errTransition unless an element of a
// kind that is in one state may be seen in the other. Every state may follow itself.
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
		return s == StateTerminated || s == StateError
	case Process:
		return s == StateExited || s == StateSignalled || s == StateError
	default:
		return false
	}
}

// JobState returns the model's state for a state of the control vocabulary, which does
// not distinguish jobs that have resources from jobs that run: STARTED is never returned.
func JobState(detail job.Detail) State {
	switch detail.Primary() {
	case job.Submitted:
		return StatePending
	case job.Suspended:
		return StateSuspended
	case job.Running:
		return StateRunning
	case job.Completed:
		if detail == job.Failed {
			return StateError
		}
		return StateTerminated
	default:
		return StateUnknown
	}
}
