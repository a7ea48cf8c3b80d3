package dap

import (
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// compute evaluates an expression, never a command of the debugger.
func (e *Engine) compute(ctx context.Context, request debug.Request) (evaluateBody, error) {
	id, err := e.frameOf(ctx, request)
	if err != nil {
		return evaluateBody{}, err
	}
	return e.computeIn(ctx, id, request.Text)
}

func (e *Engine) computeIn(ctx context.Context, frame int, expression string) (evaluateBody, error) {
	expression = e.withRank(strings.TrimSpace(expression))
	if expression == "" || e.dialect.isCommand(expression) {
		return evaluateBody{}, refusal{"not an expression"}
	}
	return e.express(ctx, frame, expression, "watch")
}

// withRank replaces $rank by its number.
func (e *Engine) withRank(expression string) string {
	const name = "$rank"
	var replaced strings.Builder
	for {
		before, after, isThere := strings.Cut(expression, name)
		replaced.WriteString(before)
		if !isThere {
			return replaced.String()
		}
		next, _ := utf8.DecodeRuneInString(after)
		if next == '_' || unicode.IsLetter(next) || unicode.IsDigit(next) {
			replaced.WriteString(name) // the beginning of another name
		} else {
			replaced.WriteString(strconv.Itoa(e.options.Rank))
		}
		expression = after
	}
}

// express evaluates an expression in a context of the debugger.
func (e *Engine) express(ctx context.Context, frame int, expression, where string) (evaluateBody, error) {
	arguments := map[string]any{"expression": expression, "context": where}
	if frame != 0 {
		arguments["frameId"] = frame
	}
	return answerOf[evaluateBody](ctx, e.debugger.client, "evaluate", arguments)
}

func (e *Engine) evaluate(ctx context.Context, request debug.Request) (debug.Answer, error) {
	body, err := e.compute(ctx, request)
	if err != nil {
		return debug.Answer{}, err
	}
	return e.answerValue(ctx, request, body)
}

// answerValue answers with one value.
func (e *Engine) answerValue(ctx context.Context, request debug.Request, body evaluateBody) (debug.Answer, error) {
	thread, err := e.threadOf(request)
	if err != nil {
		return debug.Answer{}, err
	}
	looks := mostLooks
	value := variable{Value: body.Result, Type: body.Type, EvaluateName: strings.TrimSpace(request.Text),
		VariablesReference: body.VariablesReference, IndexedVariables: body.IndexedVariables, NamedVariables: body.NamedVariables}
	described := e.describe(ctx, value, place{thread, max(request.Frame, 0)}, &looks)
	described.Name = ""
	return debug.Answer{Variables: []debug.Variable{described}}, nil
}

func (e *Engine) typeOf(ctx context.Context, request debug.Request) (debug.Answer, error) {
	body, err := e.compute(ctx, request)
	if err != nil {
		return debug.Answer{}, err
	}
	return debug.Answer{Text: bounded(body.Type)}, nil
}

// assign sets an expression, or a child of a reference, and answers with the new value.
func (e *Engine) assign(ctx context.Context, request debug.Request) (debug.Answer, error) {
	if request.Reference == 0 {
		if err := e.dialect.assign(ctx, e, request); err != nil {
			return debug.Answer{}, err
		}
		e.assigned()
		return e.evaluate(ctx, request)
	}
	parent, err := e.lookUp(request.Reference)
	if err == nil {
		parent, err = e.renew(ctx, parent)
	}
	if err == nil {
		err = e.setChild(ctx, parent.id, request.Text, request.Value)
	}
	if err != nil {
		return debug.Answer{}, err
	}
	e.assigned()
	return e.answerChild(ctx, request)
}

// assigned makes references read their values again.
func (e *Engine) assigned() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.values.assignments++
}

func (e *Engine) setChild(ctx context.Context, parent int, name, value string) error {
	if e.dialect.isCommand(strings.TrimSpace(value)) {
		return refusal{"not a value"}
	}
	_, err := e.debugger.call(ctx, "setVariable", map[string]any{"variablesReference": parent, "name": name, "value": e.withRank(value)})
	return err
}

// answerChild answers with the child of a reference that a request names.
func (e *Engine) answerChild(ctx context.Context, request debug.Request) (debug.Answer, error) {
	all, err := e.answerChildren(ctx, debug.Request{Reference: request.Reference})
	if err != nil {
		return debug.Answer{}, err
	}
	for _, child := range all.Variables {
		if child.Name == request.Text {
			return debug.Answer{Variables: []debug.Variable{child}}, nil
		}
	}
	return debug.Answer{}, refusal{"no such child"}
}

// command runs a command of the debugger's console and returns what it prints.
func (e *Engine) command(ctx context.Context, frame int, text string) (string, error) {
	body, err := e.express(ctx, frame, e.dialect.console(text), "repl")
	return e.dialect.printed(body.Result), err
}

const longestRaw = 256 << 10

// raw runs a command of the console, which may let the process run.
func (e *Engine) raw(ctx context.Context, request debug.Request) (debug.Answer, error) {
	if strings.ContainsAny(request.Text, "\r\n") {
		return debug.Answer{}, refusal{"a command must be one line"}
	}
	frame, err := e.frameOf(ctx, request)
	if err != nil {
		return debug.Answer{}, err
	}
	e.mutex.Lock()
	e.isCommanded = true
	e.mutex.Unlock()
	stops := e.stops.Load()
	text, err := e.command(ctx, frame, request.Text)
	if err != nil {
		return debug.Answer{}, err
	}
	if status, _ := guard.ReadStatus(e.pid()); status.State != 't' {
		e.enqueue(happening{kind: seemsRunning, stops: stops})
	}
	return debug.Answer{Text: strings.ToValidUTF8(text[:min(len(text), longestRaw)], "\uFFFD")}, nil
}
