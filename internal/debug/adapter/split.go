package adapter

import (
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// Lines of the debug console: "split RANKS" shows each of these ranks as a thread, although equal ranks share
// one; "join RANKS" or "join all" undoes that. They are not expressions of any debugged language.
const (
	splitCommand = "split"
	joinCommand  = "join"
)

// arrange takes a line of the debug console that splits or joins threads. It reports whether the line is one.
func (a *adapter) arrange(r *request, arguments dap.EvaluateArguments) bool {
	verb, text, _ := strings.Cut(strings.TrimSpace(arguments.Expression), " ")
	if arguments.Context != "repl" || verb != splitCommand && verb != joinCommand {
		return false
	}
	ranks, isSet := ranges.Parse(text)
	isAll := verb == joinCommand && strings.TrimSpace(text) == "all"
	if !isSet && !isAll {
		return false
	}
	p := a.program
	if p == nil || p.isFinished {
		a.fail(r, "no program has been launched")
		return true
	}
	single := p.single.Union(ranks)
	switch {
	case isAll:
		single = nil
	case verb == joinCommand:
		single = p.single.Without(ranks)
	case single.Count() > mostSingle:
		a.fail(r, fmt.Sprintf("at most %d ranks can be threads of their own", mostSingle))
		return true
	}
	p.single = single
	result := "no rank is a thread of its own"
	switch {
	case !p.isGrouped:
		result = "each rank is a thread already"
	case len(single) > 0:
		result = "threads of their own: " + nameRanks(single)
	}
	a.respond(r, &dap.EvaluateResponse{Body: dap.EvaluateResponseBody{Result: result}})
	a.publish()
	return true
}

// divide returns the ranks of a class that are together to the editor, and those that are threads of their own.
func (p *program) divide(ranks debug.Ranks) (together debug.Ranks, alone []debug.Ranks) {
	if !p.isGrouped {
		return nil, each(ranks)
	}
	return ranks.Without(p.single), each(common(ranks, p.single))
}

// each returns a set for each of some ranks.
func each(ranks debug.Ranks) []debug.Ranks {
	var all []debug.Ranks
	for _, span := range ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			all = append(all, extended(nil, rank))
		}
	}
	return all
}
