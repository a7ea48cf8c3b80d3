package mi

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// variables lists variables of a frame, or the children of a value.
func (e *Engine) variables(ctx context.Context, request debug.Request) debug.Answer {
	if request.Reference > 0 {
		return e.children(ctx, request)
	}
	switch request.Text {
	case "locals":
		return e.locals(ctx, request, "-stack-list-locals"+e.selection(request), "")
	case "arguments":
		thread := fmt.Sprintf(" --thread %d", e.threadOf(request))
		return e.locals(ctx, request, "-stack-list-arguments"+thread, fmt.Sprintf(" %d %d", request.Frame, request.Frame))
	case "globals":
		return e.globals(ctx, request)
	}
	return debug.Answer{Problem: debug.Failed, Text: fmt.Sprintf("unknown kind of variables %.20q", request.Text)}
}

// locals lists local variables or arguments. gdb shows either the types or the values of structures and arrays.
func (e *Engine) locals(ctx context.Context, request debug.Request, command, after string) debug.Answer {
	const withValues, withTypes = " 1", " 2"
	results := e.call(ctx, command+withTypes+after, command+withValues+after)
	if err := cmp.Or(results[0].err, results[1].err); err != nil {
		return problemOf(err)
	}
	types, values := listed(results[0].values), listed(results[1].values)
	answer := debug.Answer{Total: len(types)}
	for i := request.First; i < len(types) && len(answer.Variables) < limit(request); i++ {
		value := types[i].Get("value").Text
		if i < len(values) {
			value = values[i].Get("value").Text
		}
		name := types[i].Get("name").Text
		answer.Variables = append(answer.Variables, e.variable(request, name, name, types[i].Get("type").Text, value))
	}
	return answer
}

// listed returns the variables in an answer of gdb.
func listed(values Value) []Value {
	if frames := values.Get("stack-args").Items; len(frames) > 0 {
		return frames[0].Get("args").Items
	}
	return values.Get("locals").Items
}

func limit(request debug.Request) int {
	return min(cmp.Or(request.Count, mostTogether), mostTogether)
}

// variable returns a value with a reference to its children, if it has any.
func (e *Engine) variable(request debug.Request, name, expression, typeName, value string) debug.Variable {
	value = withoutAddress(value)
	variable := debug.Variable{Name: clip(name), Type: clip(typeName), Value: clip(value), Expression: expression}
	if len(expression) > longestValue {
		variable.Expression = ""
	}
	if hasChildren(typeName, value) {
		variable.Reference = e.references.add(e.runsNow(), reference{selection: e.selection(request), expression: expression, typeName: typeName})
	}
	return variable
}

// withoutAddress returns a value without the address that gdb prints before the values of C++ references.
func withoutAddress(value string) string {
	if rest, isReference := strings.CutPrefix(value, "@0x"); isReference {
		if _, rest, hasValue := strings.Cut(rest, ": "); hasValue {
			return rest
		}
	}
	return value
}

// hasChildren reports whether a value has parts to show.
func hasChildren(typeName, value string) bool {
	typeName = strings.TrimSpace(typeName)
	switch {
	case strings.HasPrefix(typeName, "complex") && !strings.Contains(typeName, " ("):
		return false
	case strings.HasSuffix(typeName, ")"): // a function, or pointer to one; a CHARACTER or array of Fortran
		return strings.HasPrefix(value, "(")
	case strings.HasSuffix(typeName, "*"):
		return !strings.HasPrefix(value, "0x0") && !strings.HasSuffix(typeName, "void *") && !strings.HasSuffix(value, `"`)
	case strings.HasPrefix(value, "{"):
		return value != "{}"
	case strings.HasPrefix(value, `"`):
		return strings.HasSuffix(typeName, "]")
	case strings.HasPrefix(value, "( "): // a derived type of Fortran
		return true
	}
	return strings.Contains(value, " = {")
}

// evaluate evaluates an expression.
func (e *Engine) evaluate(ctx context.Context, request debug.Request) debug.Answer {
	return e.value(ctx, request, request.Text, request.Text)
}

// value evaluates an expression once, and returns its value under the name of another one.
func (e *Engine) value(ctx context.Context, request debug.Request, expression, name string) debug.Answer {
	selection := e.selection(request)
	results := e.call(ctx,
		"-data-evaluate-expression"+selection+" "+quoted(expression),
		"-interpreter-exec"+selection+" console "+quoted("whatis "+expression))
	e.settle(ctx)
	if results[0].err != nil {
		return problemOf(results[0].err)
	}
	value := e.variable(request, "", name, typeIn(results[1]), results[0].values.Get("value").Text)
	return debug.Answer{Variables: []debug.Variable{value}}
}

// typeIn returns the type that whatis and ptype print.
func typeIn(answer result) string {
	return strings.TrimSuffix(strings.TrimPrefix(answer.printed, "type = "), "\n")
}

// assign changes a variable, or a child of a value.
func (e *Engine) assign(ctx context.Context, request debug.Request) debug.Answer {
	if request.Reference > 0 {
		return e.assignChild(ctx, request)
	}
	return e.value(ctx, request, request.Text+" = "+request.Value, request.Text)
}

// typeOf describes the type of an expression.
func (e *Engine) typeOf(ctx context.Context, request debug.Request) debug.Answer {
	answer := e.call(ctx, "-interpreter-exec"+e.selection(request)+" console "+quoted("ptype "+request.Text))[0]
	if answer.err != nil {
		return problemOf(answer.err)
	}
	return debug.Answer{Text: clip(typeIn(answer))}
}

// mostMemory bounds the bytes that are read at once.
const mostMemory = 64 << 10

// memory reads or writes memory.
func (e *Engine) memory(ctx context.Context, request debug.Request) debug.Answer {
	selection := e.selection(request)
	if request.Value != "" {
		if _, err := hex.DecodeString(request.Value); err != nil {
			return debug.Answer{Problem: debug.Failed, Text: "the bytes are not an even number of hexadecimal digits"}
		}
		answer := e.call(ctx, "-data-write-memory-bytes"+selection+" "+quoted(request.Text)+" "+quoted(request.Value))[0]
		if answer.err != nil {
			return problemOf(answer.err)
		}
		return debug.Answer{Text: strings.ToLower(request.Value)}
	}
	count := min(max(request.Count, 1), mostMemory)
	answer := e.call(ctx, fmt.Sprintf("-data-read-memory-bytes%s %s %d", selection, quoted(request.Text), count))[0]
	if answer.err != nil {
		return problemOf(answer.err)
	}
	blocks := answer.values.Get("memory").Items
	if len(blocks) == 0 {
		return debug.Answer{Problem: debug.Failed, Text: "gdb read nothing"}
	}
	contents := blocks[0].Get("contents").Text
	return debug.Answer{Text: strings.ToValidUTF8(contents[:min(len(contents), 2*mostMemory)], "")}
}
