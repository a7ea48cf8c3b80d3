package cases

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// coverables are all things of a definition that count, in document order.
type coverables struct {
	definition *config.Definition
	all        []Coverable
	indices    map[coverableKey]int
	commands   map[*config.Parser]config.Position // of whose output they read
	// indirect has the actions that take a job's state from whichever attribute
	// a reference leads to: by the states that it may find, where they stand.
	indirect map[config.Position]map[string]config.Position
}

// A coverableKey names a thing by where it stands, and which of several that
// stand there it is: the outcome of a test, the state that an action stores.
type coverableKey struct {
	kind   CoverageKind
	at     config.Position
	detail string
}

func coverablesOf(definition *config.Definition) *coverables {
	things := &coverables{definition: definition, indices: map[coverableKey]int{},
		commands: map[*config.Parser]config.Position{}, indirect: map[config.Position]map[string]config.Position{}}
	for _, command := range definition.Commands {
		things.addCommand(command)
		for _, fallback := range command.Fallbacks {
			things.addCommand(fallback)
		}
	}
	return things
}

// add counts a thing, once.
func (c *coverables) add(kind CoverageKind, at config.Position, detail, what string, values ...any) {
	key := coverableKey{kind, at, detail}
	if _, known := c.indices[key]; known {
		return
	}
	c.indices[key] = len(c.all)
	c.all = append(c.all, Coverable{Position: at, Kind: kind, What: fmt.Sprintf(what, values...)})
}

func (c *coverables) addCommand(command *config.Command) {
	if len(command.Parsers()) == 0 {
		return
	}
	c.add(coveredCommand, command.Position, "", "the command %s %q", command.Element, command.Name)
	for _, parser := range command.Parsers() {
		c.commands[parser] = command.Position
		for _, target := range parser.Targets {
			c.addTarget(target)
		}
		for _, exit := range []*config.Expression{parser.ExitOn, parser.ExitAfter} {
			if exit != nil {
				c.add(coveredExpression, exit.Position, "", "the expression %s, which ends the reading", exit.Text)
			}
		}
	}
}

func (c *coverables) addTarget(target *config.Target) {
	isJob := target.Ref.Text == attribute.JobPlaceholder
	for _, match := range target.Matches {
		what := "the match that takes every text"
		if match.Expression != nil {
			what = "the expression " + match.Expression.Text
		}
		c.add(coveredExpression, placeOfMatch(match), "", "%s", what)
		c.addActions(match.Actions, isJob)
	}
	for _, test := range target.Tests {
		c.addTest(test, isJob)
	}
	if target.HasElse {
		c.add(coveredElse, target.Position, "", "the else of the target")
		c.addActions(target.Else, isJob)
	}
}

// placeOfMatch returns where a match's expression stands, or the match itself
// where it has none.
func placeOfMatch(match *config.Match) config.Position {
	if match.Expression == nil {
		return match.Position
	}
	return match.Expression.Position
}

func (c *coverables) addTest(test *config.Test, isJob bool) {
	what := "test " + string(test.Operator)
	if len(test.Values) == 2 {
		what = fmt.Sprintf("test %s of %q and %q", test.Operator, test.Values[0], test.Values[1])
	}
	for _, outcome := range []bool{true, false} {
		if isPossible(test, outcome) {
			c.add(CoveredTest, test.Position, outcomeName(outcome), "the %s being %s", what, outcomeName(outcome))
		}
	}
	for _, nested := range test.Tests {
		c.addTest(nested, isJob)
	}
	c.addActions(test.Actions, isJob)
	c.addActions(test.Else, isJob)
}

// isPossible reports whether a test can have an outcome: of two texts that
// never change, as definitions have them to run actions in any case, only one.
func isPossible(test *config.Test, outcome bool) bool {
	for _, value := range test.Values {
		if strings.HasPrefix(value, "#") || strings.Contains(value, "${") {
			return true
		}
	}
	if test.Operator != config.Equal || len(test.Values) != 2 {
		return true
	}
	return (test.Values[0] == test.Values[1]) == outcome
}

func outcomeName(outcome bool) string {
	if outcome {
		return "true"
	}
	return "false"
}

func (c *coverables) addActions(actions []*config.Action, isJob bool) {
	for _, action := range actions {
		c.add(coveredAction, action.Position, "", "the action %s", shownAction(action))
		if !isJob || action.Field.Text != attribute.FieldValue.String() {
			continue
		}
		for _, entry := range action.Entries {
			c.addState(action, entry)
		}
	}
}

func shownAction(action *config.Action) string {
	if action.Field.Set {
		return fmt.Sprintf("%s of the field %s", action.Kind, action.Field.Text)
	}
	return string(action.Kind)
}

// addState counts the states that an entry may store as a job's.
func (c *coverables) addState(action *config.Action, entry *config.Entry) {
	if _, known := job.ParseDetail(entry.Value.Text); known {
		c.add(coveredState, action.Position, entry.Value.Text, "the state %s", entry.Value.Text)
		return
	}
	field, leads := fieldOfNested(entry.Value.Text)
	if !leads {
		return
	}
	places := map[string]config.Position{}
	for _, defined := range c.definition.Attributes {
		text := defined.Text(field)
		if _, known := job.ParseDetail(text); !known {
			continue
		}
		if _, already := places[text]; !already {
			places[text] = defined.Position
			c.add(coveredState, defined.Position, text, "the state %s of attribute %q", text, defined.Name())
		}
	}
	c.indirect[action.Position] = places
}

// fieldOfNested returns the field that a reference takes from an attribute whose
// name is a reference, too: ${ptp_rm:${ptp_rm:which#value}#description}.
func fieldOfNested(text string) (attribute.Field, bool) {
	if strings.Count(text, "${") < 2 || !strings.HasSuffix(text, "}") {
		return 0, false
	}
	name := text[strings.LastIndexByte(text, '#')+1 : len(text)-1]
	return attribute.ParseField(name)
}
