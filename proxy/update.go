package proxy

import (
	"fmt"

	"github.com/rmctl/rmctl/model"
)

// A Change is a kind of update.
type Change uint8

// The kinds of updates.
const (
	OK             Change = iota // completes a command
	Message                      // messageLevel=, messageCode= and messageText=
	Error                        // errorCode= and errorMsg=; refuses a command
	ShutDown                     // the agent ends the session
	SubmitError                  // jobSubId=, errorCode= and errorMsg=
	TerminateError               // jobId=, errorCode= and errorMsg=
	New                          // elements, below a parent
	Changed                      // attributes of elements
	Removed                      // elements
	RemovedAll                   // all elements but the resource manager
	Defined                      // definitions of attributes
	Unknown                      // any other
)

// An Update is what an agent sends.
type Update struct {
	Change      Change
	Transaction uint32 // of the command that it answers; for changes of the model, StartEvents

	Attributes Attributes // of Message, the errors, and an OK with Arguments

	// Of New, Changed and Removed. The parent of processes is their job; agents before
	// 2010-05 leave it out of Changed and Removed.
	Kind   model.Kind
	Parent string
	Groups []Group // of Removed: one, without attributes

	Definitions []Definition // of Defined

	Code uint16 // of Unknown: the frame's id

	// Of Unknown, and of an OK that completes nothing: C agents send an OK with arguments,
	// always with transaction 1, for any command that they cannot read.
	Arguments []string
}

// A Group are elements that get the same attributes.
type Group struct {
	IDs        IDs
	Attributes Attributes
}

// updateForm is how a kind of update stands on the wire.
type updateForm struct {
	change Change
	kind   model.Kind
	name   string
}

// updateForms are the updates by the ids of their frames.
var updateForms = map[uint16]updateForm{
	0x00: {OK, 0, "OK"},
	0x01: {Message, 0, "MESSAGE"},
	0x05: {Error, 0, "ERROR"},
	0x06: {ShutDown, 0, "SHUTDOWN"},
	0xd3: {SubmitError, 0, "SUBMITJOB_ERROR"},
	0xd4: {TerminateError, 0, "TERMINATEJOB_ERROR"},
	0xdc: {New, model.Job, "NEW_JOB"},
	0xdd: {New, model.Machine, "NEW_MACHINE"},
	0xde: {New, model.Node, "NEW_NODE"},
	0xdf: {New, model.Process, "NEW_PROCESS"},
	0xe0: {New, model.Queue, "NEW_QUEUE"},
	0xe6: {Changed, model.Job, "CHANGE_JOB"},
	0xe7: {Changed, model.Machine, "CHANGE_MACHINE"},
	0xe8: {Changed, model.Node, "CHANGE_NODE"},
	0xe9: {Changed, model.Process, "CHANGE_PROCESS"},
	0xea: {Changed, model.Queue, "CHANGE_QUEUE"},
	0xeb: {Changed, model.ResourceManager, "CHANGE_RM"},
	0xf0: {RemovedAll, 0, "REMOVE_ALL"},
	0xf1: {Removed, model.Job, "REMOVE_JOB"},
	0xf2: {Removed, model.Machine, "REMOVE_MACHINE"},
	0xf3: {Removed, model.Node, "REMOVE_NODE"},
	0xf4: {Removed, model.Process, "REMOVE_PROCESS"},
	0xf5: {Removed, model.Queue, "REMOVE_QUEUE"},
	0xfb: {Defined, 0, "ATTR_DEF"},
}

// updateIDs are the ids of frames by kind of update and of element.
var updateIDs = func() map[updateForm]uint16 {
	ids := map[updateForm]uint16{}
	for id, form := range updateForms {
		ids[updateForm{form.change, form.kind, ""}] = id
	}
	return ids
}()

// code returns the id of the update's frame.
func (u Update) code() uint16 {
	kind := u.Kind
	if u.Change != New && u.Change != Changed && u.Change != Removed {
		kind = 0
	}
	if id, known := updateIDs[updateForm{u.Change, kind, ""}]; known {
		return id
	}
	if u.Change == Unknown {
		return u.Code
	}
	return impossible
}

// impossible is the id of updates that the protocol does not have, such as a new resource
// manager. Peers ignore it.
const impossible = 0xffff

// Name returns the name of the kind of update, such as NEW_JOB.
func (u Update) Name() string {
	if form, known := updateForms[u.code()]; known {
		return form.name
	}
	return fmt.Sprintf("update %04x", u.code())
}

// ParseUpdate returns the update of a frame. Unknown updates are values too; an error is a
// [*FrameError].
func ParseUpdate(f Frame) (Update, error) {
	form, known := updateForms[f.ID]
	update := Update{Change: form.change, Kind: form.kind, Transaction: f.Transaction}
	parser := updateParser{frame: f, budget: mostIDs}
	switch {
	case !known:
		update.Change, update.Code, update.Arguments = Unknown, f.ID, f.Arguments
	case form.change == New || form.change == Changed:
		parser.elements(&update)
	case form.change == Removed:
		parser.removed(&update)
	case form.change == Defined:
		parser.definitions(&update)
	case form.change == OK:
		update.Attributes, update.Arguments = parseAttributes(nil, f.Arguments), f.Arguments
	case form.change != ShutDown && form.change != RemovedAll:
		update.Attributes = parseAttributes(nil, f.Arguments)
	}
	if parser.broken != nil {
		return Update{}, parser.broken
	}
	return update, nil
}

// Frame returns the frame of the update. Elements of a group without ids are left out.
func (u Update) Frame() Frame {
	frame := Frame{ID: u.code(), Transaction: u.Transaction}
	switch u.Change {
	case Message, Error, SubmitError, TerminateError:
		frame.Arguments = u.countedAttributes()
	case New, Changed:
		frame.Arguments = u.elements()
	case Removed:
		if u.Kind == model.Process && u.Parent != "" {
			frame.Arguments = append(frame.Arguments, u.Parent)
		}
		ids := ""
		if len(u.Groups) > 0 {
			ids = u.Groups[0].IDs.String()
		}
		frame.Arguments = append(frame.Arguments, ids)
	case Defined:
		frame.Arguments = definitionArguments(u.Definitions)
	case OK, Unknown:
		frame.Arguments = u.Arguments
	}
	return frame
}
