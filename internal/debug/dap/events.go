package dap

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// A kind is the kind of a happening.
type kind int

const (
	hasStopped    kind = iota
	hasExited          // with a code
	hasTerminated      // the debugger has no process any more
	hasPlaced          // a breakpoint
	hasPrinted
	hasDetached
	hasHalted    // while it was held
	runs         // because of a request
	runsNot      // because the debugger refused
	seemsRunning // after a command of the console
)

// A happening is an event, with only what is used and bounded.
type happening struct {
	kind        kind
	reason      string
	description string
	text        string
	thread      int
	code        int
	hit         []int
	breakpoint  placed
	stops       int64 // how many were reported before the command
}

const (
	longestOutput = 8 << 10
	mostHit       = 64
)

// receive keeps an event for work, and reports false if it cannot. It runs between reading two messages.
func (e *Engine) receive(event message) bool {
	if event.Event == "initialized" {
		closeOnce(e.initial)
		return true
	}
	if event.Event == "stopped" {
		e.stops.Add(1)
	}
	news, isUsed := happeningOf(event)
	if !isUsed {
		return true
	}
	select {
	case e.happenings <- news:
		return true
	default:
		return news.kind == hasPrinted
	}
}

// happeningOf converts an event, or returns false if nobody needs it.
func happeningOf(event message) (happening, bool) {
	switch event.Event {
	case "stopped":
		body, isValid := bodyOf[stoppedBody](event)
		return happening{kind: hasStopped, reason: bounded(body.Reason), description: bounded(body.Description), text: bounded(body.Text),
			thread: body.ThreadID, hit: body.HitBreakpointIDs[:min(len(body.HitBreakpointIDs), mostHit)]}, isValid
	case "exited":
		body, isValid := bodyOf[exitedBody](event)
		return happening{kind: hasExited, code: body.ExitCode}, isValid
	case "terminated":
		return happening{kind: hasTerminated}, true
	case "breakpoint":
		body, isValid := bodyOf[breakpointBody](event)
		body.Breakpoint.Message = bounded(body.Breakpoint.Message)
		return happening{kind: hasPlaced, breakpoint: body.Breakpoint}, isValid
	case "output":
		body, isValid := bodyOf[outputBody](event)
		text := strings.ToValidUTF8(body.Output[:min(len(body.Output), longestOutput)], "")
		return happening{kind: hasPrinted, text: text}, isValid && body.Category != "telemetry"
	}
	return happening{}, false
}

func bodyOf[T any](event message) (T, bool) {
	var body T
	err := json.Unmarshal(event.Body, &body)
	return body, err == nil
}

// closeOnce closes a channel that only one goroutine closes.
func closeOnce(channel chan struct{}) {
	select {
	case <-channel:
	default:
		close(channel)
	}
}

// enqueue adds a happening of a request.
func (e *Engine) enqueue(news happening) {
	select {
	case e.happenings <- news:
	case <-e.closing:
	}
}

// work reports happenings in order until the engine is closed.
func (e *Engine) work() {
	ended := e.debugger.over
	for {
		select {
		case news := <-e.happenings:
			e.handle(news)
		case <-ended:
			ended = nil
			e.drain()
			e.lose()
		case <-e.closing:
			return
		}
	}
}

// drain handles the reports of an ended debugger.
func (e *Engine) drain() {
	for {
		select {
		case news := <-e.happenings:
			e.handle(news)
		default:
			return
		}
	}
}

func (e *Engine) handle(news happening) {
	ctx := context.Background() // each call has its own limit
	switch news.kind {
	case hasStopped:
		e.stop(ctx, news)
	case hasHalted:
		e.reportStop(ctx, news.thread, debug.Notice{Reason: debug.ReasonHalt})
	case hasExited:
		e.finish(&news.code)
	case hasTerminated:
		e.finish(nil)
	case hasPlaced:
		e.moved(ctx, news.breakpoint)
	case hasPrinted:
		e.print(news.text)
	case hasDetached:
		e.options.Notify(debug.Notice{Report: debug.ReportGone, Text: "detached"})
	case runs:
		e.options.Notify(debug.Notice{Report: debug.ReportRunning})
	case seemsRunning:
		e.notice(news.stops)
	case runsNot:
		e.stay()
	}
}

// print reports output of the debugger, except while it starts.
func (e *Engine) print(text string) {
	e.mutex.Lock()
	isReady := e.condition != unattached && e.condition != attaching
	e.mutex.Unlock()
	text = e.dialect.output(text)
	if isReady && strings.TrimSpace(text) != "" {
		e.options.Notify(debug.Notice{Report: debug.ReportOutput, Stream: debug.StreamDebugger, Text: text})
	}
}

// notice reports that the process runs after a command of the console. A later stop is reported after that run.
// Querying lldb for the state would disturb the step of a thread.
func (e *Engine) notice(stops int64) {
	if e.stops.Load() == stops {
		e.reportRun()
	}
}

// reportRun reports that the process runs, unless that is known.
func (e *Engine) reportRun() {
	e.mutex.Lock()
	isNews := e.condition == stopped
	if isNews {
		e.condition = running
		e.values.reset()
	}
	e.mutex.Unlock()
	if isNews {
		e.options.Notify(debug.Notice{Report: debug.ReportRunning})
	}
}

// stay reports the last stop again, after a request to run failed.
func (e *Engine) stay() {
	e.mutex.Lock()
	hasStayed := e.condition == running
	notice := e.lastStop
	if hasStayed {
		e.condition = stopped
	}
	e.mutex.Unlock()
	if hasStayed && notice.Report != "" {
		e.options.Notify(notice)
	}
}

// isNewStop notes a stop, and reports whether it is one to look at.
func (e *Engine) isNewStop(thread int) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch {
	case e.condition == attaching:
		e.thread = thread
		e.lastStop = debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonEntry}
		closeOnce(e.entered)
		return false
	case e.condition == stopped:
		return e.isCommanded // otherwise a debugger reports a stop twice
	}
	return e.condition == running && !e.isHeld && !e.isLeaving
}

// stop handles a stop of the process.
func (e *Engine) stop(ctx context.Context, news happening) {
	if !e.isNewStop(news.thread) {
		return
	}
	e.reportRun() // by a command of the console
	if news.thread == 0 {
		news.thread = e.anyThread(ctx)
	}
	classified, isReported := e.dialect.classify(ctx, e, news)
	notice := classified.Notice
	if e.takesHold(news.thread, notice.Reason) {
		return
	}
	if isReported {
		notice, isReported = e.hits(ctx, news.thread, classified)
	}
	if !isReported && e.proceed(ctx, "continue", news.thread) == nil {
		return
	}
	if notice.Reason == debug.ReasonStep && e.takeStep() && e.proceed(ctx, e.stepCommand(), news.thread) == nil {
		return
	}
	e.reportStop(ctx, news.thread, notice)
}

// proceed continues the process without a report.
func (e *Engine) proceed(ctx context.Context, command string, thread int) error {
	_, err := e.debugger.call(ctx, command, map[string]any{"threadId": thread})
	return err
}

func (e *Engine) reportStop(ctx context.Context, thread int, notice debug.Notice) {
	notice.Report = debug.ReportStopped
	if frames, _, err := e.listFrames(ctx, thread, 0, 1); err == nil && len(frames) > 0 {
		notice.Frame = &frames[0].Frame
	}
	e.mutex.Lock()
	if e.condition == over {
		e.mutex.Unlock()
		return
	}
	notice.Thread = e.numbered(thread)
	e.condition, e.thread, e.lastStop, e.signal = stopped, thread, notice, notice.Signal
	e.isHalting, e.isCommanded, e.steps = false, false, 0
	e.values.reset()
	e.mutex.Unlock()
	e.options.Notify(notice)
}

// anyThread returns the first thread, for stops of the whole process.
func (e *Engine) anyThread(ctx context.Context) int {
	threads, err := e.listThreads(ctx)
	if err != nil || len(threads) == 0 {
		return 0
	}
	return threads[0].ID
}
