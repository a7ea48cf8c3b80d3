package web

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A look is how a node is shown by both of its states.
type look int

var (
	grossStates = []model.State{model.StateUp, model.StateDown, model.StateError, model.StateUnknown}
	extraStates = []model.State{model.NodeNone, model.NodeUserExclusive, model.NodeUserShared, model.NodeOtherExclusive, model.NodeOtherShared,
		model.NodeRunningProcess, model.NodeExitedProcess}
)

// numberOfLooks is how many looks there are.
var numberOfLooks = look(len(grossStates) * len(extraStates))

// The outlines of cells of the map, each in a box of 10 by 10, from its upper left corner.
const (
	cellFull   = "h10v10h-10z"
	cellHollow = "h10v10h-10zm1.6 1.6v6.8h6.8v-6.8z"
	cellHalf   = "h10v10h-10zm2 2v6h6z"
	cellDot    = "h10v10h-10zm2 2v6h6v-6zm2 2h2v2h-2z"
	cellCross  = "m1.5 0 3.500 3.500 3.500-3.500 1.500 1.500-3.500 3.500 3.500 3.500-1.500 1.500-3.500-3.500-3.500 3.500-1.500-1.500 3.500-3.500-3.500-3.500z"
	cellPeak   = "m5 0 5 10h-10z"
	cellSmall  = "m3.500 3.500h3v3h-3z"
	cellBar    = "m0 4h10v2h-10z"
	cellBelow  = "m0 12h10v-2h-10z" // below another one: the node is used all the same
)

// marksOfUse tell by whom a node is used.
var marksOfUse = map[model.State]mark{
	model.NodeNone:           {"green", cellHollow, "free"},
	model.NodeUserExclusive:  {"blue", cellFull, "yours alone"},
	model.NodeUserShared:     {"blue", cellHalf, "yours, shared"},
	model.NodeOtherExclusive: {"yellow", cellFull, "in use"},
	model.NodeOtherShared:    {"yellow", cellHalf, "partly in use"},
	model.NodeRunningProcess: {"green", cellFull, "with your processes"},
	model.NodeExitedProcess:  {"orange", cellDot, "with your ended processes"},
}

// lookFor returns the look of a pair of states.
func lookFor(gross, extra model.State) look {
	return look(max(0, slices.Index(grossStates, gross))*len(extraStates) + max(0, slices.Index(extraStates, extra)))
}

// lookOf returns how a node is shown.
func lookOf(node *model.Element) look {
	gross, extra := seenState(node), model.NodeNone
	if gross == "" {
		gross = model.StateUnknown
	}
	if text := givenText(node, model.AttributeNodeExtraState); text != "" {
		extra = model.State(text)
	}
	return lookFor(gross, extra)
}

// states returns both states of a look.
func (l look) states() (gross, extra model.State) {
	return grossStates[int(l)/len(extraStates)], extraStates[int(l)%len(extraStates)]
}

// mark returns how the look is drawn and called: of a node that is up by whom it is
// used, of every other one why it cannot be.
func (l look) mark() mark {
	gross, extra := l.states()
	use := marksOfUse[extra]
	var m mark
	switch gross {
	case model.StateUp:
		return use
	case model.StateDown:
		m = mark{"grey", cellCross, "down"}
	case model.StateError:
		m = mark{"red", cellPeak, "error"}
	default:
		m = mark{"pale", cellSmall, "state unknown"}
	}
	if extra != model.NodeNone {
		m.Word += ", " + use.Word
		m.Sign = "m0 0" + m.Sign + cellBelow
	}
	return m
}

// sign returns the look as a sign in a box of 12 by 12.
func (l look) sign() mark {
	m := l.mark()
	m.Sign = "M1 1" + m.Sign
	return m
}

// A nodeTally counts nodes by their looks, and their CPUs as far as these are told.
type nodeTally struct {
	All            int
	ByLook         map[look]int
	CPUs, CPUsUsed int64
}

func (t *nodeTally) add(node *model.Element, l look) {
	t.All++
	if t.ByLook == nil {
		t.ByLook = map[look]int{}
	}
	t.ByLook[l]++
	cpus, hasCPUs := givenOf(node, monitor.AttributeNodeCPUs)
	used, hasUsed := givenOf(node, monitor.AttributeNodeCPUsUsed)
	if hasCPUs && hasUsed { // else they would count on one side alone
		t.CPUs += cpus.Integer()
		t.CPUsUsed += used.Integer()
	}
}

// counts returns how many nodes have each look, in the order of the looks.
func (t *nodeTally) counts() []stateCount {
	var all []stateCount
	for l := range numberOfLooks {
		if n := t.ByLook[l]; n > 0 {
			all = append(all, stateCount{l.sign(), thousands(n)})
		}
	}
	return all
}

// use sums the nodes up in the groups of the utilisation plot.
func (t *nodeTally) use() (used, free, unusable int) {
	for l, n := range t.ByLook {
		gross, extra := l.states()
		switch {
		case gross != model.StateUp:
			unusable += n
		case extra == model.NodeNone:
			free += n
		default:
			used += n
		}
	}
	return used, free, unusable
}

// words says in words how many nodes there are of each look.
func (t *nodeTally) words() string {
	var parts []string
	for _, each := range t.counts() {
		parts = append(parts, each.Count+" "+each.Mark.Word)
	}
	return strings.Join(parts, ", ")
}
