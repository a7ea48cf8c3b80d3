package form

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// A condition says whether a control can be seen and used, which takes that all
// controls around it can be, too.
type condition struct {
	Shown, Enabled bool
}

// effective reports whether a value set by the control counts.
func (s condition) effective() bool { return s.Shown && s.Enabled }

// within returns the state of a control with rules of its own inside another one.
func (f *Form) within(around condition, rules *launchtab.ControlState) condition {
	if rules == nil {
		return around
	}
	// The schema allows one rule of each pair; of two, these come first.
	switch {
	case rules.HideIf != nil:
		around.Shown = around.Shown && !f.holds(rules.HideIf)
	case rules.ShowIf != nil:
		around.Shown = around.Shown && f.holds(rules.ShowIf)
	}
	switch {
	case rules.EnableIf != nil:
		around.Enabled = around.Enabled && f.holds(rules.EnableIf)
	case rules.DisableIf != nil:
		around.Enabled = around.Enabled && !f.holds(rules.DisableIf)
	}
	return around
}

// holds evaluates a rule. Rules look at what buttons and attributes are set to,
// and never at whether a control is shown or enabled, so no rule depends on what
// others have brought about and their order does not matter.
func (f *Form) holds(rule *launchtab.Rule) bool {
	switch rule.Kind {
	case launchtab.RuleNot:
		return len(rule.Rules) == 0 || !f.holds(rule.Rules[0])
	case launchtab.RuleAnd:
		return !slices.ContainsFunc(rule.Rules, func(inner *launchtab.Rule) bool { return !f.holds(inner) })
	case launchtab.RuleOr:
		return slices.ContainsFunc(rule.Rules, f.holds)
	case launchtab.RuleButton:
		button := f.buttons[rule.Button.Name]
		return (button != nil && f.isSelected(button)) == rule.Selected
	case launchtab.RuleAttribute:
		a := f.environment.Lookup(rule.Attribute.Name)
		return a != nil && a.Value() != nil && rule.Value.Set && attribute.Text(a.Value()) == rule.Value.Text
	}
	return true
}

// isSelected reports whether a button is selected. A button of a group is if
// its title is the group's value.
func (f *Form) isSelected(button *launchtab.Widget) bool {
	if group := f.groups[button]; group != nil {
		value := f.textOf(group)
		return value != "" && value == button.Title.Text
	}
	a := f.bound(button)
	if a == nil {
		return f.selected[button]
	}
	return isOn(a, a.Value())
}

// isOn reports whether a value is what a switch of the attribute stores when
// it is on.
func isOn(a *attribute.Attribute, value attribute.Value) bool {
	if on, _, translated := translation(a); translated {
		return value != nil && attribute.Text(value) == on
	}
	return strings.EqualFold(attribute.Text(value), "true")
}

// bound returns the attribute that a control sets; nil for one that sets none.
func (f *Form) bound(control launchtab.Control) *attribute.Attribute {
	if name := launchtab.Bound(control).Name; name != "" {
		return f.environment.Lookup(name)
	}
	return nil
}

// textOf returns the text of what a control is set to.
func (f *Form) textOf(control launchtab.Control) string {
	if a := f.bound(control); a != nil {
		return attribute.Text(a.Value())
	}
	return f.texts[control]
}

// visit calls use for each control of a page with its state, outer ones first.
func (f *Form) visit(page *Page, use func(control launchtab.Control, state condition)) {
	f.visitInside(page.Controls, f.within(condition{Shown: true, Enabled: true}, page.state), use)
}

func (f *Form) visitInside(controls []launchtab.Control, around condition, use func(launchtab.Control, condition)) {
	for _, control := range controls {
		state := f.within(around, control.Common().State)
		use(control, state)
		f.visitInside(control.Common().Controls, state, use)
	}
}
