package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

// mostOpen is how many processes a page lists unfolded.
const mostOpen = 16

// jobView draws the page of a job.
func (p *Pages) jobView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	page, err := p.drawJob(s, query.Get("rm"), query.Get("id"))
	if err != nil {
		return nil, err
	}
	if page == nil {
		page = &jobPage{Doubts: []string{"Nobody knows this job any more."}}
	}
	return []live.Region{
		live.Whole("job-head", page.head()),
		live.Whole("job-buttons", page.buttons()),
		live.Whole("job-processes", page.processes()),
		live.Whole("job-outputs", page.outputs()),
		live.Whole("job-facts", page.facts()),
		live.Whole("job-history", page.history()),
	}, nil
}

func (p *Pages) jobPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "id")
	page, err := p.drawJob(p.snapshot(), query.Get("rm"), query.Get("id"))
	if err != nil {
		return err
	}
	if page == nil {
		return answer.Errorf(http.StatusNotFound, "resource manager %q has no job %q, and none was submitted through rmctl", query.Get("rm"), query.Get("id"))
	}
	title := "Job " + page.Row.ID
	if page.Row.Name != "" && page.Row.Name != page.Row.ID {
		title += " · " + page.Row.Name
	}
	return p.show(w, r, "job", title, query, func(drawn *live.Drawn) g.Node { return page.main(drawn, csrf(r)) }, "job.js")
}

func (page *jobPage) main(drawn *live.Drawn, csrf g.Node) g.Node {
	return g.Group{
		region(drawn, h.Div, "job-head"),
		h.Form(h.Method("post"), h.Action("/jobs/operate"), csrf, hidden("back", page.Row.Address), hidden("job", page.Row.Key),
			region(drawn, h.Div, "job-buttons"),
		),
		h.Div(h.Class("stack"),
			region(drawn, h.Div, "job-processes"),
			h.Section(h.Class("card"), h.ID("job-output"), h.Aria("labelledby", "output-title"), h.H2(h.ID("output-title"), g.Text("Output")),
				outputView(),
				h.NoScript(mutedLine("Load the page again to see whether there is more.")),
				region(drawn, h.Div, "job-outputs"),
			),
			region(drawn, h.Div, "job-facts"),
			region(drawn, h.Div, "job-history"),
		),
	}
}

// outputView is where a script shows output as it is written.
func outputView() g.Node {
	return h.Div(h.ID("output-view"), g.Attr("hidden"),
		h.Div(h.Class("chips"), h.ID("output-streams"), h.Role("group"), h.Aria("label", "Which output")),
		h.Pre(h.Class("output"), h.ID("output"), h.Role("log"), h.Aria("live", "off"), h.Aria("labelledby", "output-title"), h.TabIndex("0")),
		h.P(h.Class("muted small"), h.ID("output-state"), h.Role("status")),
	)
}

func (page *jobPage) head() g.Node {
	return g.Group{
		h.Div(h.Class("notes"), notes(page.Notes)),
		page.Row.headline(),
		g.If(page.Row.Reason != "", h.P(muted("Because:"), g.Text(" "), isolated(page.Row.Reason))),
		g.Map(page.Doubts, func(doubt string) g.Node { return warning("yellow", doubt) }),
		g.If(!page.IsListed, mutedLine("Its resource manager does not show it; this is what is on record.")),
		page.Row.times(),
	}
}

func (r jobRow) headline() g.Node {
	return h.P(h.Class("headline"),
		mark(r.Mark), native(r.Native),
		g.If(r.Exit != "", g.Group{g.Text(" "), muted("exit code"), g.Text(" " + r.Exit)}), g.Text(" "),
		g.If(r.Queue != "", g.Group{muted("in queue"), g.Text(" "), isolated(r.Queue)}), g.Text(" "),
		muted("of"), g.Text(" "+r.Manager),
		g.If(r.User != "", g.Group{g.Text(", "), muted("user"), g.Text(" "), isolated(r.User)}),
		mine(r.Mine),
	)
}

func (r jobRow) times() g.Node {
	item := func(name string, value g.Node) g.Node { return h.Div(h.Dt(g.Text(name)), h.Dd(value)) }
	return h.Dl(h.Class("facts times"),
		g.If(r.Submitted.IsKnown(), item("Submitted", age(r.Submitted))),
		g.If(r.Started.IsKnown(), item("Started", age(r.Started))),
		g.If(r.Finished.IsKnown(), item("Ended", age(r.Finished))),
		g.If(r.Procs != "", item("Processes", g.Text(r.Procs))),
		g.If(r.Nodes != "", item("Nodes", g.Text(r.Nodes))),
	)
}

func (page *jobPage) buttons() g.Node {
	return g.If(len(page.Operations) > 0, h.P(h.Class("actions"), spaced(page.Operations, operationButton.button)))
}

func (page *jobPage) processes() g.Node {
	if len(page.Processes) == 0 {
		return nil
	}
	return card("Processes",
		g.Iff(len(page.Cells) > 0, page.cells),
		h.Details(g.If(len(page.Processes) <= mostOpen, g.Attr("open")),
			h.Summary(g.Text("All of them")),
			processTable(page.Processes),
			more(page.ProcessMore),
		),
	)
}

// cells is the map of the processes, and how many are in each state.
func (page *jobPage) cells() g.Node {
	var words []string
	for _, layer := range page.Cells {
		words = append(words, layer.Count+" "+layer.Mark.Word)
	}
	width, height := strconv.Itoa(page.CellsWidth), strconv.Itoa(page.CellsHeight)
	return g.Group{
		h.SVG(h.Class("cells"), g.Attr("viewBox", "0 0 "+width+" "+height), h.Width(width), h.Role("img"), h.Aria("label", strings.Join(words, ", ")),
			g.Map(page.Cells, mapLayer.outline),
		),
		h.P(h.Class("counts"), spaced(page.Cells, func(l mapLayer) g.Node { return count(listing.StateCount{Mark: l.Mark, Count: l.Count}) })),
	}
}

func (page *jobPage) outputs() g.Node {
	if len(page.Output) == 0 {
		return mutedLine("It has not begun, so there is none.")
	}
	return h.P(h.Class("small"), joined(" · ", g.Map(page.Output, func(o outputLink) g.Node {
		return h.A(h.Href(o.Address), h.Data("output", o.Stream), g.Text(o.Label+" as it is"))
	})))
}

func (page *jobPage) facts() g.Node {
	return g.Group{
		g.If(len(page.Facts) > 0, card("Attributes", factsList(page.Facts))),
		g.If(len(page.Submission) > 0, card("Submission", factsList(page.Submission),
			g.If(page.Script != "", h.Details(h.Summary(g.Text("The script")), output(page.Script))),
		)),
	}
}

func (page *jobPage) history() g.Node {
	if len(page.History) == 0 {
		return nil
	}
	return card("How its state is known",
		g.If(page.HistoryLeft > 0, mutedLine(strconv.Itoa(page.HistoryLeft)+" older entries are not shown.")),
		scroll("History", h.Table(h.Class("rows"), caption("History"),
			h.THead(h.Tr(heading("", "Seen"), heading("", "What"), heading("", "State"), heading("", "By"), heading("", "From"))),
			h.TBody(g.Map(page.History, historyRow.tableRow)),
		)),
	)
}

func (r historyRow) tableRow() g.Node {
	return h.Tr(
		cell("time", "Seen", moment(r.Seen)),
		cell("", "What", g.Text(r.What)),
		cell("", "State", g.Iff(r.Mark != nil, func() g.Node { return mark(*r.Mark) }), plainNative(r.Native)),
		cell("", "By", g.Text(r.Source), g.If(r.Place != "", g.Group{g.Text(" "), h.Span(h.Class("muted small"), g.Text(r.Place))})),
		cell("", "From",
			g.If(r.Reason != "", g.Group{isolated(r.Reason), g.Text(" ")}),
			g.If(r.Line != "", h.Code(g.Text(r.Line))),
			g.If(r.Evidence != "", h.Details(h.Summary(g.Text("Output")), output(r.Evidence))),
		),
	)
}
