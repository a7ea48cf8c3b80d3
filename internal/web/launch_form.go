package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/launch"
	"github.com/rmctl/rmctl/job"
)

// launchTimeout bounds what making a form takes: commands for start-up, and
// files that validators look up.
const launchTimeout = 40 * time.Second

// A launchForm is a launch tab that a page shows, and what is to come of it.
type launchForm struct {
	controller *control.Controller
	state      *launchState
	form       *form.Form
	page       *form.Page     // the submission comes from it
	base       job.Submission // without what the fields say

	problems map[string]string // by the name of an input that is not of the definition
	warning  string            // why the form lacks something
}

// openLaunch makes the form of a controller's definition as the state says, with
// what a page has posted for its fields. What is wrong with values does not keep
// the form from being shown: it is told beside them.
func openLaunch(ctx context.Context, c *control.Controller, state *launchState, posted url.Values) (*launchForm, error) {
	l := &launchForm{controller: c, state: state, problems: map[string]string{}}
	var err error
	if l.base, err = state.submission(); err != nil {
		var line *launchLineError
		if !errors.As(err, &line) {
			return nil, err
		}
		l.problems[line.Input] = line.Reason
	}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	state.fillLaunch(l.form, posted, l.stat(ctx))
	return l, nil
}

// open makes the form without what was filled in. Values that are refused, a tab
// that is not there any more, and commands that fail are left out one after the
// other.
func (l *launchForm) open(ctx context.Context) error {
	newForm := l.controller.Form
	for range 4 {
		var err error
		if l.form, l.page, err = newForm(ctx, l.base); err == nil {
			return nil
		}
		var failed *command.Error
		var tab *form.UnknownPageError
		switch {
		case errors.As(err, &tab):
			l.base.Tab = ""
		case errors.As(err, &failed):
			// Whoever looks at a form need not wait until its scheduler answers again.
			l.warning = fmt.Sprintf("What the commands of the definition would find is missing: %v", err)
			newForm = l.controller.FormWithoutSession
		case isRefusal(err) && len(l.base.Values) > 0:
			l.problems["further"] = err.Error()
			l.base.Values = nil
			l.state.showGiven()
		default:
			return err
		}
	}
	return fmt.Errorf("the form of %q cannot be made: %s %s", l.controller.Definition().Name, l.problems["further"], l.warning)
}

// isRefusal reports whether an error tells of values that were refused.
func isRefusal(err error) bool {
	var value *control.ValueError
	var invalid *attribute.InvalidError
	return errors.As(err, &value) || errors.As(err, &invalid)
}

// stat looks files up for validators.
func (l *launchForm) stat(ctx context.Context) attribute.Stat {
	return l.controller.Stat(ctx, job.Submission{Directory: l.state.Directory})
}

// home returns the home directory of the target, empty where it is not known.
func (l *launchForm) home() string {
	if known := l.form.Environment().Lookup("control.working.dir"); known != nil && path.IsAbs(attribute.Text(known.Value())) {
		return attribute.Text(known.Value())
	}
	return ""
}

// pages returns the tabs of the form; of a definition without any, the one that
// shows everything.
func (l *launchForm) pages() []*form.Page {
	if pages := l.form.Pages(); len(pages) > 0 {
		return pages
	}
	return []*form.Page{l.form.Whole()}
}

// turn shows another tab, which submissions then come from.
func (l *launchForm) turn(title string) error {
	page, err := l.form.Page(title, false)
	if err != nil {
		return err
	}
	if page != nil {
		l.page, l.base.Tab, l.state.Tab = page, title, title
	}
	return nil
}

// submission returns what the form would submit now. While anything in it is
// refused it is without that.
func (l *launchForm) submission() job.Submission {
	return launch.Filled(l.base, l.form, l.page)
}

// ready tells what keeps the form from being submitted or saved; nil if nothing does.
func (l *launchForm) ready() error {
	count := len(l.problems) + len(l.form.Problems(l.page))
	switch {
	case count == 1:
		return errors.New("one field cannot be used as it is")
	case count > 1:
		return fmt.Errorf("%d fields cannot be used as they are", count)
	}
	return nil
}

// runnable is ready for a submission.
func (l *launchForm) runnable() error {
	if err := l.ready(); err != nil {
		return err
	}
	if l.base.Executable == "" && l.base.Script == "" {
		l.problems["program"] = "name a program, or a script"
		return errors.New("there is nothing to run yet")
	}
	return nil
}

// press runs the command of a button of the form. What it gives another value is
// no longer what was filled in.
func (l *launchForm) press(ctx context.Context, id string) error {
	button, err := buttonWith(l.form, l.page, id)
	if err != nil {
		return err
	}
	if err := l.ready(); err != nil {
		return err
	}
	found, err := pressButton(ctx, l.controller, button, l.submission())
	if err != nil || !button.Refresh {
		return err
	}
	l.state.Edits = slices.DeleteFunc(l.state.Edits, func(edit launchEdit) bool {
		id, isValue := strings.CutPrefix(edit.Input, launchInput)
		field, known := l.form.Field(id)
		return isValue && known && found.changed(field.Name)
	})
	l.clear(button.ClearValue.Name, !found.changed(button.ClearValue.Name))
	return l.reopen(ctx)
}

// buttonWith returns a button of a form by the id of its field on a page.
func buttonWith(f *form.Form, page *form.Page, id string) (*config.PushButton, error) {
	field, found := f.Field(id)
	button := field.Action()
	if !found || button == nil {
		return nil, failuref(http.StatusBadRequest, "the form has no button %.50q", id)
	}
	if !slices.ContainsFunc(f.Fields(page), func(shown form.Field) bool { return shown.ID == id && shown.Enabled }) {
		return nil, failuref(http.StatusConflict, "the button %q cannot be pressed now", field.Label)
	}
	return button, nil
}

// What a button found is told by what a form was made over before and after.
type findings struct{ before, after *attribute.Environment }

// pressButton runs the command of a button with what is filled in.
func pressButton(ctx context.Context, controller *control.Controller, button *config.PushButton, filled job.Submission) (found findings, err error) {
	if found.before, err = controller.FormEnvironment(ctx); err != nil {
		return found, err
	}
	if _, err = controller.Press(ctx, button, filled); err != nil {
		return found, err
	}
	found.after, err = controller.FormEnvironment(ctx)
	return found, err
}

// changed reports whether an attribute has another value.
func (f findings) changed(name string) bool {
	text := func(env *attribute.Environment) string {
		if a := env.Lookup(name); a != nil {
			return attribute.Text(a.Value())
		}
		return ""
	}
	return name != "" && text(f.before) != text(f.after)
}

// clear takes the value from the field of an attribute that a button clears,
// unless its command has given it another one.
func (l *launchForm) clear(name string, isSame bool) {
	if name == "" || !isSame {
		return
	}
	for _, page := range l.pages() {
		for _, field := range l.form.Fields(page) {
			if field.Name == name && field.ID != "" {
				l.state.note(launchEdit{Input: launchInput + field.ID})
			}
		}
	}
}

// reopen makes the form anew, since commands have changed what it is made over
// or edits were dropped.
func (l *launchForm) reopen(ctx context.Context) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	l.state.fillLaunch(l.form, nil, l.stat(ctx))
	return nil
}
