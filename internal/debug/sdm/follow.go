package sdm

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/debug"
)

const (
	// gatherTime is how long stops wait for those of other ranks, so that equal ones are one event.
	gatherTime = 20 * time.Millisecond
	// depthLimit bounds how long the report of a stop waits for the depth of the stack.
	depthLimit = 10 * time.Second
)

// A follower reports spontaneous changes of ranks.
type follower struct {
	*master
	lines debug.Lines
	held  []debug.Update // stops of ranks whose command has no answer yet
}

// follow reports until the context ends.
func (m *master) follow(ctx context.Context) {
	f := &follower{master: m}
	for f.awaitRoom(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case <-m.session.Reports():
			f.gather(ctx)
		}
		f.apply(ctx, m.session.Take())
	}
}

// awaitRoom waits until the client has read most of the queue.
func (f *follower) awaitRoom(ctx context.Context) bool {
	for {
		changed, hasRoom := f.client.room()
		if hasRoom {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (f *follower) gather(ctx context.Context) {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// apply passes the reports of ranks on.
func (f *follower) apply(ctx context.Context, updates []debug.Update) {
	updates, f.held = append(f.held, updates...), nil
	var ends []debug.Update
	for _, update := range updates {
		if update.Rank >= f.size {
			continue
		}
		switch update.Report {
		case debug.ReportOutput:
			if update.Stream != debug.StreamDebugger {
				f.lines.Add(update.Rank, update.Stream, update.Text)
			}
		case debug.ReportOmitted:
			f.lines.Add(update.Rank, debug.StreamLog, fmt.Sprintf("%d bytes of output omitted\n", update.Omitted))
		case debug.ReportRunning, debug.ReportStopped, debug.ReportExited, debug.ReportGone:
			ends = append(ends, update)
		}
	}
	f.change(ctx, ends)
	f.reportLost()
}

// A stop is a stop of a rank that is to be reported.
type stop struct {
	transaction uint32
	debug.Update
}

// change reports changes of states.
func (f *follower) change(ctx context.Context, updates []debug.Update) {
	var stops []stop
	answered := map[uint32][]result{}
	f.mutex.Lock()
	isHeld := map[int]bool{}
	for _, update := range updates {
		p := &f.processes[update.Rank]
		if isHeld[update.Rank] = isHeld[update.Rank] || p.isPending && !p.hasRun && update.Report == debug.ReportStopped; isHeld[update.Rank] {
			f.held = append(f.held, update)
			continue
		}
		if update.Report == debug.ReportRunning {
			p.hasRun, p.thread, p.frame = true, 0, 0
			continue
		}
		if answer := p.answerOf(update); answer != nil {
			answered[p.ran] = append(answered[p.ran], result{span(update.Rank), *answer})
		}
		isNews := !p.isStarting && !(p.isKilled && update.Report != debug.ReportStopped)
		p.isPending, p.isStarting = false, false
		if isNews {
			stops = append(stops, stop{p.ran, update})
		}
	}
	f.flush(len(stops) > 0 && len(f.session.Ranks(debug.Running)) == 0) // a line that others print goes on
	for transaction, results := range answered {
		f.send(transaction, results)
	}
	f.mutex.Unlock()
	select {
	case f.stopped <- struct{}{}:
	default: // nobody has looked since the last time
	}
	f.reportStops(ctx, stops)
}

// answerOf returns the answer of a command that lets a process run, if its stop or its end comes before.
func (p *process) answerOf(update debug.Update) *event {
	answer := ok()
	switch {
	case p.isStarting && update.Report != debug.ReportStopped:
		answer = failure(codeCannotRun, "Can't run the program: it ended at its start")
	case !p.isStarting && !p.isPending:
		return nil
	}
	return &answer
}

// flush reports output: whole lines, or all of it. The mutex is held.
func (f *follower) flush(all bool) {
	taken := f.lines.Take(false)
	results := make([]result, 0, len(taken))
	for _, line := range taken {
		results = append(results, result{line.Ranks, event{eventOutput, []string{line.Text + "\n"}}})
	}
	if all {
		for _, line := range f.lines.Take(true) {
			results = append(results, result{line.Ranks, event{eventOutput, []string{line.Text}}})
		}
	}
	for _, each := range results { // equal lines are not one event: each is a further line
		f.send(f.transaction, []result{each})
	}
}

// reportStops reports stops and ends, equal ones as one event.
func (f *follower) reportStops(ctx context.Context, stops []stop) {
	if len(stops) == 0 {
		return
	}
	depths := f.depths(ctx, stops)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var order []uint32
	byCommand := map[uint32][]result{}
	for _, each := range stops {
		if byCommand[each.transaction] == nil {
			order = append(order, each.transaction)
		}
		byCommand[each.transaction] = append(byCommand[each.transaction], result{span(each.Rank), f.eventOf(each, depths[each.Rank])})
	}
	for _, transaction := range order {
		f.send(transaction, byCommand[transaction])
	}
}

// depths returns how many frames the stacks of ranks that have stopped have.
func (f *follower) depths(ctx context.Context, stops []stop) map[int]int {
	var stopped debug.Ranks
	for _, each := range stops {
		if each.Report == debug.ReportStopped {
			stopped = stopped.Union(span(each.Rank))
		}
	}
	depths := map[int]int{}
	if len(stopped) == 0 {
		return depths
	}
	ctx, cancel := context.WithTimeout(ctx, depthLimit)
	defer cancel()
	request := debug.Request{Verb: debug.Stack, Count: 1}
	for _, part := range f.query(ctx, debug.Question{Ranks: stopped, Request: request}) {
		if part.Problem == "" && part.Total > 0 {
			each(part.Ranks, func(rank int) { depths[rank] = part.Total })
		}
	}
	return depths
}

// eventOf returns the event for a stop or an end. The mutex is held.
func (f *follower) eventOf(s stop, depth int) event {
	switch {
	case s.Report == debug.ReportGone:
		return failure(codeNotRunning, "The debugger has left the program: "+s.Text)
	case s.Report == debug.ReportExited && s.Signal != "":
		return event{eventExit, append([]string{exitSignal}, signalNamed(s.Signal).arguments()...)}
	case s.Report == debug.ReportExited:
		code := 0
		if s.Code != nil {
			code = *s.Code
		}
		return event{eventExit, []string{exitNormal, strconv.Itoa(code)}}
	}
	if depth == 0 {
		depth = -1 // unknown
	}
	rest := append([]string{strconv.Itoa(max(s.Thread, 1)), strconv.Itoa(depth)}, list(f.expressionsOf(s.Rank))...)
	id, isPoint := f.hit(s.Rank, s.Breakpoints)
	if isPoint {
		return event{eventSuspend, append([]string{suspendBreakpoint, strconv.Itoa(id)}, rest...)}
	}
	var frame debug.Frame
	if s.Frame != nil {
		frame = *s.Frame
	}
	arguments := append(frameArguments(0, frame), rest...)
	switch {
	case s.Signal != "":
		known := signalNamed(s.Signal)
		if s.Text != "" {
			known.description = s.Text
		}
		return event{eventSuspend, append(append([]string{suspendSignal}, known.arguments()...), arguments...)}
	case s.Reason == debug.ReasonStep:
		return event{eventSuspend, append([]string{suspendStep}, arguments...)}
	}
	return event{eventSuspend, append([]string{suspendHalt}, arguments...)}
}

// reportLost reports ranks whose server is gone.
func (f *follower) reportLost() {
	classes := f.session.Classes()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, class := range classes {
		if class.State != debug.Lost {
			continue
		}
		var lost debug.Ranks
		each(class.Ranks, func(rank int) {
			if rank < f.size && !f.processes[rank].isLost && !f.processes[rank].isKilled {
				f.processes[rank].isLost = true
				lost = appendRank(lost, rank)
			}
		})
		f.send(f.transaction, []result{{lost, failure(codeDebugger, "Debugger error: the server is lost: "+class.Text)}})
	}
}

// span returns a set of one rank.
func span(rank int) debug.Ranks { return debug.Ranks{{First: rank, Last: rank}} }
