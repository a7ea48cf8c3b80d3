package sdm

import (
	"path"
	"strconv"

	"github.com/rmctl/rmctl/debug"
)

// The ids of events.
const (
	eventExit         = 102
	eventBreakpoint   = 104
	eventFrames       = 105
	eventData         = 106
	eventType         = 107
	eventVariables    = 108
	eventArguments    = 109
	eventOutput       = 110
	eventOK           = 111
	eventError        = 112
	eventSuspend      = 113
	eventThreads      = 114
	eventThreadSelect = 115
	eventDepth        = 116
	eventMemory       = 117
	eventSignals      = 119
)

// The reasons of suspends and exits.
const (
	suspendBreakpoint = "0"
	suspendSignal     = "1"
	suspendStep       = "2"
	suspendHalt       = "3"
	exitNormal        = "0"
	exitSignal        = "1"
)

// The codes of errors. A client takes the process for ended after some of them, codeDebugger for instance.
const (
	codeUnsupported     = 1
	codeDebugger        = 4
	codeNoBackend       = 5
	codeNoSession       = 8
	codeSession         = 9
	codeNoLine          = 10
	codeNoFunction      = 11
	codeNoFile          = 12
	codeNoBreakpoint    = 13
	codeNoSymbol        = 14
	codeNoMemory        = 15
	codeCannotRun       = 16
	codeIsRunning       = 18
	codeNotRunning      = 19
	codeNoStack         = 24
	codeOutOfRange      = 25
	codeNoSuchFile      = 26
	codeNotExecutable   = 32
	codeDirectory       = 33
	codeProcessSet      = 36
	codeUnknownVariable = 39
)

// An event is a report of some processes. The process set is not part of its arguments.
type event struct {
	id        uint16
	arguments []string
}

// A result is an event of some ranks.
type result struct {
	ranks debug.Ranks
	event event
}

func ok() event { return event{id: eventOK} }

func failure(code int, text string) event {
	return event{eventError, []string{strconv.Itoa(code), text}}
}

// failureOf returns the error for an answer with a problem. The code is that for a request which the debugger refused.
func failureOf(answer debug.Answer, code int, prefix string) event {
	switch answer.Problem {
	case debug.Unsupported:
		return failure(codeUnsupported, "not supported: "+answer.Text)
	case debug.IsRunning:
		return failure(codeIsRunning, "Program is running")
	case debug.NotRunning:
		return failure(codeNotRunning, "The program is not being run")
	case debug.Silent:
		return failure(codeDebugger, "Debugger error: "+answer.Text)
	}
	return failure(code, prefix+answer.Text)
}

// location returns the arguments of a place.
func location(file, function, address string, line int) []string {
	if address == "" {
		address = "0x0000000000000000" // with source, nobody needs it
	}
	if file != "" {
		file = path.Base(file)
	}
	return []string{file, function, address, strconv.Itoa(line)}
}

// frameArguments returns the arguments of a frame.
func frameArguments(level int, frame debug.Frame) []string {
	return append([]string{strconv.Itoa(level)}, location(frame.File, frame.Function, frame.Address, frame.Line)...)
}

// list returns a number of texts, and the texts.
func list(texts []string) []string {
	return append([]string{strconv.Itoa(len(texts))}, texts...)
}

// namesOf returns the names of variables as a list.
func namesOf(variables []debug.Variable) []string {
	texts := make([]string, len(variables))
	for i, variable := range variables {
		texts[i] = variable.Name
	}
	return list(texts)
}
