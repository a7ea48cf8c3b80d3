package pages

import (
	"net/http"
	"net/url"
	"strconv"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) managersView(s *model.Snapshot, _ url.Values) ([]live.Region, error) {
	var rows []managerRow
	for m := range s.Managers() {
		row := managerRowOf(p.Ledger, s, m)
		if known, err := p.Platform.Manager(row.ID); err == nil && row.Cause != "" {
			row.Retry = listing.Moment{At: known.Retry}
		}
		rows = append(rows, row)
	}
	return []live.Region{
		live.Rows("managers", rows, func(r managerRow) string { return r.ID }, managerRow.card),
		live.Whole("own-jobs", p.ownJobs(s)),
		live.Whole("managers-empty", h.If(len(rows) == 0, emptyLine("No targets yet."))),
	}, nil
}

func (p *Pages) managersPage(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "managers", "Targets", url.Values{}, func(drawn *live.Drawn) h.Node {
		return managersMain(drawn, p.unshown(), csrf(r))
	})
}

// managersMain shows the targets, and targets, further ones to start.
func managersMain(drawn *live.Drawn, targets []string, csrf h.Node) h.Node {
	start := h.Form(h.Method("post"), h.Action("/managers"), csrf,
		h.Label(h.Text("or start another target "), h.Select(h.Name("start"), h.Map(targets, func(name string) h.Node { return h.Option(h.Text(name)) }))),
		h.Text(" "), h.Button(h.Text("Start")),
	)
	return h.Group{
		h.Div(h.Class("start"),
			h.Form(h.Method("post"), h.Action("/managers"), csrf,
				region(drawn, h.Div, "managers", h.Class("cards")),
				region(drawn, h.Div, "managers-empty"),
			),
			h.Section(h.Class("card"), h.Aria("labelledby", "own-title"), h.H2(h.ID("own-title"), h.Text("Your jobs")), region(drawn, h.Div, "own-jobs")),
		),
		h.Div(h.Class("after"), linkButton("/managers/new", "Add a target"), h.Text(" "), h.If(len(targets) > 0, start)),
	}
}

func (r managerRow) card() h.Node {
	return h.Section(h.Class("card edge-"+r.Mark.Tone), h.Data("key", r.ID), h.Data("state", string(r.State)), h.Aria("label", r.Name),
		h.Header(h.H2(h.Text(r.Name)), h.Text(" "), mark(r.Mark),
			h.If(r.Since.IsKnown(), h.Group{h.Text(" "), h.Span(h.Class("muted"), age(r.Since))}),
		),
		h.If(r.Cause != "", h.P(h.Class("problem"), h.Text(r.Cause))),
		h.If(r.Retry.IsKnown(), smallLine(h.Text("rmctl tries again at "), moment(r.Retry), h.Text(", or immediately with Start session."))),
		h.Iff(r.Note != nil, func() h.Node { return note(h.Text("It"), *r.Note) }),
		h.If(r.IsShown, r.picture()),
		smallLine(h.Join(" · ", h.Map(r.Facts, func(f fact) h.Node { return h.Span(h.Title(f.Description), h.Text(f.Name+": "+f.Value)) }))),
		r.actions(),
	)
}

func smallLine(content ...h.Node) h.Node { return h.P(h.Class("muted small"), h.Group(content)) }

// picture sums up what the target has, and when that was listed.
func (r managerRow) picture() h.Node {
	classes := "counts"
	if r.IsOld {
		classes = "counts old"
	}
	jobs := spaced(r.Jobs, count)
	if len(jobs) == 0 {
		jobs = h.Group{muted("none")}
	}
	return h.Group{
		h.If(r.IsOld, smallLine(h.Text("Last known:"))),
		h.Ul(h.Class(classes),
			h.Li(link(r.JobsAddress, "Jobs"), h.Text(" "), jobs),
			h.Li(link(r.MineAddress, "Your jobs"), h.Text(" "), h.B(h.Text(r.Mine))),
			h.If(len(r.Nodes) > 0, h.Li(link(r.Machines, "Nodes"), h.Text(" "), spaced(r.Nodes, count))),
			h.If(r.Queues != "", h.Li(link(r.QueuesAt, r.Queues))),
		),
		smallLine(h.Join(" · ", h.Map(r.Listings, func(l listingRow) h.Node { return h.Group{h.Text(l.What + " listed "), age(l.At)} }))),
		h.If(len(r.Problems) > 0, r.problems()),
	}
}

// problems lists what was wrong with the listings.
func (r managerRow) problems() h.Node {
	kinds := " kinds of problems"
	if len(r.Problems) == 1 {
		kinds = " kind of problem"
	}
	return h.Details(h.Class("listing-problems"),
		h.Summary(h.Text(strconv.Itoa(len(r.Problems))+kinds+" in its listings")),
		h.Ul(h.Class("small"), h.Map(r.Problems, func(problem string) h.Node { return h.Li(h.Text(problem)) })),
	)
}

// actions are the buttons of a target. Their labels contain its name for screen readers.
func (r managerRow) actions() h.Node {
	button := func(name, label, rest string) h.Node {
		return h.Button(h.Name(name), h.Value(r.ID), h.Text(label), hiddenText(rest))
	}
	leadTo := func(address, label, rest string) h.Node {
		return h.A(h.Class("button"), h.Href(address), h.Text(label), hiddenText(rest))
	}
	return h.P(h.Class("actions"),
		h.If(r.CanStart, button("start", "Start session", " of "+r.Name)), h.Text(" "),
		h.If(r.CanStop, button("stop", "Stop session", " of "+r.Name)), h.Text(" "),
		h.If(r.CanRefresh, button("refresh", "Refresh", " "+r.Name)), h.Text(" "),
		h.If(r.Launch != "", leadTo(r.Launch, "Submit a job", " to "+r.Name)), h.Text(" "),
		h.If(r.CanEdit, h.Group{leadTo(r.Edit, "Edit", " "+r.Name), h.Text(" "), leadTo(r.Remove, "Remove", " "+r.Name)}),
	)
}
