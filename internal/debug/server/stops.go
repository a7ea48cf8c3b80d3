package server

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/debug"
)

// endWithin bounds how long the system may take to report the end of the program after the debugger did.
const endWithin = 5 * time.Second

// notify takes a notice of the debugger.
func (s *server) notify(notice debug.Notice) {
	switch notice.Report {
	case debug.ReportOutput:
		s.out.print(debug.StreamDebugger, notice.Text)
		return
	case debug.ReportRunning:
		s.change(func() { s.runs = true })
	case debug.ReportStopped, debug.ReportExited, debug.ReportGone:
		s.change(func() { s.runs = false })
	}
	select {
	case s.notices <- notice:
	case <-s.closed:
	}
}

// follow acts on the notices of the debugger, in order.
func (s *server) follow() {
	for {
		select {
		case notice := <-s.notices:
			s.handle(notice)
		case <-s.over:
			return
		}
	}
}

func (s *server) handle(notice debug.Notice) {
	switch notice.Report {
	case debug.ReportRunning:
		s.showRunning()
	case debug.ReportStopped:
		s.stopped(notice)
	case debug.ReportPlaced:
		s.placed(notice.Placements)
	case debug.ReportExited:
		s.exited(notice)
	case debug.ReportGone:
		ctx, cancel := context.WithTimeout(context.Background(), s.Linger)
		defer cancel()
		s.release(ctx, notice.Text)
	}
}

// showRunning lets the client know that the process runs, unless it does not know that it was stopped.
func (s *server) showRunning() {
	s.change(func() {
		if s.shown == debug.Stopped && !s.isReleasing {
			s.shown = debug.Running
			s.out.send(debug.Notice{Report: debug.ReportRunning})
		}
	})
}

// stopped passes a stop on, unless the process is to run on.
func (s *server) stopped(notice debug.Notice) {
	s.mutex.Lock()
	isKnown := s.shown != debug.Running || s.isReleasing
	engine := s.engine
	s.mutex.Unlock()
	if isKnown {
		return
	}
	verdict := s.judge(&notice)
	if (!verdict.isStop || verdict.isRemoved || len(verdict.logs) > 0) && s.lock(s.requestsContext) {
		isContinued := s.serveBreakpoints(engine, &notice, verdict)
		s.unlock()
		if isContinued {
			return
		}
	}
	s.show(notice)
}

// serveBreakpoints applies the rules of breakpoints, and reports whether the process continues. The caller holds
// the lock.
func (s *server) serveBreakpoints(engine Engine, notice *debug.Notice, verdict verdict) bool {
	ctx, cancel := context.WithTimeout(s.requestsContext, longLimit)
	defer cancel()
	for _, parts := range verdict.logs {
		s.printLog(ctx, engine, notice.Thread, parts)
	}
	if verdict.isRemoved {
		_ = s.placeBreakpoints(ctx, engine) // the client sees the stop anyway
	}
	if verdict.isStop {
		return false
	}
	s.control.Lock()
	defer s.control.Unlock()
	s.mutex.Lock()
	isWanted := s.isWanted
	s.mutex.Unlock()
	notice.Reason = debug.ReasonHalt
	if isWanted {
		return false
	}
	answer := engine.Do(ctx, debug.Request{Verb: debug.Continue})
	notice.Text = answer.Text
	return answer.Problem == "" || answer.Problem == debug.IsRunning
}

// show lets the client know that the process has stopped.
func (s *server) show(notice debug.Notice) {
	if notice.Frame != nil {
		s.sources.add(notice.Frame.File)
	}
	s.change(func() {
		if s.isReleasing || !s.isAttached() {
			return
		}
		s.shown, s.isWanted, s.isStep = debug.Stopped, false, false
		s.out.send(notice)
	})
}

// placed passes on where the client's breakpoints are now.
func (s *server) placed(placements []debug.Placement) {
	var known []debug.Placement
	for _, placement := range placements {
		if placement.ID < mainID {
			known = append(known, placement)
		}
	}
	s.sources.addPlacements(known)
	if len(known) > 0 {
		s.out.send(debug.Notice{Report: debug.ReportPlaced, Placements: known})
	}
}

// exited records the end of the process that the debugger reported. For a child, the system has its result.
func (s *server) exited(notice debug.Notice) {
	s.mutex.Lock()
	child := s.child
	s.mutex.Unlock()
	if child == nil {
		s.end(notice, Ending{})
		return
	}
	timer := time.NewTimer(endWithin)
	defer timer.Stop()
	select {
	case <-child.ended:
	case <-timer.C:
		s.killDebugger() // it keeps the process from its end
	}
}

// followChild waits for the end of the program that this process started.
func (s *server) followChild(c *child) {
	<-c.ended
	notice, ending := debug.Notice{Report: debug.ReportExited}, Ending{}
	if c.status.Signaled() {
		ending.Signal = c.status.Signal()
		notice.Signal = nameOfSignal(ending.Signal)
	} else {
		ending.Code = c.status.ExitStatus()
		notice.Code = &ending.Code
	}
	s.guard.RemoveProgram(c.pid)
	s.mutex.Lock()
	isCurrent := s.child == c
	s.mutex.Unlock()
	if isCurrent {
		s.end(notice, ending)
	}
}

// end lets the client know that the process has ended; then nothing is left to do.
func (s *server) end(notice debug.Notice, ending Ending) {
	s.change(func() {
		if s.shown != debug.Exited {
			s.shown = debug.Exited
			s.out.send(notice)
		}
	})
	s.finish(ending, nil)
}
