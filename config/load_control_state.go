package config

import "github.com/rmctl/rmctl/internal/tree"

func (l *loader) controlState(e tree.Element, name string) *ControlState {
	child, ok := e.First(name)
	if !ok {
		return nil
	}
	return &ControlState{
		Position:  child.Position(),
		ShowIf:    l.ruleOf(child, "show-if"),
		HideIf:    l.ruleOf(child, "hide-if"),
		EnableIf:  l.ruleOf(child, "enable-if"),
		DisableIf: l.ruleOf(child, "disable-if"),
	}
}

func (l *loader) ruleOf(e tree.Element, name string) *Rule {
	child, ok := e.First(name)
	if !ok {
		return nil
	}
	return l.rule(child)
}

func (l *loader) rule(e tree.Element) *Rule {
	rule := &Rule{
		Position:  e.Position(),
		Kind:      RuleAlways,
		Button:    referenceIn(e, "button"),
		Selected:  e.Boolean("selected", true),
		Attribute: referenceIn(e, "attribute"),
		Value:     e.Optional("value"),
	}
	switch {
	case rule.Button.Name != "":
		rule.Kind = RuleButton
	case rule.Attribute.Name != "":
		rule.Kind = RuleAttribute
	}
	// An operator inside beats what the element itself names.
	for _, operator := range []RuleKind{RuleNot, RuleAnd, RuleOr} {
		child, ok := e.First(string(operator))
		if !ok {
			continue
		}
		rule.Kind = operator
		for _, inner := range child.Named("rule") {
			rule.Rules = append(rule.Rules, l.rule(inner))
		}
		break
	}
	return rule
}
