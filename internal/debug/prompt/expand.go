package prompt

import (
	"context"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

const (
	mostDepth      = 3  // of members in members
	mostMembers    = 50 // of a value
	mostExpansions = 20 // questions about members, for a command
)

// opaquePattern is the value of something whose members debuggers list one by one.
var opaquePattern = lazyregexp.New(`^(\{\.\.\.\}|\[[0-9]+\])?$`)

// indexPattern is the name of a member of an array.
var indexPattern = lazyregexp.New(`^\[?[0-9]+\]?$`)

// expand returns a value with its members, by ranks that have equal ones.
func (p *prompt) expand(ctx context.Context, ranks debug.Ranks, variable debug.Variable, depth int, left *int) []labelled {
	value := []labelled{{ranks, plain(variable.Value)}}
	if variable.Reference == 0 || depth == 0 || *left == 0 || !opaquePattern.MatchString(variable.Value) {
		return value
	}
	*left--
	request := debug.Request{Verb: debug.Variables, Thread: p.thread, Frame: p.frame, Reference: variable.Reference, Count: mostMembers}
	var all []labelled
	for _, part := range p.ask(ctx, ranks, request) {
		if part.Problem != "" {
			all = append(all, labelled{part.Ranks, value[0].text})
			continue
		}
		all = append(all, p.members(ctx, part, depth, left)...)
	}
	return all
}

// members returns the members that some ranks answered as {NAME = VALUE, …}.
func (p *prompt) members(ctx context.Context, part debug.Part, depth int, left *int) []labelled {
	texts := []labelled{{part.Ranks, ""}}
	for _, each := range part.Variables {
		name := plain(each.Name) + " = "
		if indexPattern.MatchString(each.Name) {
			name = ""
		}
		var next []labelled
		for _, value := range p.expand(ctx, part.Ranks, each, depth-1, left) {
			for _, before := range texts {
				if ranks := both(before.ranks, value.ranks); len(ranks) > 0 {
					next = append(next, labelled{ranks, before.text + ", " + name + value.text})
				}
			}
		}
		texts = next
	}
	more := ""
	if part.Total > len(part.Variables) {
		more = ", …"
	}
	for i := range texts {
		texts[i].text = plain("{" + strings.TrimPrefix(texts[i].text+more, ", ") + "}")
	}
	return texts
}
