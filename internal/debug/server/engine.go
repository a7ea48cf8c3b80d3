package server

import (
	"context"

	"github.com/rmctl/rmctl/debug"
)

// An Engine is a debugger of one process. It reports to the function that it was opened with, from one
// goroutine and in order. The function may wait for a moment, so an engine holds no lock meanwhile that Do needs.
type Engine interface {
	// Attach attaches to a process, and returns when it is stopped. It reports nothing. An empty executable
	// means that of the process.
	Attach(ctx context.Context, pid int, executable string) error

	// Do answers a request of any verb except Start and Source. The caller waits for each answer before the next
	// request; only Halt may come earlier, to interrupt a request. Without a deadline in the context, an engine
	// bounds each request. Breakpoints come without Hits and Log, and with $rank replaced in conditions. An
	// engine that must stop the process for a request does not report that.
	Do(ctx context.Context, request debug.Request) debug.Answer

	// Close ends the debugger. A process that is still attached is released.
	Close()

	// PID returns the process of the debugger.
	PID() int
}

// Open starts an engine. The caller closes it.
type Open func(ctx context.Context, notify func(debug.Notice)) (Engine, error)

// A versioned engine knows the version of its debugger.
type versioned interface{ Version() string }
