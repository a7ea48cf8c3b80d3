package tokenizer

import (
	"fmt"
	"reflect"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// A test is evaluated on an attribute after the stream has ended.
type test struct {
	config    *config.Test
	tests     []*test
	operands  []operand
	actions   []*action
	otherwise []*action
}

// runTest evaluates a test and runs its actions or those of its else. Nested tests run theirs as they are
// evaluated; evaluation stops at the test that decides.
func (t *Tokenizer) runTest(test *test, object *attribute.Attribute, depth int) (bool, error) {
	if depth == 0 {
		t.origins.beginTest()
	}
	event := TraceEvent{Kind: "test", Position: test.config.Position, Test: test.config, Attribute: object, Depth: depth}
	var err error
	switch test.config.Operator {
	case config.And, config.Or:
		event.Outcome, err = t.combine(test, object, depth+1)
	case config.Not:
		if len(test.tests) != 1 {
			return false, malformedTest(test, "exactly one nested test")
		}
		event.Outcome, err = t.runTest(test.tests[0], object, depth+1)
		event.Outcome = !event.Outcome
	default:
		event.Operands, event.Outcome, err = t.compare(test, object)
	}
	if err != nil {
		return false, err
	}
	t.trace(event)
	actions := test.actions
	if !event.Outcome {
		actions = test.otherwise
	}
	return event.Outcome, t.runAll(actions, object)
}

// runAll runs actions outside a match, without captures.
func (t *Tokenizer) runAll(actions []*action, object *attribute.Attribute) error {
	for _, action := range actions {
		looked := t.origins.beginAction()
		if err := t.run(action, object, nil); err != nil {
			return err
		}
		t.origins.endAction(looked, action, object)
	}
	return nil
}

func (t *Tokenizer) combine(test *test, object *attribute.Attribute, depth int) (bool, error) {
	if len(test.tests) < 2 {
		return false, malformedTest(test, "at least two nested tests")
	}
	decisive := test.config.Operator == config.Or
	for _, nested := range test.tests {
		outcome, err := t.runTest(nested, object, depth)
		if err != nil {
			return false, err
		}
		if outcome == decisive {
			return decisive, nil
		}
	}
	return !decisive, nil
}

func (t *Tokenizer) compare(test *test, object *attribute.Attribute) ([]attribute.Value, bool, error) {
	if len(test.operands) != 2 {
		return nil, false, malformedTest(test, "exactly two values")
	}
	values := make([]attribute.Value, 2)
	for i := range test.operands {
		value, err := t.evaluate(&test.operands[i], test.config.Position, object)
		if err != nil {
			return nil, false, &Error{Position: test.config.Position, Err: err}
		}
		values[i] = value
	}
	a, b := values[0], values[1]
	switch test.config.Operator {
	case config.Less:
		return values, less(a, b, false), nil
	case config.LessOrEqual:
		return values, less(a, b, true), nil
	case config.Greater:
		return values, less(b, a, false), nil
	case config.GreaterOrEqual:
		return values, less(b, a, true), nil
	default:
		return values, reflect.DeepEqual(a, b), nil
	}
}

// less orders texts by bytes, integers by value, and false before true. Missing values, values of
// different types, lists and maps have no order.
func less(a, b attribute.Value, orEqual bool) bool {
	switch left := a.(type) {
	case string:
		right, same := b.(string)
		return same && (left < right || orEqual && left == right)
	case int:
		right, same := b.(int)
		return same && (left < right || orEqual && left == right)
	case bool:
		right, same := b.(bool)
		return same && (!left && right || orEqual && left == right)
	}
	return false
}

func malformedTest(test *test, wanted string) error {
	return &Error{Position: test.config.Position, Err: fmt.Errorf("the %s test needs %s", test.config.Operator, wanted)}
}
