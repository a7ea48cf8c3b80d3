package prompt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// start starts the programs of all ranks, and waits for the first stop if there will be one.
func (p *prompt) start(ctx context.Context, request debug.Request) (reply, error) {
	ranks := p.session.Ranks(debug.Ready)
	if len(ranks) == 0 {
		return reply{}, errors.New("no rank waits for its start")
	}
	inBackground := request.Stop == debug.StopNot || p.current.inBackground
	p.expect(ranks, inBackground)
	parts := p.asking(ctx, startLimit, func(ctx context.Context) []debug.Part { return p.session.Start(ctx, request) })
	if inBackground {
		return p.released(ctx, parts), nil
	}
	return p.stopped(ctx, parts)
}

func runStart(p *prompt, ctx context.Context, rest string) (reply, error) {
	request := debug.Request{Stop: debug.StopAtMain}
	switch rest {
	case "", debug.StopAtMain:
	case debug.StopAtEntry, debug.StopNot:
		request.Stop = rest
	default:
		return reply{}, errors.New("enter \"start main\", \"start entry\" or \"start no\"")
	}
	return p.start(ctx, request)
}

// resume continues the stopped ranks of the focus, and waits for their stops.
func (p *prompt) resume(ctx context.Context, request debug.Request) (reply, error) {
	p.take()
	ranks := both(p.focused(), p.session.Ranks(debug.Stopped))
	if len(ranks) == 0 {
		if len(p.session.Ranks(debug.Ready)) > 0 {
			return reply{}, errors.New("the program has not started: enter \"start\"")
		}
		return reply{}, errors.New("no focused rank is stopped")
	}
	p.expect(ranks, p.current.inBackground)
	request.Thread = p.thread
	if request.Verb == debug.Continue {
		request.Thread = 0
	}
	p.thread, p.frame = 0, 0
	parts := p.ask(ctx, ranks, request)
	if p.current.inBackground {
		return p.released(ctx, parts), nil
	}
	return p.stopped(ctx, parts)
}

// released returns the end of a command that does not wait for the stops of ranks. The next command may need to know that
// they run.
func (p *prompt) released(ctx context.Context, parts []debug.Part) reply {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	_ = p.await(ctx, parts) // ranks that stay silent are no reason to wait longer
	return p.shown(parts, written(problemsOf(parts), p.out.width()))
}

// stopped waits for the stops of ranks that accepted the request, and shows their line.
func (p *prompt) stopped(ctx context.Context, parts []debug.Part) (reply, error) {
	if err := p.await(ctx, parts); err != nil {
		return reply{}, err
	}
	p.removeTemporary(ctx)
	p.report()
	r := p.shown(parts, written(problemsOf(parts), p.out.width()))
	if shown := p.stoppedLine(ctx); shown != "" && r.Error == "" {
		r.text = strings.TrimPrefix(r.text+"\n"+shown, "\n")
	}
	return r, nil
}

// stoppedLine returns the source line at which the focused ranks are, if that is one place.
func (p *prompt) stoppedLine(ctx context.Context) string {
	classes := p.classesOf(p.focused(), debug.Stopped)
	if len(classes) == 0 || classes[0].File == "" {
		return ""
	}
	first := classes[0]
	p.place = position{first.File, first.Line}
	if p.options.JSON {
		return ""
	}
	for _, each := range classes {
		if each.File != first.File || each.Line != first.Line {
			return ""
		}
	}
	lines, err := p.source(ctx, first.Ranks, first.File)
	if err != nil || first.Line < 1 || first.Line > len(lines) {
		return ""
	}
	return numbered(lines[first.Line-1:first.Line], first.Line)
}

func runContinue(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest != "" {
		return reply{}, unexpected(rest)
	}
	return p.resume(ctx, debug.Request{Verb: debug.Continue})
}

func unexpected(rest string) error { return fmt.Errorf("unexpected argument %q", rest) }

// stepper returns the command of a kind of step.
func stepper(kind string) func(*prompt, context.Context, string) (reply, error) {
	return func(p *prompt, ctx context.Context, rest string) (reply, error) {
		count, err := parseCount(rest, 1)
		if err != nil {
			return reply{}, err
		}
		return p.resume(ctx, debug.Request{Verb: debug.Step, Text: kind, Count: count})
	}
}

func runHalt(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest != "" {
		return reply{}, unexpected(rest)
	}
	running := both(p.focused(), p.session.Ranks(debug.Running))
	if len(running) == 0 {
		return reply{}, errors.New("no focused rank runs")
	}
	p.expect(running, false)
	return p.stopped(ctx, p.halt(ctx))
}

// ender returns a command that ends the debugging of the focused ranks by a verb, or of the whole job by a function.
func ender(verb debug.Verb, whole func(*Options) func(context.Context) error) func(*prompt, context.Context, string) (reply, error) {
	return func(p *prompt, ctx context.Context, rest string) (reply, error) {
		if rest != "" {
			return reply{}, unexpected(rest)
		}
		if p.focus == nil {
			if err := run(ctx, p, whole(&p.options)); err != nil {
				return reply{}, err
			}
			return reply{}, errEnd
		}
		ranks := both(p.focus, p.session.Ranks(debug.Ready, debug.Running, debug.Stopped))
		if len(ranks) == 0 {
			return reply{}, errors.New("the focused ranks have no debugger")
		}
		p.expect(ranks, false)
		parts := p.ask(ctx, ranks, debug.Request{Verb: verb})
		if err := p.await(ctx, parts); err != nil {
			return reply{}, err
		}
		return reply{Parts: partsOf(parts), text: written(problemsOf(parts), p.out.width())}, nil
	}
}

// runQuit asks before it kills ranks.
func runQuit(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest != "" {
		return reply{}, unexpected(rest)
	}
	left := p.session.Ranks(debug.Ready, debug.Running, debug.Stopped)
	if p.terminal == nil || p.options.IsKept || len(left) == 0 {
		return reply{}, errEnd
	}
	answer := make(chan bool, 1)
	go func() { answer <- p.terminal.confirm("Kill the program? [y/N] ") }()
	isSure, err := until(ctx, p, answer, func() {})
	if err == nil && isSure {
		err = errEnd
	}
	return reply{}, err
}

// runRanks shows what all ranks do.
func runRanks(p *prompt, _ context.Context, rest string) (reply, error) {
	if rest != "" {
		return reply{}, unexpected(rest)
	}
	classes := p.session.Classes()
	if p.options.Size != nil {
		expected := debug.Ranks(nil)
		if size := p.options.Size(); size > 0 {
			expected = debug.Ranks{{First: 0, Last: size - 1}}
		}
		if missing := expected.Without(p.session.Ranks()); len(missing) > 0 {
			classes = append(classes, debug.Class{Ranks: missing, Rank: debug.Rank{State: debug.Connecting}})
		}
	}
	text := describeClasses(classes)
	if len(classes) == 0 {
		text = "no ranks"
	}
	return reply{Classes: classesOf(classes), text: text}, nil
}

// runFocus sets which ranks commands are for.
func runFocus(p *prompt, _ context.Context, rest string) (reply, error) {
	switch rest {
	case "":
	case "all":
		p.focus, p.thread, p.frame = nil, 0, 0
	default:
		ranks, err := parseRanks(rest, p.session.Ranks())
		if err != nil {
			return reply{}, err
		}
		p.focus, p.thread, p.frame = ranks, 0, 0
	}
	focused := p.focused()
	text := "focus: " + label(focused)
	if p.focus == nil {
		text = "focus: all ranks (" + label(focused) + ")"
	}
	return reply{Ranks: focused.String(), text: text}, nil
}
