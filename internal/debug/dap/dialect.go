package dap

import (
	"context"
	"fmt"

	"github.com/rmctl/rmctl/debug"
)

// A dialect implements the differences between debuggers that speak the protocol.
type dialect interface {
	program() string                                    // its usual name
	connects() bool                                     // it connects to a port instead of using standard input and output
	version(ctx context.Context, engine *Engine) string // with the name
	initialize() map[string]any                         // arguments of requests
	attach(pid int) map[string]any

	function(name string) string  // the name of a function for breakpoints
	exception(name string) string // the filter for an exception, or ""
	keepsOrder() bool             // it answers for functions in the order of the request
	path(ctx context.Context, engine *Engine, file string) (string, error)
	watch(ctx context.Context, engine *Engine, each *watch) error
	unwatch(ctx context.Context, engine *Engine, number int) error

	// classify returns why the process stopped, or false for a stop that is not reported.
	classify(ctx context.Context, engine *Engine, news happening) (stopNotice, bool)
	pause(ctx context.Context, engine *Engine, thread int) error // stops a running process
	reap(ctx context.Context, engine *Engine) error              // ends a stopped process, which has got SIGKILL

	numbersThreads() bool // the engine numbers threads
	threadName(name string) string
	threads(list []thread) []thread                                                  // with numbers that the stack can be requested for
	isBeforeThreads(thread int) bool                                                 // the thread does not exist yet
	complete(ctx context.Context, engine *Engine, first int, frames []frame) []frame // frames without a file

	variables(ctx context.Context, engine *Engine, request debug.Request) ([]variable, place, error)
	value(variable variable) (value string, isWhole bool)
	indexed(variable variable) int
	childCount(variable variable) int
	pages() bool       // it lists children of all values in pages
	keepsValues() bool // a reference keeps the values that were read first
	assign(ctx context.Context, engine *Engine, request debug.Request) error
	memory(ctx context.Context, engine *Engine, frame int, request debug.Request) (string, error)

	isCommand(expression string) bool // it would be a command of the console
	console(command string) string    // an expression that is this command
	printed(text string) string       // what a command printed
	output(text string) string        // what the debugger prints
	message(text string) string       // an error, without what differs between ranks
}

// A stopNotice is the notice of a stop, with its cause.
type stopNotice struct {
	debug.Notice
	cause cause
}

func dialectOf(kind string) (dialect, error) {
	switch kind {
	case "lldb":
		return lldb{}, nil
	case "dlv":
		return delve{}, nil
	}
	return nil, fmt.Errorf("unknown debugger %q: use lldb or dlv", kind)
}

// scoped restricts variables to the wanted scope.
func scopeName(text string) (string, error) {
	switch text {
	case "", "locals", "arguments":
		return "Locals", nil
	case "globals":
		return "Globals", nil
	}
	return "", refusal{"unknown variables: " + bounded(text)}
}

func (e *Engine) memory(ctx context.Context, request debug.Request) (debug.Answer, error) {
	frame, err := e.frameOf(ctx, request)
	if err != nil {
		return debug.Answer{}, err
	}
	text, err := e.dialect.memory(ctx, e, frame, request)
	if err == nil && request.Value != "" {
		e.assigned()
	}
	return debug.Answer{Text: text}, err
}
