package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/state"
)

// A State is a state of an element of one kind.
type State string

// States of a resource manager.
const (
	RMStopped   State = "STOPPED"   // not available; its settings may be changed
	RMStarting  State = "STARTING"  // being connected to
	RMStarted   State = "STARTED"   // jobs can be submitted
	RMStopping  State = "STOPPING"  // being left
	RMSuspended State = "SUSPENDED" // connected, but not watched
	RMError     State = "ERROR"     // could not be started, or was lost
)

// States of a machine.
const (
	MachineUp      State = "UP"
	MachineDown    State = "DOWN"
	MachineAlert   State = "ALERT" // something is unusual, such as a shutdown to come
	MachineError   State = "ERROR"
	MachineUnknown State = "UNKNOWN"
)

// States of a queue.
const (
	QueueNormal     State = "NORMAL"
	QueueCollecting State = "COLLECTING" // takes jobs, starts none
	QueueDraining   State = "DRAINING"   // takes no jobs, starts those it has
	QueueStopped    State = "STOPPED"    // takes no jobs, starts none
)

// States of a node.
const (
	NodeUp      State = "UP"
	NodeDown    State = "DOWN"
	NodeError   State = "ERROR"
	NodeUnknown State = "UNKNOWN"
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

// States of a job.
const (
	JobPending    State = "PENDING"    // waits for resources
	JobStarted    State = "STARTED"    // has resources, its processes do not run yet
	JobRunning    State = "RUNNING"    // its processes run
	JobSuspended  State = "SUSPENDED"  // stopped for a time
	JobTerminated State = "TERMINATED" // ended
	JobError      State = "ERROR"      // could not be started or ended abnormally
	JobUnknown    State = "UNKNOWN"
)

// States of a process.
const (
	ProcessStarting  State = "STARTING"
	ProcessRunning   State = "RUNNING"
	ProcessSuspended State = "SUSPENDED"
	ProcessExited    State = "EXITED"
	ProcessSignalled State = "EXITED_SIGNALLED" // ended by a signal
	ProcessError     State = "ERROR"            // could not be started
	ProcessUnknown   State = "UNKNOWN"
)

var (
	rmStates        = []State{RMStarting, RMStarted, RMStopping, RMStopped, RMSuspended, RMError}
	machineStates   = []State{MachineUp, MachineDown, MachineAlert, MachineError, MachineUnknown}
	queueStates     = []State{QueueNormal, QueueCollecting, QueueDraining, QueueStopped}
	nodeStates      = []State{NodeUp, NodeDown, NodeError, NodeUnknown}
	nodeExtraStates = []State{NodeUserExclusive, NodeUserShared, NodeOtherExclusive, NodeOtherShared, NodeRunningProcess, NodeExitedProcess, NodeNone}
	jobStates       = []State{JobPending, JobStarted, JobRunning, JobTerminated, JobSuspended, JobError, JobUnknown}
	processStates   = []State{ProcessStarting, ProcessRunning, ProcessExited, ProcessSignalled, ProcessSuspended, ProcessError, ProcessUnknown}
)

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
	switch kind {
	case ResourceManager:
		return slices.Clone(rmStates)
	case Machine:
		return slices.Clone(machineStates)
	case Queue:
		return slices.Clone(queueStates)
	case Node:
		return slices.Clone(nodeStates)
	case Job:
		return slices.Clone(jobStates)
	case Process:
		return slices.Clone(processStates)
	default:
		return nil
	}
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
			RMStopped:   {RMStarting},
			RMStarting:  {RMStarted, RMStopped, RMStopping, RMError},
			RMStarted:   {RMStopping, RMSuspended, RMError},
			RMSuspended: {RMStarted, RMStopping, RMError},
			RMStopping:  {RMStopped, RMError},
			RMError:     {RMStopped, RMStarting}, // a lost connection is sought again
		},
		Job: {
			JobPending:    {JobStarted, JobRunning, JobSuspended, JobTerminated, JobError, JobUnknown},
			JobStarted:    {JobPending, JobRunning, JobSuspended, JobTerminated, JobError, JobUnknown},
			JobRunning:    {JobPending, JobStarted, JobSuspended, JobTerminated, JobError, JobUnknown},
			JobSuspended:  {JobPending, JobStarted, JobRunning, JobTerminated, JobError, JobUnknown},
			JobUnknown:    {JobPending, JobStarted, JobRunning, JobSuspended, JobTerminated, JobError},
			JobTerminated: {JobError},
			JobError:      {},
		},
		Process: {
			ProcessStarting:  {ProcessRunning, ProcessSuspended, ProcessExited, ProcessSignalled, ProcessError, ProcessUnknown},
			ProcessRunning:   {ProcessSuspended, ProcessExited, ProcessSignalled, ProcessError, ProcessUnknown},
			ProcessSuspended: {ProcessRunning, ProcessExited, ProcessSignalled, ProcessError, ProcessUnknown},
			ProcessUnknown:   {ProcessStarting, ProcessRunning, ProcessSuspended, ProcessExited, ProcessSignalled, ProcessError},
			ProcessExited:    {},
			ProcessSignalled: {},
			ProcessError:     {},
		},
	}
})

// ErrTransition is what every error about a state that cannot follow another wraps.
var ErrTransition = errors.New("illegal transition")

// CheckTransition returns an error that wraps [ErrTransition] unless an element of
// a kind that is in one state may be seen in the other. Every state may follow
// itself.
func CheckTransition(kind Kind, from, to State) error {
	rules, ruled := transitions()[kind]
	if !ruled || from == to || slices.Contains(rules[from], to) {
		return nil
	}
	return fmt.Errorf("%w of a %s from %s to %s", ErrTransition, kind, from, to)
}

// Ended reports whether a job or a process in this state will never run again.
func Ended(kind Kind, s State) bool {
	switch kind {
	case Job:
		return s == JobTerminated || s == JobError
	case Process:
		return s == ProcessExited || s == ProcessSignalled || s == ProcessError
	default:
		return false
	}
}

// jobStateOf maps the states of the control vocabulary to those of the model.
// STARTED is not among them: the control vocabulary does not tell jobs that have
// resources from jobs that run.
var jobStateOf = sync.OnceValue(func() map[state.Detail]State {
	return map[state.Detail]State{
		state.Undetermined:        JobUnknown,
		state.Submitted:           JobPending,
		state.QueuedActive:        JobPending,
		state.SystemOnHold:        JobPending,
		state.UserOnHold:          JobPending,
		state.UserSystemOnHold:    JobPending,
		state.Suspended:           JobSuspended,
		state.SystemSuspended:     JobSuspended,
		state.UserSuspended:       JobSuspended,
		state.UserSystemSuspended: JobSuspended,
		state.Running:             JobRunning,
		state.Completed:           JobTerminated,
		state.Failed:              JobError,
		state.Canceled:            JobTerminated,
		state.OutputReady:         JobTerminated,
	}
})

// JobState returns the model's state of a job that the control vocabulary says is
// in detail; [JobUnknown] for words outside the vocabulary.
func JobState(detail state.Detail) State {
	if mapped, known := jobStateOf()[detail]; known {
		return mapped
	}
	return JobUnknown
}
