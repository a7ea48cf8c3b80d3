package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// mostBreakpoints bounds the breakpoints of a session.
const mostBreakpoints = 1000

// placed notes where a breakpoint of a rank is.
func (p *prompt) placed(rank int, placement debug.Placement) {
	if ranks := p.placements[placement.ID]; ranks != nil {
		ranks[rank] = placement
	}
}

// adder returns a command that adds a breakpoint.
func adder(parse func(p *prompt, rest string) (debug.Breakpoint, error)) func(*prompt, context.Context, string) (reply, error) {
	return func(p *prompt, ctx context.Context, rest string) (reply, error) {
		point, err := parse(p, rest)
		if err == nil && len(p.breakpoints) >= mostBreakpoints {
			err = fmt.Errorf("there are %d breakpoints already: delete some", mostBreakpoints)
		}
		if err != nil {
			return reply{}, err
		}
		p.lastID++
		point.ID = p.lastID
		p.placements[point.ID] = map[int]debug.Placement{}
		p.breakpoints = append(p.breakpoints, point)
		parts := p.setBreakpoints(ctx)
		text := fmt.Sprintf("breakpoint %d: %s", point.ID, plain(describe(point)))
		if places := p.writtenPlaces(point.ID); places != "" {
			text += "\n  " + strings.ReplaceAll(places, "\n", "\n  ")
		}
		if problems := problemsOf(parts); len(problems) > 0 {
			text += "\n  " + written(problems, p.out.width())
		}
		return reply{Parts: partsOf(problemParts(parts)), Breakpoints: []breakpoint{{point, p.placesOf(point.ID)}}, text: text}, nil
	}
}

func problemParts(parts []debug.Part) []debug.Part {
	return slices.DeleteFunc(parts, func(p debug.Part) bool { return p.Problem == "" })
}

func breakAt(p *prompt, rest string) (debug.Breakpoint, error) {
	return parseBreakpoint(rest, p.place.file)
}

func breakOnce(p *prompt, rest string) (debug.Breakpoint, error) {
	point, err := breakAt(p, rest)
	point.Temporary = true
	return point, err
}

// setBreakpoints gives all ranks the breakpoints, and notes where they are.
func (p *prompt) setBreakpoints(ctx context.Context) []debug.Part {
	parts := p.asking(ctx, answerLimit, func(ctx context.Context) []debug.Part { return p.session.SetBreakpoints(ctx, p.breakpoints) })
	for _, part := range parts {
		for _, span := range part.Ranks {
			for rank := span.First; rank <= span.Last; rank++ {
				for _, each := range part.Breakpoints {
					p.placed(rank, each)
				}
			}
		}
	}
	return parts
}

// placesOf returns where a breakpoint is, by ranks.
func (p *prompt) placesOf(id int) []place {
	numbers := map[debug.Placement]debug.Ranks{}
	for rank, placement := range p.placements[id] {
		numbers[placement] = append(numbers[placement], ranges.Range{First: rank, Last: rank})
	}
	var places []place
	for placement, ranks := range numbers {
		places = append(places, place{ranks.Merged().String(), placement.Verified, placement.File, placement.Line, placement.Text})
	}
	slices.SortFunc(places, func(a, b place) int { return firstOf(a.Ranks) - firstOf(b.Ranks) })
	return places
}

func firstOf(text string) int {
	ranks, _ := ranges.Parse(text)
	return ranks[0].First
}

// writtenPlaces describes where a breakpoint is. Ranks are named where they differ.
func (p *prompt) writtenPlaces(id int) string {
	var all []labelled
	for _, each := range p.placesOf(id) {
		ranks, _ := ranges.Parse(each.Ranks)
		text := "verified"
		switch {
		case !each.Verified:
			text = strings.TrimSuffix("not verified: "+plain(each.Text), ": ")
		case each.File != "":
			text = plain(debug.Frame{File: each.File, Line: each.Line}.Place())
		}
		all = append(all, labelled{debug.Ranks(ranks), text})
	}
	return written(all, p.out.width())
}

// changer returns a command that changes the breakpoints of some numbers, all without numbers.
func changer(change func(point *debug.Breakpoint) (isKept bool)) func(*prompt, context.Context, string) (reply, error) {
	return func(p *prompt, ctx context.Context, rest string) (reply, error) {
		ids, err := p.breakpointIDs(rest)
		if err != nil {
			return reply{}, err
		}
		var kept []debug.Breakpoint
		for _, point := range p.breakpoints {
			if !ids[point.ID] || change(&point) {
				kept = append(kept, point)
			} else {
				delete(p.placements, point.ID)
			}
		}
		p.breakpoints = kept
		parts := p.setBreakpoints(ctx)
		return reply{Parts: partsOf(problemParts(parts)), text: written(problemsOf(parts), p.out.width())}, nil
	}
}

func enable(point *debug.Breakpoint) bool  { point.Disabled = false; return true }
func disable(point *debug.Breakpoint) bool { point.Disabled = true; return true }
func remove(*debug.Breakpoint) bool        { return false }

// breakpointIDs reads numbers of breakpoints: 1 3-5; all for an empty text.
func (p *prompt) breakpointIDs(text string) (map[int]bool, error) {
	if len(p.breakpoints) == 0 {
		return nil, errors.New("there are no breakpoints")
	}
	ids := map[int]bool{}
	for _, point := range p.breakpoints {
		ids[point.ID] = text == ""
	}
	for word := range strings.FieldsSeq(text) {
		numbers, isValid := ranges.Parse(word)
		if !isValid || numbers.Count() > mostBreakpoints {
			return nil, fmt.Errorf("invalid breakpoint number %q", word)
		}
		for _, span := range numbers {
			for id := span.First; id <= span.Last; id++ {
				if _, exists := ids[id]; !exists {
					return nil, fmt.Errorf("breakpoint %d does not exist", id)
				}
				ids[id] = true
			}
		}
	}
	return ids, nil
}

// removeTemporary removes temporary breakpoints at which ranks have stopped, for all ranks.
func (p *prompt) removeTemporary(ctx context.Context) {
	count := len(p.breakpoints)
	for _, each := range p.classesOf(p.focused(), debug.Stopped) {
		p.breakpoints = slices.DeleteFunc(p.breakpoints, func(point debug.Breakpoint) bool {
			return point.Temporary && point.ID == each.Breakpoint
		})
	}
	if len(p.breakpoints) < count {
		p.setBreakpoints(ctx)
	}
}

// runBreakpoints lists the breakpoints.
func runBreakpoints(p *prompt, _ context.Context, rest string) (reply, error) {
	if rest != "" {
		return reply{}, unexpected(rest)
	}
	r := reply{text: "no breakpoints"}
	var lines []string
	for _, point := range p.breakpoints {
		r.Breakpoints = append(r.Breakpoints, breakpoint{point, p.placesOf(point.ID)})
		lines = append(lines, fmt.Sprintf("%d  %s", point.ID, plain(describe(point))))
		if places := p.writtenPlaces(point.ID); places != "" {
			lines = append(lines, "   "+strings.ReplaceAll(places, "\n", "\n   "))
		}
	}
	if len(lines) > 0 {
		r.text = strings.Join(lines, "\n")
	}
	return r, nil
}
