package adapter_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

// In each rank, the variable me holds the number of the rank and how often it has run. Whatever happens
// meanwhile, a reference shows the data of its ranks at the time when it was made.
func TestReferencesNeverLeadToOtherRanks(t *testing.T) {
	for _, size := range []int{5, 80} {
		for seed := range uint64(12) {
			t.Run(fmt.Sprintf("%d ranks, %d", size, seed), func(t *testing.T) {
				t.Parallel()
				w := &wanderer{random: rand.New(rand.NewPCG(seed, uint64(size))), fleet: &fleet{size: size, differ: func(rank int) int { return rank % 2 }}}
				w.editor = open(t, adapter.Options{Launch: w.fleet.launch})
				w.wander(t)
			})
		}
	}
}

// A wanderer queries and moves ranks at random.
type wanderer struct {
	random *rand.Rand
	fleet  *fleet
	editor *editor

	opened []opened
	stale  int
	good   int
}

// opened is an element that the editor can open, with its content.
type opened struct {
	frame, number int
	shown         string // the values of me when it was made; empty if it was not seen
}

func (w *wanderer) wander(t *testing.T) {
	w.editor.begin(program)
	for _, r := range w.fleet.ranks {
		r.endsAt = 10000
	}
	w.editor.start()
	for range 150 {
		switch w.random.IntN(10) {
		case 0:
			w.disturb()
		case 1, 2:
			w.move()
		case 3, 4:
			w.look(t)
		default:
			w.reopen(t)
		}
	}
	require.Positive(t, w.good)
	require.Positive(t, w.stale)
}

// disturb lets a rank stop, run or vanish by itself.
func (w *wanderer) disturb() {
	number := w.random.IntN(w.fleet.size)
	w.fleet.on(number, func(r *rank) {
		switch kind := w.random.IntN(12); {
		case kind == 0 && number > 1:
			r.exit(0)
		case kind == 1 && number > 1:
			r.member.Leave("the node is down")
		case r.state == debug.Stopped:
			r.resume()
			r.line += w.random.IntN(2)
			r.stop(debug.Notice{Reason: debug.ReasonBreakpoint})
		}
	})
}

func (w *wanderer) threads() []dap.Thread {
	return ask[*dap.ThreadsResponse](w.editor, "threads", nil).Body.Threads
}

// move has the editor move a thread.
func (w *wanderer) move() {
	all := w.threads()
	if len(all) == 0 {
		return
	}
	id := all[w.random.IntN(len(all))].Id
	command := []string{"next", "stepIn", "continue", "pause"}[w.random.IntN(4)]
	number := w.editor.send(command, map[string]any{"threadId": id})
	if w.random.IntN(2) == 0 {
		w.editor.response(number)
	}
}

// look opens the stack of a thread, and the variables of a frame.
func (w *wanderer) look(t *testing.T) {
	all := w.threads()
	if len(all) == 0 {
		return
	}
	each := all[w.random.IntN(len(all))]
	trace, isTrace := w.editor.response(w.editor.send("stackTrace", map[string]any{"threadId": each.Id})).(*dap.StackTraceResponse)
	if !isTrace {
		return
	}
	frame := trace.Body.StackFrames[0].Id
	scopes, isScopes := w.editor.response(w.editor.send("scopes", map[string]any{"frameId": frame})).(*dap.ScopesResponse)
	if !isScopes {
		return
	}
	o := opened{frame: frame, number: scopes.Body.Scopes[0].VariablesReference}
	if shown, isShown := w.show(o.number); isShown {
		o.shown = shown["me"]
		w.opened = append(w.opened, o)
		members := shown["ref s"]
		number, err := strconv.Atoi(members)
		require.NoError(t, err)
		w.opened = append(w.opened, opened{frame: frame, number: number, shown: o.shown})
	}
	w.checkName(t, each, o.shown)
}

// checkName checks that the values are of the ranks that the thread names.
func (w *wanderer) checkName(t *testing.T, each dap.Thread, shown string) {
	if shown == "" || w.fleet.size > 64 {
		return
	}
	rank := strings.TrimPrefix(each.Name, "rank ")
	require.True(t, strings.HasPrefix(shown, rank+"."), "%s of %s", shown, each.Name)
}

// show returns the values of some variables by name.
func (w *wanderer) show(number int) (map[string]string, bool) {
	response, isShown := w.editor.response(w.editor.send("variables", map[string]any{"variablesReference": number})).(*dap.VariablesResponse)
	if !isShown {
		return nil, false
	}
	values := map[string]string{}
	for _, each := range response.Body.Variables {
		values[each.Name] = each.Value
		values["ref "+each.Name] = strconv.Itoa(each.VariablesReference)
	}
	return values, true
}

var stale = regexp.MustCompile("have run since")

// reopen opens something again: it shows the same, or is over.
func (w *wanderer) reopen(t *testing.T) {
	if len(w.opened) == 0 {
		return
	}
	o := w.opened[len(w.opened)-1-w.random.IntN(min(len(w.opened), 8))]
	if w.random.IntN(3) == 0 {
		switch response := w.editor.response(w.editor.send("evaluate", map[string]any{"expression": "me", "frameId": o.frame, "context": "watch"})).(type) {
		case *dap.EvaluateResponse:
			require.Equal(t, o.shown, response.Body.Result)
			w.good++
		case *dap.ErrorResponse:
			require.Regexp(t, stale, response.Message)
			w.stale++
		}
		return
	}
	number := w.editor.send("variables", map[string]any{"variablesReference": o.number})
	if w.random.IntN(2) == 0 {
		w.disturb() // while the question is under way
	}
	switch response := w.editor.response(number).(type) {
	case *dap.VariablesResponse:
		for _, each := range response.Body.Variables {
			if each.Name == "me" || each.Name == "x" {
				require.Equal(t, o.shown, each.Value)
				w.good++
			}
		}
	case *dap.ErrorResponse:
		require.Regexp(t, stale, response.Message)
		w.stale++
	}
}
