package monitor

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// machines takes listings of machines into the model. Most schedulers have none: then the
// machines are those that nodes name, and their states follow from those of the nodes.
type machines struct {
	monitor *Monitor
	listed  map[string]listedMachine // by id
	round   uint32
}

// A listedMachine is a machine with the facts of its row.
type listedMachine struct {
	round      uint32
	state      string // empty if the row has none
	attributes []model.Attribute
}

func (l *machines) facts() []string { return []string{factState, factFurther} }

func (l *machines) startListing() { l.round++ }

// merge applies the row of a machine.
func (l *machines) merge(u *model.Update, id string, facts Facts, _ uint64) {
	row := rowOf{monitor: l.monitor, row: model.Row{Kind: model.Machine, ID: id}}
	row.further(u, facts)
	now := listedMachine{round: l.round, attributes: row.row.Attributes}
	for _, state := range model.States(model.Machine) {
		if word := facts.Fact(factState); string(state) == word && word != vocabulary.StateUnknown {
			now.state = string(state)
		}
	}
	l.listed[strings.Clone(id)] = now
}

// end forgets the machines that a whole listing lacks.
func (l *machines) end(whole bool) {
	maps.DeleteFunc(l.listed, func(_ string, each listedMachine) bool { return whole && each.round != l.round })
	l.show()
}

// A machineCount counts the nodes of a machine by state.
type machineCount struct{ all, up, down, failed int }

// state returns the state of the machine. If whole is set, all of its nodes are counted.
func (c machineCount) state(whole bool) string {
	switch {
	case c.all == 0 && !whole:
		return vocabulary.StateUnknown
	case c.all == 0:
		return vocabulary.StateUp
	case c.up == 0 && c.failed > 0:
		return vocabulary.StateError
	case c.up == 0:
		return vocabulary.StateDown
	case c.down > 0 || c.failed > 0:
		return vocabulary.StateAlert
	}
	return vocabulary.StateUp
}

// count counts the nodes of each machine that is listed or has nodes. Without a listing there
// is always one.
func (l *machines) count() map[string]machineCount {
	counts := map[string]machineCount{}
	if len(l.listed) == 0 {
		counts[l.monitor.options.Machine] = machineCount{}
	}
	for id := range l.listed {
		counts[id] = machineCount{}
	}
	for _, each := range l.monitor.nodes.known {
		c := counts[each.machine]
		c.all++
		switch each.state {
		case vocabulary.StateUp:
			c.up++
		case vocabulary.StateDown:
			c.down++
		case vocabulary.StateError:
			c.failed++
		}
		counts[each.machine] = c
	}
	return counts
}

// show shows the machines, and removes those that have lost their nodes.
func (l *machines) show() {
	m, nodes := l.monitor, l.monitor.nodes
	counts := l.count()
	manager, known := m.options.Model.Snapshot().Manager(m.options.Manager)
	if !known {
		return
	}
	m.update(func(u *model.Update) {
		for element := range manager.All(model.Machine) {
			if _, has := counts[element.ID()]; !has && nodes.areWhole {
				delete(nodes.numbers, element.ID())
				u.Remove(m.options.Manager, model.Machine, element.ID())
			}
		}
		for _, id := range slices.Sorted(maps.Keys(counts)) {
			listed, c := l.listed[id], counts[id]
			row := rowOf{monitor: m, row: model.Row{Manager: m.options.Manager, Kind: model.Machine, ID: id, Whole: true}}
			row.text(vocabulary.AttributeMachineState, listed.stateOr(c.state(nodes.areWhole)))
			row.text(attributeNumNodes, strconv.Itoa(c.all))
			row.row.Attributes = append(row.row.Attributes, listed.attributes...)
			u.Put(row.row)
		}
	})
}

func (l *listedMachine) stateOr(counted string) string {
	if l.state != "" {
		return l.state
	}
	return counted
}
