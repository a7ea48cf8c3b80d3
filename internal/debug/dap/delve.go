package dap

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// delve is the dialect of dlv, since version 1.20.
type delve struct{}

func (delve) program() string { return "dlv" }
func (delve) connects() bool  { return true }

// delveAttach is the argument of attach.
type delveAttach struct {
	Mode            string `json:"mode"`
	ProcessID       int    `json:"processId"`
	StopOnEntry     bool   `json:"stopOnEntry"`
	StackTraceDepth int    `json:"stackTraceDepth"`
}

func (delve) initialize() any { return initializeArguments("go") }

func (delve) attach(pid int) any {
	return delveAttach{Mode: "local", ProcessID: pid, StopOnEntry: true, StackTraceDepth: mostFrames}
}

func (delve) function(name string) string {
	if name == "main" {
		return "main.main"
	}
	return name
}

func (delve) keepsOrder() bool { return true }

// exception returns a filter for what delve always stops at.
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
	printed, err := e.command(ctx, 0, "sources "+regexp.QuoteMeta(file)+"$")
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

func (delve) reap(ctx context.Context, e *Engine) error {
	e.setLeaving(true)
	defer e.setLeaving(false)
	_, err := e.debugger.call(ctx, "disconnect", &dap.DisconnectArguments{TerminateDebuggee: true}, nil)
	return err
}

func (delve) numbersThreads() bool { return false } // goroutines have numbers

var goroutineName = lazyregexp.New(`^(?:\* )?\[Go \d+\] (.*?)(?: \(Thread \d+\))?$`)

func (delve) threadName(name string) string {
	if found := goroutineName.FindStringSubmatch(name); found != nil {
		return found[1]
	}
	return name
}

// threads replaces the goroutine that delve lists before the first one runs. Its stack is that of the thread.
func (delve) threads(list []dap.Thread) []dap.Thread {
	if len(list) == 1 && list[0].Name == "Dummy" {
		return []dap.Thread{{Id: withoutGoroutine}}
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
func (delve) variables(ctx context.Context, e *Engine, request debug.Request) ([]dap.Variable, place, error) {
	name, err := scopeName(request.Text)
	if err != nil || request.Text == "arguments" {
		return nil, place{}, err
	}
	if name == "Globals" {
		if _, err := e.command(ctx, 0, "config showGlobalVariables true"); err != nil {
			return nil, place{}, err
		}
		list, at, err := e.scope(ctx, request, name)
		if err == nil {
			_, err = e.command(ctx, 0, "config showGlobalVariables false")
		}
		return list, at, err
	}
	return e.scope(ctx, request, name)
}

func (delve) value(variable dap.Variable) (string, bool) { return variable.Value, true }
func (delve) indexed(variable dap.Variable) int          { return max(variable.IndexedVariables, 0) }
func (delve) childCount(variable dap.Variable) int {
	return max(variable.IndexedVariables, variable.NamedVariables, 0)
}
func (delve) pages() bool       { return false }
func (delve) keepsValues() bool { return true }

var memberName = lazyregexp.New(`^(.*)\.([\pL_][\pL\pN_]*)$|^(.*)(\[[^\[\]]+\])$`)

// assign sets a variable, a field or an element: delve sets only what it has listed.
func (delve) assign(ctx context.Context, e *Engine, request debug.Request) error {
	text := strings.TrimSpace(request.Text)
	if found := memberName.FindStringSubmatch(text); found != nil {
		parent, name := found[1]+found[3], found[2]+found[4]
		if body, err := e.compute(ctx, debug.Request{Thread: request.Thread, Frame: request.Frame, Text: parent}); err == nil && body.VariablesReference != 0 {
			return e.setMember(ctx, body, name, request.Value)
		}
	}
	id, err := e.frameOf(ctx, request)
	if err != nil {
		return err
	}
	scopes, err := answerOf[*dap.ScopesResponse](ctx, e.debugger.client, "scopes", &dap.ScopesArguments{FrameId: id})
	if err != nil {
		return err
	}
	if len(scopes.Body.Scopes) == 0 {
		return refusal{"the frame has no variables"}
	}
	return e.setChild(ctx, scopes.Body.Scopes[0].VariablesReference, text, request.Value)
}

// setMember sets a field or an element; the fields of a pointer are those of what it points to.
func (e *Engine) setMember(ctx context.Context, parent dap.EvaluateResponseBody, name, value string) error {
	id := parent.VariablesReference
	if strings.HasPrefix(parent.Type, "*") {
		list, err := e.children(ctx, dap.VariablesArguments{VariablesReference: id})
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
