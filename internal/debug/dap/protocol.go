package dap

import "encoding/json"

// The parts of the Debug Adapter Protocol that engines use. The types of a library would make the program for
// nodes larger than it may be.

// A message is a response or an event.
type message struct {
	Type       string          `json:"type"`
	Event      string          `json:"event"`
	RequestSeq int             `json:"request_seq"`
	Success    bool            `json:"success"`
	Message    string          `json:"message"`
	Body       json.RawMessage `json:"body"`
}

// A request is a message to a debugger.
type request struct {
	Seq       int            `json:"seq"`
	Type      string         `json:"type"`
	Command   string         `json:"command"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

// The bodies of events.
type (
	stoppedBody struct {
		Reason           string `json:"reason"`
		Description      string `json:"description"`
		Text             string `json:"text"`
		ThreadID         int    `json:"threadId"`
		HitBreakpointIDs []int  `json:"hitBreakpointIds"`
	}
	exitedBody struct {
		ExitCode int `json:"exitCode"`
	}
	breakpointBody struct {
		Breakpoint placed `json:"breakpoint"`
	}
	outputBody struct {
		Category string `json:"category"`
		Output   string `json:"output"`
	}
)

// The bodies of responses.
type (
	errorBody struct {
		Error struct {
			Format string `json:"format"`
		} `json:"error"`
	}
	threadsBody struct {
		Threads []thread `json:"threads"`
	}
	stackBody struct {
		StackFrames []stackFrame `json:"stackFrames"`
		TotalFrames int          `json:"totalFrames"`
	}
	scopesBody struct {
		Scopes []struct {
			Name               string `json:"name"`
			VariablesReference int    `json:"variablesReference"`
		} `json:"scopes"`
	}
	variablesBody struct {
		Variables []variable `json:"variables"`
	}
	evaluateBody struct {
		Result             string `json:"result"`
		Type               string `json:"type"`
		VariablesReference int    `json:"variablesReference"`
		NamedVariables     int    `json:"namedVariables"`
		IndexedVariables   int    `json:"indexedVariables"`
	}
	breakpointsBody struct {
		Breakpoints []placed `json:"breakpoints"`
	}
	exceptionBody struct {
		ExceptionID string `json:"exceptionId"`
		Description string `json:"description"`
	}
)

// A thread is a thread or goroutine.
type thread struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// A source is a file, or with a reference what only the debugger has.
type source struct {
	Path            string `json:"path"`
	SourceReference int    `json:"sourceReference"`
}

// A stackFrame is a call.
type stackFrame struct {
	ID      int    `json:"id"`
	Name    string `json:"name"`
	Source  source `json:"source"`
	Line    int    `json:"line"`
	Address string `json:"instructionPointerReference"`
}

// A variable is a value with its name.
type variable struct {
	Name               string `json:"name"`
	Value              string `json:"value"`
	Type               string `json:"type"`
	EvaluateName       string `json:"evaluateName"`
	VariablesReference int    `json:"variablesReference"`
	NamedVariables     int    `json:"namedVariables"`
	IndexedVariables   int    `json:"indexedVariables"`
}

// A placed breakpoint is one that a debugger knows.
type placed struct {
	ID       int    `json:"id"`
	Verified bool   `json:"verified"`
	Message  string `json:"message"`
	Source   source `json:"source"`
	Line     int    `json:"line"`
}
