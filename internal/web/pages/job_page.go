package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	h "github.com/rmctl/rmctl/internal/html"
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
		page = &jobPage{Doubts: []string{"rmctl no longer knows this job."}}
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
		return answer.Errorf(http.StatusNotFound, "target %q has no job %q, and rmctl did not submit one", query.Get("rm"), query.Get("id"))
	}
	title := "Job " + page.Row.ID
	if page.Row.Name != "" && page.Row.Name != page.Row.ID {
		title += " · " + page.Row.Name
	}
	return p.show(w, r, "job", title, query, func(drawn *live.Drawn) h.Node { return page.main(drawn, csrf(r)) }, "job.js")
}

func (page *jobPage) main(drawn *live.Drawn, csrf h.Node) h.Node {
	return h.Group{
		region(drawn, h.Div, "job-head"),
		h.Form(h.Method("post"), h.Action("/jobs/operate"), csrf, hidden("back", page.Row.Address), hidden("job", page.Row.Key),
			region(drawn, h.Div, "job-buttons"),
		),
		h.Div(h.Class("stack"),
			region(drawn, h.Div, "job-processes"),
			h.Section(h.Class("card"), h.ID("job-output"), h.Aria("labelledby", "output-title"), h.H2(h.ID("output-title"), h.Text("Output")),
				outputView(),
				h.NoScript(mutedLine("Reload the page for more.")),
				region(drawn, h.Div, "job-outputs"),
			),
			region(drawn, h.Div, "job-facts"),
			region(drawn, h.Div, "job-history"),
		),
	}
}

// outputView is where a script shows output as it is written.
func outputView() h.Node {
	return h.Div(h.ID("output-view"), h.Flag("hidden"),
		h.Div(h.Class("chips"), h.ID("output-streams"), h.Role("group"), h.Aria("label", "Output file")),
		h.Pre(h.Class("output"), h.ID("output"), h.Role("log"), h.Aria("live", "off"), h.Aria("labelledby", "output-title"), h.TabIndex("0")),
		h.P(h.Class("muted small"), h.ID("output-state"), h.Role("status")),
	)
}

func (page *jobPage) head() h.Node {
	return h.Group{
		h.Div(h.Class("notes"), notes(page.Notes)),
		page.Row.headline(),
		h.If(page.Row.Reason != "" && !strings.EqualFold(page.Row.Reason, page.Row.Mark.Word), h.P(muted("Because:"), h.Text(" "), isolated(page.Row.Reason))),
		h.Map(page.Doubts, func(doubt string) h.Node { return warning("yellow", doubt) }),
		h.If(page.Requested != "", mutedLine(page.Requested)),
		h.If(!page.IsListed, mutedLine("The scheduler does not list this job; showing the record.")),
		page.Row.times(),
	}
}

func (r jobRow) headline() h.Node {
	return h.P(h.Class("headline"),
		mark(r.Mark), native(r.Native),
		h.If(r.Exit != "", h.Group{h.Text(" "), muted("exit code"), h.Text(" " + r.Exit)}),
	)
}

func (r jobRow) times() h.Node {
	item := func(name string, value h.Node) h.Node { return h.Div(h.Dt(h.Text(name)), h.Dd(value)) }
	return h.Dl(h.Class("facts times"),
		h.If(r.Submitted.IsKnown(), item("Submitted", age(r.Submitted))),
		h.If(r.Started.IsKnown(), item("Started", age(r.Started))),
		h.If(r.Finished.IsKnown(), item("Ended", age(r.Finished))),
		h.If(r.Procs != "", item("Processes", h.Text(r.Procs))),
		h.If(r.Nodes != "", item("Nodes", h.Text(r.Nodes))),
		h.If(r.Queue != "", item("Queue", isolated(r.Queue))),
		item("Target", h.Text(r.Manager)),
		h.If(r.User != "", item("User", h.Group{isolated(r.User), mine(r.Mine)})),
	)
}

func (page *jobPage) buttons() h.Node {
	if len(page.Operations) == 0 && page.Again == "" && page.Stacks == "" {
		return nil
	}
	return h.P(h.Class("actions"), spaced(page.Operations, operationButton.button), h.If(page.Stacks != "", linkButton(page.Stacks, "Stacks")), h.Text(" "), h.If(page.Again != "", linkButton(page.Again, "Submit again")))
}

func (page *jobPage) processes() h.Node {
	if len(page.Processes) == 0 {
		return nil
	}
	return card("Processes",
		h.Iff(len(page.Cells) > 0, page.cells),
		h.Details(h.If(len(page.Processes) <= mostOpen, h.Flag("open")),
			h.Summary(h.Text("All processes")),
			processTable(page.Processes),
			more(page.ProcessMore),
		),
	)
}

// cells is the map of the processes, and how many are in each state.
func (page *jobPage) cells() h.Node {
	var words []string
	for _, layer := range page.Cells {
		words = append(words, layer.Count+" "+layer.Mark.Word)
	}
	width, height := strconv.Itoa(page.CellsWidth), strconv.Itoa(page.CellsHeight)
	return h.Group{
		h.El("svg", h.Class("cells"), h.Attr("viewBox", "0 0 "+width+" "+height), h.Attr("width", width), h.Role("img"), h.Aria("label", strings.Join(words, ", ")),
			h.Map(page.Cells, mapLayer.outline),
		),
		h.P(h.Class("counts"), spaced(page.Cells, func(l mapLayer) h.Node { return count(listing.StateCount{Mark: l.Mark, Count: l.Count}) })),
	}
}

func (page *jobPage) outputs() h.Node {
	if len(page.Output) == 0 {
		return mutedLine("The job has not started.")
	}
	return h.P(h.Class("actions"), spaced(page.Output, func(o outputLink) h.Node {
		return h.A(h.Class("button"), h.Href(o.Address), h.Data("output", o.Stream), h.Attr("download", "job-"+page.Row.ID+"."+o.Stream+".txt"), h.Text("Download "+o.Label))
	}))
}

func (page *jobPage) facts() h.Node {
	return h.Group{
		h.If(len(page.Facts) > 0, card("Attributes", factsList(page.Facts))),
		h.If(len(page.Submission) > 0, card("Submission", factsList(page.Submission),
			h.If(page.Script != "", h.Details(h.Summary(h.Text("Script")), output(page.Script))),
		)),
	}
}

func (page *jobPage) history() h.Node {
	if len(page.History) == 0 {
		return nil
	}
	return card("History of the state",
		h.If(page.HistoryLeft > 0, mutedLine(strconv.Itoa(page.HistoryLeft)+" older entries are not shown.")),
		scroll("History", h.Table(h.Class("rows"), caption("History"),
			h.THead(h.Tr(heading("", "Seen"), heading("", "What"), heading("", "State"), heading("", "By"), heading("", "From"))),
			h.TBody(h.Map(page.History, historyRow.tableRow)),
		)),
	)
}

func (r historyRow) tableRow() h.Node {
	return h.Tr(
		cell("time", "Seen", moment(r.Seen)),
		cell("", "What", h.Text(r.What)),
		cell("", "State", h.Iff(r.Mark != nil, func() h.Node { return mark(*r.Mark) }), plainNative(r.Native)),
		cell("", "By", h.Text(r.Source), h.If(r.Place != "", h.Group{h.Text(" "), h.Span(h.Class("muted small"), h.Text(r.Place))})),
		cell("", "From",
			h.If(r.Reason != "", h.Group{isolated(r.Reason), h.Text(" ")}),
			h.If(r.Line != "", h.Code(h.Text(r.Line))),
			h.If(r.Evidence != "", h.Details(h.Summary(h.Text("Output")), output(r.Evidence))),
		),
	)
}
