package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/replay"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// A readResult is what replay prints of an output that a reader reads.
type readResult struct {
	Records  []replay.Record  `json:"records"`
	Elements []replay.Element `json:"elements"`
	Damage   string           `json:"damage,omitempty"` // why the output as a whole says nothing
}

// replayReader prints what a reader makes of captured output: each record with the row and
// the facts that it gives, and what all of them say together.
func (a *app) replayReader(definition *config.Definition, selected *config.Command, env *attribute.Environment, job string, input io.Reader) error {
	result := readResult{Records: []replay.Record{}}
	answer, err := replay.Records(definition, selected, env, job, input, func(record replay.Record) error {
		if a.json {
			result.Records = append(result.Records, record)
			return nil
		}
		return a.printRecord(record)
	})
	if err != nil {
		return err
	}
	result.Elements = replay.ElementsOf(answer)
	if answer.Damage != nil {
		result.Damage = fmt.Sprintf("line %d: %s", answer.Damage.Line, answer.Damage.What)
	}
	if a.json {
		err = terminal.JSON(a.stdout, result)
	} else {
		err = a.printElements(result)
	}
	if err == nil && answer.Damage != nil {
		err = &exitError{code: exitFailed}
	}
	return err
}

// printRecord prints one record.
func (a *app) printRecord(record replay.Record) error {
	lines := []string{fmt.Sprintf("line %d: record %s", record.Line, record.ID)}
	if a.verbose > 0 {
		for _, field := range record.Fields {
			lines = append(lines, fmt.Sprintf("  field %s = %s", field.Name, field.Value))
		}
	}
	switch {
	case record.Rejected != "":
		lines = append(lines, "  rejected: "+record.Rejected)
	case record.Foreign:
		lines = append(lines, "  of another job")
	case record.Row != "":
		lines = append(lines, fmt.Sprintf("  state %s for %q, %s", record.State, record.Word, record.Row))
	case record.Word != "":
		lines = append(lines, fmt.Sprintf("  no row for %q", record.Word))
	}
	for _, fact := range record.Facts {
		if fact.Value != "" {
			lines = append(lines, fmt.Sprintf("  fact %s = %s, %s", fact.Name, fact.Value, fact.At))
		} else {
			lines = append(lines, fmt.Sprintf("  no fact %s: %s, %s", fact.Name, fact.Dropped, fact.At))
		}
	}
	return a.printLines(lines)
}

// printElements prints what the records say together.
func (a *app) printElements(result readResult) error {
	var lines []string
	for _, element := range result.Elements {
		lines = append(lines, "result "+element.ID)
		if element.Unreadable != "" {
			lines = append(lines, "  unreadable: "+element.Unreadable)
		}
		if element.Incomplete != "" {
			lines = append(lines, "  incomplete: "+element.Incomplete)
		}
		for _, fact := range element.Facts {
			lines = append(lines, fmt.Sprintf("  %s = %s", fact.Name, fact.Value))
		}
	}
	if result.Damage != "" {
		lines = append(lines, "the output is unreadable: "+result.Damage)
	}
	return a.printLines(lines)
}

// explainQuery queries the scheduler for a job and prints what readers make of the answers.
// A failed query is shown, and no error.
func (a *app) explainQuery(ctx context.Context, j job.Job) (job.Job, error) {
	asked, problem := "", error(nil)
	a.step = func(which *config.Command, step reader.Step) {
		if line := fmt.Sprintf("%s %q:", which.Element, which.Name); line != asked && !a.json {
			asked = line
			problem = errors.Join(problem, a.printLines([]string{line}))
		}
		record := replay.RecordOf(step)
		if a.json {
			problem = errors.Join(problem, terminal.JSON(a.stdout, struct {
				Record replay.Record `json:"record"`
			}{record}))
		} else {
			problem = errors.Join(problem, a.printRecord(record))
		}
	}
	controller, err := a.finder().ControllerOf(ctx, j)
	if err != nil {
		return j, err
	}
	now, err := controller.Status(ctx, j, true)
	if isA[*control.QueryError](err) {
		a.say("%v", err)
		err = nil
	}
	if err != nil || a.json || asked == "" {
		return now, errors.Join(err, problem)
	}
	lines := []string{"printed:"}
	for line := range strings.Lines(now.Evidence) {
		lines = append(lines, "  "+line)
	}
	return now, errors.Join(problem, a.printLines(lines))
}

func (a *app) printLines(lines []string) error {
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		if _, err := fmt.Fprintln(a.stdout, line[:len(line)-len(text)]+oneLine(text)); err != nil {
			return err
		}
	}
	return nil
}
