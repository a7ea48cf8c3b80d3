package adapter

import (
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

// rawCommand begins a line of the debug console that goes to the debuggers as it is.
const rawCommand = "raw "

// evaluate answers with the value of an expression on all ranks of a frame.
func (a *adapter) evaluate(r *request, message *dap.EvaluateRequest) {
	arguments := message.Arguments
	if a.arrange(r, arguments) {
		return
	}
	f := a.focusFrame(r, arguments.FrameId)
	if f == nil {
		return
	}
	request := f.request(debug.Evaluate, arguments.Expression)
	if text, isRaw := strings.CutPrefix(arguments.Expression, rawCommand); isRaw && arguments.Context == "repl" {
		if !a.options.AllowRaw {
			a.fail(r, "raw commands are disabled: the debuggers could run any program")
			return
		}
		request = f.request(debug.Raw, text)
	}
	most := mostValueText
	if arguments.Context == "clipboard" || request.Verb == debug.Raw {
		most = mostClipboard
	}
	a.askHeld(r, f.held, []debug.Question{{Ranks: f.held.ranks, Request: request}}, func(parts []debug.Part) {
		result := mergeResults(parts)
		if result.hasFailed() {
			a.fail(r, result.text(mostValueText))
			return
		}
		result.name = arguments.Expression
		shown := a.show(result, f, &reference{frame: *f, text: arguments.Expression})
		a.respond(r, &dap.EvaluateResponse{Body: dap.EvaluateResponseBody{
			Result: result.text(most), Type: shown.Type, VariablesReference: shown.VariablesReference, IndexedVariables: shown.IndexedVariables,
		}})
	})
}

// focusFrame returns a frame by its id; for 0 the innermost one of the ranks that the user looks at, otherwise of all that
// are stopped. Otherwise the request has failed.
func (a *adapter) focusFrame(r *request, id int) *frame {
	if id != 0 {
		return a.frameOf(r, id)
	}
	p := a.program
	if p == nil {
		a.fail(r, "no program has been launched")
		return nil
	}
	stopped := p.session.Ranks(debug.Stopped)
	if inFocus := common(stopped, p.focus); len(inFocus) > 0 {
		stopped = inFocus
	}
	if len(stopped) == 0 {
		a.fail(r, "no rank is stopped")
		return nil
	}
	return &frame{held: p.snapshot(stopped)}
}
