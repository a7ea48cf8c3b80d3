package adapter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

const (
	// mostVariables bounds the variables of an answer.
	mostVariables = 1000
	// mostNamedChildren is how many children an editor gets at once, if it supports paging.
	mostNamedChildren = 100
)

// variables answers with the children of a reference.
func (a *adapter) variables(r *request, message *dap.VariablesRequest) {
	arguments := message.Arguments
	v := a.reference(r, arguments.VariablesReference)
	if v == nil {
		return
	}
	count := arguments.Count
	if count <= 0 || count > mostVariables {
		count = mostVariables
	}
	first := v.first + max(0, arguments.Start)
	if v.different != nil {
		a.respondVariables(r, v.classes(a, first, count))
		return
	}
	a.askHeld(r, v.frame.held, v.questions(first, count), func(parts []debug.Part) {
		if haveFailed(parts) {
			a.fail(r, describeProblems(parts))
			return
		}
		merged := mergeVariables(parts)
		shown := make([]dap.Variable, 0, len(merged))
		v.expressions = map[string]string{}
		for _, each := range merged {
			if each.name == "" {
				each.name = "(no answer)"
			}
			if expression := each.expression(); expression != "" {
				v.expressions[each.name] = expression
			}
			shown = append(shown, a.show(each, &v.frame, v))
		}
		if more := a.more(v, parts, first, arguments.Count); more != nil {
			shown = append(shown, *more)
		}
		a.respondVariables(r, shown)
	})
}

func (a *adapter) respondVariables(r *request, shown []dap.Variable) {
	a.respond(r, &dap.VariablesResponse{Body: dap.VariablesResponseBody{Variables: shown}})
}

// questions returns the questions for the children.
func (v *reference) questions(first, count int) []debug.Question {
	if v.scope != "" {
		request := v.frame.request(debug.Variables, v.scope)
		request.First, request.Count = first, count
		return []debug.Question{{Ranks: v.frame.held.ranks, Request: request}}
	}
	questions := make([]debug.Question, 0, len(v.values))
	for _, each := range v.values {
		request := v.frame.request(debug.Variables, "")
		request.Reference, request.First, request.Count = each.number, first, count
		questions = append(questions, debug.Question{Ranks: each.ranks, Request: request})
	}
	return questions
}

// classes returns the different values of one variable, with their ranks as names.
func (v *reference) classes(a *adapter, first, count int) []dap.Variable {
	shown := []dap.Variable{}
	for i, each := range v.different {
		if i >= first && len(shown) < count {
			shown = append(shown, a.show(variable{name: nameSet(each.ranks), value: []value{each}}, &v.frame, nil))
		}
	}
	return shown
}

// more returns a child that stands for further children. Editors that requested a count do not need it.
func (a *adapter) more(v *reference, parts []debug.Part, first, asked int) *dap.Variable {
	if asked > 0 {
		return nil
	}
	total, given := 0, 0
	for _, part := range parts {
		total, given = max(total, part.Total), max(given, len(part.Variables))
	}
	if given == 0 || first+given >= total {
		return nil
	}
	rest := *v
	rest.first = first + given
	return &dap.Variable{Name: "(more)", Value: fmt.Sprintf("%d more", total-rest.first), VariablesReference: a.addReference(rest)}
}

// show returns a variable for the editor. If ranks differ, its children are the values. Parent is the reference
// with this child, for assignments.
func (a *adapter) show(v variable, f *frame, parent *reference) dap.Variable {
	shown := dap.Variable{Name: v.name, Value: v.text(mostValueText), Type: v.typeName(), EvaluateName: v.expression()}
	if len(v.value) != 1 {
		shown.VariablesReference = a.addReference(reference{frame: *f, different: v.value, parent: parent, name: v.name})
		shown.IndexedVariables = a.paged(len(v.value))
		return shown
	}
	only := v.value[0]
	if only.isOpen {
		held := frame{held: f.held.only(only.ranks), thread: f.thread, level: f.level}
		shown.VariablesReference = a.addReference(reference{frame: held, values: only.values})
		if strings.HasSuffix(only.typeName, "]") || strings.HasSuffix(only.typeName, ")") {
			shown.IndexedVariables = a.paged(only.children)
		}
	}
	if only.problem != "" {
		shown.PresentationHint = &dap.VariablePresentationHint{Attributes: []string{"readOnly", "failedEvaluation"}}
	}
	return shown
}

// paged returns the number of children if the editor should fetch them in pages.
func (a *adapter) paged(count int) int {
	if count <= mostNamedChildren || !a.client.SupportsVariablePaging {
		return 0
	}
	return count
}

// assignments returns the questions that set a child on some ranks.
func (v *reference) assignments(ranks debug.Ranks, name, text string) []debug.Question {
	if v.different != nil {
		return v.assignDifferent(name, text)
	}
	request := v.frame.request(debug.Assign, name)
	request.Value = text
	if v.scope != "" || v.text != "" {
		if expression := v.expressions[name]; expression != "" {
			request.Text = expression
		}
		return []debug.Question{{Ranks: common(v.frame.held.ranks, ranks), Request: request}}
	}
	var questions []debug.Question
	for _, each := range v.values {
		if some := common(each.ranks, ranks); len(some) > 0 {
			request.Reference = each.number
			questions = append(questions, debug.Question{Ranks: some, Request: request})
		}
	}
	return questions
}

// assignDifferent returns the questions that set a variable on the ranks with one of its values.
func (v *reference) assignDifferent(name, text string) []debug.Question {
	for _, each := range v.different {
		if nameSet(each.ranks) == name && v.parent != nil && each.problem == "" {
			return v.parent.assignments(each.ranks, v.name, text)
		}
	}
	return nil
}

// setVariable sets a variable on all ranks of its parent.
func (a *adapter) setVariable(r *request, message *dap.SetVariableRequest) {
	arguments := message.Arguments
	v := a.reference(r, arguments.VariablesReference)
	if v == nil {
		return
	}
	questions := v.assignments(v.frame.held.ranks, arguments.Name, arguments.Value)
	if len(questions) == 0 {
		a.fail(r, "cannot set "+strconv.Quote(arguments.Name))
		return
	}
	a.assign(r, v.frame, questions, func(shown dap.Variable) {
		a.respond(r, &dap.SetVariableResponse{Body: dap.SetVariableResponseBody{
			Value: shown.Value, Type: shown.Type, VariablesReference: shown.VariablesReference, IndexedVariables: shown.IndexedVariables,
		}})
	})
}

// setExpression assigns to an expression.
func (a *adapter) setExpression(r *request, message *dap.SetExpressionRequest) {
	arguments := message.Arguments
	f := a.focusFrame(r, arguments.FrameId)
	if f == nil {
		return
	}
	request := f.request(debug.Assign, arguments.Expression)
	request.Value = arguments.Value
	a.assign(r, *f, []debug.Question{{Ranks: f.held.ranks, Request: request}}, func(shown dap.Variable) {
		a.respond(r, &dap.SetExpressionResponse{Body: dap.SetExpressionResponseBody{
			Value: shown.Value, Type: shown.Type, VariablesReference: shown.VariablesReference, IndexedVariables: shown.IndexedVariables,
		}})
	})
}

// assign sets a variable and shows its value.
func (a *adapter) assign(r *request, f frame, questions []debug.Question, respond func(shown dap.Variable)) {
	a.askHeld(r, f.held, questions, func(parts []debug.Part) {
		result := mergeResults(parts)
		if result.hasFailed() {
			a.fail(r, result.text(mostValueText))
			return
		}
		respond(a.show(result, &f, nil))
		if a.client.SupportsInvalidatedEvent { // other variables may have changed
			a.send("invalidated", &dap.InvalidatedEvent{Body: dap.InvalidatedEventBody{Areas: []dap.InvalidatedAreas{"variables"}}})
		}
	})
}
