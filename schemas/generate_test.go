package schemas

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// deepest bounds how deep generated documents nest what need not be there.
const deepest = 9

func generatedDocuments(t *testing.T, random *rand.Rand, number int) []*node {
	set, err := embedded()
	require.NoError(t, err)
	g := &generator{set: set, random: random}
	documents := make([]*node, number)
	for i := range documents {
		documents[i] = g.element(set.elements["resource-manager-builder"], 0)
	}
	return documents
}

// A generator walks through content models at random, so that what it makes is
// valid by construction.
type generator struct {
	set    *schemaSet
	random *rand.Rand
}

func (g *generator) element(d *elementDeclaration, depth int) *node {
	n := &node{symbol: d.symbol}
	for _, declaration := range d.elementType.attributes {
		if declaration.required || g.random.IntN(4) == 0 {
			n.attributes = append(n.attributes, nodeAttribute{declaration.name, g.value(declaration.value)})
		}
	}
	if d.foreign != nil && !d.foreign.skip && g.random.IntN(4) == 0 {
		n.attributes = append(n.attributes, nodeAttribute{"x:timeout", g.value(g.set.attributes["x:timeout"].value)})
	}
	switch {
	case d.text != nil:
		n.text = g.value(d.text)
		return n
	case d.anything:
		n.text = "anything"
		return n
	case d.mixed:
		n.text = g.value(&simpleType{builtIn: "string"})
	}
	state := 0
	for {
		s := &d.content.states[state]
		wanted := 3
		if depth > deepest || len(n.children) > 12 {
			wanted = 0
		}
		if s.accepting && g.random.IntN(4) >= wanted || len(s.follow) == 0 {
			return n
		}
		state = s.follow[g.random.IntN(len(s.follow))]
		if child := g.child(d, state, n, depth); child != nil {
			n.children = append(n.children, child)
		} else if d.content.states[state].accepting {
			return n
		}
	}
}

// child makes the child for a place; nil where a wildcard allows nothing more.
func (g *generator) child(parent *elementDeclaration, place int, so *node, depth int) *node {
	s := &parent.content.states[place]
	if s.element != nil {
		return g.element(s.element, depth+1)
	}
	if s.wildcard.skip {
		return &node{symbol: "whatever", text: "x"}
	}
	var candidates []*elementDeclaration
	for _, declaration := range g.set.elements {
		present := 0
		for _, sibling := range so.children {
			if sibling.symbol == declaration.symbol {
				present++
			}
		}
		if slices.Contains(declaration.within, parent.symbol) && (declaration.atMost == 0 || present < declaration.atMost) {
			candidates = append(candidates, declaration)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	slices.SortFunc(candidates, func(a, b *elementDeclaration) int { return strings.Compare(a.symbol, b.symbol) })
	return g.element(candidates[g.random.IntN(len(candidates))], depth+1)
}

// sampleValues holds something for every type of the schemas.
var sampleValues = []string{"", "x", "true", "false", " true\n", "1", "0", "-7", "+12", "2147483647", "yes & <no> \"q\" 'é'",
	"two\nlines", "30s", "1m30s", "0.5h", "0s", "ok", "denied  finished", "not-found", "transient", "0 1 153", "20.11", "3",
	"EQ", "AND", "table", "tree", "bold", "normal", "label", "combo",
	"software", "documentation", "wallTime", "nodes", "tasks  gpus", "h:mm:ss", "MiB", "any", "begin=b", "end=e %j=%J", "absolute", "last", "minute", "text", "unreadable",
	"waiting running", "CANCELED", "options", "ssh", "JOB=12  TASK"}

func (g *generator) value(t *simpleType) string {
	var fitting []string
	for _, sample := range sampleValues {
		if t.accepts(sample) {
			fitting = append(fitting, sample)
		}
	}
	return fitting[g.random.IntN(len(fitting))]
}
