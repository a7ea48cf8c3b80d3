package check

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
)

// checkReferenceCycles reports each circle of defaults that refer to one
// another: resolving a text that refers to one of them fails. A circle of links
// alone takes defaults, and is reported as such.
func (c *checker) checkReferenceCycles() {
	search := cycleSearch{checker: c, place: map[string]int{}}
	for _, a := range c.definition.Attributes {
		search.visit(a.Name())
	}
}

// A cycleSearch goes along references and links, depth first.
type cycleSearch struct {
	*checker
	path  []leading
	place map[string]int // of an attribute in the path, from 1; done once it was left
}

const done = -1

// leading is a step from an attribute to another.
type leading struct {
	to          string
	isReference bool            // not a link
	at          config.Position // of the name in a reference
}

func (s *cycleSearch) visit(name string) {
	s.place[name] = len(s.path) + 1
	for _, step := range s.stepsFrom(name) {
		switch place := s.place[step.to]; {
		case place == done:
		case place > 0:
			s.report(append(slices.Clone(s.path[place-1:]), step))
		default:
			s.path = append(s.path, step)
			s.visit(step.to)
			s.path = s.path[:len(s.path)-1]
		}
	}
	s.place[name] = done
}

// stepsFrom returns which attributes the value of an attribute leads to before
// anybody has set it.
func (s *cycleSearch) stepsFrom(name string) []leading {
	e, defined := s.names.defined[name]
	if !defined {
		return nil
	}
	var steps []leading
	for _, part := range []string{"value", "default"} {
		text, ok := e.First(part)
		if !ok {
			continue
		}
		for _, r := range reference.Find(text.Text) {
			field, known := attribute.ParseField(r.Field)
			isValue := r.Field == "" || known && (field == attribute.FieldValue || field == attribute.FieldDefault)
			if r.Prefix == reference.Prefix && r.Closed && !r.Nested && isValue {
				steps = append(steps, leading{r.Name, true, text.TextWithin(r.NameOffset())})
			}
		}
	}
	if link := s.linkOf(name); link != "" {
		steps = append(steps, leading{to: link})
	}
	return steps
}

// report reports the steps that lead from an attribute back to it.
func (s *cycleSearch) report(circle []leading) {
	last := slices.IndexFunc(circle, func(step leading) bool { return step.isReference })
	if last < 0 {
		return
	}
	circle = slices.Concat(circle[last+1:], circle[:last+1])
	closing := circle[len(circle)-1]
	names := []string{closing.to}
	for _, step := range circle {
		names = append(names, step.to)
	}
	const most = 10
	if len(names) > most {
		names = slices.Concat(names[:most-1], []string{"…"}, names[len(names)-1:])
	}
	s.checker.report(closing.at, config.Warning, "reference-cycle",
		"the value leads back to itself, and cannot be resolved: "+strings.Join(names, " → "), "")
}
