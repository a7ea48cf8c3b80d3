package main

import (
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
)

// A constructor creates a command.
type constructor struct {
	name          string
	group         string
	aliases       []string
	create        func(*app) *cobra.Command
	looksAtOthers bool // whether it needs the other commands
}

// constructors returns the constructors of all commands. A variable would depend on itself:
// record runs other commands.
func constructors() []constructor {
	return []constructor{
		{name: "submit", group: groupUsing, create: newSubmit},
		{name: "resubmit", group: groupUsing, create: newResubmit},
		{name: "run", group: groupUsing, create: newRun},
		{name: "attach", group: groupUsing, create: newAttach},
		{name: "send", group: groupUsing, create: newSend},
		{name: "form", group: groupUsing, create: newForm},
		{name: "status", group: groupUsing, create: newStatus},
		{name: "jobs", group: groupUsing, aliases: []string{"ps"}, create: newJobs},
		{name: "processes", group: groupUsing, create: newProcesses},
		{name: "stacks", group: groupUsing, create: newStacks},
		{name: "debug", group: groupUsing, create: newDebug},
		{name: "explain", group: groupUsing, create: newExplain},
		{name: "wait", group: groupUsing, create: newWait},
		{name: "watch", group: groupUsing, aliases: []string{"top"}, create: newWatch},
		{name: "output", group: groupUsing, aliases: []string{"logs"}, create: newOutput},
		operation(operationKind{control.Cancel, "canceled", "", "have ended", "Cancel jobs", "Cancel jobs, running or not."}),
		operation(operationKind{control.Hold, "held", "QUEUED", "are not queued", "Hold queued jobs", "Prevent queued jobs from starting."}),
		operation(operationKind{control.Release, "released", "HELD", "are not held", "Release held jobs", "Let held jobs start."}),
		operation(operationKind{control.Suspend, "suspended", "RUNNING", "are not running", "Suspend running jobs", "Pause running jobs. Many schedulers reserve this for operators."}),
		operation(operationKind{control.Resume, "resumed", "SUSPENDED", "are not suspended", "Resume suspended jobs", "Let suspended jobs continue."}),
		{name: "coalloc", group: groupUsing, create: newCoalloc},
		{name: "action", group: groupUsing, create: newAction},
		{name: "config", group: groupUsing, create: newConfig},
		{name: "start", group: groupSessions, create: newStart},
		{name: "stop", group: groupSessions, create: newStop},
		{name: "targets", group: groupSessions, create: newTargets},
		{name: "queues", group: groupSessions, create: newQueues},
		{name: "nodes", group: groupSessions, create: newNodes},
		{name: "serve", group: groupSessions, create: newServe},
		{name: "polls", group: groupSessions, create: newPolls},
		{name: "recover", group: groupSessions, create: newRecover},
		{name: "agent", group: groupSessions, create: newAgent},
		{name: "conn", group: groupSessions, create: newConn},
		{name: "doctor", group: groupSessions, create: newDoctor},
		{name: "validate", group: groupAuthoring, create: newValidate},
		{name: "describe", group: groupAuthoring, create: newDescribe},
		{name: "definition", group: groupAuthoring, create: newDefinition},
		{name: "render", group: groupAuthoring, create: newRender},
		{name: "replay", group: groupAuthoring, create: newReplay},
		{name: "record", group: groupAuthoring, create: newRecord},
		{name: "test", group: groupAuthoring, create: newTest},
		{name: "import", group: groupAuthoring, create: newImport},
		{name: "rsl", group: groupAuthoring, create: newRSL},
		{name: "version", group: groupOther, create: newVersion},
		{name: "man", group: groupOther, create: newMan, looksAtOthers: true},
		{name: "background", group: groupOther, create: newBackground},
	}
}

// operation returns the constructor of the command for an operation on jobs.
func operation(kind operationKind) constructor {
	return constructor{name: string(kind.Operation), group: groupUsing, create: func(a *app) *cobra.Command { return newOperation(a, kind) }}
}
