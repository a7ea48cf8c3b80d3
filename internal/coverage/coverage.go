// Package coverage counts which parts of definitions cases exercise.
package coverage

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Counter counts for all definitions of a Runner's cases. Its methods may be called
// concurrently; the zero value is ready to use.
type Counter struct {
	definitions sync.Map // *config.Definition to *things
}

// Watch makes the runner also report to the counter. Call it before running cases.
func (c *Counter) Watch(runner *cases.Runner) {
	before := runner.Trace
	runner.Trace = func(read cases.Reading, event tokenizer.TraceEvent) {
		if before != nil {
			before(read, event)
		}
		c.thingsOf(read.Definition).trace(read.Parser, event)
	}
	stepBefore := runner.Step
	runner.Step = func(read cases.Reading, step reader.Step) {
		if stepBefore != nil {
			stepBefore(read, step)
		}
		c.thingsOf(read.Definition).step(read.Command, step)
	}
}

func (c *Counter) thingsOf(definition *config.Definition) *things {
	counted, known := c.definitions.Load(definition)
	if !known {
		counted, _ = c.definitions.LoadOrStore(definition, thingsOf(definition))
	}
	return counted.(*things)
}

// Reports returns the coverage of each definition so far, by name.
func (c *Counter) Reports() []Report {
	var reports []Report
	for _, counted := range c.definitions.Range {
		reports = append(reports, counted.(*things).report())
	}
	sorting.Stable(reports, func(a, b Report) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), cmp.Compare(a.File, b.File))
	})
	return reports
}

// trace counts a step of a parser.
func (t *things) trace(parser *config.Parser, event tokenizer.TraceEvent) {
	switch event.Kind {
	case "segment", "end":
		t.mark(kindCommand, t.commands[parser], "")
	case "match":
		t.mark(kindExpression, placeOfMatch(event.Match), "")
	case "exit":
		t.mark(kindExpression, event.Expression.Position, "")
	case "action":
		t.mark(kindAction, event.Action.Position, "")
		t.markState(event)
	case "test":
		t.mark(kindTest, event.Test.Position, outcomeName(event.Outcome))
	case "else":
		t.mark(kindElse, event.Target.Position, "")
	case "error":
		if event.Err.Thrown {
			t.mark(kindAction, event.Err.Position, "")
		}
	}
}

// step counts a step of a reader.
func (t *things) step(command *config.Command, step reader.Step) {
	t.mark(kindCommand, command.Position, "")
	if step.Rejected != "" || step.Foreign {
		return
	}
	if step.Row != nil {
		t.mark(kindRow, step.Row.Position, "")
	}
	for _, fact := range step.Facts {
		if fact.Value != "" {
			t.mark(kindFact, fact.Fact.Position, "")
		}
	}
}

func (t *things) mark(kind string, at config.Position, detail string) {
	if index, known := t.indices[thingKey{kind, at, detail}]; known {
		t.marked[index].Store(true)
	}
}

// markState counts the job state that an action stored.
func (t *things) markState(e tokenizer.TraceEvent) {
	text, isText := e.Value.(string)
	if !isText || e.Field != attribute.FieldValue {
		return
	}
	t.mark(kindState, e.Action.Position, text)
	if place, indirect := t.indirect[e.Action.Position]; indirect {
		t.mark(kindState, place[text], text)
	}
}

// report returns the coverage so far.
func (t *things) report() Report {
	report := Report{Definition: t.definition.Name, File: t.definition.File, Missed: []Thing{}}
	for _, kind := range kinds {
		report.Kinds = append(report.Kinds, Count{Kind: kind})
	}
	for i, thing := range t.all {
		count := &report.Kinds[slices.Index(kinds, thing.Kind)]
		count.Total++
		if t.marked[i].Load() {
			count.Covered++
		} else {
			report.Missed = append(report.Missed, thing)
		}
	}
	for i := range report.Kinds {
		count := &report.Kinds[i]
		count.Percent = percent(count.Covered, count.Total)
	}
	report.Total = len(t.all)
	report.Covered = report.Total - len(report.Missed)
	report.Percent = percent(report.Covered, report.Total)
	sorting.Stable(report.Missed, func(a, b Thing) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return report
}

// A Report is the coverage of a definition, as rmctl test --json prints it.
type Report struct {
	Definition string  `json:"definition"` // its name
	File       string  `json:"-"`
	Covered    int     `json:"covered"`
	Total      int     `json:"total"`
	Percent    float64 `json:"percent"` // 100 without anything to exercise
	Kinds      []Count `json:"kinds"`   // of all kinds
	Missed     []Thing `json:"missed"`  // what was not exercised, by position
}

// A Count is the coverage of one kind of things.
type Count struct {
	Kind    string  `json:"kind"`
	Covered int     `json:"covered"`
	Total   int     `json:"total"`
	Percent float64 `json:"percent"`
}

// A Thing is a part of a definition that cases may exercise.
type Thing struct {
	Kind   string `json:"kind"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	What   string `json:"what"` // for people, such as: the expression R(\d+)
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
