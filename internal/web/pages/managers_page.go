package pages

import (
	"net/http"
	"net/url"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

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
		live.Whole("managers-empty", g.If(len(rows) == 0, emptyLine("There is no resource manager yet."))),
	}, nil
}

func (p *Pages) managersPage(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "managers", "Resource managers", url.Values{}, func(drawn *live.Drawn) g.Node {
		return managersMain(drawn, p.unshown(), csrf(r))
	})
}

// managersMain shows the resource managers; targets are those that can be started beside them.
func managersMain(drawn *live.Drawn, targets []string, csrf g.Node) g.Node {
	start := h.Form(h.Method("post"), h.Action("/managers"), csrf,
		h.Label(g.Text("or start another target "), h.Select(h.Name("start"), g.Map(targets, func(name string) g.Node { return h.Option(g.Text(name)) }))),
		g.Text(" "), h.Button(g.Text("Start")),
	)
	return g.Group{
		h.Form(h.Method("post"), h.Action("/managers"), csrf,
			region(drawn, h.Div, "managers", h.Class("cards")),
		),
		region(drawn, h.Div, "managers-empty"),
		h.Div(h.Class("after"), linkButton("/managers/new", "Add a resource manager"), g.Text(" "), g.If(len(targets) > 0, start)),
	}
}

func (r managerRow) card() g.Node {
	return h.Section(h.Class("card edge-"+r.Mark.Tone), h.Data("key", r.ID), h.Data("state", string(r.State)), h.Aria("label", r.Name),
		h.Header(h.H2(g.Text(r.Name)), g.Text(" "), mark(r.Mark),
			g.If(r.Since.IsKnown(), g.Group{g.Text(" "), h.Span(h.Class("muted"), age(r.Since))}),
		),
		g.If(r.Cause != "", h.P(h.Class("problem"), g.Text(r.Cause))),
		g.If(r.Retry.IsKnown(), smallLine(g.Text("It is tried again by itself at "), moment(r.Retry), g.Text(", or at once with Start."))),
		g.Iff(r.Note != nil, func() g.Node { return note(g.Text("It"), *r.Note) }),
		g.If(r.IsShown, r.picture()),
		smallLine(joined(" · ", g.Map(r.Facts, func(f fact) g.Node { return h.Span(h.Title(f.Description), g.Text(f.Name+": "+f.Value)) }))),
		r.actions(),
	)
}

func smallLine(content ...g.Node) g.Node { return h.P(h.Class("muted small"), g.Group(content)) }

// picture sums up what the resource manager has, and when that was listed.
func (r managerRow) picture() g.Node {
	classes := "counts"
	if r.IsOld {
		classes = "counts old"
	}
	jobs := spaced(r.Jobs, count)
	if len(jobs) == 0 {
		jobs = g.Group{muted("none")}
	}
	return g.Group{
		g.If(r.IsOld, smallLine(g.Text("As it was seen last:"))),
		h.Ul(h.Class(classes),
			h.Li(link(r.JobsAddress, "Jobs"), g.Text(" "), jobs),
			h.Li(link(r.MineAddress, "Your jobs"), g.Text(" "), h.B(g.Text(r.Mine))),
			g.If(len(r.Nodes) > 0, h.Li(link(r.Machines, "Nodes"), g.Text(" "), spaced(r.Nodes, count))),
			g.If(r.Queues != "", h.Li(link(r.QueuesAt, r.Queues))),
		),
		smallLine(joined(" · ", g.Map(r.Listings, func(l listingRow) g.Node { return g.Group{g.Text(l.What + " seen "), age(l.At)} }))),
		g.If(len(r.Problems) > 0, r.problems()),
	}
}

// problems lists what was wrong with the listings.
func (r managerRow) problems() g.Node {
	kinds := " kinds of problems"
	if len(r.Problems) == 1 {
		kinds = " kind of problem"
	}
	return h.Details(h.Class("listing-problems"),
		h.Summary(g.Text(strconv.Itoa(len(r.Problems))+kinds+" in its listings")),
		h.Ul(h.Class("small"), g.Map(r.Problems, func(problem string) g.Node { return h.Li(g.Text(problem)) })),
	)
}

// actions are the buttons of a resource manager. What they say of themselves names it, for those who hear them one by one.
func (r managerRow) actions() g.Node {
	button := func(name, label, rest string) g.Node {
		return h.Button(h.Name(name), h.Value(r.ID), g.Text(label), hiddenText(rest))
	}
	leadTo := func(address, label, rest string) g.Node {
		return h.A(h.Class("button"), h.Href(address), g.Text(label), hiddenText(rest))
	}
	return h.P(h.Class("actions"),
		g.If(r.CanStart, button("start", "Start", " "+r.Name)), g.Text(" "),
		g.If(r.CanStop, button("stop", "Stop", " "+r.Name)), g.Text(" "),
		g.If(r.CanRefresh, button("refresh", "List anew", " what "+r.Name+" has")), g.Text(" "),
		g.If(r.Launch != "", leadTo(r.Launch, "Submit a job", " to "+r.Name)), g.Text(" "),
		g.If(r.CanEdit, g.Group{leadTo(r.Edit, "Edit", " "+r.Name), g.Text(" "), leadTo(r.Remove, "Remove", " "+r.Name)}),
	)
}
