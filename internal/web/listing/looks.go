package listing

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// A Look is the combination of both states of a node.
type Look int

var (
	grossStates = []model.State{vocabulary.StateUp, vocabulary.StateDown, vocabulary.StateError, vocabulary.StateUnknown}
	extraStates = []model.State{vocabulary.NodeNone, vocabulary.NodeUserExclusive, vocabulary.NodeUserShared, vocabulary.NodeOtherExclusive, vocabulary.NodeOtherShared,
		vocabulary.NodeRunningProcess, vocabulary.NodeExitedProcess}
)

// NumberOfLooks is the number of looks.
var NumberOfLooks = Look(len(grossStates) * len(extraStates))

// The outlines of cells of the map, each in a box of 10 by 10, from its upper left corner.
const (
	CellFull   = "h10v10h-10z"
	CellHollow = "h10v10h-10zm1.6 1.6v6.8h6.8v-6.8z"
	CellHalf   = "h10v10h-10zm2 2v6h6z"
	cellDot    = "h10v10h-10zm2 2v6h6v-6zm2 2h2v2h-2z"
	CellCross  = "m1.5 0 3.500 3.500 3.500-3.500 1.500 1.500-3.500 3.500 3.500 3.500-1.500 1.500-3.500-3.500-3.500 3.500-1.500-1.500 3.500-3.500-3.500-3.500z"
	CellPeak   = "m5 0 5 10h-10z"
	CellSmall  = "m3.500 3.500h3v3h-3z"
	CellBar    = "m0 4h10v2h-10z"
	cellBelow  = "m0 12h10v-2h-10z" // below another one: the node is in use
)

// marksOfUse show who uses a node.
var marksOfUse = map[model.State]Mark{
	vocabulary.NodeNone:           {"green", CellHollow, "free"},
	vocabulary.NodeUserExclusive:  {"blue", CellFull, "yours"},
	vocabulary.NodeUserShared:     {"blue", CellHalf, "yours, shared"},
	vocabulary.NodeOtherExclusive: {"yellow", CellFull, "in use"},
	vocabulary.NodeOtherShared:    {"yellow", CellHalf, "partly in use"},
	vocabulary.NodeRunningProcess: {"green", CellFull, "with your processes"},
	vocabulary.NodeExitedProcess:  {"orange", cellDot, "with your ended processes"},
}

// lookFor returns the look of a pair of states.
func lookFor(gross, extra model.State) Look {
	return Look(max(0, slices.Index(grossStates, gross))*len(extraStates) + max(0, slices.Index(extraStates, extra)))
}

// LookOf returns the look of a node.
func LookOf(node *model.Element) Look {
	gross, extra := SeenState(node), model.State(vocabulary.NodeNone)
	if gross == "" {
		gross = vocabulary.StateUnknown
	}
	if text := GivenText(node, vocabulary.AttributeNodeExtraState); text != "" {
		extra = model.State(text)
	}
	return lookFor(gross, extra)
}

// States returns both states of a look.
func (l Look) States() (gross, extra model.State) {
	return grossStates[int(l)/len(extraStates)], extraStates[int(l)%len(extraStates)]
}

// Mark returns the mark of the look: of a node that is up its users, of others the reason
// why it is unusable.
func (l Look) Mark() Mark {
	gross, extra := l.States()
	use := marksOfUse[extra]
	var m Mark
	switch gross {
	case vocabulary.StateUp:
		return use
	case vocabulary.StateDown:
		m = Mark{"grey", CellCross, "down"}
	case vocabulary.StateError:
		m = Mark{"red", CellPeak, "error"}
	default:
		m = Mark{"pale", CellSmall, "state unknown"}
	}
	if extra != vocabulary.NodeNone {
		m.Word += ", " + use.Word
		m.Sign = "m0 0" + m.Sign + cellBelow
	}
	return m
}

// Sign returns the look as a sign in a box of 12 by 12.
func (l Look) Sign() Mark {
	m := l.Mark()
	m.Sign = "M1 1" + m.Sign
	return m
}

// A NodeTally counts nodes by their looks, and their CPUs where these are known.
type NodeTally struct {
	All            int
	ByLook         map[Look]int
	CPUs, CPUsUsed int64
}

func (t *NodeTally) Add(node *model.Element, l Look) {
	t.All++
	if t.ByLook == nil {
		t.ByLook = map[Look]int{}
	}
	t.ByLook[l]++
	cpus, hasCPUs := GivenOf(node, vocabulary.AttributeNodeCPUs)
	used, hasUsed := GivenOf(node, vocabulary.AttributeNodeCPUsUsed)
	if hasCPUs && hasUsed { // otherwise the share would be wrong
		t.CPUs += cpus.Integer()
		t.CPUsUsed += used.Integer()
	}
}

// Counts returns how many nodes have each look, in the order of the looks.
func (t *NodeTally) Counts() []StateCount {
	var all []StateCount
	for l := range NumberOfLooks {
		if n := t.ByLook[l]; n > 0 {
			all = append(all, StateCount{l.Sign(), Thousands(n)})
		}
	}
	return all
}

// Use returns the number of nodes in each layer of the utilisation plot.
func (t *NodeTally) Use() (used, free, unusable int) {
	for l, n := range t.ByLook {
		gross, extra := l.States()
		switch {
		case gross != vocabulary.StateUp:
			unusable += n
		case extra == vocabulary.NodeNone:
			free += n
		default:
			used += n
		}
	}
	return used, free, unusable
}

// Words returns the number of nodes of each look in words.
func (t *NodeTally) Words() string {
	var parts []string
	for _, each := range t.Counts() {
		parts = append(parts, each.Count+" "+each.Mark.Word)
	}
	return strings.Join(parts, ", ")
}
