package sdm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/proxy"
)

// A fake is a rank in this process. Its functions answer requests and may report notices.
type fake struct {
	t      testing.TB
	rank   int
	member *debug.Member

	mutex    sync.Mutex
	requests []debug.Request
	pending  sync.WaitGroup
}

// An answerer answers a request of a fake rank, and returns the reports after it. It returns nil to stay silent.
type answerer func(f *fake, request debug.Request) (*debug.Answer, []debug.Notice)

func joinFake(t testing.TB, session *debug.Session, rank int, answer answerer) *fake {
	f := &fake{t: t, rank: rank}
	lines := make(chan []byte, 1000)
	f.member = session.Join(func(line []byte) error {
		lines <- bytes.Clone(line)
		return nil
	})
	done := make(chan struct{})
	f.pending.Go(func() {
		for {
			select {
			case line := <-lines:
				f.serve(line, answer)
			case <-done:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(done)
		f.pending.Wait()
	})
	f.report(debug.Notice{Report: debug.ReportHello, Hello: &debug.Hello{Version: debug.ProtocolVersion, Rank: rank, Host: "n1"}})
	return f
}

func (f *fake) serve(line []byte, answer answerer) {
	number, body, _ := strings.Cut(string(line), " ")
	var request debug.Request
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		panic(err)
	}
	f.mutex.Lock()
	f.requests = append(f.requests, request)
	f.mutex.Unlock()
	answered, notices := answer(f, request)
	if answered != nil {
		text, err := json.Marshal(answered)
		if err != nil {
			panic(err)
		}
		_ = f.member.Receive(fmt.Appendf(nil, "%s %s", number, text))
	}
	for _, notice := range notices {
		f.report(notice)
	}
}

func (f *fake) report(notice debug.Notice) {
	text, err := json.Marshal(notice)
	if err != nil {
		panic(err)
	}
	_ = f.member.Receive(fmt.Appendf(nil, "0 %s", text))
}

// last returns the last request with a verb.
func (f *fake) last(verb debug.Verb) debug.Request {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for i := len(f.requests) - 1; i >= 0; i-- {
		if f.requests[i].Verb == verb {
			return f.requests[i]
		}
	}
	return debug.Request{}
}

// A client is the client of a master.
type client struct {
	t      testing.TB
	conn   net.Conn
	writer *proxy.Writer
	frames chan proxy.Frame
	ended  chan error // of the master
	fakes  []*fake
}

// startMaster starts a master of some fake ranks, with a client.
func startMaster(t testing.TB, size int, answer answerer) *client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	far, err := listener.Accept()
	require.NoError(t, err)
	session := &debug.Session{}
	c := &client{t: t, conn: near, writer: proxy.NewWriter(near), frames: make(chan proxy.Frame, 10000), ended: make(chan error, 1)}
	joined := make(chan struct{})
	for rank := range size {
		c.fakes = append(c.fakes, joinFake(t, session, rank, answer))
	}
	close(joined)
	ctx, cancel := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() { c.ended <- newMaster(session, newController(far), size, joined).run(ctx) })
	tasks.Go(func() {
		defer close(c.frames)
		reader := proxy.NewReader(near)
		for {
			frame, err := reader.Read()
			if err != nil {
				return
			}
			c.frames <- frame
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = near.Close()
		tasks.Wait()
	})
	return c
}

func (c *client) send(id uint16, transaction uint32, arguments ...string) {
	c.t.Helper()
	require.NoError(c.t, c.writer.Write(proxy.Frame{ID: id, Transaction: transaction, Arguments: arguments}))
}

// next returns the next event.
func (c *client) next() proxy.Frame {
	c.t.Helper()
	select {
	case frame, isOpen := <-c.frames:
		require.True(c.t, isOpen, "the master has closed the connection")
		return frame
	case <-time.After(20 * time.Second):
		require.FailNow(c.t, "no event in time")
		return proxy.Frame{}
	}
}

// expect checks the next event: its id, transaction and arguments.
func (c *client) expect(id uint16, transaction uint32, arguments ...string) {
	c.t.Helper()
	frame := c.next()
	require.Equal(c.t, proxy.Frame{ID: id, Transaction: transaction, Arguments: arguments}, frame)
}

// start starts the session.
func (c *client) start(set string) {
	c.t.Helper()
	c.send(commandStartSession, 1, "app", "/opt/app", "/work", "-x")
	c.expect(eventOK, 1, set)
}

func answerOK(notices ...debug.Notice) (*debug.Answer, []debug.Notice) {
	return &debug.Answer{}, notices
}

func running() debug.Notice { return debug.Notice{Report: debug.ReportRunning} }

func stoppedAt(reason, function string, line int, breakpoints ...int) debug.Notice {
	return debug.Notice{
		Report: debug.ReportStopped, Reason: reason, Thread: 1, Breakpoints: breakpoints,
		Frame: &debug.Frame{Function: function, File: "/src/app.c", Line: line},
	}
}

// A play is a fake program as the captured sessions have one: main calls work.
type play struct {
	line  int // of work
	codes []int
}

func (p play) answer(f *fake, request debug.Request) (*debug.Answer, []debug.Notice) {
	switch request.Verb {
	case debug.Start:
		return answerOK(stoppedAt(debug.ReasonEntry, "_start", 0))
	case debug.SetBreakpoints:
		answer := &debug.Answer{}
		for _, breakpoint := range request.Breakpoints {
			placed := debug.Placement{ID: breakpoint.ID, Verified: breakpoint.Function == "work" || breakpoint.Line > 0, File: "/src/app.c", Line: max(p.line, breakpoint.Line)}
			if !placed.Verified {
				placed.Text = "no such function"
			}
			answer.Breakpoints = append(answer.Breakpoints, placed)
		}
		return answer, nil
	case debug.Continue:
		if points := f.last(debug.SetBreakpoints).Breakpoints; len(points) > 0 {
			return answerOK(running(), stoppedAt(debug.ReasonBreakpoint, "work", p.line, points[0].ID))
		}
		code := p.codes[f.rank]
		return answerOK(running(), debug.Notice{Report: debug.ReportExited, Code: &code})
	case debug.Step:
		if len(f.last(debug.SetBreakpoints).Breakpoints) == 0 {
			return &debug.Answer{Problem: debug.NotRunning}, nil
		}
		if request.Text == debug.StepOut {
			return answerOK(running(), stoppedAt(debug.ReasonStep, "main", p.line+1))
		}
		return answerOK(running(), stoppedAt(debug.ReasonStep, "work", p.line+1))
	case debug.Stack:
		frames := []debug.Frame{{Function: "work", File: "/src/app.c", Line: p.line}, {Function: "main", File: "/src/app.c", Line: p.line + 1}}
		return &debug.Answer{Frames: frames[:min(2, request.Count)], Total: 2}, nil
	case debug.Variables:
		if f.rank == 1 {
			return &debug.Answer{Variables: []debug.Variable{{Name: "j", Value: "1", Type: "int"}}}, nil
		}
		return &debug.Answer{}, nil
	}
	return &debug.Answer{Problem: debug.Failed, Text: "No symbol in current context."}, nil
}
