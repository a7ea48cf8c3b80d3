package adapter

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// A program is the debugged program, until it is restarted.
type program struct {
	launched  *Launched
	session   *debug.Session
	arguments LaunchArguments
	cancel    context.CancelFunc // of launching
	ending    sync.Once
	endError  error

	isStarted, isDone, isFinished bool

	threads    []*thread
	lastThread int
	isGrouped  bool        // each thread is a class of ranks; once there are many ranks
	single     debug.Ranks // that are threads of their own nevertheless
	isRenamed  bool        // a thread is, since the editor heard of changes
	focus      debug.Ranks
	isStepping bool             // the focus does
	commands   map[int]*command // by the rank that it moved
	lost       int              // ranks
	lines      debug.Lines
	addedLines bool // since the last flush
	references references
}

// channels returns the channels that the loop waits for; nil without a program.
func (p *program) channels() (reports, ended <-chan struct{}) {
	if p == nil {
		return nil, nil
	}
	if !p.isDone {
		ended = p.launched.Done
	}
	return p.session.Reports(), ended
}

// A command has moved some ranks. Once all have stopped, the editor hears of it without delay.
type command struct {
	moving       map[int]bool
	acknowledged bool // the response has been sent; stops come after it
}

// move notes that ranks are moved together.
func (p *program) move(ranks debug.Ranks) *command {
	moved := &command{moving: map[int]bool{}}
	for _, span := range ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			if before := p.commands[rank]; before != nil {
				delete(before.moving, rank)
			}
			p.commands[rank] = moved
			moved.moving[rank] = true
		}
	}
	return moved
}

// settle notes that a rank no longer moves. It returns whether its command is complete.
func (p *program) settle(rank int) bool {
	moved := p.commands[rank]
	if moved == nil {
		return false
	}
	delete(moved.moving, rank)
	delete(p.commands, rank)
	return moved.acknowledged && len(moved.moving) == 0
}

// acknowledge records the answers of ranks to a command.
func (a *adapter) acknowledge(moved *command, parts []debug.Part) {
	moved.acknowledged = true
	for _, part := range parts {
		if part.Problem == "" {
			continue
		}
		for _, span := range part.Ranks {
			for rank := span.First; rank <= span.Last; rank++ {
				delete(moved.moving, rank)
				if a.program.commands[rank] == moved {
					delete(a.program.commands, rank)
				}
			}
		}
	}
	if len(moved.moving) == 0 && a.publishTimer != nil {
		a.publish()
	}
}

// takeReports handles the reports of ranks.
func (a *adapter) takeReports() {
	p := a.program
	changed, complete := false, false
	for _, update := range p.session.Take() {
		switch update.Report {
		case debug.ReportOutput:
			a.addOutput(update)
		case debug.ReportOmitted:
			a.addOmitted(update)
		case debug.ReportPlaced:
			a.breakpoints.place(update.Rank, update.Placements)
			changed = true
		case debug.ReportHello:
			a.greet(p, update.Rank)
			changed = true
		case debug.ReportRunning:
			changed = true
		case debug.ReportStopped, debug.ReportExited, debug.ReportGone:
			complete = p.settle(update.Rank) || complete
			changed = true
		}
	}
	changed = p.settleLost() || changed
	switch {
	case complete:
		a.publish()
	case changed && a.publishTimer == nil:
		a.publishTimer = time.After(gatherTime)
	}
}

// settleLost returns whether connections to ranks have ended.
func (p *program) settleLost() bool {
	lost := p.session.Ranks(debug.Lost)
	before := p.lost
	p.lost = lost.Count()
	if p.lost == before {
		return false
	}
	for rank := range p.commands {
		if contains(lost, rank) {
			p.settle(rank)
		}
	}
	return true
}

// greet queries the places of breakpoints on a late rank, which got them from the session.
func (a *adapter) greet(p *program, rank int) {
	if p.isStarted && !p.arguments.NoDebug {
		a.awaitPlaces(p, p.session.Send(debug.Question{Ranks: extended(nil, rank), Request: debug.Request{Verb: debug.SetBreakpoints, Breakpoints: a.breakpoints.all()}}), func() {})
	}
}

// contains reports whether a rank is in a set.
func contains(set debug.Ranks, rank int) bool {
	return len(debug.Ranks{ranges.Range{First: rank, Last: rank}}.Without(set)) == 0
}

// common returns the ranks that are in both sets.
func common(a, b debug.Ranks) debug.Ranks {
	return a.Without(a.Without(b))
}

// extended adds a rank to a set of lower ones.
func extended(set debug.Ranks, rank int) debug.Ranks {
	if last := len(set) - 1; last >= 0 && set[last].Last+1 == rank {
		set[last].Last = rank
		return set
	}
	return append(set, ranges.Range{First: rank, Last: rank})
}

// mostNamed bounds how many spans of ranks, values or problems one text names.
const mostNamed = 8

// nameSet names ranks briefly: 0-2,5-511.
func nameSet(set debug.Ranks) string {
	if len(set) <= mostNamed {
		return set.String()
	}
	return set[:mostNamed].String() + ",…"
}

// nameRanks names ranks: rank 3, or ranks 0-2,5-511.
func nameRanks(set debug.Ranks) string {
	if set.Count() == 1 {
		return "rank " + set.String()
	}
	return "ranks " + nameSet(set)
}

// describeProblems lists the ranks that failed, and why.
func describeProblems(parts []debug.Part) string {
	var texts []string
	for _, part := range parts {
		if part.Problem != "" {
			texts = append(texts, nameRanks(part.Ranks)+": "+problemOf(part.Answer))
		}
	}
	if len(texts) > mostNamed {
		texts = append(texts[:mostNamed], "…")
	}
	return strings.Join(texts, "; ")
}

// problemOf returns why a rank has no answer.
func problemOf(answer debug.Answer) string {
	if answer.Text != "" {
		return answer.Text
	}
	words := map[debug.Problem]string{
		debug.Failed: "the debugger failed", debug.Unsupported: "unsupported by the debugger", debug.IsRunning: "running",
		debug.NotRunning: "ended", debug.Silent: "no answer",
	}
	return words[answer.Problem]
}

// haveFailed reports whether no rank could answer.
func haveFailed(parts []debug.Part) bool {
	for _, part := range parts {
		if part.Problem == "" {
			return false
		}
	}
	return true
}

// reportProblems prints which ranks could not do something.
func (a *adapter) reportProblems(what string, parts []debug.Part) {
	if text := describeProblems(parts); text != "" {
		a.print(categoryImportant, what+" "+text+"\n")
	}
}
