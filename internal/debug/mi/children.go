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
	items, total, err := e.items(ctx, parent, request.First, limit(request))
	if err != nil {
		return problemOf(err)
	}
	answer := debug.Answer{Total: total}
	for some := range slices.Chunk(items, mostInBatch) {
		variables, err := e.described(ctx, parent, some)
		if err != nil {
			return problemOf(err)
		}
		answer.Variables = append(answer.Variables, variables...)
	}
	return answer
}

// items returns children of a value as gdb lists them, and how many there are, 0 if unknown.
func (e *Engine) items(ctx context.Context, parent reference, first, count int) ([]Value, int, error) {
	if parent.isMap {
		items, hasMore, err := e.list(ctx, parent.object, 2*first, 2*(first+count))
		pairs := pairsOf(items)
		return pairs, totalOf(first+len(pairs), hasMore), err
	}
	items, hasMore, err := e.list(ctx, parent.object, first, first+count)
	if err != nil || parent.isDynamic {
		return items, totalOf(first+len(items), hasMore), err
	}
	if !slices.ContainsFunc(items, isAccess) && (first == 0 || parent.total > mostTogether) {
		return items, parent.total, nil
	}
	// The children of classes are grouped, so that only all of them can be counted.
	all, err := e.flat(ctx, parent.object)
	items = all[min(first, len(all)):]
	return items[:min(len(items), count)], len(all), err
}

func totalOf(listed int, hasMore bool) int {
	if hasMore {
		return 0
	}
	return listed
}

// pairsOf returns the values of a map under the names of their keys.
func pairsOf(items []Value) []Value {
	var pairs []Value
	for i := 0; i+1 < len(items); i += 2 {
		pairs = append(pairs, Value{Items: replaced(items[i+1], "exp", "["+items[i].Get("value").Text+"]")})
	}
	return pairs
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

// expressions returns the expressions for children; empty for those without.
func (e *Engine) expressions(ctx context.Context, parent reference, items []Value) []string {
	expressions := make([]string, len(items))
	switch {
	case parent.isDynamic:
	case isFortran(parent.typeName):
		for i, item := range items {
			expressions[i] = fortranChild(parent.expression, parent.typeName, item.Get("exp").Text)
		}
	default:
		commands := make([]string, len(items))
		for i, item := range items {
			commands[i] = "-var-info-path-expression " + quoted(item.Get("name").Text)
		}
		for i, answer := range e.call(ctx, commands...) {
			expressions[i] = answer.values.Get("path_expr").Text
		}
	}
	return expressions
}

// described returns children as variables. gdb shows no values of structures and arrays when it lists them.
func (e *Engine) described(ctx context.Context, parent reference, items []Value) ([]debug.Variable, error) {
	expressions := e.expressions(ctx, parent, items)
	var commands []string
	var positions []int
	values := make([]string, len(items))
	for i, item := range items {
		values[i] = item.Get("value").Text
		if expressions[i] != "" && isShort(values[i]) {
			positions = append(positions, i)
			commands = append(commands, "-data-evaluate-expression"+parent.selection+" "+quoted(expressions[i]))
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
			child := reference{selection: parent.selection, expression: expressions[i], typeName: typeName, object: item.Get("name").Text}
			child.describe(item)
			variables[i].Reference = e.references.add(e.runsNow(), child)
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return variables, e.broken
}

// isShort reports whether gdb shows only that a value is a structure or array.
func isShort(value string) bool {
	return value == "{...}" || strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]")
}

// assignChild changes a child of a value.
func (e *Engine) assignChild(ctx context.Context, request debug.Request) debug.Answer {
	parent, problem := e.reference(ctx, request.Reference)
	if problem.Problem != "" {
		return problem
	}
	items, _, err := e.items(ctx, parent, 0, mostTogether)
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
	variables, err := e.described(ctx, parent, []Value{{Items: replaced(items[at], "value", answer.values.Get("value").Text)}})
	if err != nil {
		return problemOf(err)
	}
	return debug.Answer{Variables: variables}
}

// replaced returns the items of a child with another text for one of them.
func replaced(child Value, name, text string) []Value {
	items := slices.Clone(child.Items)
	for i := range items {
		if items[i].Name == name {
			items[i].Text = text
		}
	}
	return items
}
