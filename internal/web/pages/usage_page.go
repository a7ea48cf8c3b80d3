package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/internal/web/usage"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) timelineView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	t := usage.DrawTimeline(p.Ledger, s, p.history, usage.ReadTimelineQuery(query), time.Now())
	return []live.Region{live.Whole("timeline-notes", notes(t.Notes)), live.Whole("timeline", timelineLines(t))}, nil
}

func (p *Pages) timelinePage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "queue", "hours", "mine")
	choices := usage.ReadTimelineQuery(query).Choices()
	return p.show(w, r, "timeline", "Timeline", query, func(drawn *live.Drawn) g.Node {
		return g.Group{
			region(drawn, h.Div, "timeline-notes", h.Class("notes"), h.Role("status")),
			h.Nav(h.Class("chips"), h.Aria("label", "Which jobs, and how far back"), filters(choices.Ranges), h.Span(h.Class("gap")), filters(choices.Whose)),
			smallLine(g.Text("A bar is the time that a job is known to have run, and ends where it was last seen. " +
				"Of those that schedulers no longer list the newest are kept, for a week at most.")),
			region(drawn, h.Div, "timeline"),
		}
	})
}

func timelineLines(t usage.Timeline) g.Node {
	return g.Group{
		g.If(t.IsEmpty, emptyLine("No jobs are known that ran in this time.")),
		g.Map(t.Queues, func(line usage.QueueLine) g.Node { return queueLine(line, t.Ticks) }),
		g.If(t.MoreQueues > 0, mutedLine(strconv.Itoa(t.MoreQueues)+" more queues are not shown; choose one on the page of queues.")),
	}
}

func queueLine(line usage.QueueLine, ticks []usage.Tick) g.Node {
	words := line.Words
	if line.Waiting > 0 {
		words += ", " + strconv.Itoa(line.Waiting) + " waiting"
	}
	if line.Untold > 0 {
		words += ", " + strconv.Itoa(line.Untold) + " more without a known start or end"
	}
	return h.Section(h.Class("card line"), h.Aria("label", "Queue "+line.Name),
		h.Header(h.H2(muted(line.Manager+"/"), link(line.Address, line.Name)), g.Text(" "), muted(words)),
		g.If(line.Load != "", queueLoad(line)),
		g.If(len(line.Bars) > 0, g.Group{queueBars(line, ticks), axis(ticks)}),
		g.If(line.Left > 0, smallLine(g.Text(strconv.Itoa(line.Left)+" more jobs ran; there is no room for their bars."))),
	)
}

// queueLoad shows how many of the jobs ran at once.
func queueLoad(line usage.QueueLine) g.Node {
	return h.Figure(h.Class("plot"),
		h.FigCaption(h.Class("muted small"), g.Text("Jobs at once, "+line.Most+" at most")),
		h.SVG(h.Class("load"), g.Attr("viewBox", "0 0 1000 40"), g.Attr("preserveAspectRatio", "none"), h.Aria("hidden", "true"), outline("t-green", line.Load)),
	)
}

func queueBars(line usage.QueueLine, ticks []usage.Tick) g.Node {
	return h.SVG(h.Class("bars"), h.Width("100%"), h.Height(strconv.Itoa(line.Height)), h.Role("group"), h.Aria("label", "Jobs of "+line.Name+" over time"),
		g.Map(ticks, func(t usage.Tick) g.Node {
			return g.El("line", g.Attr("x1", t.X), g.Attr("x2", t.X), g.Attr("y1", "0"), g.Attr("y2", "100%"), h.Class("tick"))
		}),
		g.Map(line.Bars, bar),
	)
}

func bar(b usage.Bar) g.Node {
	content := g.Group{
		h.TitleEl(g.Text(b.Title)),
		g.El("rect", g.Attr("x", b.X), g.Attr("y", strconv.Itoa(b.Y)), h.Width(b.Width), h.Height("10"), g.Attr("rx", "2"), h.Class("t-"+b.Tone)),
	}
	if b.Address == "" {
		return g.El("g", h.Role("img"), content)
	}
	return h.A(h.Href(b.Address), content)
}

// axis names the times of a timeline or plot.
func axis(ticks []usage.Tick) g.Node {
	return h.SVG(h.Class("axis"), h.Width("100%"), h.Height("18"), h.Aria("hidden", "true"),
		g.Map(ticks, func(t usage.Tick) g.Node { return g.El("text", g.Attr("x", t.X), g.Attr("y", "13"), g.Text(t.Text)) }),
	)
}

func (p *Pages) utilisation(s *model.Snapshot, query url.Values) usage.Utilisation {
	return usage.DrawUtilisation(s, p.history, usage.ReadUtilisationQuery(query), p.began, time.Now())
}

func (p *Pages) utilisationView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return []live.Region{live.Whole("utilisation", utilisationPlots(p.utilisation(s, query)))}, nil
}

func (p *Pages) utilisationPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "hours")
	u := p.utilisation(p.snapshot(), query)
	return p.show(w, r, "utilisation", "Utilisation", query, func(drawn *live.Drawn) g.Node {
		return g.Group{
			h.Nav(h.Class("chips"), h.Aria("label", "How far back"), filters(u.Ranges)),
			smallLine(g.Text("Kept for a week at most, since "), h.Span(h.Class("nowrap"), age(u.Since)), g.Text(". Shaded: nothing was seen.")),
			region(drawn, h.Div, "utilisation"),
		}
	})
}

func utilisationPlots(u usage.Utilisation) g.Node {
	if len(u.Managers) == 0 {
		return emptyLine("No resource manager has been listed yet.")
	}
	return g.Map(u.Managers, managerPlots)
}

func managerPlots(m usage.ManagerPlots) g.Node {
	plots := g.Map(m.Plots, plot)
	if len(plots) == 0 {
		plots = g.Group{mutedLine("Nothing has been seen in this time.")}
	}
	return h.Section(h.Class("card"), h.Aria("label", m.Name),
		h.Header(h.H2(g.Text(m.Name))),
		g.Iff(m.Note != nil, func() g.Node { return note(g.Text("It"), *m.Note) }),
		plots,
		g.If(len(m.Table) > 0, h.Details(h.Summary(g.Text("The numbers")), scroll("Numbers of "+m.Name, sampleTable(m.Table)))),
	)
}

func plot(p usage.Plot) g.Node {
	return h.Figure(h.Class("plot"),
		h.FigCaption(h.B(g.Text(p.Title)), g.Text(" "), h.Span(h.Class("counts"), spaced(p.Layers, func(l usage.PlotLayer) g.Node {
			return count(listing.StateCount{Mark: listing.Mark{Tone: l.Tone, Sign: "M1 1h10v10h-10z", Word: l.Name}, Count: l.Now})
		}))),
		h.Div(h.Class("graph"),
			h.Div(h.Class("scale"), h.Aria("hidden", "true"), g.Map(p.Scale, func(number string) g.Node { return h.Span(g.Text(number)) })),
			h.Div(area(p), axis(p.Ticks)),
		),
	)
}

// area draws the layers of a plot, and where nothing was seen.
func area(p usage.Plot) g.Node {
	return h.SVG(h.Class("area"), g.Attr("viewBox", "0 0 1000 200"), g.Attr("preserveAspectRatio", "none"), h.Role("img"),
		h.Aria("label", p.Title+" over time; now "+p.Words),
		g.Map(p.Gaps, func(gap usage.Gap) g.Node {
			return g.El("rect", h.Class("unseen"), g.Attr("x", strconv.Itoa(gap.X)), g.Attr("y", "0"), h.Width(strconv.Itoa(gap.Width)), h.Height("200"))
		}),
		g.Map(p.Layers, func(l usage.PlotLayer) g.Node { return outline("t-"+l.Tone, l.Path) }),
	)
}

func sampleTable(rows []usage.SampleRow) g.Node {
	return h.Table(h.Class("rows"),
		h.THead(h.Tr(heading("", "Seen"), heading("number", "Nodes in use"), heading("number", "free"), heading("number", "unusable"),
			heading("number", "CPUs in use"), heading("number", "Jobs running"), heading("number", "waiting"))),
		h.TBody(g.Map(rows, func(r usage.SampleRow) g.Node {
			return h.Tr(
				rowHead("", "Seen", moment(r.At)),
				cell("number", "Nodes in use", g.Text(r.Used)),
				cell("number", "Nodes free", g.Text(r.Free)),
				cell("number", "Nodes unusable", g.Text(r.Unusable)),
				cell("number", "CPUs in use", g.Text(r.CPUs)),
				cell("number", "Jobs running", g.Text(r.Running)),
				cell("number", "Jobs waiting", g.Text(r.Waiting)),
			)
		})),
	)
}
