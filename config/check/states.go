package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/job"
)

// checkStates reports unknown states that parsers set, except those that a test of
// the same target turns into a state later.
func (c *checker) checkStates(command *config.Command) {
	for target := range jobTargets(command) {
		tested := map[string]bool{}
		inspect.EachTest(target.Tests, func(test *config.Test) bool {
			for _, value := range test.Values {
				tested[value] = true
			}
			return true
		})
		for _, action := range inspect.Actions(target) {
			if action.Kind != config.Set || !inspect.Sets(action, attribute.FieldValue) || len(action.Entries) == 0 {
				continue
			}
			entry := action.Entries[0]
			text := entry.Value.Text
			if text == "" || strings.HasPrefix(text, "#") || strings.Contains(text, reference.Start) || tested[text] {
				continue
			}
			if _, known := job.ParseDetail(text); !known {
				c.reportState(entry, text)
			}
		}
	}
}

func (c *checker) reportState(entry *config.Entry, text string) {
	c.reportName(entry.ValueAt, config.Warning, "unknown-state", fmt.Sprintf("unknown state %s: jobs keep their state, and rmctl shows the text as the scheduler's word", wording.Quote(text)),
		text, stateNames())
}

func stateNames() []string {
	var names []string
	for _, detail := range job.Details() {
		names = append(names, string(detail))
	}
	return names
}

// checkNativeStates reports words for states of jobs that the tests of the status
// command do not map to a state.
func (c *checker) checkNativeStates(command *config.Command) {
	for _, one := range withFallbacks(command) {
		for _, parser := range inspect.ReadingParsers(one) {
			for _, target := range parser.Targets {
				if actsOnJob(target) {
					c.checkNativeStatesOf(one, parser, target)
				}
			}
		}
	}
}

func (c *checker) checkNativeStatesOf(command *config.Command, parser *config.Parser, target *config.Target) {
	for _, source := range wordSources(parser, target) {
		vocabulary, known := vocabularyOf(c.definition, command, testedWords(target, source))
		if !known {
			continue
		}
		var missing []string
		for _, word := range vocabulary.words {
			if c.unmapped(parser, target, source, word) {
				missing = append(missing, word)
			}
		}
		if len(missing) > 0 {
			c.report(target.Position, config.Warning, "unmapped-native-state",
				fmt.Sprintf("no test maps these words of %s to a state: %s; jobs keep their state when the scheduler reports them", vocabulary.scheduler, strings.Join(missing, ", ")),
				`add <test><value>`+source+`</value><value>`+missing[0]+`</value> with <set field="value"> for each`)
		}
		return
	}
}

// ownValue is how tests write the value of the attribute at hand.
const ownValue = "#value"

// wordSources returns how tests of a target can refer to the scheduler's word
// for the state: by its own value or by that of another attribute that the
// parser sets from a group.
func wordSources(parser *config.Parser, target *config.Target) []string {
	var sources []string
	if takesValue(target) {
		sources = append(sources, ownValue)
	}
	for _, other := range parser.Targets {
		if other != target && other.Ref.Text != "" && !strings.Contains(other.Ref.Text, reference.Start) && takesValue(other) {
			sources = append(sources, reference.Start+reference.Prefix+":"+other.Ref.Text+"#value}")
		}
	}
	return sources
}

// takesValue reports whether a match of a target sets its value to a group.
func takesValue(target *config.Target) bool {
	for _, match := range target.Matches {
		for _, action := range match.Actions {
			if action.Kind == config.Set && inspect.Sets(action, attribute.FieldValue) && len(action.Entries) > 0 && !action.Entries[0].Value.Set {
				return true
			}
		}
	}
	return false
}

// testedWords returns the texts that the tests of a target compare with a source.
func testedWords(target *config.Target, source string) []string {
	var words []string
	inspect.EachTest(target.Tests, func(test *config.Test) bool {
		if test.Operator == config.Equal && len(test.Values) == 2 {
			for i, value := range test.Values {
				if value == source {
					words = append(words, test.Values[1-i])
				}
			}
		}
		return true
	})
	return words
}

// unmapped reports whether the tests certainly give a job with this word no state.
func (c *checker) unmapped(parser *config.Parser, target *config.Target, source, word string) bool {
	if isState(word) && source == ownValue {
		return false
	}
	for _, other := range parser.Targets {
		if inspect.MayActOnJob(other) && slices.ContainsFunc(other.Matches, func(match *config.Match) bool { return c.mayLookFor(match, word) }) {
			return false
		}
	}
	trial := nativeTrial{source: source, word: word}
	if source == ownValue {
		trial.value, trial.isSet = word, true
	}
	trial.run(target)
	return !trial.doubtful && (!trial.isSet || !isState(trial.value))
}

// mayLookFor reports whether a match sets a state of its own for segments that
// may hold a word.
func (c *checker) mayLookFor(match *config.Match, word string) bool {
	literal := slices.ContainsFunc(match.Actions, func(action *config.Action) bool {
		return inspect.Sets(action, attribute.FieldValue) && len(action.Entries) > 0 && action.Entries[0].Value.Set
	})
	if !literal {
		return false
	}
	compiled := c.expressions.regexp(match.Expression)
	held, err := c.expressions.compile(`(?s)(?:.*\W)?`+word+`(?:\W.*)?`, 0)
	return compiled == nil || err != nil || c.inspector.Overlap(compiled, held)
}

func isState(text string) bool {
	_, known := job.ParseDetail(text)
	return known
}

// A nativeTrial runs the tests of a target for one word of the scheduler.
type nativeTrial struct {
	source, word string
	value        string // of the job
	isSet        bool
	doubtful     bool // the value depends on other output
}

type verdict uint8

const (
	fails verdict = iota
	succeeds
	unknown
)

func (t *nativeTrial) run(target *config.Target) {
	succeeded, maySucceed := false, false
	for _, test := range target.Tests {
		result := t.evaluate(test)
		succeeded = succeeded || result == succeeds
		maySucceed = maySucceed || result == unknown
	}
	switch {
	case succeeded:
	case maySucceed:
		t.doubtful = t.doubtful || len(target.Else) > 0
	default:
		t.act(target.Else)
	}
}

// evaluate runs a test with its actions. Where the outcome is not known and
// matters, the trial becomes doubtful.
func (t *nativeTrial) evaluate(test *config.Test) verdict {
	result := t.decide(test)
	switch {
	case result == succeeds:
		t.act(test.Actions)
	case result == fails:
		t.act(test.Else)
	case setsState(test.Actions) || setsState(test.Else):
		t.doubtful = true
	}
	return result
}

func (t *nativeTrial) decide(test *config.Test) verdict {
	switch test.Operator {
	case config.And, config.Or:
		decisive := fails // ends the operator
		if test.Operator == config.Or {
			decisive = succeeds
		}
		result := succeeds - decisive
		for _, inner := range test.Tests {
			if result == unknown && mayAct([]*config.Test{inner}) {
				t.doubtful = true // it may not be reached
			}
			switch t.evaluate(inner) {
			case decisive:
				return decisive
			case unknown:
				result = unknown
			}
		}
		return result
	case config.Not:
		if len(test.Tests) != 1 {
			return unknown
		}
		if inner := t.evaluate(test.Tests[0]); inner != unknown {
			return succeeds - inner
		}
		return unknown
	case config.Equal:
		if len(test.Values) == 2 {
			return t.equal(test.Values[0], test.Values[1])
		}
	}
	return unknown
}

func (t *nativeTrial) equal(a, b string) verdict {
	first, firstKnown := t.resolve(a)
	second, secondKnown := t.resolve(b)
	switch {
	case !firstKnown || !secondKnown:
		return unknown
	case first == second:
		return succeeds
	}
	return fails
}

func (t *nativeTrial) resolve(value string) (string, bool) {
	switch {
	case value == ownValue:
		return t.value, t.isSet && !t.doubtful
	case value == t.source:
		return t.word, true
	}
	return value, !strings.HasPrefix(value, "#") && !strings.Contains(value, reference.Start)
}

// mayAct reports whether tests, or tests in them, change the state.
func mayAct(tests []*config.Test) bool {
	return !inspect.EachTest(tests, func(test *config.Test) bool { return !setsState(test.Actions) && !setsState(test.Else) })
}

func setsState(actions []*config.Action) bool {
	return slices.ContainsFunc(actions, func(action *config.Action) bool {
		return action.Kind == config.Throw || inspect.Sets(action, attribute.FieldValue)
	})
}

func (t *nativeTrial) act(actions []*config.Action) {
	for _, action := range actions {
		if action.Kind == config.Throw {
			t.doubtful = true // the command fails
			return
		}
		if !inspect.Sets(action, attribute.FieldValue) {
			continue
		}
		if action.Kind != config.Set || len(action.Entries) == 0 {
			t.doubtful = true
			continue
		}
		value, known := t.resolve(action.Entries[0].Value.Text)
		if !action.Entries[0].Value.Set || !known {
			t.doubtful = true
			continue
		}
		t.value, t.isSet = value, true
	}
}
