package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

const (
	mostRequests = 1024             // that are not answered
	answerLimit  = 15 * time.Second // for the debuggers; their own limits are shorter
	startLimit   = 11 * time.Minute // for starting, which reads the symbols of programs, and for breakpoints meanwhile
)

// A request waits for its response.
type request struct {
	dap.Request
	content    []byte
	ctx        context.Context
	cancel     context.CancelFunc
	isAnswered bool
	isCanceled bool // by the editor
}

// A handler answers a request, at once or later.
type handler func(*adapter, *request, dap.Message)

func on[M dap.Message](handle func(*adapter, *request, M)) handler {
	return func(a *adapter, r *request, message dap.Message) {
		if typed, isTyped := message.(M); isTyped {
			handle(a, r, typed)
		} else {
			a.fail(r, "invalid request")
		}
	}
}

// handlers answer the requests by their commands.
var handlers = map[string]handler{
	"initialize":              on((*adapter).initialize),
	"launch":                  on((*adapter).launch),
	"attach":                  on((*adapter).attach),
	"configurationDone":       on((*adapter).configurationDone),
	"restart":                 on((*adapter).restart),
	"disconnect":              on((*adapter).disconnect),
	"terminate":               on((*adapter).terminate),
	"cancel":                  on((*adapter).cancelRequest),
	"threads":                 on((*adapter).listThreads),
	"continue":                on((*adapter).goOn),
	"next":                    on((*adapter).next),
	"stepIn":                  on((*adapter).stepIn),
	"stepOut":                 on((*adapter).stepOut),
	"pause":                   on((*adapter).pause),
	"stackTrace":              on((*adapter).stackTrace),
	"scopes":                  on((*adapter).scopes),
	"variables":               on((*adapter).variables),
	"setVariable":             on((*adapter).setVariable),
	"setExpression":           on((*adapter).setExpression),
	"evaluate":                on((*adapter).evaluate),
	"exceptionInfo":           on((*adapter).exceptionInfo),
	"source":                  on((*adapter).sourceText),
	"setBreakpoints":          on((*adapter).setBreakpoints),
	"setFunctionBreakpoints":  on((*adapter).setFunctionBreakpoints),
	"setExceptionBreakpoints": on((*adapter).setExceptionBreakpoints),
	"dataBreakpointInfo":      on((*adapter).dataBreakpointInfo),
	"setDataBreakpoints":      on((*adapter).setDataBreakpoints),
}

// handle answers a message of the editor.
func (a *adapter) handle(content []byte) {
	message, err := dap.DecodeProtocolMessage(content)
	known := dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: -1}}
	if json.Unmarshal(content, &known) != nil || known.Type != "request" || known.Seq < 0 { // nvim-dap 0.7 begins with 0
		a.print(categoryConsole, "rmctl ignores an invalid message of the editor\n")
		return
	}
	r := &request{Request: known, content: content}
	r.ctx, r.cancel = context.WithCancel(a.ctx)
	if problem := a.refusal(r, err); problem != "" {
		a.fail(r, problem)
		return
	}
	a.requests[r.Seq] = r
	handlers[r.Command](a, r, message)
}

// refusal returns why a request is not handled.
func (a *adapter) refusal(r *request, err error) string {
	handled := handlers[r.Command] != nil
	switch {
	case !handled:
		return "unsupported request " + quoted(r.Command)
	case err != nil:
		return "invalid request: " + err.Error()
	case a.isEnding && r.Command != "disconnect":
		return "the session ends"
	case !a.isInitialized && r.Command != "initialize" && r.Command != "disconnect":
		return "the first request must be initialize"
	case len(a.requests) >= mostRequests:
		return "too many requests at the same time"
	case a.requests[r.Seq] != nil:
		return "an earlier request with this number has no answer yet"
	}
	return ""
}

// cancelRequest cancels a request, or launching.
func (a *adapter) cancelRequest(r *request, message *dap.CancelRequest) {
	if arguments := message.Arguments; arguments != nil {
		other := a.requests[arguments.RequestId]
		if arguments.ProgressId != "" && arguments.ProgressId == a.launching.progressID() {
			other = a.launching.request
		}
		if other != nil && other != r {
			other.isCanceled = true
			other.cancel()
		}
	}
	a.respond(r, &dap.CancelResponse{})
}

// ask sends a question to ranks, and posts their answers to the loop.
func (a *adapter) ask(r *request, limit time.Duration, pending *debug.Pending, then func(parts []debug.Part)) {
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	a.tasks.Go(func() {
		defer cancel()
		parts := pending.Wait(ctx)
		a.post(func() {
			if r.isCanceled {
				a.fail(r, "cancelled")
				return
			}
			then(parts)
		})
	})
}

// errRan is why a reference no longer holds.
var errRan = errors.New("the ranks have run since: their earlier frames and variables no longer exist")

// askHeld is ask, but fails if the states of ranks change before all have answered.
func (a *adapter) askHeld(r *request, held *snapshot, questions []debug.Question, then func(parts []debug.Part)) {
	if held.program != a.program || !held.holds() {
		a.fail(r, errRan.Error())
		return
	}
	a.ask(r, answerLimit, held.program.session.Send(questions...), func(parts []debug.Part) {
		if held.program != a.program || !held.holds() {
			a.fail(r, errRan.Error())
			return
		}
		then(parts)
	})
}
