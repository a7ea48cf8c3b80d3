package coverage

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// The kinds of things that count.
const (
	kindCommand    = "command"    // with a parser or reader; it ran
	kindExpression = "expression" // it matched, or ended the reading
	kindAction     = "action"     // it ran
	kindTest       = "test"       // one for each possible outcome
	kindElse       = "else"       // of a target: it ran; that of a test counts as the test being false
	kindState      = "state"      // the definition set this state
	kindRow        = "row"        // of x:states: a record got its state from it
	kindFact       = "fact"       // x:fact: a record had a value for it
)

// kinds are all of them in the order of reports.
var kinds = []string{kindCommand, kindExpression, kindAction, kindTest, kindElse, kindState, kindRow, kindFact}

// things are the parts of a definition that count, and whether they were exercised.
type things struct {
	definition *config.Definition
	all        []Thing // in document order
	marked     []atomic.Bool
	indices    map[thingKey]int
	commands   map[*config.Parser]config.Position // commands by parser
	// indirect has the actions that take a job's state from the attribute behind a
	// reference, by the states that they may find.
	indirect map[config.Position]map[string]config.Position
}

// A thingKey identifies a thing by its position and, if several share it, by the outcome
// of a test or the state that an action stores.
type thingKey struct {
	kind   string
	at     config.Position
	detail string
}

// thingsOf returns the things of a definition. Commands without a parser or reader do not
// count.
func thingsOf(definition *config.Definition) *things {
	t := &things{definition: definition, indices: map[thingKey]int{},
		commands: map[*config.Parser]config.Position{}, indirect: map[config.Position]map[string]config.Position{}}
	for _, command := range definition.Commands {
		t.addCommand(command)
		for _, fallback := range command.Fallbacks {
			t.addCommand(fallback)
		}
	}
	t.marked = make([]atomic.Bool, len(t.all))
	return t
}

// add adds a thing once.
func (t *things) add(kind string, at config.Position, detail, what string, values ...any) {
	key := thingKey{kind, at, detail}
	if _, known := t.indices[key]; known {
		return
	}
	t.indices[key] = len(t.all)
	t.all = append(t.all, Thing{Kind: kind, File: at.File, Line: at.Line, Column: at.Column, What: fmt.Sprintf(what, values...)})
}

// addReader adds the rows and facts of a reader, which commands may share.
func (t *things) addReader(r *config.Reader) {
	if r == nil {
		return
	}
	if r.States != nil {
		for _, row := range r.States.Rows {
			t.add(kindRow, row.Position, "", "the state %s for %s", row.Is, strings.Join(append(row.Words, row.Matches.Text), " "))
		}
	}
	for _, fact := range r.Facts {
		t.add(kindFact, fact.Position, "", "the fact %s", fact.Name+fact.Attribute)
	}
}

func (t *things) addCommand(command *config.Command) {
	if len(command.Parsers()) == 0 && command.Read == nil {
		return
	}
	t.add(kindCommand, command.Position, "", "the command %s %q", command.Element, command.Name)
	t.addReader(command.Read)
	for _, parser := range command.Parsers() {
		t.commands[parser] = command.Position
		for _, target := range parser.Targets {
			t.addTarget(target)
		}
		for _, exit := range []*config.Expression{parser.ExitOn, parser.ExitAfter} {
			if exit != nil {
				t.add(kindExpression, exit.Position, "", "the expression %s, which ends the reading", exit.Text)
			}
		}
	}
}

func (t *things) addTarget(target *config.Target) {
	isJob := target.Ref.Text == attribute.JobPlaceholder
	for _, match := range target.Matches {
		what := "the match that takes every text"
		if match.Expression != nil {
			what = "the expression " + match.Expression.Text
		}
		t.add(kindExpression, placeOfMatch(match), "", "%s", what)
		t.addActions(match.Actions, isJob)
	}
	for _, test := range target.Tests {
		t.addTest(test, isJob)
	}
	if target.HasElse {
		t.add(kindElse, target.Position, "", "the else of the target")
		t.addActions(target.Else, isJob)
	}
}

// placeOfMatch returns the position of a match's expression, or of the match without one.
func placeOfMatch(match *config.Match) config.Position {
	if match.Expression == nil {
		return match.Position
	}
	return match.Expression.Position
}

func (t *things) addTest(test *config.Test, isJob bool) {
	what := "test " + string(test.Operator)
	if len(test.Values) == 2 {
		what = fmt.Sprintf("test %s of %q and %q", test.Operator, test.Values[0], test.Values[1])
	}
	for _, outcome := range []bool{true, false} {
		if isPossible(test, outcome) {
			t.add(kindTest, test.Position, outcomeName(outcome), "the %s being %s", what, outcomeName(outcome))
		}
	}
	for _, nested := range test.Tests {
		t.addTest(nested, isJob)
	}
	t.addActions(test.Actions, isJob)
	t.addActions(test.Else, isJob)
}

// isPossible reports whether a test can have an outcome. A test of two fixed texts has
// only one.
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

func (t *things) addActions(actions []*config.Action, isJob bool) {
	for _, action := range actions {
		t.add(kindAction, action.Position, "", "the action %s", shownAction(action))
		if !isJob || action.Field.Text != attribute.FieldValue.String() {
			continue
		}
		for _, entry := range action.Entries {
			t.addState(action, entry)
		}
	}
}

func shownAction(action *config.Action) string {
	if action.Field.Set {
		return fmt.Sprintf("%s of the field %s", action.Kind, action.Field.Text)
	}
	return string(action.Kind)
}

// addState adds the job states that an entry may store.
func (t *things) addState(action *config.Action, entry *config.Entry) {
	if _, known := job.ParseDetail(entry.Value.Text); known {
		t.add(kindState, action.Position, entry.Value.Text, "the state %s", entry.Value.Text)
		return
	}
	field, leads := fieldOfNested(entry.Value.Text)
	if !leads {
		return
	}
	places := map[string]config.Position{}
	for _, defined := range t.definition.Attributes {
		text := defined.Text(field)
		if _, known := job.ParseDetail(text); !known {
			continue
		}
		if _, already := places[text]; !already {
			places[text] = defined.Position
			t.add(kindState, defined.Position, text, "the state %s of attribute %q", text, defined.Name())
		}
	}
	t.indirect[action.Position] = places
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
