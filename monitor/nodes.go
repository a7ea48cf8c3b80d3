package monitor

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

var nodeFacts = factsOf(nodeColumns, factState, factMachine)

// nodes takes listings of nodes into the model.
type nodes struct {
	listed
	known map[string]*node // by id
	// changed is set when who uses the nodes has to be found again.
	changed bool
	// unlisted is set if the scheduler does not list its nodes.
	unlisted bool
}

type node struct {
	rowState
	machine string
	state   model.State
	full    bool        // whether all of its CPUs are in use
	extra   model.State // by whom it is used, as the model has it
}

func newNodes(m *Monitor) *nodes {
	n := &nodes{listed: newListed(m, model.Node, nodeFacts), known: map[string]*node{}}
	n.apply = n.observe
	return n
}

// adopt takes over the nodes that the model has from before.
func (n *nodes) adopt(before *model.Manager) {
	for element := range before.All(model.Node) {
		extra, _ := element.Value(vocabulary.AttributeNodeExtraState)
		n.known[element.ID()] = &node{rowState: rowState{listed: true}, machine: element.Parent(), state: element.State(), extra: model.State(extra.Text())}
	}
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

// observe takes the row of a node into the model.
func (n *nodes) observe(u *model.Update, id string, facts Facts, print uint64) {
	m := n.monitor
	machine := cmp.Or(facts.Fact(factMachine), m.options.Machine)
	before, known := n.known[id]
	switch {
	case !known:
		id = strings.Clone(id)
		before = &node{machine: strings.Clone(machine), extra: vocabulary.NodeNone}
		n.known[id] = before
		n.changed = true
	case before.machine != machine: // it moved
		u.Remove(m.options.Manager, model.Node, id)
		before.machine, before.print = strings.Clone(machine), 0
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
	row.facts(nodeColumns, facts)
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
	n.showMachines(whole)
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
			}
		}
	})
}

// showMachines counts the nodes of each machine: one without a node that is up is
// down. A machine that has lost its nodes goes, but for the one there always is.
func (n *nodes) showMachines(whole bool) {
	m := n.monitor
	type counted struct{ all, up int }
	machines := map[string]counted{m.options.Machine: {}}
	for _, each := range n.known {
		c := machines[each.machine]
		c.all++
		if each.state == vocabulary.StateUp {
			c.up++
		}
		machines[each.machine] = c
	}
	manager, known := m.options.Model.Snapshot().Manager(m.options.Manager)
	if !known {
		return
	}
	m.update(func(u *model.Update) {
		for element := range manager.All(model.Machine) {
			if _, has := machines[element.ID()]; !has && whole {
				u.Remove(m.options.Manager, model.Machine, element.ID())
			}
		}
		for _, id := range slices.Sorted(maps.Keys(machines)) {
			c := machines[id]
			state := vocabulary.StateUp
			switch {
			case c.all > 0 && c.up == 0:
				state = vocabulary.StateDown
			case c.all == 0 && !whole:
				state = vocabulary.StateUnknown
			}
			u.Put(model.Row{Manager: m.options.Manager, Kind: model.Machine, ID: id, Attributes: []model.Attribute{
				{ID: vocabulary.AttributeMachineState, Text: state}, {ID: attributeNumNodes, Text: strconv.Itoa(c.all)},
			}})
		}
	})
}
