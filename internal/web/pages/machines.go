package pages

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A machinesQuery says which machine is shown, and which of its nodes in the table.
type machinesQuery struct {
	Manager, Machine string // ids; empty for the first machine there is
	State            string // one of nodeFilters, or empty for all
	Text             string // in the name, the queues or the reason
	Page             int
}

// nodesPerPage is the size of a page of the table of nodes.
const nodesPerPage = 50

// nodeFilters are the choices of nodes by their states.
var nodeFilters = []struct {
	name, label string
	has         func(gross, extra model.State) bool
}{
	{"free", "free", func(gross, extra model.State) bool {
		return gross == vocabulary.StateUp && extra == vocabulary.NodeNone
	}},
	{"used", "in use", func(gross, extra model.State) bool {
		return gross == vocabulary.StateUp && extra != vocabulary.NodeNone
	}},
	{"down", "down", func(gross, _ model.State) bool { return gross == vocabulary.StateDown }},
	{"error", "error", func(gross, _ model.State) bool { return gross == vocabulary.StateError }},
	{"unknown", "unknown", func(gross, _ model.State) bool { return gross == vocabulary.StateUnknown }},
}

func readMachinesQuery(values url.Values) machinesQuery {
	q := machinesQuery{Manager: values.Get("rm"), Machine: values.Get("machine"), Text: listing.CutTo(strings.TrimSpace(values.Get("q")), listing.LongestFilter),
		Page: listing.PageNumber(values)}
	for _, filter := range nodeFilters {
		if filter.name == values.Get("state") {
			q.State = filter.name
		}
	}
	return q
}

func (q machinesQuery) values() url.Values {
	return listing.Query("rm", q.Manager, "machine", q.Machine, "state", q.State, "q", q.Text, "page", listing.Unless(1, q.Page))
}

func (q machinesQuery) with(change func(*machinesQuery)) string {
	q.Page = 1
	change(&q)
	return listing.AddressOf("/machines", q.values())
}

// A machineRow is a machine in the list of machines.
type machineRow struct {
	Key, Address  string
	Manager, Name string
	Mark          listing.Mark
	Nodes         string
	IsHere        bool
}

// A nodeRow is a node in the table of nodes.
type nodeRow struct {
	Key, Address       string
	Name               string
	Mark               listing.Mark
	Native             string
	CPUs, Memory, Load string
	Share              int // of the CPUs that are used, in per cent; -1 if unknown
	Queues, Reason     string
}

// machinesPage is what the page of machines shows.
type machinesPage struct {
	Query    machinesQuery
	Machine  string // its name, empty without a machine
	Mark     listing.Mark
	Machines []machineRow
	Notes    []listing.Note
	Map      nodeMap
	CPUs     string // how many are used, empty if unknown
	Filters  []listing.FilterLink
	Rows     []nodeRow
	Pager    listing.Pager
}

// drawMachines returns what the page of machines shows.
func drawMachines(l *listing.Ledger, s *model.Snapshot, q machinesQuery) machinesPage {
	p := machinesPage{}
	manager, machine := findMachine(l, s, q)
	if machine != nil {
		q.Manager, q.Machine = manager.Element().ID(), machine.ID()
	}
	p.Query = q
	for m := range s.Managers() {
		census := l.Census(s, m)
		for each := range m.All(model.Machine) {
			nodes := census.Nodes[each.ID()]
			if nodes == nil {
				nodes = &listing.NodeTally{}
			}
			p.Machines = append(p.Machines, machineRow{
				Key: listing.ElementKey(m.Element().ID(), each.ID()), Manager: listing.Cell(m.Element().Name()), Name: listing.Cell(each.Name()),
				Address: machinesQuery{}.with(func(q *machinesQuery) { q.Manager, q.Machine = m.Element().ID(), each.ID() }),
				Mark:    listing.MarkOf(each), Nodes: listing.Counted(nodes.All, "node"), IsHere: each == machine,
			})
		}
	}
	if machine == nil {
		p.Notes = listing.NotesOf(s, q.Manager, model.Node)
		return p
	}
	p.Machine, p.Mark = listing.Cell(machine.Name()), listing.MarkOf(machine)
	p.Notes = listing.NotesOf(s, q.Manager, model.Node)
	p.Map = listing.Kept(l, s, "map\x00"+listing.ElementKey(q.Manager, q.Machine), func() nodeMap { return mapOf(manager, q.Machine, 0) })
	if nodes := l.Census(s, manager).Nodes[q.Machine]; nodes != nil && nodes.CPUs > 0 {
		p.CPUs = listing.Thousands(int(nodes.CPUsUsed)) + " of " + listing.Counted(int(nodes.CPUs), "CPU") + " in use"
	}
	p.Rows, p.Pager, p.Filters = q.nodes(manager)
	return p
}

// findMachine returns the machine that a query means, or nil.
func findMachine(l *listing.Ledger, s *model.Snapshot, q machinesQuery) (*model.Manager, *model.Element) {
	for m := range s.Managers() {
		if q.Manager != "" && m.Element().ID() != q.Manager {
			continue
		}
		for machine := range m.All(model.Machine) {
			if q.Machine == "" || machine.ID() == q.Machine {
				return m, machine
			}
		}
	}
	return nil, nil
}

// nodes returns a page of the table of nodes, and links to other choices of them.
func (q machinesQuery) nodes(m *model.Manager) ([]nodeRow, listing.Pager, []listing.FilterLink) {
	var nodes []*model.Element
	counts := make([]int, len(nodeFilters))
	all := 0
	text := strings.ToLower(q.Text)
	for node := range m.Children(model.Node, q.Machine) {
		if text != "" && !nodeMentions(node, text) {
			continue
		}
		all++
		l := listing.LookOf(node)
		gross, extra := l.States()
		isWanted := q.State == ""
		for i, filter := range nodeFilters {
			if filter.has(gross, extra) {
				counts[i]++
				isWanted = isWanted || q.State == filter.name
			}
		}
		if isWanted {
			nodes = append(nodes, node)
		}
	}
	p := listing.PageOf(len(nodes), q.Page, nodesPerPage, func(page int) string { return q.with(func(q *machinesQuery) { q.Page = page }) })
	var rows []nodeRow
	for _, node := range nodes[p.From:p.To] {
		rows = append(rows, nodeRowOf(m, node))
	}
	filters := []listing.FilterLink{{Label: "all", Address: q.with(func(q *machinesQuery) { q.State = "" }), Count: listing.Thousands(all), IsOn: q.State == ""}}
	for i, filter := range nodeFilters {
		if counts[i] > 0 || q.State == filter.name {
			filters = append(filters, listing.FilterLink{Label: filter.label, Address: q.with(func(q *machinesQuery) { q.State = filter.name }), Count: listing.Thousands(counts[i]), IsOn: q.State == filter.name})
		}
	}
	return rows, p, filters
}

func nodeMentions(node *model.Element, text string) bool {
	if listing.Contains(node.ID(), text) || listing.Contains(node.Name(), text) {
		return true
	}
	for _, attribute := range []string{vocabulary.AttributeNodeQueues, vocabulary.AttributeNodeReason, vocabulary.AttributeNodeStatus} {
		if value := listing.GivenText(node, attribute); listing.Contains(value, text) {
			return true
		}
	}
	return false
}

// nodeRowOf returns how a table shows a node.
func nodeRowOf(m *model.Manager, node *model.Element) nodeRow {
	text := func(attribute string) string { return listing.Cell(listing.GivenText(node, attribute)) }
	manager := m.Element().ID()
	row := nodeRow{
		Key: listing.ElementKey(manager, node.ID()), Address: listing.ElementAddress("/node", manager, node.ID()), Name: listing.Cell(node.Name()),
		Mark: listing.LookOf(node).Sign(), Native: text(vocabulary.AttributeNodeStatus), Load: text(vocabulary.AttributeNodeLoad), Queues: text(vocabulary.AttributeNodeQueues),
		Reason: text(vocabulary.AttributeNodeReason), Share: -1,
	}
	cpus, hasCPUs := listing.GivenOf(node, vocabulary.AttributeNodeCPUs)
	used, hasUsed := listing.GivenOf(node, vocabulary.AttributeNodeCPUsUsed)
	switch {
	case hasCPUs && hasUsed:
		row.CPUs = used.Text() + "/" + cpus.Text()
		if cpus.Integer() > 0 {
			row.Share = int(min(100, max(0, 100*used.Integer()/cpus.Integer())))
		}
	case hasCPUs:
		row.CPUs = cpus.Text()
	}
	if memory, isGiven := listing.GivenOf(node, vocabulary.AttributeNodeMemory); isGiven {
		row.Memory = mebibytes(memory.Integer())
	}
	return row
}

// mebibytes writes an amount of memory for people.
func mebibytes(amount int64) string {
	switch {
	case amount >= 10<<20:
		return strconv.FormatInt(amount>>20, 10) + " TiB"
	case amount >= 10<<10:
		return strconv.FormatInt(amount>>10, 10) + " GiB"
	}
	return strconv.FormatInt(amount, 10) + " MiB"
}

// nodePage is what the page of a node shows.
type nodePage struct {
	Row       nodeRow
	Manager   string
	Machine   string
	Address   string // of the machine
	Facts     []fact
	Jobs      []jobRow
	MoreJobs  int // that are not shown
	Processes []processRow
	More      int // processes that are not shown
	Notes     []listing.Note
}

// mostOnNode bounds the processes and jobs that the page of a node lists.
const mostOnNode = 500

// drawNode returns what the page of a node shows; nil where there is no such node.
func drawNode(l *listing.Ledger, s *model.Snapshot, manager, id string) *nodePage {
	m, known := s.Manager(manager)
	if !known {
		return nil
	}
	node, known := m.Get(model.Node, id)
	if !known {
		return nil
	}
	p := &nodePage{
		Row: nodeRowOf(m, node), Manager: listing.Cell(m.Element().Name()), Facts: factsOf(node, nowhere), Notes: listing.NotesOf(s, manager, model.Node),
		Address: machinesQuery{}.with(func(q *machinesQuery) { q.Manager, q.Machine = manager, node.Parent() }), Machine: listing.Cell(node.Parent()),
	}
	own := l.Owner(s, m)
	for job := range monitor.JobsOn(m, id) {
		if len(p.Jobs) >= mostOnNode {
			p.MoreJobs++
			continue
		}
		p.Jobs = append(p.Jobs, rowOf(listing.ListedJob{Manager: m, Job: job}, own))
	}
	for process := range m.OnNode(id) {
		if len(p.Processes) >= mostOnNode {
			p.More++
			continue
		}
		p.Processes = append(p.Processes, processRowOf(m, process))
	}
	return p
}
