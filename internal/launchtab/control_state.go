package launchtab

import "github.com/rmctl/rmctl/internal/xmltree"

// A ControlState says when a control is shown and when it is enabled. Of
// ShowIf and HideIf the schema allows one; where both are given HideIf counts,
// and of EnableIf and DisableIf, EnableIf. Nil rules are not given.
type ControlState struct {
	ShowIf, HideIf, EnableIf, DisableIf *Rule
}

// Walk calls visit for the rules that are given and those inside them.
func (s *ControlState) Walk(visit func(*Rule)) {
	if s != nil {
		walkRules([]*Rule{s.ShowIf, s.HideIf, s.EnableIf, s.DisableIf}, visit)
	}
}

func walkRules(rules []*Rule, visit func(*Rule)) {
	for _, rule := range rules {
		if rule != nil {
			visit(rule)
			walkRules(rule.Rules, visit)
		}
	}
}

// A RuleKind is what a rule looks at.
type RuleKind string

// The kinds of rules. Where an element gives more than one, the first of this
// list counts.
const (
	RuleNot       RuleKind = "not"       // the opposite of its one rule
	RuleAnd       RuleKind = "and"       // all of its rules
	RuleOr        RuleKind = "or"        // any of its rules
	RuleButton    RuleKind = "button"    // whether a button is selected
	RuleAttribute RuleKind = "attribute" // whether an attribute has a value
	RuleAlways    RuleKind = "always"    // nothing is given: always true
)

// A Rule is a condition on buttons and attributes of the form.
type Rule struct {
	xmltree.Position
	Kind      RuleKind
	Rules     []*Rule   // of not, and, or
	Button    Reference // the buttonId, of any tab
	Selected  bool      // what the button has to be
	Attribute Reference
	Value     xmltree.Optional // the text that the attribute's value has to have
}

func readControlState(e *xmltree.Element, name string) *ControlState {
	child, ok := e.First(name)
	if !ok {
		return nil
	}
	return &ControlState{
		ShowIf:    ruleIn(child, "show-if"),
		HideIf:    ruleIn(child, "hide-if"),
		EnableIf:  ruleIn(child, "enable-if"),
		DisableIf: ruleIn(child, "disable-if"),
	}
}

func ruleIn(e *xmltree.Element, name string) *Rule {
	child, ok := e.First(name)
	if !ok {
		return nil
	}
	return readRule(child)
}

func readRule(e *xmltree.Element) *Rule {
	rule := &Rule{
		Position:  e.Position(),
		Kind:      RuleAlways,
		Button:    reference(e, "button"),
		Selected:  e.Boolean("selected", true),
		Attribute: reference(e, "attribute"),
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
			rule.Rules = append(rule.Rules, readRule(inner))
		}
		break
	}
	return rule
}
