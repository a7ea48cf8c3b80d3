package launch

import (
	"context"
	"net/http"
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/job"
)

// ButtonWith returns a button of a form by the id of its field on a page.
func ButtonWith(f *form.Form, page *form.Page, id string) (*launchtab.PushButton, error) {
	field, found := f.Field(id)
	button := field.Action()
	if !found || button == nil {
		return nil, answer.Errorf(http.StatusBadRequest, "the form has no button %.50q", id)
	}
	if !slices.ContainsFunc(f.Fields(page), func(shown form.Field) bool { return shown.ID == id && shown.Enabled }) {
		return nil, answer.Errorf(http.StatusConflict, "the button %q is disabled", field.Label)
	}
	return button, nil
}

// Pressed is what the command of a button has changed.
type Pressed struct {
	before, after *attribute.Environment
	cleared       string // the attribute whose fields the button clears; empty for none
}

// PressButton runs the command of a button with the values of a form.
func PressButton(ctx context.Context, controller *control.Controller, button *launchtab.PushButton, filled job.Submission) (Pressed, error) {
	var pressed Pressed
	var err error
	if pressed.before, err = controller.FormEnvironment(ctx); err != nil {
		return pressed, err
	}
	if _, err = controller.Press(ctx, button, filled); err != nil {
		return pressed, err
	}
	if pressed.after, err = controller.FormEnvironment(ctx); err != nil {
		return pressed, err
	}
	if name := button.ClearValue.Name; !pressed.changed(name) { // otherwise the value of the command stays
		pressed.cleared = name
	}
	return pressed, nil
}

// changed reports whether an attribute has another value.
func (p Pressed) changed(name string) bool {
	text := func(env *attribute.Environment) string {
		if a := env.Lookup(name); a != nil {
			return attribute.Text(a.Value())
		}
		return ""
	}
	return name != "" && text(p.before) != text(p.after)
}

// Outdates reports whether the button replaced or cleared the value of an attribute.
func (p Pressed) Outdates(name string) bool {
	return p.changed(name) || name != "" && name == p.cleared
}

// Cleared returns the ids of the fields of a form that the button clears.
func (p Pressed) Cleared(f *form.Form) []string {
	pages := f.Pages()
	if len(pages) == 0 {
		pages = []*form.Page{f.Whole()}
	}
	var ids []string
	for _, page := range pages {
		for _, field := range f.Fields(page) {
			if p.cleared != "" && field.Name == p.cleared && field.ID != "" && !field.Fixed {
				ids = append(ids, field.ID)
			}
		}
	}
	return ids
}
