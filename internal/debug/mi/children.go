package mi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// children lists the children of a value.
func (e *Engine) children(ctx context.Context, request debug.Request) debug.Answer {
	parent, problem := e.reference(ctx, request.Reference)
	if problem.Problem != "" {
		return problem
	}
	answer := debug.Answer{}
	first, count := request.First, limit(request)
	items, hasMore, err := e.list(ctx, parent.object, first, first+count)
	if err != nil {
		return problemOf(err)
	}
	switch {
	case slices.ContainsFunc(items, isAccess) || !parent.isDynamic && parent.total <= mostTogether && first > 0:
		// The children of classes are grouped, so that only all of them can be counted.
		if items, err = e.flat(ctx, parent.object); err != nil {
			return problemOf(err)
		}
		answer.Total = len(items)
		items = items[min(first, len(items)):]
		items = items[:min(len(items), count)]
	case !parent.isDynamic:
		answer.Total = parent.total
	case !hasMore:
		answer.Total = first + len(items)
	}
	selection := parent.selection
	isDynamic := parent.isDynamic
	for some := range slices.Chunk(items, mostInBatch) {
		variables, err := e.described(ctx, selection, isDynamic, some)
		if err != nil {
			return problemOf(err)
		}
		answer.Variables = append(answer.Variables, variables...)
	}
	return answer
}

// list lists children of a variable object.
func (e *Engine) list(ctx context.Context, object string, first, end int) (items []Value, hasMore bool, err error) {
	answer := e.call(ctx, fmt.Sprintf("-var-list-children --all-values %s %d %d", object, first, end))[0]
	items = answer.values.Get("children").Items
	return items[:min(len(items), end-first)], answer.values.Get("has_more").Text == "1", answer.err
}

// isAccess reports whether a child of a class only groups those with the same access.
func isAccess(item Value) bool {
	return item.Get("type").Text == "" && slices.Contains([]string{"public", "private", "protected"}, item.Get("exp").Text)
}

// flat lists all children of a variable object without groups.
func (e *Engine) flat(ctx context.Context, object string) ([]Value, error) {
	items, _, err := e.list(ctx, object, 0, mostTogether)
	if err != nil {
		return nil, err
	}
	var all []Value
	for _, item := range items {
		if !isAccess(item) {
			all = append(all, item)
			continue
		}
		members, _, err := e.list(ctx, item.Get("name").Text, 0, mostTogether)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

// described returns children as variables. gdb shows no values of structures and arrays when it lists them.
func (e *Engine) described(ctx context.Context, selection string, isDynamic bool, items []Value) ([]debug.Variable, error) {
	expressions := make([]string, len(items))
	if !isDynamic {
		commands := make([]string, len(items))
		for i, item := range items {
			commands[i] = "-var-info-path-expression " + quoted(item.Get("name").Text)
		}
		for i, answer := range e.call(ctx, commands...) {
			expressions[i] = answer.values.Get("path_expr").Text
		}
	}
	var commands []string
	var positions []int
	values := make([]string, len(items))
	for i, item := range items {
		values[i] = item.Get("value").Text
		if expressions[i] != "" && isShort(values[i]) {
			positions = append(positions, i)
			commands = append(commands, "-data-evaluate-expression"+selection+" "+quoted(expressions[i]))
		}
	}
	for i, answer := range e.call(ctx, commands...) {
		if answer.err == nil {
			values[positions[i]] = answer.values.Get("value").Text
		}
	}
	variables := make([]debug.Variable, len(items))
	for i, item := range items {
		typeName, value := item.Get("type").Text, withoutAddress(values[i])
		variables[i] = debug.Variable{Name: clip(item.Get("exp").Text), Type: clip(typeName), Value: clip(value), Expression: expressions[i]}
		if len(expressions[i]) > longestValue {
			variables[i].Expression = ""
		}
		isParent := item.Get("dynamic").Text != "" || item.Get("numchild").number() > 0
		if isParent && (hasChildren(typeName, value) || isShort(values[i])) {
			variables[i].Children = item.Get("numchild").number()
			variables[i].Reference = e.references.add(e.runsNow(), reference{
				selection: selection, expression: expressions[i], object: item.Get("name").Text,
				isDynamic: item.Get("dynamic").Text != "", total: variables[i].Children,
			})
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return variables, e.broken
}

// isShort reports whether gdb only says that a value is a structure or array.
func isShort(value string) bool {
	return value == "{...}" || strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]")
}

// assignChild changes a child of a value.
func (e *Engine) assignChild(ctx context.Context, request debug.Request) debug.Answer {
	parent, problem := e.reference(ctx, request.Reference)
	if problem.Problem != "" {
		return problem
	}
	selection := parent.selection
	items, _, err := e.list(ctx, parent.object, 0, mostTogether)
	if err == nil && slices.ContainsFunc(items, isAccess) {
		items, err = e.flat(ctx, parent.object)
	}
	if err != nil {
		return problemOf(err)
	}
	at := slices.IndexFunc(items, func(item Value) bool { return item.Get("exp").Text == request.Text })
	if at < 0 {
		return debug.Answer{Problem: debug.Failed, Text: fmt.Sprintf("the value has no child %.100q", request.Text)}
	}
	object := quoted(items[at].Get("name").Text)
	answer := e.call(ctx, "-var-assign "+object+" "+quoted(request.Value))[0]
	if answer.err != nil {
		return problemOf(answer.err)
	}
	variables, err := e.described(ctx, selection, parent.isDynamic, []Value{{Items: replaced(items[at], answer.values.Get("value").Text)}})
	if err != nil {
		return problemOf(err)
	}
	return debug.Answer{Variables: variables}
}

// replaced returns the items of a child with another value.
func replaced(child Value, value string) []Value {
	items := slices.Clone(child.Items)
	for i := range items {
		if items[i].Name == "value" {
			items[i].Text = value
		}
	}
	return items
}
