package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

// A fleet is ranks that play debuggers of one program: main calls work, in solver.c.
type fleet struct {
	size    int
	session *debug.Session
	done    chan struct{}
	differ  func(rank int) int    // makes callers and values differ; nil for equal ranks
	builds  func(rank int) string // nil for equal ones
	cells   int                   // of the array; 0 for 250
	ending  chan struct{}         // closed when it may end; nil for at once
	late    int                   // ranks that do not join with the others

	mutex     sync.Mutex
	ranks     []*rank
	arguments adapter.LaunchArguments
	kills     []bool // of each end
	endErr    error
}

// A rank is one of a fleet.
type rank struct {
	fleet  *fleet
	number int
	member *debug.Member
	queue  chan func()

	mutex    sync.Mutex // guards the queue's end
	isClosed bool

	line, runs  int
	state       debug.State
	variable    map[string]string
	breakpoints []debug.Breakpoint
	asked       []debug.Request
	silent      bool
	threads     int
	endsAt      int // line where the program ends
}

// launch implements the launch of adapter.Options.
func (f *fleet) launch(_ context.Context, arguments adapter.LaunchArguments, report func(string)) (*adapter.Launched, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.arguments = arguments
	f.done = make(chan struct{})
	report("submitted")
	f.session = &debug.Session{}
	f.ranks = nil
	for number := range f.size {
		r := &rank{fleet: f, number: number, queue: make(chan func(), max(256, 1<<14/f.size)), line: 10, state: debug.Ready, threads: 1, endsAt: 90, variable: map[string]string{}}
		f.ranks = append(f.ranks, r)
		r.member = f.session.Join(r.receive)
		go r.run()
		build := "build"
		if f.builds != nil {
			build = f.builds(number)
		}
		if number < f.size-f.late {
			r.hello(build)
		}
	}
	return &adapter.Launched{Session: f.session, Size: f.size, Done: f.done, End: f.end}, nil
}

func (f *fleet) end(_ context.Context, kill bool) error {
	if f.ending != nil {
		<-f.ending
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.kills = append(f.kills, kill)
	f.vanish()
	return f.endErr
}

// vanish ends the job: all connections are lost.
func (f *fleet) vanish() {
	select {
	case <-f.done:
		return
	default:
	}
	for _, r := range f.ranks {
		r.mutex.Lock()
		r.isClosed = true
		close(r.queue)
		r.mutex.Unlock()
	}
	close(f.done)
}

func (r *rank) run() {
	for do := range r.queue {
		do()
	}
	r.member.Leave("the connection was closed")
}

func (r *rank) receive(line []byte) error {
	digits, body, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	var request debug.Request
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		panic(err)
	}
	return r.enqueue(func() {
		r.asked = append(r.asked, request)
		if r.silent {
			return
		}
		answer, after := r.answer(request)
		text, _ := json.Marshal(answer)
		_ = r.member.Receive(fmt.Appendf(nil, "%s %s", digits, text))
		if after != nil {
			after()
		}
	})
}

// enqueue has a function run as the rank does.
func (r *rank) enqueue(do func()) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.isClosed {
		return errors.New("the connection is closed")
	}
	r.queue <- do
	return nil
}

// on runs a function as the rank does, and waits for it.
func (f *fleet) on(number int, do func(r *rank)) {
	f.mutex.Lock()
	r := f.ranks[number]
	f.mutex.Unlock()
	finished := make(chan struct{})
	if r.enqueue(func() { do(r); close(finished) }) == nil {
		<-finished
	}
}

func (r *rank) hello(build string) {
	r.notice(debug.Notice{Report: debug.ReportHello, Hello: &debug.Hello{
		Version: debug.ProtocolVersion, Rank: r.number, Size: r.fleet.size, Host: "n1", Debugger: "gdb 13", Build: build,
	}})
}

func (r *rank) notice(notice debug.Notice) {
	text, _ := json.Marshal(notice)
	_ = r.member.Receive(fmt.Appendf(nil, "0 %s", text))
}

func (r *rank) print(stream, text string) {
	r.notice(debug.Notice{Report: debug.ReportOutput, Stream: stream, Text: text})
}

func (r *rank) resume() {
	r.state = debug.Running
	r.runs++
	r.notice(debug.Notice{Report: debug.ReportRunning})
}

func (r *rank) frame() debug.Frame {
	return debug.Frame{Function: "work", File: "/src/solver.c", Line: r.line}
}

func (r *rank) stop(notice debug.Notice) {
	r.state = debug.Stopped
	frame := r.frame()
	notice.Report, notice.Frame, notice.Thread = debug.ReportStopped, &frame, 1
	r.notice(notice)
}

func (r *rank) exit(code int) {
	r.state = debug.Exited
	r.notice(debug.Notice{Report: debug.ReportExited, Code: &code})
}

// answer returns the answer to a request, and the events after it.
func (r *rank) answer(request debug.Request) (debug.Answer, func()) {
	stopped := r.state == debug.Stopped
	running := debug.Answer{Problem: debug.IsRunning, Text: "the process runs"}
	switch request.Verb {
	case debug.SetBreakpoints:
		return r.setBreakpoints(request.Breakpoints), nil
	case debug.Start:
		return debug.Answer{}, func() {
			r.resume()
			switch request.Stop {
			case debug.StopAtEntry:
				r.stop(debug.Notice{Reason: debug.ReasonEntry})
			case debug.StopAtMain:
				r.stop(debug.Notice{Reason: debug.ReasonMain})
			default:
				r.goOn()
			}
		}
	case debug.Halt:
		return debug.Answer{}, func() { r.stop(debug.Notice{Reason: debug.ReasonHalt}) }
	case debug.Source:
		return debug.Answer{Text: "int work;\n"}, nil
	}
	if !stopped {
		return running, nil
	}
	switch request.Verb {
	case debug.Continue:
		return debug.Answer{}, func() { r.resume(); r.goOn() }
	case debug.Step:
		return debug.Answer{}, func() { r.resume(); r.line++; r.stop(debug.Notice{Reason: debug.ReasonStep}) }
	case debug.Threads:
		return r.listThreads(), nil
	case debug.Stack:
		return r.stack(request), nil
	}
	return r.inspect(request), nil
}

func (r *rank) setBreakpoints(all []debug.Breakpoint) debug.Answer {
	r.breakpoints = all
	var answer debug.Answer
	for _, each := range all {
		at := debug.Placement{ID: each.ID, Verified: true, File: each.File, Line: each.Line}
		if each.Function == "nowhere" || each.Line > 1000 || each.Line == 500+r.number {
			at = debug.Placement{ID: each.ID, Text: "no such place"}
		}
		answer.Breakpoints = append(answer.Breakpoints, at)
	}
	return answer
}

// goOn runs to the next breakpoint, or to the end.
func (r *rank) goOn() {
	hit := debug.Breakpoint{Line: r.endsAt}
	for _, each := range r.breakpoints {
		if each.Line > r.line && each.Line < hit.Line {
			hit = each
		}
	}
	switch {
	case hit.ID > 0:
		r.line = hit.Line
		r.stop(debug.Notice{Reason: debug.ReasonBreakpoint, Breakpoints: []int{hit.ID}})
	case r.endsAt < 1000: // otherwise it runs until it is halted
		r.exit(r.number % 4)
	}
}

func (r *rank) listThreads() debug.Answer {
	var answer debug.Answer
	for id := 1; id <= r.threads; id++ {
		frame := r.frame()
		answer.Threads = append(answer.Threads, debug.Thread{ID: id, Frame: &frame, Current: id == 1})
	}
	return answer
}

func (r *rank) stack(request debug.Request) debug.Answer {
	frames := []debug.Frame{r.frame()}
	caller := 40
	if r.fleet.differ != nil {
		caller += r.fleet.differ(r.number)
	}
	for depth := range 3 {
		frames = append(frames, debug.Frame{Function: "call" + strconv.Itoa(depth), File: "/src/solver.c", Line: caller})
	}
	frames = append(frames, debug.Frame{Function: "main", File: "/src/main.c", Line: 5}, debug.Frame{Function: "__libc_start_main", Module: "/lib/libc.so.6"})
	answer := debug.Answer{Total: len(frames)}
	first := min(request.First, len(frames))
	answer.Frames = frames[first:min(first+request.Count, len(frames))]
	return answer
}

// inspect answers about variables. n differs on rank 3; me is the rank and how often it has run.
func (r *rank) inspect(request debug.Request) debug.Answer {
	n, me := "8", "equal"
	if r.number == 3 {
		n = "-1"
	}
	if r.fleet.differ != nil {
		me = fmt.Sprintf("%d.%d", r.number, r.runs)
	}
	locals := []debug.Variable{
		{Name: "n", Value: n, Type: "int", Expression: "n"},
		{Name: "me", Value: me, Type: "char *", Expression: "me"},
		{Name: "a", Value: "{...}", Type: "double [250]", Expression: "a", Reference: 1, Children: r.fleet.array()},
		{Name: "s", Value: "{...}", Type: "struct s", Expression: "s", Reference: 2, Children: 2},
	}
	for i := range locals {
		if set := r.variable[locals[i].Name]; set != "" {
			locals[i].Value = set
		}
	}
	switch {
	case request.Verb == debug.Variables && request.Reference == 1:
		var all []debug.Variable
		for i := range r.fleet.array() {
			all = append(all, debug.Variable{Name: fmt.Sprintf("[%d]", i), Value: strconv.Itoa(i), Type: "double"})
		}
		return page(all, request)
	case request.Verb == debug.Variables && request.Reference == 2:
		return page([]debug.Variable{{Name: "x", Value: me, Type: "int", Expression: "s.x"}, {Name: "y", Value: n, Type: "int", Expression: "s.y"}}, request)
	case request.Verb == debug.Variables && request.Text == "locals":
		return page(locals, request)
	case request.Verb == debug.Variables:
		return debug.Answer{}
	case request.Verb == debug.Assign && request.Reference == 0:
		r.variable[request.Text] = request.Value
		return debug.Answer{Variables: []debug.Variable{{Value: request.Value, Type: "int", Expression: request.Text}}}
	case request.Verb == debug.Raw:
		return debug.Answer{Text: "raw " + request.Text}
	}
	at := slices.IndexFunc(locals, func(v debug.Variable) bool { return v.Name == request.Text })
	if at < 0 || r.number == 4 && request.Text == "n" {
		return debug.Answer{Problem: debug.Failed, Text: "no such variable"}
	}
	return debug.Answer{Variables: locals[at : at+1]}
}

func (f *fleet) array() int {
	if f.cells > 0 {
		return f.cells
	}
	return 250
}

func page(all []debug.Variable, request debug.Request) debug.Answer {
	first := min(request.First, len(all))
	return debug.Answer{Variables: all[first:min(first+request.Count, len(all))], Total: len(all)}
}
