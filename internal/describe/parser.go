package describe

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/job"
)

type parserDescription struct {
	Element    string              `json:"element"`
	Type       string              `json:"type,omitempty"` // of a parser that is not made of targets
	Segments   string              `json:"segments"`       // how the stream is cut
	ApplyToAll bool                `json:"applyToAll,omitempty"`
	Targets    []targetDescription `json:"targets,omitempty"`
	ExitOn     string              `json:"exitOn,omitempty"`
	ExitAfter  string              `json:"exitAfter,omitempty"`
	Position   string              `json:"position"`
}

type targetDescription struct {
	Attribute string             `json:"attribute,omitempty"` // that the actions change; empty to create attributes
	MatchAll  bool               `json:"matchAll,omitempty"`
	Matches   []matchDescription `json:"matches,omitempty"`
	Tests     []testDescription  `json:"tests,omitempty"`
	Else      []string           `json:"else,omitempty"`
	Position  string             `json:"position"`
}

type matchDescription struct {
	Expression string   `json:"expression,omitempty"` // none takes every segment
	Split      bool     `json:"split,omitempty"`
	Actions    []string `json:"actions"`
	Position   string   `json:"position"`
}

type testDescription struct {
	Condition string   `json:"condition"`
	Actions   []string `json:"actions,omitempty"`
	Else      []string `json:"else,omitempty"`
	Position  string   `json:"position"`
}

func describeParser(p *config.Parser) parserDescription {
	d := parserDescription{Element: p.Element, Type: p.Type, Segments: segments(p), ApplyToAll: p.ApplyToAll, Targets: each(p.Targets, describeTarget), Position: p.Position.String()}
	if p.ExitOn != nil {
		d.ExitOn = p.ExitOn.Text
	}
	if p.ExitAfter != nil {
		d.ExitAfter = p.ExitAfter.Text
	}
	return d
}

// segments describes how the stream is cut.
func segments(p *config.Parser) string {
	if p.MaxMatchLength > 0 {
		return fmt.Sprintf("windows of %d characters", 2*p.MaxMatchLength)
	}
	var text string
	switch delimiter := p.Delimiter.Text; delimiter {
	case "":
		text = "characters"
	case `\n`:
		text = "lines"
	case `\r`:
		text = "texts up to carriage returns"
	case `\t`:
		text = "texts up to tabs"
	default:
		text = fmt.Sprintf("texts up to %q", delimiter)
	}
	switch {
	case p.All && p.Save == 1:
		return text + "; only the last counts"
	case p.All:
		return fmt.Sprintf("%s; only the last %d count", text, p.Save)
	}
	return text
}

func describeTarget(t *config.Target) targetDescription {
	d := targetDescription{Attribute: t.Ref.Text, MatchAll: t.MatchAll, Else: describeActions(t.Else, false), Position: t.Position.String()}
	for _, match := range t.Matches {
		one := matchDescription{Position: match.Position.String()}
		if match.Expression != nil {
			one.Expression, one.Split = match.Expression.Text, match.Expression.Split
		}
		one.Actions = describeActions(match.Actions, one.Split)
		d.Matches = append(d.Matches, one)
	}
	for _, test := range t.Tests {
		d.Tests = append(d.Tests, describeTests(test, "")...)
	}
	return d
}

// describeTests returns a test and those inside it that have actions of their own.
func describeTests(t *config.Test, within string) []testDescription {
	condition := condition(t)
	if within != "" {
		condition = within + ", " + condition
	}
	tests := []testDescription{{condition, describeActions(t.Actions, false), describeActions(t.Else, false), t.Position.String()}}
	for _, inner := range t.Tests {
		if len(inner.Actions) > 0 || len(inner.Else) > 0 {
			tests = append(tests, describeTests(inner, condition)...)
		}
	}
	return tests
}

var comparisons = map[config.Operator]string{
	config.Equal: "=", config.Less: "<", config.Greater: ">", config.LessOrEqual: "<=", config.GreaterOrEqual: ">=",
}

func condition(t *config.Test) string {
	parts := operands(t.Tests, condition, func(inner *config.Test) bool { return inner.Operator == config.And || inner.Operator == config.Or })
	switch t.Operator {
	case config.And:
		return strings.Join(parts, " and ")
	case config.Or:
		return strings.Join(parts, " or ")
	case config.Not:
		return "not " + strings.Join(parts, " ")
	}
	return strings.Join(each(t.Values, literal), " "+comparisons[t.Operator]+" ")
}

// operands returns the texts of conditions to combine; combined ones are in parentheses.
func operands[T any](conditions []T, text func(T) string, combines func(T) bool) []string {
	return each(conditions, func(one T) string {
		if combines(one) {
			return "(" + text(one) + ")"
		}
		return text(one)
	})
}

// literal quotes a text unless it is a field of the same attribute.
func literal(text string) string {
	if field, isField := strings.CutPrefix(text, "#"); isField {
		return field
	}
	return fmt.Sprintf("%q", text)
}

func describeActions(actions []*config.Action, split bool) []string {
	var described []string
	for _, action := range actions {
		described = append(described, describeAction(action, split))
	}
	return described
}

func describeAction(a *config.Action, split bool) string {
	field := a.Field.Text
	var entries []string
	for _, entry := range a.Entries {
		text := source(entry.Value, entry.ValueIndex, entry.ValueGroup, split)
		if a.Kind == config.Put {
			text += " under " + source(entry.Key, entry.KeyIndex, entry.KeyGroup, split)
		}
		entries = append(entries, text)
	}
	what := strings.Join(entries, ", ")
	text := ""
	switch a.Kind {
	case config.Set:
		text = fmt.Sprintf("set %s to %s", field, what)
		if what == "" {
			text = "unset " + field
		}
	case config.Append:
		text = fmt.Sprintf("append %s to %s", what, field)
		if a.Separator != "" {
			text += fmt.Sprintf(", separated by %q", a.Separator)
		}
	case config.Throw:
		text = fmt.Sprintf("fail: %q", a.Message)
		if field != "" {
			text = fmt.Sprintf("set %s to %s and fail: %q", field, what, a.Message)
		}
	default:
		text = fmt.Sprintf("%s %s to %s", a.Kind, what, field)
	}
	if a.ForceNewObject {
		text += " of a new attribute"
	}
	return text
}

// source describes the source of an entry.
func source(value config.Optional, index, group int, split bool) string {
	switch {
	case value.Set:
		return literal(value.Text)
	case split && index == 0 && group == 0:
		return "part 0"
	case split:
		return fmt.Sprintf("part %d", max(index, group))
	case index != 0:
		return fmt.Sprintf("group %d", index)
	case group == 0:
		return "the segment"
	}
	return fmt.Sprintf("group %d", group)
}

type stateDescription struct {
	State    string `json:"state"`
	When     string `json:"when"`
	Command  string `json:"command"`
	Position string `json:"position"`
}

// describeStates collects the states that the status commands set by name.
// It finds none if they take the scheduler's own words, or look them up.
func describeStates(d *config.Definition) []stateDescription {
	var found []stateDescription
	var ofCommand func(c *config.Command)
	ofCommand = func(c *config.Command) {
		add := func(actions []*config.Action, when string) {
			for _, action := range actions {
				if name, ok := stateSetBy(action); ok {
					found = append(found, stateDescription{name, when, c.Name, action.Position.String()})
				}
			}
		}
		for _, parser := range c.Parsers() {
			for _, target := range parser.Targets {
				if target.Ref.Text != attribute.JobPlaceholder {
					continue
				}
				for _, match := range target.Matches {
					if match.Expression != nil {
						add(match.Actions, "the output matches "+match.Expression.Text)
					}
				}
				inspect.EachTest(target.Tests, func(test *config.Test) bool {
					add(test.Actions, condition(test))
					add(test.Else, "not: "+condition(test))
					return true
				})
				add(target.Else, "otherwise")
			}
		}
		for _, fallback := range c.Fallbacks {
			ofCommand(fallback)
		}
	}
	for _, c := range d.CommandsOf(config.GetJobStatus) {
		ofCommand(c)
	}
	return found
}

func stateSetBy(a *config.Action) (string, bool) {
	if a.Kind != config.Set || !inspect.Sets(a, attribute.FieldValue) || len(a.Entries) != 1 {
		return "", false
	}
	_, isState := job.ParseDetail(a.Entries[0].Value.Text)
	return a.Entries[0].Value.Text, isState
}
