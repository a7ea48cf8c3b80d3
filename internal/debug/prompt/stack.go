package prompt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

const (
	usualFrames  = 50 // that "where" shows
	linesOfList  = 11 // that "list" shows
	mostSources  = 64 // files that are kept
	mostOfSource = 1 << 20
)

// runWhere shows the stacks of the focused ranks, equal ones once.
func runWhere(p *prompt, ctx context.Context, rest string) (reply, error) {
	count, err := parseCount(rest, usualFrames)
	if err != nil {
		return reply{}, err
	}
	return p.show(ctx, debug.Request{Verb: debug.Stack, Count: count}, func(a debug.Answer) string {
		lines := make([]string, len(a.Frames))
		for i, frame := range a.Frames {
			lines[i] = p.frameLine(i, frame)
		}
		if more := a.Total - len(a.Frames); more > 0 {
			lines = append(lines, fmt.Sprintf("… %d frames more", more))
		}
		if len(lines) == 0 {
			return "no frames"
		}
		return strings.Join(append([]string{""}, lines...), "\n")[1:]
	})
}

// frameLine describes a frame, and marks the selected one.
func (p *prompt) frameLine(number int, frame debug.Frame) string {
	mark := " "
	if number == p.frame {
		mark = ">"
	}
	return fmt.Sprintf("%s#%d %s", mark, number, plain(frame.Place()))
}

// selected selects a thread and a frame if any focused rank has it, and shows that.
func (p *prompt) selected(ctx context.Context, thread, frame int) (reply, error) {
	oldThread, oldFrame := p.thread, p.frame
	p.thread, p.frame = thread, frame
	parts, err := p.question(ctx, debug.Request{Verb: debug.Stack, First: frame, Count: 1})
	var found *debug.Frame
	for _, part := range parts {
		if len(part.Frames) > 0 && found == nil {
			found = &part.Frames[0]
		}
	}
	if err != nil || found == nil {
		p.thread, p.frame = oldThread, oldFrame
		if problems := problemsOf(parts); len(problems) > 0 {
			err = errors.New(written(problems, p.out.width()))
		} else if err == nil {
			err = fmt.Errorf("no focused rank has frame %d", frame)
		}
		return reply{}, err
	}
	if found.File != "" {
		p.place = position{found.File, found.Line}
	}
	text := written(textsOf(parts, func(a debug.Answer) string {
		if len(a.Frames) == 0 {
			return "no such frame"
		}
		return fmt.Sprintf("#%d %s", frame, plain(a.Frames[0].Place()))
	}), p.out.width())
	return p.shown(parts, text), nil
}

// mover returns a command that moves the selected frame.
func mover(direction int) func(*prompt, context.Context, string) (reply, error) {
	return func(p *prompt, ctx context.Context, rest string) (reply, error) {
		count, err := parseCount(rest, 1)
		if err != nil {
			return reply{}, err
		}
		frame := p.frame + direction*count
		if frame < 0 {
			return reply{}, errors.New("this is the innermost frame")
		}
		return p.selected(ctx, p.thread, frame)
	}
}

func runFrame(p *prompt, ctx context.Context, rest string) (reply, error) {
	if rest == "" {
		return p.selected(ctx, p.thread, p.frame)
	}
	number, err := parseNumber(rest)
	if err != nil {
		return reply{}, err
	}
	return p.selected(ctx, p.thread, number)
}

// runList shows the lines around a place, or those after the last ones.
func runList(p *prompt, ctx context.Context, rest string) (reply, error) {
	at := p.place
	if rest != "" {
		point, isPlace, err := parsePlace(rest, p.place.file)
		if err != nil {
			return reply{}, err
		}
		if !isPlace {
			return reply{}, errors.New("enter LINE or FILE:LINE")
		}
		at = position{point.File, point.Line}
	}
	if at.file == "" {
		return reply{}, errors.New("there is no current file: enter FILE:LINE")
	}
	lines, err := p.source(ctx, p.focused(), at.file)
	if err != nil {
		return reply{}, err
	}
	first := max(at.line-linesOfList/2, 1)
	if first > len(lines) {
		return reply{}, fmt.Errorf("%s has %d lines", plain(at.file), len(lines))
	}
	last := min(first+linesOfList-1, len(lines))
	shown := lines[first-1 : last]
	p.place = position{at.file, last + 1 + linesOfList/2}
	return reply{File: at.file, First: first, Lines: shown, text: numbered(shown, first)}, nil
}

// numbered returns lines with their numbers.
func numbered(lines []string, first int) string {
	numbers := make([]string, len(lines))
	for i, line := range lines {
		numbers[i] = fmt.Sprintf("%d\t%s", first+i, plainLines(line))
	}
	return strings.Join(numbers, "\n")
}

// source returns the lines of a file, as the first of some ranks has it. It is kept.
func (p *prompt) source(ctx context.Context, ranks debug.Ranks, file string) ([]string, error) {
	if lines, isKnown := p.sources[file]; isKnown && lines != nil {
		return lines, nil
	}
	if len(ranks) == 0 {
		return nil, errNoRanks
	}
	first := ranks[:1:1]
	first = debug.Ranks{{First: first[0].First, Last: first[0].First}}
	parts := p.ask(ctx, first, debug.Request{Verb: debug.Source, Text: file})
	if problem := problemOf(parts[0].Answer); problem != "" {
		return nil, fmt.Errorf("cannot read %s: %s", plain(file), problem)
	}
	lines := strings.Split(strings.TrimSuffix(parts[0].Text, "\n"), "\n")
	if len(p.sources) < mostSources && len(parts[0].Text) < mostOfSource {
		p.sources[file] = lines
	}
	return lines, nil
}
