package cases

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

// A CoverageKind is a kind of things in a definition that cases exercise.
type CoverageKind string

// The kinds of things that coverage counts.
const (
	coveredCommand    CoverageKind = "command"    // it has a parser, and was run
	coveredExpression CoverageKind = "expression" // a match that took a text, or an exit-on or exit-after that ended the reading
	coveredAction     CoverageKind = "action"     // it was run
	CoveredTest       CoverageKind = "test"       // one for each outcome that a test may have
	coveredElse       CoverageKind = "else"       // of a target: it was taken; that of a test is the test's being false
	coveredState      CoverageKind = "state"      // a state that the definition names was stored as a job's
)

// coverageKinds returns all kinds in the order of reports.
func coverageKinds() []CoverageKind {
	return []CoverageKind{coveredCommand, coveredExpression, coveredAction, CoveredTest, coveredElse, coveredState}
}

// A Coverable is one thing of a definition that cases may exercise.
type Coverable struct {
	config.Position
	Kind CoverageKind
	What string // for people, such as: the expression R(\d+)
}

// definitionCoverage records which parts of a definition were exercised. Its methods may be called
// from several goroutines at once. Make one with NewCoverage.
type definitionCoverage struct {
	definition *config.Definition
	things     *coverables

	seen []atomic.Bool // of the things
}

// newCoverage prepares to count what of a definition is exercised. Commands
// without a parser have nothing that could misread what they print: they do not
// count.
func newCoverage(definition *config.Definition) *definitionCoverage {
	things := coverablesOf(definition)
	return &definitionCoverage{definition: definition, things: things, seen: make([]atomic.Bool, len(things.all))}
}

// Definition returns what the coverage is of.
func (c *definitionCoverage) Definition() *config.Definition { return c.definition }

// Trace notes what a parser of the definition did. It can stand in an Evaluation.
func (c *definitionCoverage) Trace(parser *config.Parser, event tokenizer.TraceEvent) {
	switch e := event.(type) {
	case tokenizer.SegmentEvent, tokenizer.EndEvent:
		c.see(coveredCommand, c.things.commands[parser], "")
	case tokenizer.MatchEvent:
		c.see(coveredExpression, placeOfMatch(e.Match), "")
	case tokenizer.ExitEvent:
		c.see(coveredExpression, e.Expression.Position, "")
	case tokenizer.ActionEvent:
		c.see(coveredAction, e.Action.Position, "")
		c.seeState(e)
	case tokenizer.TestEvent:
		c.see(CoveredTest, e.Test.Position, outcomeName(e.Outcome))
	case tokenizer.ElseEvent:
		c.see(coveredElse, e.Target.Position, "")
	case tokenizer.ErrorEvent:
		if e.Err.Thrown {
			c.see(coveredAction, e.Err.Position, "")
		}
	}
}

func (c *definitionCoverage) see(kind CoverageKind, at config.Position, detail string) {
	if index, known := c.things.indices[coverableKey{kind, at, detail}]; known {
		c.seen[index].Store(true)
	}
}

// seeState notes the state that an action has stored as a job's.
func (c *definitionCoverage) seeState(e tokenizer.ActionEvent) {
	text, isText := e.Value.(string)
	if !isText || e.Field != attribute.FieldValue {
		return
	}
	c.see(coveredState, e.Action.Position, text)
	if place, indirect := c.things.indirect[e.Action.Position]; indirect {
		c.see(coveredState, place[text], text)
	}
}

// report returns what was exercised so far.
func (c *definitionCoverage) report() CoverageReport {
	report := CoverageReport{Definition: c.definition.Name, File: c.definition.File, Kinds: make([]CoverageCount, 0, len(coverageKinds()))}
	for _, kind := range coverageKinds() {
		report.Kinds = append(report.Kinds, CoverageCount{Kind: kind})
	}
	for i, thing := range c.things.all {
		count := &report.Kinds[slices.Index(coverageKinds(), thing.Kind)]
		count.Total++
		report.Total++
		if c.seen[i].Load() {
			count.Covered++
			report.Covered++
		} else {
			report.Missed = append(report.Missed, thing)
		}
	}
	slices.SortStableFunc(report.Missed, func(a, b Coverable) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return report
}

// A CoverageReport tells how much of a definition was exercised.
type CoverageReport struct {
	Definition     string // its name
	File           string
	Covered, Total int
	Kinds          []CoverageCount // of all kinds, in the order of CoverageKinds
	Missed         []Coverable     // what was not, by position
}

// A CoverageCount is how many things of one kind were exercised.
type CoverageCount struct {
	Kind           CoverageKind
	Covered, Total int
}

// Percent returns the share that was exercised, 100 where there is nothing to exercise.
func (r CoverageReport) Percent() float64 { return percent(r.Covered, r.Total) }

// Percent returns the share that was exercised, 100 where there is nothing to exercise.
func (c CoverageCount) Percent() float64 { return percent(c.Covered, c.Total) }

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
