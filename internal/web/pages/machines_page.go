package pages

import (
	"net/http"
	"net/url"
	"strconv"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) machinesView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	page := drawMachines(p.Ledger, s, readMachinesQuery(query))
	return []live.Region{
		live.Whole("machines-notes", notes(page.Notes)),
		live.Rows("machines", page.Machines, func(r machineRow) string { return r.Key }, machineRow.listItem),
		live.Rows("nodes", page.Rows, func(r nodeRow) string { return r.Key }, nodeRow.tableRow),
		live.Whole("machine-head", page.head()),
		live.Whole("map-data", page.Map.legend()),
		live.Whole("node-filters", filters(page.Filters)),
		live.Whole("node-pager", pager(page.Pager)),
	}, nil
}

func (p *Pages) machinesPage(w http.ResponseWriter, r *http.Request) error {
	query := readMachinesQuery(r.URL.Query())
	return p.show(w, r, "machines", "Machines", query.values(), drawMachines(p.Ledger, p.snapshot(), query).main, "machines.js")
}

func (page machinesPage) main(drawn *live.Drawn) h.Node {
	content := emptyLine("No machines yet.")
	if page.Machine != "" {
		content = page.machine(drawn)
	}
	return h.Group{
		region(drawn, h.Div, "machines-notes", h.Class("notes"), h.Role("status")),
		h.Div(h.Class("split"),
			h.Nav(h.Aria("label", "Machines"), region(drawn, h.Ul, "machines", h.Class("list"))),
			h.Div(content),
		),
	}
}

// machine is what the page shows of one machine.
func (page machinesPage) machine(drawn *live.Drawn) h.Node {
	return h.Group{
		region(drawn, h.Div, "machine-head"),
		page.Map.picture(),
		h.P(h.ID("map-here"), h.Class("here"), h.Role("status"), h.Aria("live", "polite")),
		h.Section(h.ID("node-details"), h.Class("details"), h.Aria("label", "Selected node"), h.Aria("live", "polite"), h.Flag("hidden")),
		region(drawn, h.Div, "map-data"),
		h.H2(h.ID("nodes-title"), h.Text("Nodes")),
		page.Query.filter(),
		region(drawn, h.Nav, "node-filters", h.Class("chips"), h.Aria("label", "Nodes by state")),
		h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("labelledby", "nodes-title"),
			h.Table(h.Class("rows"), caption("Nodes"),
				h.THead(h.Tr(heading("", "State"), heading("", "Node"), heading("", "CPUs"), heading("number", "Memory"), heading("number", "Load"),
					heading("", "Queues"), heading("", "Reason"))),
				region(drawn, h.TBody, "nodes"),
			),
		),
		region(drawn, h.Div, "node-pager"),
	}
}

// filter is the form that chooses among the nodes.
func (q machinesQuery) filter() h.Node {
	return h.Form(h.Class("filter"), h.Role("search"), h.Method("get"), h.Action("/machines"),
		hidden("rm", q.Manager), hidden("machine", q.Machine),
		h.If(q.State != "", hidden("state", q.State)),
		h.Label(h.Text("Text "), h.Input(h.Type("search"), h.Name("q"), h.Value(q.Text), h.Attr("placeholder", "name, queue, reason"))), h.Text(" "),
		h.Button(h.Text("Show")),
	)
}

func (r machineRow) listItem() h.Node {
	return h.Li(h.Data("key", r.Key), h.A(h.Href(r.Address), h.If(r.IsHere, h.Aria("current", "true")),
		h.B(h.Text(r.Name)), h.Text(" "), muted(r.Manager), h.Text(" "), mark(r.Mark), h.Text(" "), h.Span(h.Class("muted nowrap"), h.Text(r.Nodes)),
	))
}

func (page machinesPage) head() h.Node {
	return h.P(h.Class("headline"), h.B(h.Text(page.Machine)), h.Text(" "), mark(page.Mark),
		h.If(page.CPUs != "", h.Group{h.Text(" "), muted(page.CPUs)}),
		h.If(len(page.Notes) > 0, h.Group{h.Text(" "), h.Span(h.Class("tag"), h.Text("last known"))}),
	)
}

func (r nodeRow) tableRow() h.Node {
	return h.Tr(h.Data("key", r.Key),
		cell("", "State", mark(r.Mark), native(r.Native)),
		rowHead("", "Node", link(r.Address, r.Name)),
		h.Td(h.Data("label", "CPUs"), h.Class("nowrap"), meter(r.Share), h.Text(r.CPUs)),
		cell("number", "Memory", h.Text(r.Memory)),
		cell("number", "Load", h.Text(r.Load)),
		cell("", "Queues", isolated(r.Queues)),
		cell("reason", "Reason", isolated(r.Reason)),
	)
}

// picture draws the map.
func (n nodeMap) picture() h.Node {
	width, height := strconv.Itoa(n.Width), strconv.Itoa(n.Height)
	return h.Div(h.ID("node-map"), h.Class("map"), h.Data("manager", n.Manager), h.Data("machine", n.Machine),
		h.El("svg", h.Attr("viewBox", "0 0 "+width+" "+height), h.Attr("width", width), h.Role("img"), h.Aria("labelledby", "map-words"),
			h.Map(n.Layers, mapLayer.outline),
		),
	)
}

func (l mapLayer) outline() h.Node { return outline("t-"+l.Mark.Tone, l.Path) }

// legend says in words and numbers what the map shows, and carries what its script needs.
func (n nodeMap) legend() h.Node {
	nodes := strconv.Itoa(n.Nodes)
	unit := " nodes: "
	if n.Nodes == 1 {
		unit = " node: "
	}
	return h.Group{
		h.P(h.ID("map-words"), h.Class("hidden"), h.Text(nodes+unit+n.Words+".")),
		h.Ul(h.Class("counts legend"), h.Data("nodes", nodes), h.Data("names", n.Names), h.Map(n.Layers, func(l mapLayer) h.Node {
			return h.Li(h.Data("tone", l.Mark.Tone), h.Data("word", l.Mark.Word), h.Data("cell", l.Cell), h.Data("places", l.Codes),
				sign(l.Mark), h.B(h.Text(l.Count)), h.Text(" "+l.Mark.Word))
		})),
		h.If(n.Left > 0, mutedLine("The map shows the first "+nodes+" nodes; "+strconv.Itoa(n.Left)+" more are in the table.")),
	}
}
