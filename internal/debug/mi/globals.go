package mi

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// listGlobals prints the file of the frame and the variables outside of functions in it. MI lists those of all files only, which takes
// long for large programs.
const listGlobals = `python t = gdb.selected_frame().find_sal().symtab; ` +
	`print("" if t is None else "\n".join([t.filename] + sorted({s.print_name for b in (t.static_block(), t.global_block()) for s in b if s.is_variable})[:1000]))`

// globals lists the variables of the frame's file.
func (e *Engine) globals(ctx context.Context, request debug.Request) debug.Answer {
	selection := e.selection(request)
	answer := e.call(ctx, "-interpreter-exec"+selection+" console "+quoted(listGlobals))[0]
	if answer.err != nil {
		if strings.Contains(answer.err.Error(), "Python scripting is not supported") {
			return debug.Answer{Problem: debug.Unsupported, Text: "this gdb has no Python, which listing global variables requires"}
		}
		return problemOf(answer.err)
	}
	names := strings.FieldsFunc(answer.printed, func(r rune) bool { return r == '\n' })
	if len(names) == 0 {
		return debug.Answer{}
	}
	file, names := names[0], names[1:min(len(names), mostTogether+1)]
	found := debug.Answer{Total: len(names)}
	names = names[min(request.First, len(names)):]
	for some := range slices.Chunk(names[:min(len(names), limit(request))], mostInBatch) {
		if problem := e.addGlobals(ctx, request, file, some, &found); problem.Problem != "" {
			return problem
		}
	}
	return found
}

// mostInBatch bounds the variables of one batch, so that it fits into the pipes to gdb.
const mostInBatch = 100

func (e *Engine) addGlobals(ctx context.Context, request debug.Request, file string, names []string, found *debug.Answer) debug.Answer {
	selection := e.selection(request)
	commands := make([]string, 0, 2*len(names))
	for _, name := range names {
		expression := quoted(globalExpression(file, name))
		commands = append(commands, "-data-evaluate-expression"+selection+" "+expression, "-interpreter-exec"+selection+" console "+quoted("whatis "+globalExpression(file, name)))
	}
	results := e.call(ctx, commands...)
	for i, name := range names {
		value := results[2*i].values.Get("value").Text
		if err := results[2*i].err; err != nil {
			if answer := problemOf(err); answer.Problem == debug.Silent {
				return answer
			}
			value = "<error: " + err.Error() + ">"
		}
		found.Variables = append(found.Variables, e.variable(request, name, globalExpression(file, name), typeIn(results[2*i+1]), value))
	}
	return debug.Answer{}
}

// globalExpression returns the expression for a variable of a file, which a local variable may hide.
func globalExpression(file, name string) string {
	isC := slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".cu", ".h", ".hpp"}, filepath.Ext(file))
	if !isC || strings.Contains(name, "::") || strings.Contains(file, "'") {
		return name
	}
	return "'" + file + "'::" + name
}
