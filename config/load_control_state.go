package config

func (l *loader) controlState(e element, name string) *ControlState {
	child, ok := e.first(name)
	if !ok {
		return nil
	}
	return &ControlState{
		Position:  child.position(),
		ShowIf:    l.ruleOf(child, "show-if"),
		HideIf:    l.ruleOf(child, "hide-if"),
		EnableIf:  l.ruleOf(child, "enable-if"),
		DisableIf: l.ruleOf(child, "disable-if"),
	}
}

func (l *loader) ruleOf(e element, name string) *Rule {
	child, ok := e.first(name)
	if !ok {
		return nil
	}
	return l.rule(child)
}

func (l *loader) rule(e element) *Rule {
	rule := &Rule{
		Position:  e.position(),
		Kind:      RuleAlways,
		Button:    e.reference("button"),
		Selected:  e.boolean("selected", true),
		Attribute: e.reference("attribute"),
		Value:     e.optional("value"),
	}
	switch {
	case rule.Button.Name != "":
		rule.Kind = RuleButton
	case rule.Attribute.Name != "":
		rule.Kind = RuleAttribute
	}
	// An operator inside beats what the element itself names.
	for _, operator := range []RuleKind{RuleNot, RuleAnd, RuleOr} {
		child, ok := e.first(string(operator))
		if !ok {
			continue
		}
		rule.Kind = operator
		for _, inner := range child.named("rule") {
			rule.Rules = append(rule.Rules, l.rule(inner))
		}
		break
	}
	return rule
}
