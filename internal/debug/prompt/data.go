package prompt

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// errNoRanks reports that no rank has connected.
var errNoRanks = errors.New("no rank has connected yet")

// question asks the focused ranks in the selected thread and frame.
func (p *prompt) question(ctx context.Context, request debug.Request) ([]debug.Part, error) {
	ranks := p.focused()
	if len(ranks) == 0 {
		return nil, errNoRanks
	}
	request.Thread, request.Frame = p.thread, p.frame
	gone := p.classesOf(ranks, debug.Exited, debug.Released, debug.Lost)
	for _, class := range gone {
		ranks = ranks.Without(class.Ranks)
	}
	var parts []debug.Part
	if len(ranks) > 0 {
		parts = p.ask(ctx, ranks, request)
	}
	for _, class := range gone {
		parts = append(parts, debug.Part{Ranks: class.Ranks, Answer: debug.Answer{Problem: debug.NotRunning, Text: class.String()}})
	}
	slices.SortStableFunc(parts, func(a, b debug.Part) int { return cmp.Compare(a.Ranks[0].First, b.Ranks[0].First) })
	return parts, nil
}

// show asks a question, and returns a text for each different answer.
func (p *prompt) show(ctx context.Context, request debug.Request, text func(debug.Answer) string) (reply, error) {
	parts, err := p.question(ctx, request)
	if err != nil {
		return reply{}, err
	}
	return p.shown(parts, written(textsOf(parts, text), p.out.width())), nil
}

// shown returns the end of a command. It has failed if no rank answered.
func (p *prompt) shown(parts []debug.Part, text string) reply {
	r := reply{Parts: partsOf(parts), text: text}
	if areAllProblems(parts) {
		r.Error = text
	}
	return r
}

// showValue asks for a value, and returns it with its members.
func (p *prompt) showValue(ctx context.Context, request debug.Request) (reply, error) {
	parts, err := p.question(ctx, request)
	if err != nil {
		return reply{}, err
	}
	left := mostExpansions
	var all []labelled
	for _, part := range parts {
		switch {
		case part.Problem != "":
			all = append(all, labelled{part.Ranks, problemOf(part.Answer)})
		case len(part.Variables) == 0:
			all = append(all, labelled{part.Ranks, plain(part.Text)})
		default:
			all = append(all, p.expand(ctx, part.Ranks, part.Variables[0], p.depth(), &left)...)
		}
	}
	return p.shown(parts, written(all, p.out.width())), nil
}

// depth returns how deep members are shown. Programs that read JSON get the answers of ranks.
func (p *prompt) depth() int {
	if p.options.JSON {
		return 0
	}
	return mostDepth
}

func runPrint(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest == "" {
		return reply{}, errors.New("an expression is missing")
	}
	return p.showValue(ctx, debug.Request{Verb: debug.Evaluate, Text: rest})
}

func runSet(p *prompt, ctx context.Context, rest string) (reply, error) {
	expression, value, err := parseAssignment(rest)
	if err != nil {
		return reply{}, err
	}
	return p.showValue(ctx, debug.Request{Verb: debug.Assign, Text: expression, Value: value})
}

func runType(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest == "" {
		return reply{}, errors.New("an expression is missing")
	}
	return p.show(ctx, debug.Request{Verb: debug.TypeOf, Text: rest}, func(a debug.Answer) string { return plain(a.Text) })
}

func runRaw(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest == "" {
		return reply{}, errors.New("a command of the debugger is missing")
	}
	return p.show(ctx, debug.Request{Verb: debug.Raw, Text: rest}, func(a debug.Answer) string { return plainLines(a.Text) })
}

// variables returns the command that shows the variables of a scope.
func variables(scope string) func(*prompt, context.Context, string) (reply, error) {
	return func(p *prompt, ctx context.Context, rest string) (reply, error) {
		if rest != "" {
			return reply{}, unexpected(rest)
		}
		parts, err := p.question(ctx, debug.Request{Verb: debug.Variables, Text: scope})
		if err != nil {
			return reply{}, err
		}
		text := p.writtenColumns(ctx, parts)
		if text == "" {
			text = "no " + scope
		}
		return p.shown(parts, text), nil
	}
}

func runThreads(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest != "" {
		return reply{}, unexpected(rest)
	}
	return p.show(ctx, debug.Request{Verb: debug.Threads}, func(a debug.Answer) string {
		var lines []string
		for _, thread := range a.Threads {
			mark := "  "
			if thread.Current && p.thread == 0 || thread.ID == p.thread {
				mark = "* "
			}
			words := []string{mark + strconv.Itoa(thread.ID)}
			if thread.Name != "" {
				words = append(words, plain(thread.Name))
			}
			if thread.Frame != nil {
				words = append(words, plain(thread.Frame.Place()))
			}
			lines = append(lines, strings.Join(words, " "))
		}
		return cmp.Or(strings.Join(lines, "\n"), "no threads")
	})
}

// runThread selects a thread.
func runThread(p *prompt, ctx context.Context, rest string) (reply, error) {
	number, err := parseCount(rest, 0)
	if err == nil && number == 0 {
		err = errors.New("the number of a thread is missing")
	}
	if err != nil {
		return reply{}, err
	}
	return p.selected(ctx, number, 0)
}
