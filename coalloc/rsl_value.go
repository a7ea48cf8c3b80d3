package coalloc

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/rsl"
)

// An errorCode is a number of GRAM for what is wrong with a component.
type errorCode int

// The codes that have no name of their own in the table of attributes.
const (
	errorUnknownAttribute errorCode = 1
	errorEvaluation       errorCode = 39
	errorUnsupported      errorCode = 36
	errorBadRSL           errorCode = 48
	errorDryRun           errorCode = 53
	errorNoExecutable     errorCode = 81
	errorNotAtSubmission  errorCode = 138
)

func errorText(code errorCode) string { return fmt.Sprintf("GRAM error %d", int(code)) }

// A relationValue reads the values of a relation, and collects their mistakes.
type relationValue struct {
	relation *rsl.Relation
	problems rsl.Problems
}

func (v *relationValue) refuse(code errorCode, format string, arguments ...any) {
	message := fmt.Sprintf(format, arguments...)
	if v.relation.Name != "" {
		message = fmt.Sprintf("%.100q: %s", v.relation.Name, message)
	}
	if code > 0 {
		message += ": " + errorText(code)
	}
	v.problems = append(v.problems, &rsl.Problem{Position: v.relation.Position, Message: message})
}

// literal reads a single text.
func (v *relationValue) literal(code errorCode) string {
	if len(v.relation.Values) == 1 {
		if literal, isLiteral := v.relation.Values[0].(*rsl.Literal); isLiteral {
			return literal.Text
		}
	}
	v.refuse(code, "it must have one value")
	return ""
}

// list reads texts.
func (v *relationValue) list(code errorCode) []string {
	texts, are := textsOf(v.relation.Values)
	if !are {
		v.refuse(code, "its values must not be in parentheses")
	}
	return texts
}

func textsOf(values []rsl.Value) (texts []string, are bool) {
	for _, value := range values {
		literal, isLiteral := value.(*rsl.Literal)
		if !isLiteral {
			return nil, false
		}
		texts = append(texts, literal.Text)
	}
	return texts, true
}

// pairs reads sequences of two texts.
func (v *relationValue) pairs(code errorCode) [][]string {
	var pairs [][]string
	for _, value := range v.relation.Values {
		sequence, isSequence := value.(*rsl.Sequence)
		if isSequence && len(sequence.Values) == 2 {
			if texts, are := textsOf(sequence.Values); are {
				pairs = append(pairs, texts)
				continue
			}
		}
		v.refuse(code, "it must have pairs, such as (NAME VALUE)")
		return nil
	}
	return pairs
}

// number reads a whole number of at least 1; 0 if it is invalid.
func (v *relationValue) number(shape, value errorCode) int {
	before := len(v.problems)
	text := v.literal(shape)
	if len(v.problems) > before {
		return 0
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 1 || text[0] == '+' {
		v.refuse(value, "invalid value %.100q: enter a whole number of at least 1", text)
		return 0
	}
	return int(number)
}

// flag reads yes or no.
func (v *relationValue) flag(code errorCode) bool {
	word := v.literal(code)
	switch strings.ToLower(word) {
	case "yes", "true", "1":
		return true
	case "no", "false", "0", "":
		return false
	}
	v.refuse(code, "invalid value %.100q: use yes or no", word)
	return false
}

// word reads one of some words.
func (v *relationValue) word(shape, value errorCode, words ...string) string {
	text := v.literal(shape)
	for _, word := range words {
		if strings.EqualFold(text, word) {
			return word
		}
	}
	if text != "" || len(v.problems) == 0 {
		v.refuse(value, "invalid value %.100q: use %s or %s", text, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
	}
	return ""
}

// limit reads a length of time.
func (v *relationValue) limit() time.Duration {
	text := v.literal(0)
	if len(v.problems) > 0 {
		return 0
	}
	limit, reason := parseLimit(text)
	if reason != "" {
		v.refuse(0, "%s", reason)
	}
	return limit
}

// sets reads sets of alternatives: (AT-LEAST LABEL LABEL…).
func (v *relationValue) sets() []Set {
	var sets []Set
	for _, value := range v.relation.Values {
		sequence, isSequence := value.(*rsl.Sequence)
		if isSequence && len(sequence.Values) > 1 {
			if texts, are := textsOf(sequence.Values); are {
				if least, err := strconv.Atoi(texts[0]); err == nil && least > 0 {
					sets = append(sets, Set{Labels: texts[1:], AtLeast: least})
					continue
				}
			}
		}
		v.refuse(0, "write how many parts have to check in, and the labels: (1 a b)")
	}
	return sets
}
