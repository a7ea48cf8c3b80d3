package model

import (
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// predefinedOf lists the predefined attributes of each kind, after the runtime
// model of the Eclipse PTP; names with Status are of its later versions.
var predefinedOf = sync.OnceValue(func() [][]*Definition {
	return [][]*Definition{
		ResourceManager: {
			enumerated(vocabulary.AttributeRMState, "state", "State of the target", vocabulary.StateStopped, true, statesOf[ResourceManager]),
			text("rmDescription", "description", "Description of the target", "", true),
			text("rmType", "type", "Type of the target", "unspecified", false),
			text("rmID", "RM ID", "Id of the target", "", false),
		},
		Machine: {
			enumerated(vocabulary.AttributeMachineState, "state", "State of the machine", vocabulary.StateUnknown, true, statesOf[Machine]),
			count("numNodes", "nodes", "Number of nodes", "0", true),
		},
		Queue: {
			enumerated(vocabulary.AttributeQueueState, "state", "State of the queue", vocabulary.StateNormal, true, statesOf[Queue]),
			text(vocabulary.AttributeQueueStatus, "Status", "The scheduler's word for the state of the queue", "", true),
		},
		Node: {
			enumerated(vocabulary.AttributeNodeState, "Node State", "State of the node", vocabulary.StateUnknown, true, statesOf[Node]),
			enumerated(vocabulary.AttributeNodeExtraState, "Extra Node State", "Who uses the node", vocabulary.NodeNone, true, nodeExtraStates),
			text(vocabulary.AttributeNodeStatus, "Node Status", "The scheduler's word for the state of the node", "", true),
			count("nodeNumber", "Node Number", "Index of the node, from 0", "0", true),
		},
		Job: {
			enumerated(vocabulary.AttributeJobState, "State", "State of the job", vocabulary.StatePending, true, statesOf[Job]),
			text(vocabulary.AttributeJobStatus, "Status", "The scheduler's word for the state of the job", "", true),
			text(vocabulary.AttributeJobMessage, "Status Message", "Why the job is in its state", "", true),
			text("jobSubId", "Job Submission ID", "Id of the submission, until the job has an id", "", false),
			text("jobId", "Job ID", "Id of the job of a command", "", true),
			text("queueId", "queueId", "Id of the queue that the job was submitted to", "", true),
			count("jobNumProcs", "Procs", "Number of processes", "1", true),
			text("execName", "Executable Name", "Name of the program", "", true),
			text("execPath", "Executable Path", "Directory of the program", "", true),
			text("workingDir", "Working Directory", "Working directory of the program", "", true),
			array("progArgs", "Program Arguments", "Arguments of the program", true),
			array("env", "Environment", "Environment of the program", true),
			text("debugExecName", "Debugger Executable Name", "Name of the debugger", "", true),
			text("debugExecPath", "Debugger Executable Path", "Directory of the debugger", "", true),
			array("debugArgs", "debugArgs", "Arguments of the debugger", true),
			flag("debug", "debug", "Whether the job is debugged", "false", true),
			flag("debugStopInMain", "Stop In Main", "Whether a debugged program stops in its main function", "true", true),
			text("debugerId", "Debugger ID", "Id of the debugger", "", false), // spelt so in the field
			text("userId", "User", "Who owns the job", "", true),
			ranged(count("ioForwarding", "I/O Forwarding", "Streams that are forwarded: the sum of 1 for input, 2 for output, 4 for errors", "2", false), 0, 7),
			flag("launchedByPTP", "Launched By PTP", "Whether the job was submitted from here", "false", true),
		},
		Process: {
			enumerated(vocabulary.AttributeProcessState, "State", "State of the process", vocabulary.StateStarting, true, statesOf[Process]),
			count("processPID", "PID", "Process id in the operating system", "0", true),
			count(vocabulary.AttributeProcessIndex, "Index", "Index of the process, from 0, such as its rank in MPI", "0", true),
			ranged(count(vocabulary.AttributeProcessExitCode, "Exit Code", "Exit code of the process", "0", true), -1<<31, 1<<31-1),
			text("processSignalName", "Exit Signal", "Signal that ended the process", "", true),
			text("processStdout", "Process Stdout", "Output of the process", "", false),
			text("processStderr", "Process Stderr", "Error output of the process", "", false),
			text(vocabulary.AttributeProcessNodeID, "Process Node ID", "Id of the node that the process runs on", "", true),
		},
	}
})

// common are the attributes of every kind.
var common = sync.OnceValue(func() []*Definition {
	return []*Definition{
		text(vocabulary.AttributeID, "ID", "Id of the element, unique in its target", "", false),
		text(vocabulary.AttributeName, "Name", "Name of the element", "", true),
	}
})

// standalone are definitions that no kind of element has: those of messages, errors and filters.
var standalone = sync.OnceValue(func() []*Definition {
	return []*Definition{
		enumerated("messageLevel", "Message Level", "Level of the message", "UNDEFINED", true,
			[]State{"FATAL", "ERROR", "WARNING", "INFO", "DEBUG", "UNDEFINED"}),
		ranged(count("messageCode", "Message Code", "Code of the message", "0", true), -1<<31, 1<<31-1),
		text("messageText", "Message Text", "Text of the message", "", true),
		ranged(count("errorCode", "Error Code", "Code of the error", "0", true), -1<<31, 1<<31-1),
		text("errorMsg", "Error Message", "Text of the error", "", true),
		flag("filterChildren", "filterChildren", "Whether a filter also applies to the children of its element", "false", false),
	}
})

// predefinedDefinitions returns all predefined definitions.
func predefinedDefinitions() definitions {
	byID := definitions{}
	for _, definition := range slices.Concat(slices.Concat(predefinedOf()...), common(), standalone()) {
		byID[definition.ID] = definition
	}
	return byID
}

func text(id, name, description, byDefault string, display bool) *Definition {
	return &Definition{ID: id, Type: String, Name: name, Description: description, Default: []string{byDefault}, Display: display}
}

func array(id, name, description string, display bool) *Definition {
	return &Definition{ID: id, Type: Array, Name: name, Description: description, Display: display}
}

func flag(id, name, description, byDefault string, display bool) *Definition {
	return &Definition{ID: id, Type: Boolean, Name: name, Description: description, Default: []string{byDefault}, Display: display}
}

// count defines an INTEGER from 0 to the largest signed 32-bit integer.
func count(id, name, description, byDefault string, display bool) *Definition {
	return &Definition{ID: id, Type: Integer, Name: name, Description: description, Default: []string{byDefault}, Display: display,
		Limited: true, Max: 1<<31 - 1}
}

func ranged(definition *Definition, least, most float64) *Definition {
	definition.Min, definition.Max = least, most
	return definition
}

func enumerated(id, name, description string, byDefault State, display bool, states []State) *Definition {
	values := make([]string, len(states))
	for i, state := range states {
		values[i] = string(state)
	}
	return &Definition{ID: id, Type: Enumerated, Name: name, Description: description, Default: []string{string(byDefault)}, Display: display, Values: values}
}
