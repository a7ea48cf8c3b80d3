package dap

import (
	"context"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// lldb is the dialect of lldb-vscode, since version 14.
type lldb struct{}

func (lldb) program() string { return "lldb-vscode-14" }
func (lldb) connects() bool  { return false }

func initializeArguments(adapter string) map[string]any {
	return map[string]any{"clientID": "rmctl", "adapterID": adapter, "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path",
		"supportsVariableType": true, "supportsVariablePaging": true}
}

func (lldb) version(ctx context.Context, e *Engine) string {
	printed, err := e.command(ctx, 0, "version")
	line, _, _ := strings.Cut(printed, "\n")
	if version, isThere := strings.CutPrefix(line, "lldb version "); err == nil && isThere {
		return bounded("lldb " + version)
	}
	return "lldb"
}

// initialize makes lldb leave out the commands of the user.
func (lldb) initialize() map[string]any {
	arguments := initializeArguments("lldb")
	arguments["sourceInitFile"] = false
	return arguments
}

// attach runs no scripts that belong to the program.
func (lldb) attach(pid int) map[string]any {
	return map[string]any{"pid": pid, "stopOnEntry": true, "initCommands": []string{
		"settings set target.load-script-from-symbol-file false",
		"settings set target.load-cwd-lldbinit false",
		"settings set symbols.enable-external-lookup false",
		"settings set target.max-string-summary-length 1000",
		"settings set auto-confirm true",
	}}
}

func (lldb) function(name string) string { return name }
func (lldb) keepsOrder() bool            { return false }

func (lldb) exception(name string) string {
	switch name {
	case "throw", "catch":
		return "cpp_" + name
	}
	return ""
}

func (lldb) path(_ context.Context, _ *Engine, file string) (string, error) { return file, nil }

func (l lldb) classify(ctx context.Context, e *Engine, news happening) (stopNotice, bool) {
	switch news.reason {
	case "entry", "fork", "vfork", "vforkdone":
		return stopNotice{}, false // another program, or another process
	case "step", "trace", "plan complete":
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonStep}}, true
	}
	if points, isBreakpoint := strings.CutPrefix(news.description, "breakpoint "); isBreakpoint {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonBreakpoint}, cause: cause{points: pointsIn(points)}}, true
	}
	body, err := answerOf[exceptionBody](ctx, e.debugger.client, "exceptionInfo", map[string]any{"threadId": news.thread})
	if err != nil {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: news.description}}, true
	}
	if body.Description == "signal SIGSTOP" {
		if isOwn, isNeeded := e.takeSignal(); isOwn {
			return stopNotice{Notice: debug.Notice{Reason: debug.ReasonHalt}}, isNeeded
		}
	}
	return l.explain(body.ExceptionID, bounded(body.Description)), true
}

// explain converts lldb's description of a stop to a notice.
func (lldb) explain(id, description string) stopNotice {
	if exception, isException := strings.CutPrefix(id, "cpp_"); isException {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: description}, cause: cause{exception: exception}}
	}
	if number, isWatch := numberAfter(description, "watchpoint "); isWatch {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonWatch}, cause: cause{watches: []int{number}}}
	}
	signal, isSignal := strings.CutPrefix(description, "signal ")
	signal, text, _ := strings.Cut(signal, ": ")
	if !isSignal || !strings.HasPrefix(signal, "SIG") {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: description}}
	}
	return stopNotice{Notice: debug.Notice{Reason: debug.ReasonSignal, Signal: signal, Text: text}}
}

// pointsIn returns the numbers of breakpoints in a list of their locations, such as 1.1 3.2.
func pointsIn(text string) []int {
	var numbers []int
	for word := range strings.FieldsSeq(text) {
		number, _, _ := strings.Cut(word, ".")
		if id, err := strconv.Atoi(number); err == nil && len(numbers) < mostHit {
			numbers = append(numbers, id)
		}
	}
	return numbers
}

// numberAfter returns the number behind a text.
func numberAfter(text, before string) (int, bool) {
	_, after, isThere := strings.Cut(text, before)
	end := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		after = after[:end]
	}
	number, err := strconv.Atoi(after)
	return number, isThere && err == nil
}

// pause sends a signal: the request of that name hangs, or is lost, if the process stops for lldb at that moment,
// at a library that is loaded for instance.
func (lldb) pause(_ context.Context, e *Engine, _ int) error { return e.signalStop() }

func (lldb) reap(ctx context.Context, e *Engine) error {
	_, err := e.command(ctx, 0, "process kill")
	return err
}

func (lldb) numbersThreads() bool { return true }

// threadName leaves out the number of the thread.
func (lldb) threadName(name string) string {
	if rest, isTagged := strings.CutPrefix(name, "Thread #"); isTagged {
		_, name, _ = strings.Cut(rest, " ")
	}
	return name
}

func (lldb) threads(list []thread) []thread { return list }
func (lldb) isBeforeThreads(int) bool       { return false }

// complete adds the libraries of frames, or the addresses of those without a name, which the protocol leaves out.
func (lldb) complete(ctx context.Context, e *Engine, first int, frames []frame) []frame {
	printed, err := e.command(ctx, frames[0].id, "thread backtrace -s "+strconv.Itoa(first)+" -c "+strconv.Itoa(len(frames)))
	if err != nil {
		return frames
	}
	for line := range strings.Lines(printed) {
		_, rest, isFrame := strings.Cut(line, "frame #")
		number, isNumber := numberAfter(line, "frame #")
		number -= first
		if !isFrame || !isNumber || number < 0 || number >= len(frames) || frames[number].File != "" {
			continue
		}
		_, rest, _ = strings.Cut(rest, ": ")
		address, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
		module, _, _ := strings.Cut(rest, "`")
		each := &frames[number]
		each.Module = bounded(module)
		if each.Function == "" || each.Module == "" {
			each.Address = shortened(address)
		}
	}
	return frames
}

// shortened returns a number in hexadecimal digits without leading zeros.
func shortened(value string) string {
	digits, isPointer := strings.CutPrefix(value, "0x0")
	if !isPointer {
		return value
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || !strings.ContainsRune("123456789abcdefABCDEF", rune(digits[0])) {
		digits = "0" + digits
	}
	return "0x" + digits
}

// variables lists variables of a frame. lldb has arguments among the locals.
func (l lldb) variables(ctx context.Context, e *Engine, request debug.Request) ([]variable, place, error) {
	name, err := scopeName(request.Text)
	if err != nil {
		return nil, place{}, err
	}
	list, at, err := e.scope(ctx, request, name)
	if err != nil || name == "Globals" {
		return list, at, err
	}
	frame, err := e.frameOf(ctx, request)
	if err != nil {
		return nil, at, err
	}
	printed, err := e.command(ctx, frame, "frame variable --no-locals --depth 0 --ptr-depth 0")
	if err != nil && e.debugger.err() != nil {
		return nil, at, err
	}
	arguments := argumentNames(printed)
	var chosen []variable
	for _, each := range list {
		if request.Text == "" || arguments[each.Name] == (request.Text == "arguments") {
			chosen = append(chosen, each)
		}
	}
	return chosen, at, nil
}

// argumentNames returns the names in lines such as "(char **) argv = 0x00007ffd".
func argumentNames(printed string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(printed) {
		declared, _, isValue := strings.Cut(line, " = ")
		if !isValue || !strings.HasPrefix(line, "(") {
			continue
		}
		names[declared[strings.LastIndexByte(declared, ' ')+1:]] = true
	}
	return names
}

// value leaves out the address of a value with children, and leading zeros of pointers.
func (lldb) value(variable variable) (string, bool) {
	if at := strings.LastIndex(variable.Value, " @ 0x"); variable.VariablesReference != 0 && at >= 0 && !strings.Contains(variable.Value[at+1:], "\"") {
		return "{...}", false
	}
	return shortened(strings.TrimSpace(variable.Value)), true
}

// indexed reads how many elements an array has from its type, such as int[5][2].
func (lldb) indexed(variable variable) int {
	before, _, isArray := strings.Cut(variable.Type, "[")
	if !isArray || strings.ContainsAny(before, "(<") || !strings.HasSuffix(variable.Type, "]") {
		return 0
	}
	size, _ := numberAfter(variable.Type, "[")
	return size
}

func (l lldb) childCount(variable variable) int { return l.indexed(variable) }
func (lldb) pages() bool                        { return true }
func (lldb) keepsValues() bool                  { return false }

func (lldb) assign(ctx context.Context, e *Engine, request debug.Request) error {
	if strings.TrimSpace(request.Value) == "" {
		return refusal{"the value is empty"}
	}
	request.Text = "(" + request.Text + ") = (" + request.Value + ")"
	_, err := e.compute(ctx, request)
	return err
}

const mark = "`" // begins a command of the console

func (lldb) isCommand(expression string) bool { return strings.HasPrefix(expression, mark) }
func (lldb) console(command string) string    { return mark + command }

// printed leaves out the prompt with the command.
func (lldb) printed(text string) string {
	if _, rest, isThere := strings.Cut(text, "\n"); isThere && strings.HasPrefix(text, "(lldb) ") {
		return rest
	}
	return text
}

func (lldb) output(text string) string { return text }

// message keeps the first error of several lines, without the number of the expression.
func (lldb) message(text string) string {
	_, found, isThere := strings.Cut(text, "error: ")
	if !isThere {
		found = text
	}
	found, _, _ = strings.Cut(found, "\n")
	if strings.HasPrefix(found, "<user expression ") {
		if _, reason, isThere := strings.Cut(found, ": "); isThere {
			found = reason
		}
	}
	return strings.TrimSpace(found)
}
