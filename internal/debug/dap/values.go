package dap

import (
	"context"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

const (
	mostVariables  = 1000
	mostReferences = 1 << 16
	mostLooks      = 64 // at children, to write one answer
	mostShown      = 16 // children of a value
	deepestShown   = 2
)

// A place is a frame of a thread.
type place struct{ thread, frame int }

// A reference is a value with children.
type reference struct {
	place
	id         int    // of the debugger
	indexed    int    // so many children have an index, for debuggers that count these
	expression string // that evaluates to the value
	age        int    // how many assignments came before
}

// values are valid until the process runs.
type values struct {
	frames      map[place]int
	references  []reference // the first one has number 1
	assignments int
}

func (v *values) reset() {
	v.frames, v.references = map[place]int{}, nil
}

// lookUp returns the reference of a request.
func (e *Engine) lookUp(number int) (reference, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if number < 1 || number > len(e.values.references) {
		return reference{}, refusal{"the value is gone because the process has run"}
	}
	return e.values.references[number-1], nil
}

// refer returns a number for a value with children, or 0.
func (e *Engine) refer(to reference) int {
	if to.id == 0 {
		return 0
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(e.values.references) >= mostReferences {
		return 0
	}
	to.age = e.values.assignments
	e.values.references = append(e.values.references, to)
	return len(e.values.references)
}

// renew reads a value again after an assignment, for debuggers that keep what they have read.
func (e *Engine) renew(ctx context.Context, old reference) (reference, error) {
	e.mutex.Lock()
	isCurrent := old.age == e.values.assignments || old.expression == "" || !e.dialect.keepsValues()
	e.mutex.Unlock()
	if isCurrent {
		return old, nil
	}
	body, err := e.compute(ctx, debug.Request{Thread: e.numberOf(old.thread), Frame: old.frame, Text: old.expression})
	if err != nil {
		return old, err
	}
	old.id, old.indexed = body.VariablesReference, body.IndexedVariables
	return old, nil
}

func (e *Engine) numberOf(thread int) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.numbered(thread)
}

// answerVariables lists the variables of a frame, or the children of a value.
func (e *Engine) answerVariables(ctx context.Context, request debug.Request) (debug.Answer, error) {
	if request.Reference != 0 {
		return e.answerChildren(ctx, request)
	}
	list, at, err := e.dialect.variables(ctx, e, request)
	if err != nil {
		return debug.Answer{}, err
	}
	return e.describeAll(ctx, list, at, len(list), request), nil
}

// scope lists the variables of the scopes of a frame whose names begin with a text.
func (e *Engine) scope(ctx context.Context, request debug.Request, name string) ([]variable, place, error) {
	thread, err := e.threadOf(request)
	if err != nil {
		return nil, place{}, err
	}
	at := place{thread, max(request.Frame, 0)}
	id, err := e.frameOf(ctx, request)
	if err != nil {
		return nil, at, err
	}
	scopes, err := answerOf[scopesBody](ctx, e.debugger.client, "scopes", map[string]any{"frameId": id})
	if err != nil {
		return nil, at, err
	}
	var list []variable
	for _, scope := range scopes.Scopes {
		if !strings.HasPrefix(scope.Name, name) || scope.VariablesReference == 0 {
			continue
		}
		found, err := e.children(ctx, scope.VariablesReference, 0, mostVariables, "")
		if err != nil {
			return nil, at, err
		}
		list = append(list, found...)
	}
	return list[:min(len(list), mostVariables)], at, nil
}

// children lists the children of a reference of the debugger. The filter selects indexed ones, or is empty.
func (e *Engine) children(ctx context.Context, id, first, count int, filter string) ([]variable, error) {
	arguments := map[string]any{"variablesReference": id, "start": first, "count": count}
	if filter != "" {
		arguments["filter"] = filter
	}
	body, err := answerOf[variablesBody](ctx, e.debugger.client, "variables", arguments)
	return body.Variables[:min(len(body.Variables), mostVariables)], err
}

func (e *Engine) answerChildren(ctx context.Context, request debug.Request) (debug.Answer, error) {
	parent, err := e.lookUp(request.Reference)
	if err == nil {
		parent, err = e.renew(ctx, parent)
	}
	if err != nil {
		return debug.Answer{}, err
	}
	first, count := max(request.First, 0), request.Count
	if count <= 0 || count > mostVariables {
		count = mostVariables
	}
	filter := ""
	if parent.indexed > 0 {
		filter = "indexed"
	}
	list, err := e.children(ctx, parent.id, first, count, filter)
	if err != nil {
		return debug.Answer{}, err
	}
	total := parent.indexed
	switch {
	case parent.indexed == 0 && !e.dialect.pages():
		total = len(list)
		list = list[min(first, len(list)):]
	case total == 0 && len(list) < count:
		total = first + len(list)
	}
	list = list[:min(len(list), count)]
	return e.describeAll(ctx, list, parent.place, total, debug.Request{}), nil
}

// describeAll makes an answer of variables; First and Count of a request choose some.
func (e *Engine) describeAll(ctx context.Context, list []variable, at place, total int, request debug.Request) debug.Answer {
	list = list[min(max(request.First, 0), len(list)):]
	if request.Count > 0 {
		list = list[:min(request.Count, len(list))]
	}
	answer := debug.Answer{Total: total}
	looks := mostLooks
	for _, each := range list {
		answer.Variables = append(answer.Variables, e.describe(ctx, each, at, &looks))
	}
	return answer
}

// describe makes a variable as answers have it.
func (e *Engine) describe(ctx context.Context, variable variable, at place, looks *int) debug.Variable {
	described := debug.Variable{Name: bounded(variable.Name), Type: bounded(variable.Type), Expression: bounded(variable.EvaluateName),
		Value: bounded(e.show(ctx, variable, deepestShown, looks)), Children: e.dialect.childCount(variable)}
	if described.Name == "" {
		described.Name = described.Expression
	}
	described.Reference = e.refer(reference{place: at, id: variable.VariablesReference, indexed: e.dialect.indexed(variable), expression: variable.EvaluateName})
	if described.Reference == 0 {
		described.Children = 0
	}
	return described
}

// show returns the value of a variable. A debugger may give only the address of a value with children, which
// differs between ranks: then the children are the value.
func (e *Engine) show(ctx context.Context, variable variable, depth int, looks *int) string {
	value, isWhole := e.dialect.value(variable)
	if isWhole || variable.VariablesReference == 0 {
		return value
	}
	if depth == 0 || *looks == 0 {
		return "{...}"
	}
	*looks--
	list, err := e.children(ctx, variable.VariablesReference, 0, mostShown+1, "")
	if err != nil {
		return "{...}"
	}
	var parts []string
	for i, each := range list {
		if i == mostShown {
			parts = append(parts, "...")
			break
		}
		part := e.show(ctx, each, depth-1, looks)
		if !strings.HasPrefix(each.Name, "[") {
			part = each.Name + " = " + part
		}
		parts = append(parts, part)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
