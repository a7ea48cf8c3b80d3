// Package vocabulary names the attributes and states of package model that rmctl uses. Other
// programs write them as text; docs/reference/model.md lists them.
package vocabulary

// States of elements. Each kind has some of them, which model.States returns.
const (
	StateError      = "ERROR" // of a resource manager: not started, or lost; of a node: out of order; of jobs and processes: could not be started
	StateUnknown    = "UNKNOWN"
	StateStarting   = "STARTING"         // of a resource manager: being connected to
	StateStarted    = "STARTED"          // of a resource manager: takes jobs; of a job: has resources, its processes do not run yet
	StateStopping   = "STOPPING"         // being disconnected from
	StateStopped    = "STOPPED"          // of a resource manager: its settings may be changed; of a queue: takes no jobs, starts none
	StateSuspended  = "SUSPENDED"        // of a resource manager: connected, but its scheduler does not answer; else stopped for a time
	StateUp         = "UP"               // of machines and nodes
	StateDown       = "DOWN"             // of machines and nodes
	StateAlert      = "ALERT"            // of a machine: some of its nodes are down or in error
	StateNormal     = "NORMAL"           // of a queue
	StateCollecting = "COLLECTING"       // of a queue: takes jobs, starts none
	StateDraining   = "DRAINING"         // of a queue: takes no jobs, starts those it has
	StatePending    = "PENDING"          // of a job: waits for resources
	StateRunning    = "RUNNING"          // of jobs and processes
	StateTerminated = "TERMINATED"       // of a job: ended after it had started, or canceled
	StateExited     = "EXITED"           // of a process
	StateSignalled  = "EXITED_SIGNALLED" // of a process: ended by a signal
)

// Extra states of a node: by whom it is used.
const (
	NodeUserExclusive  = "USER_ALLOC_EXCL"    // allocated to the user alone
	NodeUserShared     = "USER_ALLOC_SHARED"  // allocated to the user and open to others
	NodeOtherExclusive = "OTHER_ALLOC_EXCL"   // allocated to another user alone
	NodeOtherShared    = "OTHER_ALLOC_SHARED" // allocated to another user and open to others
	NodeRunningProcess = "RUNNING_PROCESS"
	NodeExitedProcess  = "EXITED_PROCESS"
	NodeNone           = "NONE"
)
