package dap

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// lldb is the dialect of lldb-vscode, since version 14.
type lldb struct{}

func (lldb) program() string { return "lldb-vscode-14" }
func (lldb) connects() bool  { return false }

// arguments of the debugger.
type (
	lldbInitialize struct {
		dap.InitializeRequestArguments
		SourceInitFile bool `json:"sourceInitFile"` // that of the user
	}
	lldbAttach struct {
		PID          int      `json:"pid"`
		StopOnEntry  bool     `json:"stopOnEntry"`
		InitCommands []string `json:"initCommands"`
	}
)

func initializeArguments(adapter string) dap.InitializeRequestArguments {
	return dap.InitializeRequestArguments{ClientID: "rmctl", ClientName: "rmctl", AdapterID: adapter, LinesStartAt1: true, ColumnsStartAt1: true,
		PathFormat: "path", SupportsVariableType: true, SupportsVariablePaging: true}
}

func (lldb) initialize() any {
	return lldbInitialize{InitializeRequestArguments: initializeArguments("lldb")}
}

// attach runs no scripts that belong to the program.
func (lldb) attach(pid int) any {
	return lldbAttach{PID: pid, StopOnEntry: true, InitCommands: []string{
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

var (
	pointIDs  = lazyregexp.New(`(\d+)\.\d+`)
	signalOf  = lazyregexp.New(`^signal (SIG[A-Z0-9]+)(?:: )?`)
	watchIDs  = lazyregexp.New(`^watchpoint (\d+)`)
	atAddress = lazyregexp.New(` @ 0x[0-9a-fA-F]+$`)
	isPointer = lazyregexp.New(`^0x0*([0-9a-fA-F]+)`)
	arraySize = lazyregexp.New(`^[^\[(<]*\[(\d+)\](?:\[\d+\])*$`)
	userInput = lazyregexp.New(`<user expression \d+>:\d+:\d+: `)
	frameLine = lazyregexp.New("frame #(\\d+): (0x[0-9a-f]+)(?: ([^`\n]*)`)?")
	threadTag = lazyregexp.New(`^Thread #\d+ ?`)
)

func (l lldb) classify(ctx context.Context, e *Engine, news happening) (stopNotice, bool) {
	switch news.reason {
	case "entry", "fork", "vfork", "vforkdone":
		return stopNotice{}, false // another program, or another process
	case "step", "trace", "plan complete":
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonStep}}, true
	}
	if strings.HasPrefix(news.description, "breakpoint ") {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonBreakpoint}, cause: cause{points: numbersIn(pointIDs, news.description)}}, true
	}
	response, err := answerOf[*dap.ExceptionInfoResponse](ctx, e.debugger.client, "exceptionInfo", &dap.ExceptionInfoArguments{ThreadId: news.thread})
	if err != nil {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: news.description}}, true
	}
	return l.explain(e, response.Body.ExceptionId, bounded(response.Body.Description)), true
}

// explain makes a notice of what lldb says about a stop.
func (lldb) explain(e *Engine, id, description string) stopNotice {
	if exception, isException := strings.CutPrefix(id, "cpp_"); isException {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: description}, cause: cause{exception: exception}}
	}
	if watches := numbersIn(watchIDs, description); len(watches) > 0 {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonWatch}, cause: cause{watches: watches}}
	}
	found := signalOf.FindStringSubmatch(description)
	if found == nil {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonException, Text: description}}
	}
	if e.isOwnStop() && found[1] == "SIGSTOP" {
		return stopNotice{Notice: debug.Notice{Reason: debug.ReasonHalt}}
	}
	return stopNotice{Notice: debug.Notice{Reason: debug.ReasonSignal, Signal: found[1], Text: strings.TrimPrefix(description, found[0])}}
}

// numbersIn returns the numbers that an expression finds in a text.
func numbersIn(expression *lazyregexp.Regexp, text string) []int {
	var numbers []int
	for _, found := range expression.FindAllStringSubmatch(text, mostHit) {
		if number, err := strconv.Atoi(found[1]); err == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

func (lldb) reap(ctx context.Context, e *Engine) error {
	_, err := e.command(ctx, 0, "process kill")
	return err
}

func (lldb) numbersThreads() bool                   { return true }
func (lldb) threadName(name string) string          { return threadTag.ReplaceAllString(name, "") }
func (lldb) threads(list []dap.Thread) []dap.Thread { return list }
func (lldb) isBeforeThreads(int) bool               { return false }

// complete adds the libraries of frames, or the addresses of those without a name, which the protocol leaves out.
func (lldb) complete(ctx context.Context, e *Engine, first int, frames []frame) []frame {
	printed, err := e.command(ctx, frames[0].id, "thread backtrace -s "+strconv.Itoa(first)+" -c "+strconv.Itoa(len(frames)))
	if err != nil {
		return frames
	}
	for _, found := range frameLine.FindAllStringSubmatch(printed, mostFrames) {
		number, err := strconv.Atoi(found[1])
		if err != nil || number < first || number >= first+len(frames) || frames[number-first].File != "" {
			continue
		}
		each := &frames[number-first]
		each.Module = bounded(found[3])
		if each.Function == "" || each.Module == "" {
			each.Address = shortened(found[2])
		}
	}
	return frames
}

// shortened returns a number in hexadecimal digits without leading zeros.
func shortened(value string) string { return isPointer.ReplaceAllString(value, "0x$1") }

// variables lists variables of a frame. lldb has arguments among the locals.
func (l lldb) variables(ctx context.Context, e *Engine, request debug.Request) ([]dap.Variable, place, error) {
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
	var chosen []dap.Variable
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
func (lldb) value(variable dap.Variable) (string, bool) {
	if variable.VariablesReference != 0 && atAddress.MatchString(variable.Value) {
		return "{...}", false
	}
	return shortened(strings.TrimSpace(variable.Value)), true
}

func (lldb) indexed(variable dap.Variable) int {
	if found := arraySize.FindStringSubmatch(variable.Type); found != nil {
		if size, err := strconv.Atoi(found[1]); err == nil {
			return size
		}
	}
	return 0
}

func (l lldb) childCount(variable dap.Variable) int { return l.indexed(variable) }
func (lldb) pages() bool                            { return true }
func (lldb) keepsValues() bool                      { return false }

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
	found = userInput.ReplaceAllString(found, "")
	found, _, _ = strings.Cut(found, "\n")
	return strings.TrimSpace(found)
}
