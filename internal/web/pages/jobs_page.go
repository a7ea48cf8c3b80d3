package pages

import (
	"net/http"
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) jobsView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	table := drawJobs(p.Ledger, s, listing.ReadJobsQuery(query))
	return []live.Region{
		live.Whole("jobs-notes", notes(table.Notes)),
		live.Whole("jobs-filters", filters(table.Filters)),
		live.Whole("jobs-summary", g.Text(table.Summary)),
		live.Whole("jobs-head", jobsHead(table.Columns)),
		live.Whole("jobs-pager", pager(table.Pager)),
		live.Rows("jobs", table.Rows, func(r jobRow) string { return r.Key }, jobRow.tableRow),
	}, nil
}

func (p *Pages) jobsPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.ReadJobsQuery(r.URL.Query())
	choices := jobsChoicesOf(p.Ledger, p.snapshot(), query)
	return p.show(w, r, "jobs", "Jobs", query.Values(), func(drawn *live.Drawn) g.Node { return choices.main(drawn, csrf(r)) })
}

func (c jobsChoices) main(drawn *live.Drawn, csrf g.Node) g.Node {
	return g.Group{
		region(drawn, h.Div, "jobs-notes", h.Class("notes"), h.Role("status")),
		c.filter(),
		region(drawn, h.Nav, "jobs-filters", h.Class("chips"), h.Aria("label", "Jobs by state")),
		h.Div(h.Class("bar"),
			region(drawn, h.P, "jobs-summary", h.Class("muted")),
			c.layout(),
		),
		h.Form(h.Method("post"), h.Action("/jobs/operate"), csrf, hidden("back", c.Query.Address()),
			scroll("Table of jobs", h.Table(h.Class("rows jobs"),
				caption("Jobs"),
				region(drawn, h.THead, "jobs-head"),
				region(drawn, h.TBody, "jobs"),
			)),
			h.P(h.Class("actions chosen"),
				h.Span(h.Class("muted"), h.ID("chosen"), g.Text("With the jobs that are ticked:")), g.Text(" "),
				spaced(c.Operations, operationButton.button),
			),
		),
		region(drawn, h.Div, "jobs-pager"),
	}
}

// filter is the form that chooses among the jobs.
func (c jobsChoices) filter() g.Node {
	all := listing.Choice{Label: "all"}
	return h.Form(h.Class("filter"), h.Role("search"), h.Method("get"), h.Action("/jobs"),
		g.Map(c.Hidden, hiddenField.input),
		h.Label(g.Text("Text "), h.Input(h.Type("search"), h.Name("q"), h.Value(c.Query.Text), h.Placeholder("id, name, user, queue, reason"))), g.Text(" "),
		g.If(len(c.Managers) > 0, g.Group{h.Label(g.Text("Resource manager "), h.Select(h.Name("rm"), option(all), g.Map(c.Managers, option))), g.Text(" ")}),
		h.Label(g.Text("Queue "), h.Select(h.Name("queue"), option(all), g.Map(c.Queues, option))), g.Text(" "),
		h.Label(g.Text("User "), h.Input(h.Name("user"), h.Value(c.Query.User), h.List("users"), h.AutoComplete("off"), g.Attr("spellcheck", "false"))),
		suggestions("users", c.Users),
		h.Label(h.Class("check"), h.Input(h.Type("checkbox"), h.Name("mine"), h.Value("1"), g.If(c.Query.Mine, h.Checked())), g.Text(" Only mine")), g.Text(" "),
		h.Button(g.Text("Show")), g.Text(" "),
		g.If(c.IsFiltered, link("/jobs", "Clear")),
	)
}

// layout leads to more or fewer columns and rows.
func (c jobsChoices) layout() g.Node {
	sizes := g.Map(c.Sizes, func(l listing.FilterLink) g.Node {
		if l.IsOn {
			return h.B(g.Text(l.Label))
		}
		return link(l.Address, l.Label)
	})
	return h.P(h.Class("muted"), link(c.Columns.Address, c.Columns.Label), g.Text(" · "), joined(", ", sizes), g.Text(" a page"))
}

func (f hiddenField) input() g.Node { return hidden(f.Name, f.Value) }

func (o operationButton) button() g.Node {
	return h.Button(h.Name("operation"), h.Value(o.Name), g.If(o.Name == "cancel", h.Class("danger")), g.Text(o.Label+" …"))
}

func jobsHead(columns []column) g.Node {
	chooseAll := h.Input(h.Type("checkbox"), g.Attr("data-rows"), h.Aria("label", "Choose all jobs on this page"), g.Attr("hidden"))
	return h.Tr(
		h.Th(h.Scope("col"), h.Class("choose"), hiddenText("Chosen"), chooseAll),
		g.Map(columns, func(c column) g.Node {
			return h.Th(h.Scope("col"), withClass(c.Class), g.If(c.Order != "", h.Aria("sort", c.Order)), linkOrText(c.Address, c.Label))
		}),
	)
}

func (r jobRow) tableRow() g.Node {
	return h.Tr(h.Data("key", r.Key), g.If(r.Mine, h.Class("mine")),
		h.Td(h.Class("choose"), g.Iff(!r.Ended, r.checkbox)),
		cell("state", "State", mark(r.Mark), native(r.Native), r.doubt()),
		rowHead("id", "Job", g.If(r.Manager != "", muted(r.Manager+"/")), link(r.Address, r.ID)),
		cell("name", "Name", isolated(r.Name)),
		cell("user", "User", isolated(r.User), mine(r.Mine)),
		cell("queue", "Queue", isolated(r.Queue)),
		cell("number", "Procs", g.Text(r.Procs), g.Map(r.Processes, processCount)),
		cell("nodes", "Nodes", isolated(r.Nodes)),
		cell("time", "Submitted", moment(r.Submitted)),
		cell("time", "Started", moment(r.Started)),
		cell("time", "Ended", moment(r.Finished), g.If(r.Exit != "", g.Group{g.Text(" "), muted("exit " + r.Exit)})),
		cell("reason", "Reason", isolated(r.Reason)),
		g.Map(r.More, func(text string) g.Node { return h.Td(h.Class("more"), isolated(text)) }),
	)
}

func (r jobRow) checkbox() g.Node {
	return h.Input(h.Type("checkbox"), h.Name("job"), h.Value(r.Key), g.Attr("data-row"), h.Aria("label", "Choose job "+r.ID))
}

func (r jobRow) doubt() g.Node {
	return g.If(r.Doubt != "", g.Group{g.Text(" "), h.Span(h.Class("tag"), h.Title(r.Doubt), g.Text("in doubt"))})
}

func processCount(c listing.StateCount) g.Node {
	return g.Group{g.Text(" "), h.Span(h.Class("count small"), h.Title("processes "+c.Mark.Word), sign(c.Mark), g.Text(c.Count))}
}
