// Package launch edits the form of a launch tab in requests that carry all earlier edits.
package launch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// Timeout bounds the time to make a form: to run start-up commands, and to look up files for
// validators.
const Timeout = 40 * time.Second

// A Tab is a launch tab that a page shows, and the submission from it.
type Tab struct {
	Controller *control.Controller
	State      *State
	Form       *form.Form
	Page       *form.Page     // of the submission
	Base       job.Submission // without the values of fields

	Problems map[string]string // by the name of an input of the page itself
	Warning  string            // why the form lacks something
}

// Open makes the form of a controller's definition for a state and the values that a page
// has posted. Invalid values do not fail: their fields have the problem.
func Open(ctx context.Context, c *control.Controller, state *State, posted url.Values) (*Tab, error) {
	base, input, problem := state.submission()
	l := &Tab{Controller: c, State: state, Base: base, Problems: map[string]string{}}
	if problem != "" {
		l.Problems[input] = problem
	}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	state.applyEdits(l.Form, posted, l.Stat(ctx))
	return l, nil
}

// open makes the form without edits. It leaves out refused values, an unknown tab and failing
// commands, one after the other.
func (l *Tab) open(ctx context.Context) error {
	newForm := l.Controller.Form
	for range 4 {
		var err error
		if l.Form, l.Page, err = newForm(ctx, l.Base); err == nil {
			return nil
		}
		var failed *command.Error
		var tab *form.UnknownPageError
		switch {
		case errors.As(err, &tab):
			l.Base.Tab = ""
		case errors.As(err, &failed):
			// The form is useful before its scheduler answers again.
			l.Warning = fmt.Sprintf("The results of the definition's commands are missing: %v", err)
			newForm = l.Controller.FormWithoutSession
		case isRefusal(err) && len(l.Base.Values) > 0:
			l.Problems["further"] = err.Error()
			l.Base.Values = nil
			l.State.showGiven()
		default:
			return err
		}
	}
	return fmt.Errorf("cannot create the form of %q: %s %s", l.Controller.Definition.Name, l.Problems["further"], l.Warning)
}

// isRefusal reports whether an error is about values that were refused.
func isRefusal(err error) bool {
	var value *control.ValueError
	var invalid *attribute.InvalidError
	return errors.As(err, &value) || errors.As(err, &invalid)
}

// Stat looks files up for validators.
func (l *Tab) Stat(ctx context.Context) attribute.Stat {
	return l.Controller.Stat(ctx, job.Submission{Directory: l.State.Directory})
}

// Home returns the home directory at the target, empty if it is unknown.
func (l *Tab) Home() string {
	if known := l.Form.Environment().Lookup("control.working.dir"); known != nil && path.IsAbs(attribute.Text(known.Value())) {
		return attribute.Text(known.Value())
	}
	return ""
}

// Turn switches to another tab.
func (l *Tab) Turn(title string) error {
	page, err := l.Form.Page(title, false)
	if err != nil {
		return err
	}
	if page != nil {
		l.Page, l.Base.Tab, l.State.Tab = page, title, title
	}
	return nil
}

// Submission returns the submission from the form, without refused values.
func (l *Tab) Submission() job.Submission {
	return submission.Filled(l.Base, l.Form, l.Page)
}

// Ready returns an error if the form cannot be submitted or saved.
func (l *Tab) Ready() error {
	count := len(l.Problems) + len(l.Form.Problems(l.Page))
	switch {
	case count == 1:
		return errors.New("one field is invalid")
	case count > 1:
		return fmt.Errorf("%d fields are invalid", count)
	}
	return nil
}

// Runnable returns an error if the form cannot be submitted.
func (l *Tab) Runnable() error {
	if err := l.Ready(); err != nil {
		return err
	}
	if l.Base.Executable == "" && l.Base.Script == "" {
		l.Problems["program"] = "enter a program or a script"
		return errors.New("no program or script yet")
	}
	return nil
}

// Press runs the command of a button of the form, and drops the edits that this outdates.
func (l *Tab) Press(ctx context.Context, id string) error {
	button, err := ButtonWith(l.Form, l.Page, id)
	if err != nil {
		return err
	}
	if err := l.Ready(); err != nil {
		return err
	}
	pressed, err := PressButton(ctx, l.Controller, button, l.Submission())
	if err != nil || !button.Refresh {
		return err
	}
	l.State.Edits = slices.DeleteFunc(l.State.Edits, func(edit Edit) bool {
		id, isValue := strings.CutPrefix(edit.Input, ValueInput)
		field, known := l.Form.Field(id)
		return isValue && known && pressed.Outdates(field.Name)
	})
	for _, id := range pressed.Cleared(l.Form) {
		l.State.note(Edit{Input: ValueInput + id})
	}
	return l.Reopen(ctx)
}

// Reopen makes the form again after commands have changed attributes or edits were dropped.
func (l *Tab) Reopen(ctx context.Context) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	l.State.applyEdits(l.Form, nil, l.Stat(ctx))
	return nil
}
