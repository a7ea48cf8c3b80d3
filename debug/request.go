package debug

// A Verb is the kind of a request.
type Verb string

// The verbs of requests. Each says which fields of [Request] and [Answer] it uses.
const (
	Start          Verb = "start"       // Program or none, Stop: starts or attaches; the notice of the stop or the run follows
	SetBreakpoints Verb = "breakpoints" // Breakpoints replace all earlier ones; answers Breakpoints
	Continue       Verb = "continue"
	Halt           Verb = "halt"      // stops the process; the notice follows
	Step           Verb = "step"      // Text: into, over or out; Count
	Kill           Verb = "kill"      // ends the process
	Detach         Verb = "detach"    // lets the process run without a debugger
	Threads        Verb = "threads"   // answers Threads
	Stack          Verb = "stack"     // Thread, First, Count; answers Frames, Total
	Variables      Verb = "variables" // Thread, Frame, Text: locals, arguments or globals; or Reference, First, Count; answers Variables, Total
	Evaluate       Verb = "evaluate"  // Thread, Frame, Text; answers Variables with one value
	Assign         Verb = "assign"    // Thread, Frame, Text: an expression, or with Reference the name of a child; Value; answers like Evaluate
	TypeOf         Verb = "type"      // Thread, Frame, Text; answers Text
	Memory         Verb = "memory"    // Thread, Frame, Text: address as an expression; Count bytes, or Value in hexadecimal digits to write; answers Text in such digits
	Source         Verb = "source"    // Text: path as in a frame; answers Text
	Raw            Verb = "raw"       // Thread, Frame, Text: a command of the debugger's console; answers Text
)

// The values of Request.Stop.
const (
	StopAtMain  = "main"
	StopAtEntry = "entry" // at the first instruction
	StopNot     = "no"
)

// The steps of [Step].
const (
	StepInto = "into"
	StepOver = "over"
	StepOut  = "out"
)

// A Request asks the debugger of one rank. Threads and frames are 0 for the thread that stopped last, and for its
// innermost frame.
type Request struct {
	Verb        Verb         `json:"verb"`
	Thread      int          `json:"thread,omitempty"`
	Frame       int          `json:"frame,omitempty"`
	Text        string       `json:"text,omitempty"`
	Value       string       `json:"value,omitempty"`
	Reference   int          `json:"reference,omitempty"`
	First       int          `json:"first,omitempty"`
	Count       int          `json:"count,omitempty"`
	Stop        string       `json:"stop,omitempty"`
	Breakpoints []Breakpoint `json:"breakpoints,omitempty"`
	Program     *Program     `json:"program,omitempty"`
}

// A Program is what a rank starts.
type Program struct {
	Arguments []string `json:"arguments"`           // the first one is the executable
	Directory string   `json:"directory,omitempty"` // empty for that of the job
}

// A Breakpoint stops a process. It has one of Line with File, Function, Watch and Exception.
type Breakpoint struct {
	ID        int    `json:"id"` // of the session, from 1
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Function  string `json:"function,omitempty"`
	Watch     string `json:"watch,omitempty"`     // an expression whose value changes
	Access    string `json:"access,omitempty"`    // of Watch: write (the default), read or any
	Exception string `json:"exception,omitempty"` // throw or catch of C++, or panic of Go
	Condition string `json:"condition,omitempty"` // an expression; $rank is the rank
	Hits      string `json:"hits,omitempty"`      // which hits count: 5 or >=5 from the fifth on, =5 only that, %5 each fifth
	Log       string `json:"log,omitempty"`       // a text to print instead of stopping; {EXPRESSION} is replaced by its value
	Temporary bool   `json:"temporary,omitempty"` // it goes with its first stop
	Disabled  bool   `json:"disabled,omitempty"`
}

// A Problem is the kind of a failure. Answer.Text describes it.
type Problem string

// The problems.
const (
	Failed      Problem = "failed"      // the debugger refused
	Unsupported Problem = "unsupported" // this debugger does not support it
	IsRunning   Problem = "running"     // the process has to be stopped for that
	NotRunning  Problem = "ended"       // there is no process, not yet or no longer
	Silent      Problem = "silent"      // no answer in time, or the rank is lost
)

// An Answer is the answer of a rank. Answers of ranks in the same state are equal.
type Answer struct {
	Problem     Problem     `json:"problem,omitempty"`
	Text        string      `json:"text,omitempty"`
	Total       int         `json:"total,omitempty"` // frames or children that there are, 0 if unknown
	Frames      []Frame     `json:"frames,omitempty"`
	Threads     []Thread    `json:"threads,omitempty"`
	Variables   []Variable  `json:"variables,omitempty"`
	Breakpoints []Placement `json:"breakpoints,omitempty"`
}

// A Frame is a call in a stack.
type Frame struct {
	Function string `json:"function,omitempty"` // empty if unknown
	File     string `json:"file,omitempty"`     // path as the debugger has it
	Line     int    `json:"line,omitempty"`
	Module   string `json:"module,omitempty"`  // shared library without source
	Address  string `json:"address,omitempty"` // with 0x; only where File is empty
}

// A Thread is a thread of a process.
type Thread struct {
	ID      int    `json:"id"` // of the debugger
	Name    string `json:"name,omitempty"`
	Frame   *Frame `json:"frame,omitempty"` // innermost; none while it runs
	Current bool   `json:"current,omitempty"`
}

// A Variable is a value with its name.
type Variable struct {
	Name       string `json:"name,omitempty"`
	Value      string `json:"value,omitempty"` // at most 4 KiB
	Type       string `json:"type,omitempty"`
	Expression string `json:"expression,omitempty"` // that evaluates to it
	Reference  int    `json:"reference,omitempty"`  // to ask for its children; 0 if it has none. It holds until the process runs
	Children   int    `json:"children,omitempty"`   // how many there are, 0 if unknown
}

// A Placement is where a breakpoint is in a process.
type Placement struct {
	ID       int    `json:"id"`
	Verified bool   `json:"verified,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"` // why it is not verified
}

// A Report is the kind of a notice.
type Report string

// The reports.
const (
	ReportHello   Report = "hello"   // Hello: the first one of a rank
	ReportRunning Report = "running" // the process runs, or goes on
	ReportStopped Report = "stopped" // Reason, Thread, Frame, Breakpoints, Text
	ReportExited  Report = "exited"  // Code or Signal
	ReportGone    Report = "gone"    // Text: detached; the process runs on
	ReportOutput  Report = "output"  // Text, Stream
	ReportPlaced  Report = "placed"  // Placements that changed
	ReportOmitted Report = "omitted" // so many bytes of output omitted; from the session or the rank
)

// The reasons of stops.
const (
	ReasonEntry      = "entry"
	ReasonMain       = "main"
	ReasonBreakpoint = "breakpoint"
	ReasonWatch      = "watchpoint" // Text has the old and the new value
	ReasonStep       = "step"
	ReasonSignal     = "signal" // Signal and Text
	ReasonHalt       = "halt"
	ReasonException  = "exception"
)

// The streams of output.
const (
	StreamOutput   = "stdout"
	StreamErrors   = "stderr"
	StreamLog      = "log"      // of log points
	StreamDebugger = "debugger" // what the debugger prints
)

// A Notice is a report that a rank sends by itself.
type Notice struct {
	Report      Report      `json:"report"`
	Hello       *Hello      `json:"hello,omitempty"`
	Reason      string      `json:"reason,omitempty"`
	Thread      int         `json:"thread,omitempty"`
	Frame       *Frame      `json:"frame,omitempty"`
	Breakpoints []int       `json:"breakpoints,omitempty"` // ids of those that it stopped at
	Placements  []Placement `json:"placements,omitempty"`
	Text        string      `json:"text,omitempty"`
	Stream      string      `json:"stream,omitempty"`
	Code        *int        `json:"code,omitempty"`
	Signal      string      `json:"signal,omitempty"` // SIGSEGV
	Omitted     int         `json:"omitted,omitempty"`
}

// A Hello is the first message of a rank.
type Hello struct {
	Version  int      `json:"version"` // of the protocol, see [ProtocolVersion]
	Rank     int      `json:"rank"`
	Size     int      `json:"size,omitempty"` // ranks of the program, 0 if unknown
	Host     string   `json:"host"`
	PID      int      `json:"pid,omitempty"`
	Debugger string   `json:"debugger"`        // its name and version
	Build    string   `json:"build,omitempty"` // build id of the executable
	Program  []string `json:"program,omitempty"`
	Able     []Verb   `json:"able,omitempty"` // verbs that not every debugger has: memory, raw, type …
}

// ProtocolVersion is the version of the lines between ranks and sessions.
const ProtocolVersion = 1
