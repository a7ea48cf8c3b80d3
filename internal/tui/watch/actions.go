package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// operationKeys are the keys by which something is done to jobs.
var operationKeys = map[string]control.Operation{
	"c": control.Cancel, "h": control.Hold, "r": control.Release, "s": control.Suspend, "u": control.Resume,
}

// operationWidth is how many operations run at the same time.
const operationWidth = 4

// A question is answered by yes or no before something is done.
type question struct {
	text string
	do   func() tea.Cmd
}

func (d *display) questionKey(name string) tea.Cmd {
	asked := d.question
	switch name {
	case "y", "Y":
		d.question = nil
		return asked.do()
	case "n", "N", "esc", "q", "enter":
		d.question = nil
	}
	return nil
}

// rowKey does something to rows: to jobs, or to what these or other rows belong to.
func (d *display) rowKey(name string, rows []row) tea.Cmd {
	switch name {
	case "n":
		return d.submit(rows, "")
	case "N":
		d.submitAgain(rows)
	case "R", "f5", "ctrl+r":
		d.refresh(rows)
	case "?":
		d.pager = helpPager(d.width)
	case "a":
		if d.detail == nil && d.list == listManagers {
			d.another()
		}
	default:
		d.kindKey(name, rows)
	}
	return nil
}

// kindKey does to rows what only elements of their kind allow.
func (d *display) kindKey(name string, rows []row) {
	if len(rows) == 0 {
		return
	}
	switch kind := rows[0].element.Kind(); {
	case kind == model.ResourceManager && name == "s":
		d.start(rows)
	case kind == model.ResourceManager && name == "x":
		d.stop(rows)
	case kind == model.Job && operationKeys[name] != "":
		d.operate(operationKeys[name], rows)
	}
}

// operate asks whether something is to be done to jobs, and then does it.
func (d *display) operate(operation control.Operation, rows []row) {
	what := fmt.Sprintf("%s %s", operation, named(rows))
	d.question = &question{text: sentence(what) + "?", do: func() tea.Cmd {
		clear(d.tables[listJobs].marked)
		d.run(what, func() (string, error) { return what + ": done", d.operateOn(operation, rows) })
		return nil
	}}
}

// operateOn does something to jobs, to some of them at the same time. The error is
// the first failure, with the number of failures.
func (d *display) operateOn(operation control.Operation, rows []row) error {
	problems := make([]error, len(rows))
	var working sync.WaitGroup
	slots := make(chan struct{}, operationWidth)
	for i, r := range rows {
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			if problems[i] = d.ctx.Err(); problems[i] == nil {
				problems[i] = d.controls.Operate(d.ctx, r.manager.Element().ID(), r.element.ID(), operation)
			}
		})
	}
	working.Wait()
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	if len(problems) > 1 {
		return fmt.Errorf("%d of %d failed; first: %w", len(problems), len(rows), problems[0])
	}
	return errors.Join(problems...)
}

// named names rows: one with its name, several by their ids as far as these are few.
func named(rows []row) string {
	kind := nameOf(rows[0].element.Kind())
	if len(rows) == 1 {
		text := kind + " " + tui.Fitted(rows[0].element.ID(), 40)
		if name := rows[0].text(vocabulary.AttributeName); name != "" && name != rows[0].element.ID() {
			text += " (" + tui.Fitted(name, 24) + ")"
		}
		if rows[0].element.Kind() != model.ResourceManager {
			text += " of " + tui.Fitted(rows[0].manager.Element().Name(), 24)
		}
		return text
	}
	const shown = 5
	var ids []string
	for _, r := range rows[:min(len(rows), shown)] {
		ids = append(ids, tui.Fitted(r.element.ID(), 20))
	}
	text := fmt.Sprintf("%d %ss: %s", len(rows), kind, strings.Join(ids, ", "))
	if len(rows) > shown {
		text += ", …"
	}
	return text
}

// sentence begins a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// refresh lists targets again: those of the rows, or all.
func (d *display) refresh(rows []row) {
	managers := managersOf(rows)
	if d.list != listManagers || len(managers) == 0 {
		managers = d.inState(watched...)
	}
	if len(managers) == 0 {
		d.say("no target is started; press 1 for the targets, then s to start one", true)
		return
	}
	d.each("refresh "+strings.Join(managers, ", "), managers, d.controls.Refresh)
}

func (d *display) start(rows []row) {
	managers := managersOf(rows)
	d.each("start "+strings.Join(managers, ", "), managers, d.controls.Start)
}

// another starts a target that is not shown yet.
func (d *display) another() {
	targets := slices.DeleteFunc(d.controls.Available(), func(name string) bool {
		_, isShown := d.snapshot.Manager(name)
		return isShown
	})
	if len(targets) == 0 {
		d.say("all targets are shown", false)
		return
	}
	d.menu = &menu{List: tui.List{Title: "Start another target", Lines: targets}, choose: func(i int) tea.Cmd {
		d.each("start "+targets[i], targets[i:i+1], d.controls.Start)
		return nil
	}}
}

func (d *display) stop(rows []row) {
	managers := managersOf(rows)
	what := "stop " + strings.Join(managers, ", ")
	d.question = &question{text: sentence(what) + "? Its jobs keep running but are no longer shown here.", do: func() tea.Cmd {
		d.each(what, managers, d.controls.Stop)
		return nil
	}}
}

// each does something to targets in the background. The model shows the
// result.
func (d *display) each(what string, managers []string, do func(manager string) error) {
	clear(d.tables[listManagers].marked)
	d.run(what, func() (string, error) {
		var problems []error
		for _, manager := range managers {
			problems = append(problems, do(manager))
		}
		return "", errors.Join(problems...)
	})
}

// managersOf returns the ids of the targets that rows belong to.
func managersOf(rows []row) []string {
	var ids []string
	for _, r := range rows {
		if id := r.manager.Element().ID(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// watched are the states of targets that are connected: they can be refreshed, and
// may take jobs.
var watched = []model.State{vocabulary.StateStarted, vocabulary.StateSuspended}

// inState returns the ids of the targets that are in a state.
func (d *display) inState(states ...model.State) []string {
	var ids []string
	for manager := range d.snapshot.Managers() {
		if element := manager.Element(); slices.Contains(states, element.State()) {
			ids = append(ids, element.ID())
		}
	}
	return ids
}

// submitAgain lets the user choose a saved submission, and submits it to the
// target of rows.
func (d *display) submitAgain(rows []row) {
	d.background(func() tui.Apply {
		names, err := d.controls.LaunchConfigurations()
		return func() {
			switch {
			case err != nil:
				d.say("cannot list the saved submissions: "+err.Error(), true)
			case len(names) == 0:
				d.say("no saved submissions; press n for a form that saves one", false)
			default:
				d.menu = &menu{List: tui.List{Title: "Submit a saved submission", Lines: names}, choose: func(i int) tea.Cmd { return d.submit(rows, names[i]) }}
			}
		}
	})
}

// submit opens the form of a job. Of several targets the user chooses one
// first.
func (d *display) submit(rows []row, configuration string) tea.Cmd {
	managers := d.inState(watched...)
	switch of := managersOf(rows); {
	case len(managers) == 0:
		d.say("cannot submit: no target is started; press 1 for the targets, then s to start one", true)
		return nil
	case len(managers) == 1:
		return d.fillIn(managers[0], configuration)
	default:
		d.menu = &menu{List: tui.List{Title: "Submit to", Lines: managers}, choose: func(i int) tea.Cmd { return d.fillIn(managers[i], configuration) }}
		if len(of) > 0 {
			d.menu.At = max(slices.Index(managers, of[0]), 0)
		}
	}
	return nil
}

// fillIn leaves the terminal to the form until that is done.
func (d *display) fillIn(manager, configuration string) tea.Cmd {
	submit, done := d.submission(manager, configuration)
	return tui.Away(d.ctx, submit, done)
}

// submission returns what submits from the terminal, and what reports how that went.
func (d *display) submission(manager, configuration string) (submit func(io.Reader, io.Writer) error, done func(error)) {
	var said string
	submit = func(stdin io.Reader, terminal io.Writer) (err error) {
		said, err = d.controls.Submit(d.ctx, manager, configuration, stdin, terminal)
		return err
	}
	return submit, func(err error) {
		d.report("submit to "+manager, cmp.Or(said, "nothing submitted"), err)
	}
}
