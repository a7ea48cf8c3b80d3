package main

import "github.com/spf13/cobra"

// A constructor makes one command.
type constructor struct {
	name          string
	group         string
	create        func(*app) *cobra.Command
	looksAtOthers bool // whether it looks at the other commands
}

// constructors returns those of all commands. It is no variable because record
// runs other commands.
func constructors() []constructor {
	return []constructor{
		{name: "submit", group: groupUsing, create: newSubmit},
		{name: "run", group: groupUsing, create: newRun},
		{name: "attach", group: groupUsing, create: newAttach},
		{name: "send", group: groupUsing, create: newSend},
		{name: "form", group: groupUsing, create: newForm},
		{name: "status", group: groupUsing, create: newStatus},
		{name: "jobs", group: groupUsing, create: newJobs},
		{name: "processes", group: groupUsing, create: newProcesses},
		{name: "explain", group: groupUsing, create: newExplain},
		{name: "wait", group: groupUsing, create: newWait},
		{name: "watch", group: groupUsing, create: newWatch},
		{name: "output", group: groupUsing, create: newOutput},
		{name: "cancel", group: groupUsing, create: newCancel},
		{name: "hold", group: groupUsing, create: newHold},
		{name: "release", group: groupUsing, create: newRelease},
		{name: "suspend", group: groupUsing, create: newSuspend},
		{name: "resume", group: groupUsing, create: newResume},
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
		{name: "conn", group: groupSessions, create: newConn},
		{name: "doctor", group: groupSessions, create: newDoctor},
		{name: "validate", group: groupAuthoring, create: newValidate},
		{name: "describe", group: groupAuthoring, create: newDescribe},
		{name: "render", group: groupAuthoring, create: newRender},
		{name: "replay", group: groupAuthoring, create: newReplay},
		{name: "record", group: groupAuthoring, create: newRecord},
		{name: "test", group: groupAuthoring, create: newTest},
		{name: "import", group: groupAuthoring, create: newImport},
		{name: "version", group: groupOther, create: newVersion},
		{name: "man", group: groupOther, create: newMan, looksAtOthers: true},
		{name: "background", group: groupOther, create: newBackground},
	}
}
