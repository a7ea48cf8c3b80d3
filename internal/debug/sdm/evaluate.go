package sdm

import (
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

const (
	// fullDepth is how many levels of fields and elements a whole value has: clients misread more.
	fullDepth = 2
	// mostQuestions bounds the questions for one value.
	mostQuestions = 200
	// mostElements bounds the elements of an array in one value.
	mostElements = 1000
	// mostValues bounds all elements and fields of one value. Further ones are texts.
	mostValues = 20_000
	// mostData bounds the bytes of a value. A larger one is a text.
	mostData = 1 << 20
	// mostExpressions bounds the expressions that are remembered for a client.
	mostExpressions = 1000
)

// An expression is one that the client has evaluated, and shows. It is evaluated again after each stop.
type expression struct {
	id    string
	ranks debug.Ranks
}

// A valued is a value of some ranks.
type valued struct {
	ranks debug.Ranks
	value value
}

// An evaluation evaluates an expression in ranks. Values that differ anywhere are apart.
type evaluation struct {
	*master
	questionsLeft, valuesLeft int
}

// evaluate evaluates an expression with all that it consists of.
func (m *master) evaluate(ctx context.Context, c *call) []result {
	return m.evaluateTo(ctx, c, c.arguments[0], fullDepth, func(valued) string { return "" })
}

// evaluatePart evaluates an expression for a client: its value or, on request, its children. The arguments are
// the expression, its id, whether the client wants the children, and a way to find it. The id is not needed,
// because clients always send the whole expression.
func (m *master) evaluatePart(ctx context.Context, c *call) []result {
	depth := 0
	if isTrue(c.arguments[2]) {
		depth = 1
	}
	id := m.remember(c.arguments[1], c.ranks)
	return m.evaluateTo(ctx, c, c.arguments[0], depth, func(found valued) string {
		if depth == 1 && found.value.Reference == 0 && strings.HasPrefix(found.value.Name, "*") {
			return found.value.Name
		}
		return id
	})
}

// evaluateTo evaluates an expression to a depth. Name returns the name of a value.
func (m *master) evaluateTo(ctx context.Context, c *call, text string, depth int, name func(valued) string) []result {
	e := &evaluation{m, mostQuestions, mostValues}
	var results []result
	for _, part := range m.query(ctx, m.questions(c.ranks, debug.Request{Verb: debug.Evaluate, Text: text})...) {
		if part.Problem == debug.Failed || part.Problem == "" && len(part.Variables) != 1 {
			results = append(results, result{part.Ranks, failure(codeUnknownVariable, `Unknown variable: "`+text+`"`)})
			continue
		}
		if part.Problem != "" {
			results = append(results, result{part.Ranks, failureOf(part.Answer, codeDebugger, "Debugger error: ")})
			continue
		}
		for _, found := range e.expand(ctx, valued{part.Ranks, value{Variable: part.Variables[0]}}, text, depth, true) {
			if depth == 1 {
				found.value = found.value.target()
			}
			results = append(results, result{found.ranks, dataEvent(found.value, name(found))})
		}
	}
	return results
}

// target returns the target of a pointer on request: clients show it below the pointer.
func (v value) target() value {
	kind := typeOf(v.Type)
	if kind.pointers == 0 || kind.isText && kind.pointers == 1 || len(v.children) == 0 {
		return v
	}
	if len(v.children) == 1 && strings.HasPrefix(v.children[0].Name, "*") {
		return v.children[0]
	}
	v.Type = strings.TrimRight(v.Type, "* ")
	return v
}

func dataEvent(v value, name string) event {
	whole := v.encode()
	if len(whole.data) > mostData {
		whole = textOf(v.Value)
	}
	data := hex.EncodeToString(whole.data)
	if data == "" {
		data = "00"
	}
	return event{eventData, []string{whole.format, data, v.Type, name}}
}

// expand queries the children of a value to a depth, and the numbers of constants.
func (e *evaluation) expand(ctx context.Context, v valued, text string, depth int, isWhole bool) []valued {
	kind := typeOf(v.value.Type)
	switch {
	case kind.isEnumeration && v.value.Reference == 0:
		return e.number(ctx, v, text)
	case !v.value.hasParts(kind) || e.questionsLeft == 0 || e.valuesLeft <= 0:
		return []valued{v}
	case kind.pointers > 0 && !isWhole || !kind.isArray && depth == 0: // an array has its elements always: clients misread others
		return []valued{v}
	}
	e.questionsLeft--
	request := debug.Request{Verb: debug.Variables, Reference: v.value.Reference, Count: mostElements}
	if !kind.isArray {
		depth--
	}
	var all []valued
	for _, part := range e.query(ctx, e.questions(v.ranks, request)...) {
		e.valuesLeft -= len(part.Variables)
		grown := []valued{{part.Ranks, v.value}}
		for _, child := range part.Variables {
			if part.Problem == "" {
				grown = e.grow(ctx, grown, child, depth)
			}
		}
		all = append(all, grown...)
	}
	return all
}

// hasParts reports whether a value has children that clients show. A text is one value.
func (v value) hasParts(kind typeKind) bool {
	return v.Reference != 0 && !isQuoted(v.Value) && !(kind.isText && kind.pointers == 1)
}

// grow adds a child to each of some values.
func (e *evaluation) grow(ctx context.Context, values []valued, child debug.Variable, depth int) []valued {
	var grown []valued
	for _, v := range values {
		for _, c := range e.expand(ctx, valued{v.ranks, value{Variable: child}}, child.Expression, depth, false) {
			parent := v.value
			parent.children = append(slices.Clip(parent.children), c.value)
			grown = append(grown, valued{c.ranks, parent})
		}
	}
	return grown
}

// number queries the number of a constant.
func (e *evaluation) number(ctx context.Context, v valued, text string) []valued {
	if text == "" || e.questionsLeft == 0 {
		return []valued{v}
	}
	e.questionsLeft--
	var all []valued
	for _, part := range e.query(ctx, e.questions(v.ranks, debug.Request{Verb: debug.Evaluate, Text: "(int)(" + text + ")"})...) {
		numbered := v.value
		if part.Problem == "" && len(part.Variables) == 1 {
			numbered.number = part.Variables[0].Value
		}
		all = append(all, valued{part.Ranks, numbered})
	}
	return all
}

// remember returns the id of an expression, a new one if it has none.
func (m *master) remember(id string, ranks debug.Ranks) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for i, known := range m.expressions {
		if known.id == id {
			m.expressions[i].ranks = known.ranks.Union(ranks)
			return id
		}
	}
	if id == "" {
		m.lastExpression++
		id = "var" + strconv.Itoa(m.lastExpression)
	}
	if len(m.expressions) == mostExpressions {
		m.expressions = slices.Delete(m.expressions, 0, 1)
	}
	m.expressions = append(m.expressions, expression{id, ranks})
	return id
}

// deletePart forgets an expression.
func (m *master) deletePart(_ context.Context, c *call) []result {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for i, known := range m.expressions {
		if known.id == c.arguments[0] {
			m.expressions[i].ranks = known.ranks.Without(c.ranks)
		}
	}
	m.expressions = slices.DeleteFunc(m.expressions, func(e expression) bool { return len(e.ranks) == 0 })
	return []result{{c.ranks, ok()}}
}

// expressionsOf returns the ids of the expressions that a client shows of a rank. The mutex is held.
func (m *master) expressionsOf(rank int) []string {
	var ids []string
	for _, known := range m.expressions {
		if has(known.ranks, rank) {
			ids = append(ids, known.id)
		}
	}
	return ids
}

// getType returns the name of the type of an expression.
func (m *master) getType(ctx context.Context, c *call) []result {
	return m.ask(ctx, c.ranks, debug.Request{Verb: debug.Evaluate, Text: c.arguments[0]}, func(part debug.Part) event {
		switch {
		case part.Problem != "":
			return failureOf(part.Answer, codeUnknownVariable, `Unknown variable: "`+c.arguments[0]+`": `)
		case len(part.Variables) != 1:
			return failure(codeUnknownVariable, `Unknown variable: "`+c.arguments[0]+`"`)
		}
		return event{eventType, []string{part.Variables[0].Type}}
	})
}
