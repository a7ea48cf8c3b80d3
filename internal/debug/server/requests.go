package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rmctl/rmctl/debug"
)

const (
	// orderWithin is how long Halt waits for earlier requests: what the client sends behind Continue is meant for
	// the running process, but a request that takes long is what it interrupts.
	orderWithin = 250 * time.Millisecond
	// longLimit bounds requests for which debuggers read symbols, or the process runs.
	longLimit = time.Minute
)

// read reads requests until the connection ends.
func (s *server) read(conn io.Reader) {
	defer close(s.left)
	lines := newLines(conn)
	for lines.Scan() {
		read, err := parseLine(lines.Bytes())
		if read.number == 0 {
			return // nobody can be answered
		}
		if err != nil {
			s.out.answer(read.number, failed(err))
			continue
		}
		queue := s.requests
		s.mutex.Lock()
		read.after = s.received
		s.mutex.Unlock()
		if read.request.Verb == debug.Halt || read.request.Verb == debug.Kill {
			queue = s.urgent
		}
		select {
		case queue <- read:
			if queue == s.requests {
				s.change(func() { s.received++ })
			}
		default:
			s.out.answer(read.number, failed(errors.New("too many requests wait")))
		}
	}
}

// work serves requests in order.
func (s *server) work() {
	defer close(s.worked)
	for {
		select {
		case next := <-s.requests:
			s.serve(next)
		case <-s.left:
			return
		case <-s.requestsContext.Done():
			return
		}
	}
}

// workUrgently serves the requests that others do not hold up.
func (s *server) workUrgently() {
	for {
		select {
		case next := <-s.urgent:
			s.change(func() { s.isUrgent = true })
			s.awaitEarlier(next)
			s.out.answer(next.number, s.executeUrgently(s.requestsContext, next.request))
			s.change(func() { s.isUrgent = false })
		case <-s.requestsContext.Done():
			return
		}
	}
}

// awaitEarlier waits for a moment until the requests before an urgent one were served.
func (s *server) awaitEarlier(urgent numbered) {
	ctx, cancel := context.WithTimeout(s.requestsContext, orderWithin)
	defer cancel()
	s.awaits(ctx, func() bool { return s.served >= urgent.after })
}

func (s *server) serve(next numbered) {
	s.change(func() { s.isServing = true })
	answer, then := s.execute(s.requestsContext, next.request)
	s.sources.addAnswer(answer)
	s.out.answer(next.number, answer)
	if then != nil {
		then()
	}
	s.change(func() { s.isServing, s.served = false, s.served+1 })
}

// execute answers a request. The caller runs the returned function after it has sent the answer.
func (s *server) execute(ctx context.Context, request debug.Request) (answer debug.Answer, then func()) {
	switch request.Verb {
	case debug.Start:
		return s.start(ctx, request)
	case debug.Source:
		return s.sources.answer(request), nil
	case debug.SetBreakpoints:
		return s.setBreakpoints(ctx, request.Breakpoints), nil
	case debug.Detach:
		return s.detach(ctx), nil
	case debug.Evaluate, debug.Assign, debug.Raw:
		limited, cancel := context.WithTimeout(ctx, longLimit) // a function of the program may run
		defer cancel()
		return s.do(limited, request), nil
	case debug.Continue, debug.Step:
		s.change(func() { s.isStep = request.Verb == debug.Step })
		return s.do(ctx, request), nil
	case debug.Threads, debug.Stack, debug.Variables, debug.TypeOf, debug.Memory:
		return s.do(ctx, request), nil
	}
	return debug.Answer{Problem: debug.Unsupported, Text: fmt.Sprintf("unknown request %.40q", request.Verb)}, nil
}

// do passes a request on to the debugger.
func (s *server) do(ctx context.Context, request debug.Request) debug.Answer {
	engine, problem := s.attached()
	if engine == nil {
		return problem
	}
	if !s.lock(ctx) {
		return debug.Answer{Problem: debug.Silent, Text: "the debugger is busy"}
	}
	defer s.unlock()
	return engine.Do(ctx, request)
}

func (s *server) executeUrgently(ctx context.Context, request debug.Request) debug.Answer {
	if request.Verb == debug.Kill {
		return s.kill(ctx)
	}
	return s.halt(ctx)
}

// halt stops the process. If it just stops at a breakpoint that does not count, it does not run on.
func (s *server) halt(ctx context.Context) debug.Answer {
	engine, problem := s.attached()
	if engine == nil {
		return problem
	}
	s.control.Lock()
	defer s.control.Unlock()
	s.mutex.Lock()
	s.isWanted = s.shown == debug.Running
	isStopping := s.isWanted && !s.runs
	s.mutex.Unlock()
	if isStopping {
		return debug.Answer{}
	}
	return engine.Do(ctx, debug.Request{Verb: debug.Halt})
}

// detach lets the process run without a debugger.
func (s *server) detach(ctx context.Context) debug.Answer {
	if engine, problem := s.attached(); engine == nil {
		return problem
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Linger)
	defer cancel()
	s.release(limited, "")
	return debug.Answer{}
}
