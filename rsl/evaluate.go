package rsl

import (
	"fmt"
	"strings"
)

// maxEvaluated bounds the text that an evaluation makes: definitions can double it with each step.
const maxEvaluated = 16 << 20

// substitution is the canonical name of the attribute that defines variables.
const substitution = "rslsubstitution"

// Evaluate returns a copy of a specification in which references and concatenations are literals.
// It reads relations in their order. Each rsl_substitution defines variables for what follows and is
// nested; what a component of a multi-request defines ends with it. Other booleans open no scope. The
// symbols are defined before the first relation, for all components: where these run on different
// systems, evaluate each one with its own symbols.
//
// The warnings are variables that are defined twice; the later definition counts. The error
// is [Problems] and names all variables that are undefined.
func Evaluate(spec Spec, symbols map[string]string) (evaluated Spec, warnings Problems, err error) {
	e := &evaluation{scope: &scope{symbols: symbols}}
	e.scope = &scope{outer: e.scope}
	evaluated = e.spec(spec, nil)
	if len(e.problems) > 0 {
		return nil, e.warnings, e.problems
	}
	return evaluated, e.warnings, nil
}

// A scope has the variables of a request or of a component of one.
type scope struct {
	outer     *scope
	symbols   map[string]string
	within    map[string]*Boolean // where each was defined
	isPartial bool                // a definition is invalid, so that what is undefined is uncertain
}

func (s *scope) lookup(name string) (string, bool) {
	for ; s != nil; s = s.outer {
		if value, isDefined := s.symbols[name]; isDefined {
			return value, true
		}
	}
	return "", false
}

func (s *scope) define(name, value string, within *Boolean) {
	if s.symbols == nil {
		s.symbols, s.within = map[string]string{}, map[string]*Boolean{}
	}
	s.symbols[name], s.within[name] = value, within
}

type evaluation struct {
	scope              *scope
	size               int // of the text made so far
	isTooLong          bool
	problems, warnings Problems
}

func (e *evaluation) report(at Position, hint, format string, arguments ...any) {
	if len(e.problems) < mostProblems {
		e.problems = append(e.problems, &Problem{at, fmt.Sprintf(format, arguments...), hint})
	}
}

// spec evaluates a child of a boolean, which is nil for the whole request.
func (e *evaluation) spec(spec Spec, within *Boolean) Spec {
	switch s := spec.(type) {
	case *Relation:
		evaluated := *s
		if CanonicalName(s.Name) == substitution {
			evaluated.Values = e.definitions(s, within)
		} else {
			evaluated.Values = e.values(s.Values)
		}
		return &evaluated
	case *Boolean:
		evaluated := *s
		evaluated.Specs = make([]Spec, len(s.Specs))
		for i, child := range s.Specs {
			if s.Operator == Multi {
				outer := e.scope
				e.scope = &scope{outer: outer}
				evaluated.Specs[i] = e.spec(child, s)
				e.scope = outer
			} else {
				evaluated.Specs[i] = e.spec(child, s)
			}
		}
		return &evaluated
	}
	return nil
}

func (e *evaluation) values(values []Value) []Value {
	evaluated := make([]Value, len(values))
	for i, value := range values {
		if sequence, isSequence := value.(*Sequence); isSequence {
			evaluated[i] = &Sequence{sequence.Position, e.values(sequence.Values)}
		} else {
			evaluated[i] = &Literal{value.Pos(), e.text(value)}
		}
	}
	return evaluated
}

// definitions evaluates pairs of names and values in their order.
func (e *evaluation) definitions(relation *Relation, within *Boolean) []Value {
	evaluated := make([]Value, 0, len(relation.Values))
	for _, value := range relation.Values {
		pair, isSequence := value.(*Sequence)
		if !isSequence || len(pair.Values) != 2 {
			e.report(value.Pos(), "write (NAME VALUE)", "%s must have pairs of a name and a value", quote(relation.Name))
			e.scope.isPartial = true
			continue
		}
		if sequence := firstSequence(pair.Values); sequence != nil {
			e.report(sequence.Position, "", "the name and the value of a variable must be text, not sequences")
			e.scope.isPartial = true
			continue
		}
		elements := e.values(pair.Values)
		e.define(pair.Position, elements[0].(*Literal).Text, elements[1].(*Literal).Text, within)
		evaluated = append(evaluated, &Sequence{pair.Position, elements})
	}
	return evaluated
}

func firstSequence(values []Value) *Sequence {
	for _, value := range values {
		if sequence, isSequence := value.(*Sequence); isSequence {
			return sequence
		}
	}
	return nil
}

func (e *evaluation) define(at Position, name, value string, within *Boolean) {
	if before, isDefined := e.scope.within[name]; isDefined && len(e.warnings) < mostProblems {
		warning := &Problem{at, "variable " + quote(name) + " was defined before: the later value counts", ""}
		if before != within {
			warning.Hint = "use another name if one group needs its own value: only components of + have variables of their own"
		}
		e.warnings = append(e.warnings, warning)
	}
	e.scope.define(name, value, within)
}

// text evaluates a value that is no sequence.
func (e *evaluation) text(value Value) string {
	switch v := value.(type) {
	case *Literal:
		return v.Text
	case *Reference:
		return e.reference(v)
	case *Concatenation:
		parts := make([]string, len(v.Parts))
		size := 0
		for i, part := range v.Parts {
			parts[i] = e.text(part)
			size += len(parts[i])
		}
		if !e.grow(v.Position, size) {
			return ""
		}
		return strings.Join(parts, "")
	}
	return ""
}

// grow counts the text of a reference or a concatenation.
func (e *evaluation) grow(at Position, size int) bool {
	if e.size += size; e.size > maxEvaluated && !e.isTooLong {
		e.isTooLong = true
		e.report(at, "", "the values have more than %d bytes", maxEvaluated)
	}
	return !e.isTooLong
}

func (e *evaluation) reference(reference *Reference) string {
	name := reference.Name
	if value, isDefined := e.scope.lookup(name); isDefined {
		if !e.grow(reference.Position, len(value)) {
			return ""
		}
		return value
	}
	if reference.Default != nil {
		return e.text(reference.Default)
	}
	for s := e.scope; s != nil; s = s.outer {
		if s.isPartial {
			return ""
		}
	}
	hint := "define it in rsl_substitution before this place"
	if similar := e.similar(name); similar != "" {
		hint = "use " + quote(similar) + ": the names of variables are case-sensitive"
	}
	e.report(reference.Position, hint, "variable %s is undefined", quote(name))
	return ""
}

// similar returns a variable whose name differs in case only.
func (e *evaluation) similar(name string) string {
	found := ""
	for s := e.scope; s != nil && len(e.problems) < mostProblems; s = s.outer {
		for candidate := range s.symbols {
			if strings.EqualFold(candidate, name) && (found == "" || candidate < found) {
				found = candidate
			}
		}
	}
	return found
}
