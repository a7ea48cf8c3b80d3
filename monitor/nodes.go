package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

var nodeFacts = factsOf(nodeColumns, factState, factMachine, factFurther)

// nodes takes listings of nodes into the model.
type nodes struct {
	listed
	known map[string]*node // by id
	// changed is set when the users of the nodes must be determined again.
	changed bool
	// areWhole is set if the newest listing had all nodes.
	areWhole bool
	// unlisted is set if the scheduler does not list its nodes.
	unlisted bool
	numbers  map[string]*numbers // of the nodes of each machine
}

type node struct {
	rowState
	machine string
	number  int // in the machine, from 0
	state   model.State
	full    bool        // whether all of its CPUs are in use
	extra   model.State // its users in the model
}

func newNodes(m *Monitor) *nodes {
	n := &nodes{listed: newListed(m, model.Node, nodeFacts), known: map[string]*node{}, numbers: map[string]*numbers{}}
	n.apply = n.observe
	return n
}

// adopt takes over the nodes that the model has from before.
func (n *nodes) adopt(before *model.Manager) {
	elements := slices.SortedStableFunc(before.All(model.Node), func(a, b *model.Element) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	for _, element := range elements {
		extra, _ := element.Value(vocabulary.AttributeNodeExtraState)
		n.known[element.ID()] = &node{
			rowState: rowState{listed: true}, machine: element.Parent(), number: n.numbersOf(element.Parent()).take(),
			state: element.State(), extra: model.State(extra.Text()),
		}
	}
}

func numberOf(node *model.Element) int64 {
	number, _ := node.Value(attributeNodeNumber)
	return number.Integer()
}

func (n *nodes) merge(u *model.Update, id string, facts Facts, print uint64) {
	before, known := n.known[id]
	if !known {
		n.observe(u, id, facts, print)
		return
	}
	if before.round == n.round {
		if machine := cmp.Or(facts.Fact(factMachine), n.monitor.options.Machine); machine != before.machine {
			n.monitor.wrong(whatMachines, model.Node, id, machine, 1)
			return
		}
	}
	if n.isNow(id, &before.rowState, facts) {
		n.observe(u, id, facts, print)
	}
}

// observe applies the row of a node to the model.
func (n *nodes) observe(u *model.Update, id string, facts Facts, print uint64) {
	m := n.monitor
	machine := cmp.Or(facts.Fact(factMachine), m.options.Machine)
	before, known := n.known[id]
	switch {
	case !known:
		id = strings.Clone(id)
		machine = strings.Clone(machine)
		before = &node{machine: machine, number: n.numbersOf(machine).take(), extra: vocabulary.NodeNone}
		n.known[id] = before
		n.changed = true
	case before.machine != machine: // it moved
		u.Remove(m.options.Manager, model.Node, id)
		n.numbersOf(before.machine).giveBack(before.number)
		machine = strings.Clone(machine)
		before.machine, before.number, before.print = machine, n.numbersOf(machine).take(), 0
	}
	isSame := before.print == print
	before.rowState = rowState{print: print, round: n.round, listed: true, hasState: facts.Fact(factState) != ""}
	if isSame {
		return
	}
	if machine != m.options.Machine {
		u.Put(model.Row{Manager: m.options.Manager, Kind: model.Machine, ID: machine})
	}
	full := isFull(facts)
	n.changed = n.changed || full != before.full
	before.full = full
	row := rowOf{monitor: m, row: model.Row{Manager: m.options.Manager, Kind: model.Node, Parent: machine, ID: id, Whole: true}}
	row.state(vocabulary.AttributeNodeState, facts.Fact(factState), vocabulary.StateUnknown)
	before.state = model.State(row.row.Attributes[0].Text)
	row.text(vocabulary.AttributeNodeExtraState, string(before.extra))
	row.text(attributeNodeNumber, strconv.Itoa(before.number))
	row.facts(nodeColumns, facts)
	row.further(u, facts)
	u.Put(row.row)
}

// isFull reports whether all CPUs of the node of a row are in use.
func isFull(facts Facts) bool {
	cpus, err := strconv.ParseUint(facts.Fact(factCPUs), 10, 32)
	used, errUsed := strconv.ParseUint(facts.Fact(factCPUsUsed), 10, 32)
	return err == nil && errUsed == nil && cpus > 0 && used >= cpus
}

// end removes the nodes that a whole listing lacks, and shows what the machines are
// like.
func (n *nodes) end(whole bool) {
	m := n.monitor
	n.applyRepeated()
	n.sweep(whole)
	n.areWhole = whole
	m.machines.show()
	m.jobs.showUse()
}

// sweep removes the nodes that a whole listing lacks.
func (n *nodes) sweep(whole bool) {
	if !whole {
		return
	}
	n.monitor.update(func(u *model.Update) {
		for id, each := range n.known {
			if each.round != n.round {
				u.Remove(n.monitor.options.Manager, model.Node, id)
				delete(n.known, id)
				n.numbersOf(each.machine).giveBack(each.number)
			}
		}
	})
}

// numbers are the indexes of the nodes of a machine. A node keeps its index while it is there.
type numbers struct {
	next int
	free []int // below next, which nodes that are gone had
}

// numbersOf returns the numbers of a machine.
func (n *nodes) numbersOf(machine string) *numbers {
	if n.numbers[machine] == nil {
		n.numbers[machine] = &numbers{}
	}
	return n.numbers[machine]
}

// take returns the smallest number that no node has.
func (n *numbers) take() int {
	if len(n.free) > 0 {
		number := n.free[len(n.free)-1]
		n.free = n.free[:len(n.free)-1]
		return number
	}
	n.next++
	return n.next - 1
}

// giveBack frees a number.
func (n *numbers) giveBack(number int) {
	at, _ := slices.BinarySearchFunc(n.free, number, func(a, b int) int { return b - a }) // the smallest is the last
	n.free = slices.Insert(n.free, at, number)
}
