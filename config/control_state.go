package config

// A ControlState tells when a control is shown and when it is enabled. Of
// ShowIf and HideIf the schema allows one; where both are given HideIf counts,
// and of EnableIf and DisableIf, EnableIf. Nil rules are not given.
type ControlState struct {
	Position
	ShowIf, HideIf, EnableIf, DisableIf *Rule
}

// Rules returns the rules that are given.
func (s *ControlState) Rules() []*Rule {
	if s == nil {
		return nil
	}
	var rules []*Rule
	for _, rule := range []*Rule{s.ShowIf, s.HideIf, s.EnableIf, s.DisableIf} {
		if rule != nil {
			rules = append(rules, rule)
		}
	}
	return rules
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
	Position
	Kind      RuleKind
	Rules     []*Rule   // of not, and, or
	Button    Reference // the buttonId, of any tab
	Selected  bool      // what the button has to be
	Attribute Reference
	Value     Optional // the text that the attribute's value has to have
}

// Walk calls visit for the rule and those inside it.
func (r *Rule) Walk(visit func(*Rule)) {
	visit(r)
	for _, inner := range r.Rules {
		inner.Walk(visit)
	}
}
