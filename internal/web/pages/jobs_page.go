package pages

import (
	"cmp"
	"net/http"
	"net/url"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) jobsView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	table := drawJobs(p.Ledger, s, listing.ReadJobsQuery(query))
	return []live.Region{
		live.Whole("jobs-notes", notes(table.Notes)),
		live.Whole("jobs-filters", filters(table.Filters)),
		live.Whole("jobs-summary", h.Text(table.Summary)),
		live.Whole("jobs-head", jobsHead(table.Columns)),
		live.Whole("jobs-pager", pager(table.Pager)),
		live.Rows("jobs", table.Rows, func(r jobRow) string { return r.Key }, jobRow.tableRow),
	}, nil
}

func (p *Pages) jobsPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.ReadJobsQuery(r.URL.Query())
	choices := jobsChoicesOf(p.Ledger, p.snapshot(), query)
	return p.show(w, r, "jobs", "Jobs", query.Values(), func(drawn *live.Drawn) h.Node { return choices.main(drawn, csrf(r)) }, "filter.js")
}

func (c jobsChoices) main(drawn *live.Drawn, csrf h.Node) h.Node {
	return h.Group{
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
				h.Span(h.Class("muted"), h.ID("chosen"), h.Text("With the selected jobs:")), h.Text(" "),
				spaced(c.Operations, operationButton.button),
			),
		),
		region(drawn, h.Div, "jobs-pager"),
	}
}

// filter is the form that chooses among the jobs.
func (c jobsChoices) filter() h.Node {
	all := listing.Choice{Label: "all"}
	return h.Form(h.Class("filter"), h.Role("search"), h.Method("get"), h.Action("/jobs"),
		h.Map(c.Hidden, hiddenField.input),
		h.Label(h.Text("Text "), h.Input(h.Type("search"), h.Name("q"), h.Value(c.Query.Text), h.Attr("placeholder", "id, name, user, queue, reason"))), h.Text(" "),
		h.If(len(c.Managers) > 0, h.Group{h.Label(h.Text("Target "), h.Select(h.Name("rm"), option(all), h.Map(c.Managers, option))), h.Text(" ")}),
		h.Label(h.Text("Queue "), h.Select(h.Name("queue"), option(all), h.Map(c.Queues, option))), h.Text(" "),
		h.Label(h.Text("User "), h.Input(h.Name("user"), h.Value(c.Query.User), h.Attr("list", "users"), h.Attr("autocomplete", "off"), h.Attr("spellcheck", "false"))),
		suggestions("users", c.Users),
		h.Label(h.Class("check"), h.Input(h.Type("checkbox"), h.Name("mine"), h.Value("1"), h.If(c.Query.Mine, h.Flag("checked"))), h.Text(" My jobs only")), h.Text(" "),
		h.Button(h.Text("Show")), h.Text(" "),
		h.If(c.IsFiltered, link("/jobs", "Clear")),
	)
}

// layout leads to more or fewer columns and rows.
func (c jobsChoices) layout() h.Node {
	sizes := h.Map(c.Sizes, func(l listing.FilterLink) h.Node {
		if l.IsOn {
			return h.B(h.Text(l.Label))
		}
		return link(l.Address, l.Label)
	})
	return h.P(h.Class("muted"), link(c.Columns.Address, c.Columns.Label), h.Text(" · "), h.Join(", ", sizes), h.Text(" a page"))
}

func (f hiddenField) input() h.Node { return hidden(f.Name, f.Value) }

func (o operationButton) button() h.Node {
	return h.Button(h.Name("operation"), h.Value(o.Name), h.If(o.Name == "cancel", h.Class("danger")), h.Text(o.Label+" …"))
}

func jobsHead(columns []column) h.Node {
	chooseAll := h.Input(h.Type("checkbox"), h.Flag("data-rows"), h.Aria("label", "Select all jobs on this page"), h.Flag("hidden"))
	return h.Tr(
		h.Th(h.Scope("col"), h.Class("choose"), hiddenText("Chosen"), chooseAll),
		h.Map(columns, func(c column) h.Node {
			return h.Th(h.Scope("col"), withClass(c.Class), h.If(c.Order != "", h.Aria("sort", c.Order)), linkOrText(c.Address, c.Label))
		}),
	)
}

func (r jobRow) tableRow() h.Node {
	return h.Tr(h.Data("key", r.Key), h.If(r.Mine, h.Class("mine")),
		h.Td(h.Class("choose"), h.Iff(!r.Ended, r.checkbox)),
		cell("state", "State", mark(r.Mark), native(r.Native), r.doubt()),
		rowHead("id", "Job", h.If(r.Manager != "", muted(r.Manager+"/")), link(r.Address, r.ID)),
		cell("name", "Name", isolated(r.Name)),
		cell("user", "User", isolated(r.User), mine(r.Mine)),
		cell("queue", "Queue", isolated(r.Queue)),
		cell("number", "Procs", h.Text(r.Procs), h.Map(r.Processes, processCount)),
		cell("nodes", "Nodes", isolated(r.Nodes)),
		cell("time"+r.newest(r.Submitted), "Submitted", moment(r.Submitted)),
		cell("time"+r.newest(r.Started), "Started", moment(r.Started)),
		cell("time"+r.newest(r.Finished), "Ended", moment(r.Finished), h.If(r.Exit != "", h.Group{h.Text(" "), muted("exit " + r.Exit)})),
		cell("reason", "Reason", isolated(r.Reason)),
		h.Map(r.More, func(text string) h.Node { return h.Td(h.Class("more"), isolated(text)) }),
	)
}

// newest returns a further class for the cell with the newest time, which phones show alone.
func (r jobRow) newest(m listing.Moment) string {
	for _, newest := range []listing.Moment{r.Finished, r.Started, r.Submitted} {
		if newest.IsKnown() {
			if newest == m {
				return " newest"
			}
			return ""
		}
	}
	return ""
}

func (r jobRow) checkbox() h.Node {
	return h.Input(h.Type("checkbox"), h.Name("job"), h.Value(r.Key), h.Flag("data-row"), h.Aria("label", "Select job "+r.ID))
}

func (r jobRow) doubt() h.Node {
	words := cmp.Or(transition.Request(r.Doubt), "stale")
	return h.If(r.Doubt != "", h.Group{h.Text(" "), h.Span(h.Class("tag"), h.Title(r.Doubt), h.Text(words))})
}

func processCount(c listing.StateCount) h.Node {
	return h.Group{h.Text(" "), h.Span(h.Class("count small"), h.Title("processes "+c.Mark.Word), sign(c.Mark), h.Text(c.Count))}
}
