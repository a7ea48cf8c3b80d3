package proxy

import (
	"fmt"
	"strconv"
	"strings"
)

// A CommandID is a kind of command.
type CommandID uint8

// The kinds of commands. Two share an id on the wire and differ by their attributes.
const (
	Quit            CommandID = iota // ends the session; answered by ShutDown
	Init                             // version= and baseId=, the number that ids of elements begin with
	ModelDefinition                  // asks for the definitions of attributes
	StartEvents                      // asks for the model and its changes; answered by OK once they stop
	StopEvents                       // ends StartEvents
	SubmitJob                        // attributes of a job, with jobSubId=
	TerminateJob                     // jobId=
	MoveJob                          // jobId= and queueId=
	FilterEvents                     // id= or filterChildren=
	ChangeJob                        // jobId= and operation=
	UnknownCommand                   // any other
)

// wireCommand is how a kind of command stands on the wire.
type wireCommand struct {
	id   uint16
	name string
}

var wireCommands = [UnknownCommand]wireCommand{
	Quit:            {0, "QUIT"},
	Init:            {1, "INIT"},
	ModelDefinition: {2, "MODEL_DEF"},
	StartEvents:     {3, "START_EVENTS"},
	StopEvents:      {4, "STOP_EVENTS"},
	SubmitJob:       {5, "SUBMIT_JOB"},
	TerminateJob:    {6, "TERMINATE_JOB"},
	MoveJob:         {7, "MOVE_JOB"},
	FilterEvents:    {7, "FILTER_EVENTS"},
	ChangeJob:       {8, "CHANGE_JOB"},
}

// A Command is what a client sends.
type Command struct {
	ID          CommandID
	Transaction uint32 // chosen by the client; answers carry it
	Attributes  Attributes

	// Of an UnknownCommand: its frame's id and arguments.
	Code      uint16
	Arguments []string
}

// ParseCommand returns the command of a frame. Unknown commands are values too.
func ParseCommand(f Frame) Command {
	command := Command{ID: UnknownCommand, Transaction: f.Transaction}
	for id, wire := range wireCommands {
		if wire.id == f.ID {
			command.ID = CommandID(id)
			break
		}
	}
	if command.ID == Init {
		command.Attributes = parseInit(f.Arguments)
		return command
	}
	command.Attributes = parseAttributes(nil, f.Arguments)
	switch f.ID {
	case wireCommands[MoveJob].id:
		command.ID = command.Attributes.seventh()
	case wireCommands[ChangeJob].id:
		if !command.Attributes.has("jobId") {
			command.ID = UnknownCommand // SUSPEND_EVENTS of later versions
		}
	}
	if command.ID == UnknownCommand {
		command.Attributes, command.Code, command.Arguments = nil, f.ID, f.Arguments
	}
	return command
}

// parseInit accepts the version and the base id without their names, as the design of the
// protocol has them.
func parseInit(arguments []string) Attributes {
	var attributes Attributes
	bare := []string{"version", "baseId"}
	for i, argument := range arguments {
		if i < len(bare) && !strings.Contains(argument, "=") {
			attributes = append(attributes, Attribute{ID: bare[i], Value: argument})
			continue
		}
		attributes = parseAttributes(attributes, arguments[i:i+1])
	}
	return attributes
}

// seventh distinguishes the two commands with the id 7.
func (a Attributes) seventh() CommandID {
	switch {
	case a.has("jobId") && a.has("queueId"):
		return MoveJob
	case a.has("id") || a.has("filterChildren"):
		return FilterEvents
	}
	return UnknownCommand
}

func (a Attributes) has(id string) bool {
	_, has := a.Value(id)
	return has
}

// Frame returns the frame of the command.
func (c Command) Frame() Frame {
	if c.ID >= UnknownCommand {
		return Frame{ID: c.Code, Transaction: c.Transaction, Arguments: c.Arguments}
	}
	list := newArgumentList(len(c.Attributes), c.Attributes.size())
	list.addAttributes(c.Attributes)
	return Frame{ID: wireCommands[c.ID].id, Transaction: c.Transaction, Arguments: list.arguments}
}

// Name returns the name of the kind of command, such as SUBMIT_JOB.
func (c Command) Name() string {
	if c.ID >= UnknownCommand {
		return fmt.Sprintf("command %04x", c.Code)
	}
	return wireCommands[c.ID].name
}

// Bounds of a refusal, whose text may repeat what a hostile client sent.
const (
	longestSubject = 1000
	longestReason  = 4000
)

// Refuse returns the update that refuses the command; long reasons are cut. Other clients than
// rmctl end their session unless it is a submission or a termination, with the id of its job,
// that is refused.
func (c Command) Refuse(code int, reason string) Update {
	update := Update{Change: Error, Transaction: c.Transaction}
	if change, subject := c.refusal(); subject.Value != "" {
		update.Change, update.Attributes = change, Attributes{subject}
	}
	if len(reason) > longestReason {
		reason = strings.ToValidUTF8(reason[:longestReason], "") + "…"
	}
	update.Attributes = append(update.Attributes, Attribute{"errorCode", strconv.Itoa(code)}, Attribute{"errorMsg", reason})
	return update
}

// refusal returns the kind of update that refuses the command, and what it must name. Clients
// cannot parse it otherwise.
func (c Command) refusal() (Change, Attribute) {
	change, subject := SubmitError, Attribute{ID: "jobSubId"}
	switch c.ID {
	case SubmitJob:
	case TerminateJob:
		change, subject.ID = TerminateError, "jobId"
	default:
		return Error, Attribute{}
	}
	if id, _ := c.Attributes.Value(subject.ID); len(id) <= longestSubject {
		subject.Value = id
	}
	return change, subject
}
