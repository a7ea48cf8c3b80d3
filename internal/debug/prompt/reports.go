package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// until waits for a value, and handles reports of ranks meanwhile. It calls interrupted for each Ctrl-C.
func until[T any](ctx context.Context, p *prompt, ready <-chan T, interrupted func()) (value T, err error) {
	var interrupts <-chan struct{} // none without a terminal
	if p.terminal != nil {
		interrupts = p.terminal.interrupts
	}
	for {
		select {
		case <-ctx.Done():
			return value, context.Cause(ctx)
		case value = <-ready:
			return value, nil
		case <-interrupts:
			interrupted()
		case <-p.session.Reports():
			p.take()
		case <-p.timer.C:
			p.flush(false)
		case text, isOpen := <-p.options.Log:
			if isOpen {
				p.out.message(text)
			} else {
				p.options.Log = nil
			}
		}
	}
}

// run calls a function that may take long. Ctrl-C cancels it.
func run[T any](ctx context.Context, p *prompt, call func(context.Context) T) T {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan T, 1)
	go func() { ready <- call(ctx) }()
	if value, err := until(ctx, p, ready, cancel); err == nil {
		return value
	}
	return <-ready
}

// asking sends questions to ranks. Answers that Ctrl-C cancels are problems.
func (p *prompt) asking(ctx context.Context, limit time.Duration, ask func(context.Context) []debug.Part) []debug.Part {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return run(ctx, p, ask)
}

func (p *prompt) ask(ctx context.Context, ranks debug.Ranks, request debug.Request) []debug.Part {
	return p.asking(ctx, answerLimit, func(ctx context.Context) []debug.Part {
		return p.session.Ask(ctx, debug.Question{Ranks: ranks, Request: request})
	})
}

// take handles the reports of ranks.
func (p *prompt) take() {
	for _, update := range p.session.Take() {
		switch update.Report {
		case debug.ReportOutput:
			p.lines.Add(update.Rank, update.Stream, update.Text)
			p.flushWithin(outputDelay)
		case debug.ReportOmitted:
			p.lines.Add(update.Rank, debug.StreamDebugger, fmt.Sprintf("%d bytes of output omitted\n", update.Omitted))
			p.flushWithin(outputDelay)
		case debug.ReportRunning:
			delete(p.changed, update.Rank)
			if p.awaitsRuns {
				p.forget(update.Rank)
			}
		case debug.ReportStopped, debug.ReportExited, debug.ReportGone:
			p.change(update.Rank)
		case debug.ReportPlaced:
			for _, each := range update.Placements {
				p.placed(update.Rank, each)
			}
		}
	}
	lost := p.session.Ranks(debug.Lost)
	for _, span := range lost.Without(p.lost) {
		for rank := span.First; rank <= span.Last; rank++ {
			p.change(rank)
		}
	}
	p.lost = lost
}

// change notes that a rank no longer runs.
func (p *prompt) change(rank int) {
	p.changed[rank] = true
	if p.allStopped != nil {
		p.flushWithin(waitDelay)
	} else {
		p.flushWithin(stateDelay)
	}
	p.forget(rank)
}

// flushWithin prints collected output after a time, or earlier.
func (p *prompt) flushWithin(delay time.Duration) {
	if at := time.Now().Add(delay); p.due.IsZero() || at.Before(p.due) {
		p.due = at
		p.timer.Reset(delay)
	}
}

// flush prints collected output. With all, it also prints lines that have not ended.
func (p *prompt) flush(all bool) {
	p.timer.Stop()
	p.due = time.Time{}
	if lines := p.lines.Take(all); len(lines) > 0 {
		p.out.output(lines)
	}
	if len(p.changed) == 0 {
		return
	}
	var changed debug.Ranks
	for rank := range p.changed {
		changed = append(changed, ranges.Range{First: rank, Last: rank})
	}
	clear(p.changed)
	if classes := p.classesOf(changed.Merged(), debug.Stopped, debug.Exited, debug.Released, debug.Lost); len(classes) > 0 {
		p.out.classes(classes)
	}
}

// report prints all that ranks have reported.
func (p *prompt) report() {
	p.take()
	p.flush(true)
}

// classesOf returns the classes of ranks in the given states; in any state if none is given.
func (p *prompt) classesOf(ranks debug.Ranks, states ...debug.State) []debug.Class {
	var classes []debug.Class
	for _, each := range p.session.Classes() {
		each.Ranks = both(each.Ranks, ranks)
		isWanted := len(states) == 0
		for _, state := range states {
			isWanted = isWanted || each.State == state
		}
		if isWanted && len(each.Ranks) > 0 {
			classes = append(classes, each)
		}
	}
	return classes
}

// expect starts to wait for the stops of ranks, or for their runs. Request these afterwards.
func (p *prompt) expect(ranks debug.Ranks, runs bool) {
	p.take() // earlier stops do not count
	p.awaitsRuns = runs
	p.waiting = map[int]bool{}
	p.allStopped = make(chan struct{})
	for _, span := range ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			p.waiting[rank] = true
		}
	}
}

// forget waits no longer for a rank.
func (p *prompt) forget(rank int) {
	if delete(p.waiting, rank); len(p.waiting) == 0 && p.allStopped != nil {
		close(p.allStopped)
		p.allStopped = nil
	}
}

// errGivenUp is why a command waits no longer.
var errGivenUp = errors.New("some ranks still run")

// await waits until the expected ranks have stopped, except those that did not do what was requested. The first Ctrl-C
// halts them, the second ends the wait.
func (p *prompt) await(ctx context.Context, parts []debug.Part) error {
	for _, part := range parts {
		for _, span := range part.Ranks {
			for rank := span.First; part.Problem != "" && rank <= span.Last; rank++ {
				p.forget(rank)
			}
		}
	}
	stopped := p.allStopped
	if stopped == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	isHalted := false
	_, err := until(ctx, p, stopped, func() {
		if isHalted {
			cancel(errGivenUp)
			return
		}
		isHalted = true
		p.halt(ctx)
	})
	p.allStopped = nil
	return err
}

// halt halts the focused ranks that run, and returns those that cannot be halted.
func (p *prompt) halt(ctx context.Context) []debug.Part {
	running := both(p.focused(), p.session.Ranks(debug.Running))
	if len(running) == 0 {
		return nil
	}
	return p.ask(ctx, running, debug.Request{Verb: debug.Halt})
}

// focused returns the ranks that commands are for.
func (p *prompt) focused() debug.Ranks {
	if p.focus == nil {
		return p.session.Ranks()
	}
	return p.focus
}
