package prompt_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// A rule is the answer of some ranks to a question. A rank uses the rules for equal questions in turn, and then
// repeats the last one.
type rule struct {
	ranks   debug.Ranks
	request string // its verb and text
	actions []string
}

// parseRules reads lines RANKS VERB [TEXT] => ACTION ; ACTION….
func parseRules(t testing.TB, text string) []rule {
	t.Helper()
	var rules []rule
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		asked, actions, isRule := strings.Cut(line, "=>")
		set, request, hasRequest := strings.Cut(strings.TrimSpace(asked), " ")
		ranks, isSet := ranges.Parse(set)
		require.True(t, isRule && hasRequest && isSet, line)
		r := rule{ranks: debug.Ranks(ranks), request: request}
		for action := range strings.SplitSeq(actions+" ", " ; ") {
			if action = strings.TrimSpace(action); action != "" {
				r.actions = append(r.actions, action)
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// A fakeRank follows rules, in a separate goroutine.
type fakeRank struct {
	number   int
	member   *debug.Member
	rules    []rule
	used     map[string]int
	requests chan string
}

// A fakeJob is a session with fake ranks.
type fakeJob struct {
	session *debug.Session
	ranks   []*fakeRank
	tasks   sync.WaitGroup
}

func newJob(t testing.TB, size int, rules []rule) *fakeJob {
	t.Helper()
	j := &fakeJob{session: &debug.Session{}}
	for number := range size {
		r := &fakeRank{number: number, used: map[string]int{}, requests: make(chan string, 1000)}
		for _, each := range rules {
			if len(both(each.ranks, number)) > 0 {
				r.rules = append(r.rules, each)
			}
		}
		r.member = j.session.Join(func(line []byte) error {
			r.requests <- string(line)
			return nil
		})
		r.notice(debug.Notice{Report: debug.ReportHello, Hello: &debug.Hello{Version: debug.ProtocolVersion, Rank: number, Size: size, Host: "n1", Debugger: "fake"}})
		j.ranks = append(j.ranks, r)
		j.tasks.Go(func() {
			for line := range r.requests {
				r.serve(line)
			}
		})
	}
	return j
}

func both(ranks debug.Ranks, number int) debug.Ranks {
	one := debug.Ranks{{First: number, Last: number}}
	return one.Without(one.Without(ranks))
}

// end ends all ranks.
func (j *fakeJob) end() {
	for _, r := range j.ranks {
		close(r.requests)
	}
	j.tasks.Wait()
}

func (r *fakeRank) notice(notice debug.Notice) { r.send("0", notice) }

func (r *fakeRank) send(number string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	_ = r.member.Receive(fmt.Appendf(nil, "%s %s", number, text))
}

// serve follows the rule for a request. Without a rule the answer is empty.
func (r *fakeRank) serve(line string) {
	number, body, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	var request debug.Request
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		panic(err)
	}
	var answer debug.Answer
	for _, action := range r.actions(request) {
		if action == "silent" {
			return
		}
		r.act(action, request, &answer)
	}
	r.send(number, answer)
}

func (r *fakeRank) actions(request debug.Request) []string {
	asked := strings.TrimSpace(string(request.Verb) + " " + request.Text)
	if request.Reference > 0 {
		asked += fmt.Sprint(" of ", request.Reference)
	}
	if request.Frame > 0 {
		asked += fmt.Sprint(" in ", request.Frame)
	}
	if request.First > 0 {
		asked += fmt.Sprint(" from ", request.First)
	}
	if request.Value != "" {
		asked += " = " + request.Value
	}
	var fitting []rule
	for _, each := range r.rules {
		if each.request == asked {
			fitting = append(fitting, each)
		}
	}
	if len(fitting) == 0 {
		return nil
	}
	at := min(r.used[asked], len(fitting)-1)
	r.used[asked]++
	return fitting[at].actions
}

var unescape = strings.NewReplacer(`\n`, "\n", `\e`, "\x1b", `\r`, "\r")

func (r *fakeRank) act(action string, request debug.Request, answer *debug.Answer) {
	name, text, _ := strings.Cut(action, " ")
	text = unescape.Replace(text)
	switch name {
	case "value":
		answer.Variables = append(answer.Variables, debug.Variable{Value: text})
	case "var":
		variable, value, _ := strings.Cut(text, "=")
		answer.Variables = append(answer.Variables, debug.Variable{Name: variable, Value: value})
	case "opaque": // REFERENCE NAME=VALUE
		reference, declared, _ := strings.Cut(text, " ")
		variable, value, _ := strings.Cut(declared, "=")
		number, _ := strconv.Atoi(reference)
		answer.Variables = append(answer.Variables, debug.Variable{Name: variable, Value: value, Reference: number})
	case "text":
		answer.Text = text
	case "total":
		answer.Total, _ = strconv.Atoi(text)
	case "fail":
		answer.Problem, answer.Text = debug.Failed, text
	case "problem":
		answer.Problem = debug.Problem(text)
	case "frame":
		answer.Frames = append(answer.Frames, parseFrame(text))
	case "thread":
		words := strings.Fields(text)
		id, _ := strconv.Atoi(words[0])
		frame := parseFrame(strings.Join(words[2:], " "))
		answer.Threads = append(answer.Threads, debug.Thread{ID: id, Name: words[1], Frame: &frame, Current: id == 1})
	case "placed", "unplaced":
		for _, each := range request.Breakpoints {
			placement := debug.Placement{ID: each.ID, Verified: name == "placed", Text: text}
			if placement.Verified {
				frame := parseFrame("x " + text)
				placement.File, placement.Line, placement.Text = frame.File, frame.Line, ""
			}
			answer.Breakpoints = append(answer.Breakpoints, placement)
		}
	default:
		r.report(name, text)
	}
}

// report sends a notice.
func (r *fakeRank) report(name, text string) {
	switch name {
	case "wait": // SECONDS
		seconds, _ := strconv.Atoi(text)
		time.Sleep(time.Duration(seconds) * time.Second) // of a bubble
	case "run":
		r.notice(debug.Notice{Report: debug.ReportRunning})
	case "stop": // REASON FUNCTION FILE:LINE [BREAKPOINT]
		words := strings.Fields(text)
		frame := parseFrame(strings.Join(words[1:3], " "))
		notice := debug.Notice{Report: debug.ReportStopped, Reason: words[0], Frame: &frame}
		if len(words) > 3 {
			id, _ := strconv.Atoi(words[3])
			notice.Breakpoints = []int{id}
		}
		r.notice(notice)
	case "watched":
		r.notice(debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonWatch, Text: text})
	case "exit":
		code, _ := strconv.Atoi(text)
		r.notice(debug.Notice{Report: debug.ReportExited, Code: &code})
	case "signal":
		r.notice(debug.Notice{Report: debug.ReportExited, Signal: text})
	case "gone":
		r.notice(debug.Notice{Report: debug.ReportGone})
	case "lost":
		r.member.Leave(text)
	case "out":
		r.notice(debug.Notice{Report: debug.ReportOutput, Stream: debug.StreamOutput, Text: text})
	case "says":
		r.notice(debug.Notice{Report: debug.ReportOutput, Stream: debug.StreamDebugger, Text: text})
	default:
		panic("unknown action " + name)
	}
}

// parseFrame reads FUNCTION FILE:LINE.
func parseFrame(text string) debug.Frame {
	function, place, _ := strings.Cut(text, " ")
	file, line, _ := strings.Cut(place, ":")
	number, _ := strconv.Atoi(line)
	return debug.Frame{Function: function, File: file, Line: number}
}
