package describe

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/launchtab"
)

type tabDescription struct {
	Title    string               `json:"title"`
	Includes []string             `json:"includeWidgetValuesFrom,omitempty"`
	Controls []controlDescription `json:"controls,omitempty"`
	Import   bool                 `json:"import,omitempty"` // submits a user's own script
	Position string               `json:"position"`
}

// A controlDescription is a control, or a button of a group.
type controlDescription struct {
	Kind       string               `json:"kind"` // text, combo, composite, viewer …
	Title      string               `json:"title,omitempty"`
	Attribute  string               `json:"attribute,omitempty"` // that it shows and sets
	Text       string               `json:"text,omitempty"`      // that it shows
	Action     string               `json:"action,omitempty"`    // the command that a button runs
	ButtonID   string               `json:"buttonId,omitempty"`
	ReadOnly   bool                 `json:"readOnly,omitempty"`
	Attributes []string             `json:"attributes,omitempty"` // of a viewer
	Rules      []string             `json:"rules,omitempty"`      // when it is shown and enabled
	Inside     []controlDescription `json:"inside,omitempty"`
	Position   string               `json:"position"`
}

func describeForm(form *launchtab.Form) []tabDescription {
	if form == nil {
		return nil
	}
	var tabs []tabDescription
	for _, tab := range form.Tabs {
		tabs = append(tabs, tabDescription{
			Title: tab.Title, Controls: each(tab.Controls, describeControl), Position: tab.Position.String(),
			Includes: each(tab.IncludeFrom, func(from launchtab.Reference) string { return from.Name }),
		})
	}
	if form.Import != nil {
		d := tabDescription{Title: form.Import.Title, Import: true, Position: form.Import.Position.String()}
		if form.Import.Viewer != nil {
			d.Controls = each([]launchtab.Control{form.Import.Viewer}, describeControl)
		}
		tabs = append(tabs, d)
	}
	return tabs
}

func describeControl(control launchtab.Control) controlDescription {
	look := control.Common()
	d := controlDescription{Attribute: launchtab.Bound(control).Name, Rules: rules("", look.State), Inside: each(look.Controls, describeControl), Position: look.Position.String()}
	switch c := control.(type) {
	case *launchtab.Composite:
		d.Kind, d.Title = "composite", c.Title.Text
	case *launchtab.TabFolder:
		d.Kind = "tab-folder"
	case *launchtab.TabItem:
		d.Kind, d.Title = "item", c.Title
	case *launchtab.Widget:
		d.Kind, d.Title, d.ReadOnly, d.ButtonID = string(c.Type), c.Title.Text, c.ReadOnly, c.ButtonID.Name
		d.Text = c.FixedText.Text
		if len(c.DynamicText) > 0 {
			d.Text = line(describeArguments(c.DynamicText))
		}
	case *launchtab.ButtonGroup:
		d.Kind, d.Title = "button-group", c.Title.Text
		for _, button := range c.Buttons {
			d.Inside = append(d.Inside, describeControl(button))
		}
	case *launchtab.Browse:
		d.Kind, d.Title, d.ReadOnly = "browse", c.Title.Text, c.ReadOnly
		d.Rules = append(d.Rules, rules("the button ", c.ButtonState)...)
	case *launchtab.PushButton:
		d.Kind, d.Title, d.Action = "action", c.Title.Text, c.Action.Name
	case *launchtab.Viewer:
		d.Kind, d.Title, d.Attribute, d.Attributes = "viewer", c.Label.Text, c.Name.Name, rows(c)
	}
	return d
}

// rows lists the attributes that a viewer shows.
func rows(v *launchtab.Viewer) []string {
	var shown []string
	if v.AllPredefined {
		shown = append(shown, "all of the definition")
	}
	if v.AllDiscovered {
		shown = append(shown, "all that were found")
	}
	for _, one := range v.Include {
		shown = append(shown, one.Name)
	}
	for _, one := range v.Exclude {
		shown = append(shown, "not "+one.Name)
	}
	return shown
}

func rules(whose string, s *launchtab.ControlState) []string {
	if s == nil {
		return nil
	}
	var texts []string
	for _, one := range []struct {
		what string
		rule *launchtab.Rule
	}{{"shown if ", s.ShowIf}, {"hidden if ", s.HideIf}, {"enabled if ", s.EnableIf}, {"disabled if ", s.DisableIf}} {
		if one.rule != nil {
			texts = append(texts, whose+one.what+rule(one.rule))
		}
	}
	return texts
}

func rule(r *launchtab.Rule) string {
	parts := operands(r.Rules, rule, func(inner *launchtab.Rule) bool {
		return inner.Kind == launchtab.RuleAnd || inner.Kind == launchtab.RuleOr
	})
	switch r.Kind {
	case launchtab.RuleNot:
		return "not " + strings.Join(parts, " ")
	case launchtab.RuleAnd:
		return strings.Join(parts, " and ")
	case launchtab.RuleOr:
		return strings.Join(parts, " or ")
	case launchtab.RuleButton:
		if r.Selected {
			return r.Button.Name + " is selected"
		}
		return r.Button.Name + " is not selected"
	case launchtab.RuleAttribute:
		return fmt.Sprintf("%s = %q", r.Attribute.Name, r.Value.Text)
	}
	return "always"
}
