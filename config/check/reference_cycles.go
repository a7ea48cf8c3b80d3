package check

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
)

// checkLinkCycles reports each cycle of links once.
func (c *checker) checkLinkCycles() {
	c.searchCycles(c.linksFrom, func(circle []step) {
		link, _ := c.names.defined[circle[len(circle)-1].to].First("link-value-to")
		c.report(link.TextPosition(), config.Warning, "link-cycle", "link-value-to forms a loop: "+pathOf(circle, 10),
			"link one of them to another attribute, or give it a default")
	})
}

// checkReferenceCycles reports each cycle of defaults that refer to each other:
// resolving a text that refers to one of them fails. A cycle of links alone falls
// back to defaults; checkLinkCycles reports it.
func (c *checker) checkReferenceCycles() {
	c.searchCycles(c.stepsFrom, func(circle []step) {
		last := slices.IndexFunc(circle, func(one step) bool { return one.isReference })
		if last < 0 {
			return
		}
		circle = slices.Concat(circle[last+1:], circle[:last+1])
		c.report(circle[len(circle)-1].at, config.Warning, "reference-cycle",
			"the value refers to itself and cannot be resolved: "+pathOf(circle, 9), "")
	})
}

// pathOf names the attributes of a cycle, at most so many before it closes.
func pathOf(circle []step, most int) string {
	names := []string{circle[len(circle)-1].to}
	for _, one := range circle[:len(circle)-1] {
		names = append(names, one.to)
	}
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(append(names, names[0]), " → ")
}

// A cycleSearch follows steps between attributes, depth first.
type cycleSearch struct {
	stepsFrom func(name string) []step
	report    func(circle []step)
	path      []step
	place     map[string]int // of an attribute in the path, from 1; done once it was left
}

const done = -1

// A step leads from an attribute to another.
type step struct {
	to          string
	isReference bool            // not a link
	at          config.Position // of the name in a reference
}

// searchCycles reports the steps that lead from an attribute back to it.
func (c *checker) searchCycles(stepsFrom func(name string) []step, report func(circle []step)) {
	search := cycleSearch{stepsFrom: stepsFrom, report: report, place: map[string]int{}}
	for _, a := range c.definition.Attributes {
		search.visit(a.Name())
	}
}

func (s *cycleSearch) visit(name string) {
	if s.place[name] == done {
		return
	}
	s.place[name] = len(s.path) + 1
	for _, next := range s.stepsFrom(name) {
		s.path = append(s.path, next)
		if place := s.place[next.to]; place > 0 {
			s.report(slices.Clone(s.path[place-1:]))
		} else {
			s.visit(next.to)
		}
		s.path = s.path[:len(s.path)-1]
	}
	s.place[name] = done
}

// linksFrom returns the link of an attribute, if it has one.
func (c *checker) linksFrom(name string) []step {
	if e, defined := c.names.defined[name]; defined {
		if link := e.ChildText("link-value-to").Text; link != "" {
			return []step{{to: link}}
		}
	}
	return nil
}

// stepsFrom returns the attributes that the value of an attribute refers to
// before it is set.
func (c *checker) stepsFrom(name string) []step {
	e, defined := c.names.defined[name]
	if !defined {
		return nil
	}
	var steps []step
	for _, part := range []string{"value", "default"} {
		text, ok := e.First(part)
		if !ok {
			continue
		}
		for _, r := range reference.Find(text.Text) {
			field, known := attribute.ParseField(r.Field)
			isValue := r.Field == "" || known && (field == attribute.FieldValue || field == attribute.FieldDefault)
			if r.Prefix == reference.Prefix && r.Closed && !r.Nested && isValue {
				steps = append(steps, step{r.Name, true, text.TextWithin(r.NameOffset())})
			}
		}
	}
	return append(steps, c.linksFrom(name)...)
}
