package debug_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// span returns the ranks from one to another.
func span(first, last int) debug.Ranks { return debug.Ranks{ranges.Range{First: first, Last: last}} }

// A rank answers with its function, at once.
type rank struct {
	member *debug.Member

	mutex sync.Mutex
	asked []debug.Request
}

// join adds a rank. Answer returns false to stay silent.
func join(t testing.TB, s *debug.Session, number int, answer func(debug.Request) (debug.Answer, bool)) *rank {
	t.Helper()
	r := &rank{}
	r.member = s.Join(func(line []byte) error {
		var request debug.Request
		digits, body, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			return err
		}
		r.mutex.Lock()
		r.asked = append(r.asked, request)
		r.mutex.Unlock()
		if reply, answers := answer(request); answers {
			text, err := json.Marshal(reply)
			if err != nil {
				return err
			}
			go func() { _ = r.member.Receive(fmt.Appendf(nil, "%s %s", digits, text)) }()
		}
		return nil
	})
	r.notice(t, debug.Notice{Report: debug.ReportHello, Hello: &debug.Hello{Version: debug.ProtocolVersion, Rank: number, Host: "n1", Debugger: "gdb 13"}})
	return r
}

func (r *rank) notice(t testing.TB, notice debug.Notice) {
	t.Helper()
	text, err := json.Marshal(notice)
	require.NoError(t, err)
	require.NoError(t, r.member.Receive(fmt.Appendf(nil, "0 %s", text)))
}

func value(text string) (debug.Answer, bool) {
	return debug.Answer{Variables: []debug.Variable{{Value: text}}}, true
}

func TestEqualAnswersAreOnePart(t *testing.T) {
	var s debug.Session
	for number := range 512 {
		join(t, &s, number, func(debug.Request) (debug.Answer, bool) {
			switch number {
			case 3:
				return value("-1")
			case 4:
				return debug.Answer{Problem: debug.Failed, Text: "no such variable"}, true
			}
			return value("8")
		})
	}
	parts := s.Ask(t.Context(), debug.Question{Ranks: span(0, 511), Request: debug.Request{Verb: debug.Evaluate, Text: "n"}})
	require.Len(t, parts, 3)
	require.Equal(t, "0-2,5-511", parts[0].Ranks.String())
	require.Equal(t, "8", parts[0].Variables[0].Value)
	require.Equal(t, "3", parts[1].Ranks.String())
	require.Equal(t, "4", parts[2].Ranks.String())
	require.Equal(t, debug.Failed, parts[2].Problem)
	require.Equal(t, "no such variable", parts[2].Text)
}

func TestEachRankOfAQuestionIsInOnePart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s debug.Session
		answers := func(debug.Request) (debug.Answer, bool) { return value("1") }
		silent := func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, false }
		join(t, &s, 0, answers)
		join(t, &s, 1, silent)
		leaver := join(t, &s, 2, silent)
		gone := join(t, &s, 3, answers)
		gone.member.Leave("the node is down")
		code := 3
		exited := join(t, &s, 5, silent)
		exited.notice(t, debug.Notice{Report: debug.ReportExited, Code: &code})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(time.Second)
			leaver.member.Leave("the connection was lost")
			exited.member.Leave("the connection was lost")
		}()
		parts := s.Ask(ctx, debug.Question{Ranks: span(0, 5), Request: debug.Request{Verb: debug.Threads}})
		found := map[string]string{}
		for _, part := range parts {
			found[part.Ranks.String()] = string(part.Problem) + " " + part.Text
		}
		require.Equal(t, map[string]string{
			"0": " ", "1": "silent no answer in time", "2": "silent the connection was lost", "3": "silent the node is down", "4": "silent unknown rank",
			"5": "silent exited with code 3",
		}, found)
	})
}

func TestAnswersOfOthersDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s debug.Session
		silent := func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, false }
		join(t, &s, 0, silent)
		other := join(t, &s, 1, silent)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _ = other.member.Receive([]byte(`1 {"text":"forged"}`)) }()
		parts := s.Ask(ctx, debug.Question{Ranks: span(0, 0), Request: debug.Request{Verb: debug.Threads}})
		require.Len(t, parts, 1)
		require.Equal(t, debug.Silent, parts[0].Problem)
	})
}

func TestRanksInEqualStatesAreOneClass(t *testing.T) {
	var s debug.Session
	answers := func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true }
	code := 3
	for number := range 6 {
		r := join(t, &s, number, answers)
		switch {
		case number == 2:
			r.notice(t, debug.Notice{Report: debug.ReportExited, Code: &code})
		case number == 5:
			r.notice(t, debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonSignal, Signal: "SIGSEGV", Frame: &debug.Frame{Function: "work", Module: "libm.so.6"}})
		default:
			r.notice(t, debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonBreakpoint, Breakpoints: []int{2}, Frame: &debug.Frame{Function: "exchange", File: "/src/solver.c", Line: 88}})
		}
	}
	var texts []string
	for _, class := range s.Classes() {
		texts = append(texts, class.Ranks.String()+": "+class.String())
	}
	require.Equal(t, []string{"0-1,3-4: stopped in exchange at solver.c:88 (breakpoint 2)", "2: exited with code 3", "5: stopped in work by SIGSEGV"}, texts)
	require.Equal(t, "2", s.Ranks(debug.Exited).String())
	require.Equal(t, "0-1,3-5", s.Ranks(debug.Stopped).String())
}

func TestAnswersHoldUntilTheStateChanges(t *testing.T) {
	var s debug.Session
	answers := func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true }
	stop := debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonStep, Frame: &debug.Frame{Function: "work"}}
	first, second := join(t, &s, 0, answers), join(t, &s, 1, answers)
	first.notice(t, stop)
	second.notice(t, stop)
	before := s.Moments(span(0, 2))
	require.Len(t, before, 3)
	require.Zero(t, before[2], "an unknown rank")
	second.notice(t, debug.Notice{Report: debug.ReportOutput, Text: "x"})
	require.Equal(t, before, s.Moments(span(0, 2)))
	second.notice(t, stop)
	after := s.Moments(span(0, 2))
	require.Equal(t, before[0], after[0])
	require.Greater(t, after[1], before[1], "it may have run in between")
	second.member.Leave("gone")
	join(t, &s, 1, answers)
	require.Greater(t, s.Moments(span(1, 1))[0], after[1])
}

func TestQuestionsArriveInTheOrderOfTheirCalls(t *testing.T) {
	var s debug.Session
	r := join(t, &s, 0, func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true })
	asked := []*debug.Pending{
		s.SendBreakpoints([]debug.Breakpoint{{ID: 1, Function: "work"}}),
		s.Send(debug.Question{Ranks: span(0, 0), Request: debug.Request{Verb: debug.Continue}}),
	}
	for _, each := range asked {
		require.Equal(t, "0", each.Wait(t.Context())[0].Ranks.String())
	}
	require.Equal(t, debug.SetBreakpoints, r.asked[0].Verb)
	require.Equal(t, debug.Continue, r.asked[1].Verb)
}

// A rank that connects late gets the breakpoints and the start of the others.
func TestLateRanksGetBreakpointsAndStart(t *testing.T) {
	var s debug.Session
	answers := func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true }
	join(t, &s, 0, answers)
	s.SetBreakpoints(t.Context(), []debug.Breakpoint{{ID: 1, Function: "work"}})
	parts := s.Start(t.Context(), debug.Request{Stop: debug.StopAtMain})
	require.Equal(t, "0", parts[0].Ranks.String())
	late := join(t, &s, 1, answers)
	require.Len(t, late.asked, 2)
	require.Equal(t, "work", late.asked[0].Breakpoints[0].Function)
	require.Equal(t, debug.Start, late.asked[1].Verb)
	require.Equal(t, debug.StopAtMain, late.asked[1].Stop)
}

func TestInvalidRanksAreRefused(t *testing.T) {
	hello := func(text string) string { return `0 {"report":"hello","hello":` + text + `}` }
	for name, line := range map[string]string{
		"no hello":      `0 {"report":"running"}`,
		"no number":     `{"report":"running"}`,
		"not an object": `0 "hello"`,
		"not JSON":      `0 {"report":`,
		"version":       hello(`{"version":99,"rank":0}`),
		"negative":      hello(`{"version":1,"rank":-1}`),
		"too many":      hello(`{"version":1,"rank":65536}`),
		"twice":         hello(`{"version":1,"rank":7,"host":"other"}`),
		"too long":      hello(`{"version":1,"rank":1,"host":"` + strings.Repeat("x", debug.MostLine) + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			var s debug.Session
			join(t, &s, 7, func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true })
			require.Error(t, s.Join(func([]byte) error { return nil }).Receive([]byte(line)))
			require.Equal(t, "7", s.Ranks().String())
			require.Equal(t, "7", s.Ranks(debug.Ready).String())
		})
	}
}

func TestNoticesArriveInOrder(t *testing.T) {
	var s debug.Session
	r := join(t, &s, 0, func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true })
	for i := range 3 {
		r.notice(t, debug.Notice{Report: debug.ReportOutput, Stream: debug.StreamOutput, Text: fmt.Sprint(i)})
	}
	updates, err := s.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, debug.ReportHello, updates[0].Report)
	var text strings.Builder
	for _, update := range updates[1:] {
		text.WriteString(update.Text)
	}
	require.Equal(t, "012", text.String())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = s.Next(ctx)
	require.EqualError(t, err, "enough")
	require.Empty(t, s.Take())
	r.notice(t, debug.Notice{Report: debug.ReportRunning})
	<-s.Reports()
	require.Equal(t, []debug.Update{{Rank: 0, Notice: debug.Notice{Report: debug.ReportRunning}}}, s.Take())
	r.member.Leave("gone")
	updates, err = s.Next(t.Context())
	require.NoError(t, err)
	require.Empty(t, updates, "a state has changed")
}

// Unread output is bounded, and the session counts what it drops.
func TestUnreadOutputIsBounded(t *testing.T) {
	var s debug.Session
	r := join(t, &s, 0, func(debug.Request) (debug.Answer, bool) { return debug.Answer{}, true })
	const each, count = 512 << 10, 64
	for range count {
		r.notice(t, debug.Notice{Report: debug.ReportOutput, Text: strings.Repeat("x", each)})
	}
	updates, err := s.Next(t.Context())
	require.NoError(t, err)
	kept, omitted := 0, 0
	for _, update := range updates {
		kept += len(update.Text)
		omitted += update.Omitted
	}
	require.LessOrEqual(t, kept, 16<<20)
	require.Equal(t, each*count, kept+omitted)
}

func TestEqualLinesAreOneLine(t *testing.T) {
	var l debug.Lines
	for rank := range 4 {
		if rank == 2 {
			l.Add(rank, debug.StreamErrors, "warning\n")
		}
		l.Add(rank, debug.StreamOutput, "begin\r\nstep ")
		l.Add(rank, debug.StreamOutput, fmt.Sprint(rank/2)+"\nend\npart")
	}
	var lines []string
	for _, line := range l.Take(false) {
		lines = append(lines, line.Ranks.String()+" "+line.Stream+" "+line.Text)
	}
	require.Equal(t, []string{"0-3 stdout begin", "2 stderr warning", "0-1 stdout step 0", "2-3 stdout step 1", "0-3 stdout end"}, lines)
	require.Empty(t, l.Take(false))
	rest := l.Take(true)
	require.Len(t, rest, 1)
	require.Equal(t, "part", rest[0].Text)
	require.Equal(t, "0-3", rest[0].Ranks.String())
}

func FuzzLine(f *testing.F) {
	for _, line := range []string{`0 {"report":"hello","hello":{"version":1}}`, `1 {"text":"x"}`, `0 {"report":"stopped","frame":{"line":-1}}`, "0 {", "x"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var s debug.Session
		m := s.Join(func([]byte) error { return nil })
		if m.Receive(line) == nil {
			require.Len(t, s.Classes(), s.Ranks().Count())
			_ = m.Receive(line)
		}
	})
}

func TestBuildsHaveTheirRanks(t *testing.T) {
	var s debug.Session
	for number := range 5 {
		hello := debug.Hello{Version: debug.ProtocolVersion, Rank: number, Build: []string{"a", "b", "a", "", "b"}[number]}
		text, err := json.Marshal(debug.Notice{Report: debug.ReportHello, Hello: &hello})
		require.NoError(t, err)
		require.NoError(t, s.Join(func([]byte) error { return nil }).Receive(fmt.Appendf(nil, "0 %s", text)))
	}
	builds := s.Builds()
	require.Len(t, builds, 2)
	require.Equal(t, "0,2", builds[0].String())
	require.Equal(t, "1,4", builds[1].String())
}
