package submission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// An editor describes the values that a form widget accepts for its attribute.
type editor struct {
	kind   form.Editor
	titles []string // of the buttons in a group; one is the value
}

// boundEditors returns the editors of an attribute of the definition that controls of
// the form are bound to. Rows of viewers have the editor that the attribute has itself.
func boundEditors(d *config.Definition, name string) []editor {
	defined := d.Attribute(name)
	if defined == nil || d.LaunchTab == nil {
		return nil
	}
	var editors []editor
	d.LaunchTab.Walk(func(control launchtab.Control) {
		if launchtab.Bound(control).Name != name {
			return
		}
		switch c := control.(type) {
		case *launchtab.Widget:
			editors = append(editors, editor{kind: form.EditorOfWidget(c, form.EditorOf(defined.Attribute))})
		case *launchtab.ButtonGroup:
			editors = append(editors, editor{kind: form.ChoiceEditor, titles: titles(c)})
		default:
			editors = append(editors, editor{kind: form.EditorOf(defined.Attribute)})
		}
	})
	return editors
}

func titles(group *launchtab.ButtonGroup) []string {
	var titles []string
	for _, button := range group.Buttons {
		titles = append(titles, button.Title.Text)
	}
	return titles
}

func (e editor) accept(a *attribute.Attribute, text string) (attribute.Value, error) {
	if e.titles == nil || text == "" {
		return form.Accept(a, text, e.kind)
	}
	if slices.Contains(e.titles, text) {
		return text, nil
	}
	shown := slices.DeleteFunc(slices.Clone(e.titles), func(title string) bool { return strings.TrimSpace(title) == "" })
	return nil, &attribute.InvalidError{Attribute: a.Name(), Value: text, Reason: fmt.Sprintf("choose one of %s", strings.Join(shown, ", "))}
}
