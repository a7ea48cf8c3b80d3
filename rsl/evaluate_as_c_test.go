package rsl

import (
	"slices"
	"strings"
)

// evaluateAsC evaluates a copy of a specification in the ways of the C library that are named, and
// otherwise as this package does. It returns the canonical text, empty after an error.
func evaluateAsC(spec Spec, ways ...string) (text string, ok bool) {
	e := &cEvaluation{ways: ways, scopes: []map[string]string{oracleSymbols, {}}}
	evaluated := Clone(spec)
	Canonicalize(evaluated)
	if !e.spec(evaluated, false) {
		return "", false
	}
	return Print(evaluated), true
}

type cEvaluation struct {
	ways   []string
	scopes []map[string]string
}

func (e *cEvaluation) does(way string) bool { return slices.Contains(e.ways, way) }

func (e *cEvaluation) spec(spec Spec, isComponent bool) bool {
	boolean, isBoolean := spec.(*Boolean)
	opensScope := isComponent
	if e.does(scoped) {
		opensScope = isBoolean
	}
	if opensScope {
		e.scopes = append(e.scopes, map[string]string{})
		defer func() { e.scopes = e.scopes[:len(e.scopes)-1] }()
	}
	if !isBoolean {
		relation := spec.(*Relation)
		return e.values(relation.Values, relation.Name == substitution)
	}
	for _, child := range boolean.Specs {
		if !e.spec(child, boolean.Operator == Multi) {
			return false
		}
	}
	return true
}

func (e *cEvaluation) values(values []Value, areDefinitions bool) bool {
	for i, value := range values {
		if sequence, isSequence := value.(*Sequence); isSequence {
			if !e.values(sequence.Values, false) || areDefinitions && !e.define(sequence) {
				return false
			}
			continue
		}
		text, ok := e.text(value)
		if !ok || areDefinitions {
			return false
		}
		values[i] = &Literal{Text: text}
	}
	return true
}

func (e *cEvaluation) define(pair *Sequence) bool {
	if len(pair.Values) != 2 {
		return false
	}
	name, isText := pair.Values[0].(*Literal)
	value, isValueText := pair.Values[1].(*Literal)
	if !isText || !isValueText {
		return false
	}
	scope := e.scopes[len(e.scopes)-1]
	if _, isDefined := scope[name.Text]; !isDefined || !e.does(firstWins) {
		scope[name.Text] = value.Text
	}
	return true
}

func (e *cEvaluation) text(value Value) (string, bool) {
	switch v := value.(type) {
	case *Literal:
		return v.Text, true
	case *Concatenation:
		var joined strings.Builder
		for _, part := range v.Parts {
			text, ok := e.text(part)
			if !ok {
				return "", false
			}
			joined.WriteString(text)
		}
		return joined.String(), true
	case *Reference:
		if v.Default != nil && e.does(hasDefault) {
			return "", false
		}
		for _, scope := range slices.Backward(e.scopes) {
			if text, isDefined := scope[v.Name]; isDefined {
				return text, true
			}
		}
		if v.Default != nil {
			return e.text(v.Default)
		}
	}
	return "", false
}
