package dap

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/debug"
)

// delve is the dialect of dlv, since version 1.20.
type delve struct{}

func (delve) program() string { return "dlv" }
func (delve) connects() bool  { return true }

// version runs another process, because clients cannot query the version.
func (delve) version(ctx context.Context, e *Engine) string {
	command := exec.CommandContext(ctx, e.debugger.command.Path, "version")
	command.Dir, command.Env = "/", environment()
	printed, _ := command.Output()
	for line := range strings.Lines(string(printed)) {
		if version, isThere := strings.CutPrefix(line, "Version: "); isThere {
			return bounded("dlv " + strings.TrimSpace(version))
		}
	}
	return "dlv"
}

func (delve) initialize() map[string]any { return initializeArguments("go") }

func (delve) attach(pid int) map[string]any {
	return map[string]any{"mode": "local", "processId": pid, "stopOnEntry": true, "stackTraceDepth": mostFrames}
}

func (delve) function(name string) string {
	if name == "main" {
		return "main.main"
	}
	return name
}

func (delve) keepsOrder() bool { return true }

// exception returns a filter for a stop that delve always makes.
func (delve) exception(name string) string {
	if name == "panic" {
		return "unrecovered-panic"
	}
	return ""
}

// path finds the file of the program that ends with a name, because delve takes only whole paths.
func (delve) path(ctx context.Context, e *Engine, file string) (string, error) {
	if filepath.IsAbs(file) {
		return file, nil
	}
	printed, err := e.command(ctx, 0, "sources "+quoted(file)+"$")
	if err != nil {
		return "", err
	}
	var found []string
	for line := range strings.Lines(printed) {
		path := strings.TrimSpace(line)
		if path == file || strings.HasSuffix(path, "/"+file) {
			found = append(found, path)
		}
	}
	switch {
	case len(found) == 0:
		return "", refusal{"the program has no such file"}
	case len(found) > 1:
		return "", refusal{"the program has several such files; give more of the path"}
	}
	return found[0], nil
}

// quoted returns a regular expression for a text.
func quoted(text string) string {
	var expression strings.Builder
	for _, r := range text {
		if r < 128 && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			expression.WriteByte('\\')
		}
		expression.WriteRune(r)
	}
	return expression.String()
}

func (delve) watch(context.Context, *Engine, *watch) error {
	return refusal{"dlv has no watchpoints for its clients"}
}

func (delve) unwatch(context.Context, *Engine, int) error { return nil }

const panics = -1 // where delve always stops at panics; -2 are fatal errors

func (delve) classify(_ context.Context, e *Engine, news happening) (stopNotice, bool) {
	text := strings.TrimSpace(news.description + ": " + news.text)
	text = strings.Trim(text, ": ")
	switch {
	case news.reason == "step" || news.reason == "goto":
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonStep}}, true
	case news.reason == "pause":
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonHalt}}, true
	case strings.Contains(news.reason, "breakpoint"):
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonBreakpoint}, cause: cause{points: news.hit}}, true
	case slices.Contains(news.hit, panics):
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: text}, cause: cause{exception: "panic"}}, true
	}
	return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: text}}, true
}

func (delve) pause(ctx context.Context, e *Engine, thread int) error {
	_, err := e.debugger.call(ctx, "pause", map[string]any{"threadId": thread})
	return err
}

func (delve) reap(ctx context.Context, e *Engine) error {
	e.setLeaving(true)
	defer e.setLeaving(false)
	_, err := e.debugger.call(ctx, "disconnect", map[string]any{"terminateDebuggee": true})
	return err
}

func (delve) numbersThreads() bool { return false } // goroutines have numbers

// threadName keeps the function of names such as "* [Go 1] main.main (Thread 8)".
func (delve) threadName(name string) string {
	_, rest, isGoroutine := strings.Cut(name, "] ")
	if !isGoroutine {
		return name
	}
	rest, _, _ = strings.Cut(rest, " (Thread ")
	return rest
}

// threads replaces the goroutine that delve lists before the first one runs. Its stack is that of the thread.
func (delve) threads(list []thread) []thread {
	if len(list) == 1 && list[0].Name == "Dummy" {
		return []thread{{ID: withoutGoroutine}}
	}
	return list
}

const withoutGoroutine = -1

func (delve) isBeforeThreads(thread int) bool { return thread == withoutGoroutine }

// complete leaves out names that are none.
func (delve) complete(_ context.Context, _ *Engine, _ int, frames []frame) []frame {
	for i := range frames {
		if frames[i].Function == "???" {
			frames[i].Function = ""
		}
	}
	return slices.DeleteFunc(frames, func(frame frame) bool { return frame.Function == "" && frame.Address == "0x0" })
}

// variables lists variables of a frame. delve has arguments among the locals.
func (d delve) variables(ctx context.Context, e *Engine, request debug.Request) ([]variable, place, error) {
	name, err := scopeName(request.Text)
	if err != nil || request.Text == "arguments" {
		return nil, place{}, err
	}
	if name == "Locals" {
		return e.scope(ctx, request, name)
	}
	var list []variable
	var at place
	err = d.withGlobals(ctx, e, func() error {
		list, at, err = e.scope(ctx, request, name)
		return err
	})
	return list, at, err
}

func (delve) value(variable variable) (string, bool) { return variable.Value, true }
func (delve) indexed(variable variable) int          { return max(variable.IndexedVariables, 0) }
func (delve) childCount(variable variable) int {
	return max(variable.IndexedVariables, variable.NamedVariables, 0)
}
func (delve) pages() bool       { return false }
func (delve) keepsValues() bool { return true }

// memberOf takes the last field or element of an expression apart.
func memberOf(text string) (parent, name string) {
	if strings.HasSuffix(text, "]") {
		if at := strings.LastIndexByte(text, '['); at > 0 {
			return text[:at], text[at:]
		}
	}
	at := strings.LastIndexByte(text, '.')
	if at < 1 || strings.ContainsAny(text[at:], "()[]{}\" ") {
		return "", ""
	}
	return text[:at], text[at+1:]
}

// assign sets a variable, a field or an element: delve sets only what it has listed.
func (d delve) assign(ctx context.Context, e *Engine, request debug.Request) error {
	text := strings.TrimSpace(request.Text)
	if parent, name := memberOf(text); parent != "" {
		if body, err := e.compute(ctx, debug.Request{Thread: request.Thread, Frame: request.Frame, Text: parent}); err == nil && body.VariablesReference != 0 {
			return e.setMember(ctx, body, name, request.Value)
		}
	}
	id, err := e.frameOf(ctx, request)
	if err != nil {
		return err
	}
	err = e.setInScope(ctx, id, "Locals", text, request.Value)
	if !errors.As(err, &refusal{}) {
		return err
	}
	return d.withGlobals(ctx, e, func() error {
		_, name, isQualified := strings.Cut(text, ".")
		if !isQualified {
			name = text
		}
		return e.setInScope(ctx, id, "Globals", name, request.Value)
	})
}

// setInScope sets a variable of the scopes of a frame whose names begin with a text.
func (e *Engine) setInScope(ctx context.Context, frame int, scope, name, value string) error {
	scopes, err := answerOf[scopesBody](ctx, e.debugger.client, "scopes", map[string]any{"frameId": frame})
	if err != nil {
		return err
	}
	for _, each := range scopes.Scopes {
		if strings.HasPrefix(each.Name, scope) {
			return e.setChild(ctx, each.VariablesReference, name, value)
		}
	}
	return refusal{"the frame has no such variable"}
}

// withGlobals does something while delve lists global variables, which takes time at each stop.
func (delve) withGlobals(ctx context.Context, e *Engine, do func() error) error {
	if _, err := e.command(ctx, 0, "config showGlobalVariables true"); err != nil {
		return err
	}
	err := do()
	_, hidden := e.command(ctx, 0, "config showGlobalVariables false")
	return errors.Join(err, hidden)
}

// setMember sets a field or an element; the fields of a pointer are those of what it points to.
func (e *Engine) setMember(ctx context.Context, parent evaluateBody, name, value string) error {
	id := parent.VariablesReference
	if strings.HasPrefix(parent.Type, "*") {
		list, err := e.children(ctx, id, 0, mostVariables, "")
		if err != nil {
			return err
		}
		if len(list) == 1 && list[0].VariablesReference != 0 {
			id = list[0].VariablesReference
		}
	}
	return e.setChild(ctx, id, name, value)
}

func (delve) memory(context.Context, *Engine, int, debug.Request) (string, error) {
	return "", errUnsupported
}

const word = "dlv " // begins a command of the console

// isCommand is false: evaluation for a watch has no commands.
func (delve) isCommand(string) bool         { return false }
func (delve) console(command string) string { return word + command }
func (delve) printed(text string) string    { return text }

// output leaves out advice to people at a console.
func (delve) output(text string) string {
	if strings.HasPrefix(text, "Type 'dlv help'") || strings.HasPrefix(text, "Detaching ") {
		return ""
	}
	return text
}

func (delve) message(text string) string {
	_, reason, isThere := strings.Cut(text, ": ")
	if isThere && strings.HasPrefix(text, "Unable to ") {
		return reason
	}
	return text
}
