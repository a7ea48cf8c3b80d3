package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	h "github.com/rmctl/rmctl/internal/html"
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
	return p.show(w, r, "timeline", "Timeline", query, func(drawn *live.Drawn) h.Node {
		return h.Group{
			region(drawn, h.Div, "timeline-notes", h.Class("notes"), h.Role("status")),
			h.Nav(h.Class("chips"), h.Aria("label", "Jobs and time range"), filters(choices.Ranges), h.Span(h.Class("gap")), filters(choices.Whose)),
			smallLine(h.Text("A bar is the time in which a job ran, up to when it was last seen. " +
				"The newest jobs that schedulers no longer list are kept for up to a week.")),
			region(drawn, h.Div, "timeline"),
		}
	})
}

func timelineLines(t usage.Timeline) h.Node {
	return h.Group{
		h.If(t.IsEmpty, emptyLine("No jobs ran in this time.")),
		h.Map(t.Queues, func(line usage.QueueLine) h.Node { return queueLine(line, t.Ticks) }),
		h.If(t.MoreQueues > 0, mutedLine(strconv.Itoa(t.MoreQueues)+" more queues are not shown; choose one on the page of queues.")),
	}
}

func queueLine(line usage.QueueLine, ticks []usage.Tick) h.Node {
	words := line.Words
	if line.Waiting > 0 {
		words += ", " + strconv.Itoa(line.Waiting) + " waiting"
	}
	if line.Untold > 0 {
		words += ", " + strconv.Itoa(line.Untold) + " more without a known start or end"
	}
	return h.Section(h.Class("card line"), h.Aria("label", "Queue "+line.Name),
		h.Header(h.H2(muted(line.Manager+"/"), link(line.Address, line.Name)), h.Text(" "), muted(words)),
		h.If(line.Load != "", queueLoad(line)),
		h.If(len(line.Bars) > 0, h.Group{queueBars(line, ticks), axis(ticks)}),
		h.If(line.Left > 0, smallLine(h.Text(strconv.Itoa(line.Left)+" more jobs ran; their bars do not fit."))),
	)
}

// queueLoad shows how many of the jobs ran at once.
func queueLoad(line usage.QueueLine) h.Node {
	return h.Figure(h.Class("plot"),
		h.FigCaption(h.Class("muted small"), h.Text("Jobs at once, "+line.Most+" at most")),
		h.El("svg", h.Class("load"), h.Attr("viewBox", "0 0 1000 40"), h.Attr("preserveAspectRatio", "none"), h.Aria("hidden", "true"), outline("t-green", line.Load)),
	)
}

func queueBars(line usage.QueueLine, ticks []usage.Tick) h.Node {
	return h.El("svg", h.Class("bars"), h.Attr("width", "100%"), h.Attr("height", strconv.Itoa(line.Height)), h.Role("group"), h.Aria("label", "Jobs of "+line.Name+" over time"),
		h.Map(ticks, func(t usage.Tick) h.Node {
			return h.El("line", h.Attr("x1", t.X), h.Attr("x2", t.X), h.Attr("y1", "0"), h.Attr("y2", "100%"), h.Class("tick"))
		}),
		h.Map(line.Bars, bar),
	)
}

func bar(b usage.Bar) h.Node {
	content := h.Group{
		h.El("title", h.Text(b.Title)),
		h.El("rect", h.Attr("x", b.X), h.Attr("y", strconv.Itoa(b.Y)), h.Attr("width", b.Width), h.Attr("height", "10"), h.Attr("rx", "2"), h.Class("t-"+b.Tone)),
	}
	if b.Address == "" {
		return h.El("g", h.Role("img"), content)
	}
	return h.A(h.Href(b.Address), content)
}

// axis names the times of a timeline or plot.
func axis(ticks []usage.Tick) h.Node {
	return h.El("svg", h.Class("axis"), h.Attr("width", "100%"), h.Attr("height", "18"), h.Aria("hidden", "true"),
		h.Map(ticks, func(t usage.Tick) h.Node { return h.El("text", h.Attr("x", t.X), h.Attr("y", "13"), h.Text(t.Text)) }),
	)
}

func (p *Pages) utilisation(s *model.Snapshot, query url.Values) usage.Utilisation {
	return usage.DrawUtilisation(s, p.history, usage.ReadUtilisationQuery(query), p.began, time.Now())
}

func (p *Pages) utilisationView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return []live.Region{live.Whole("utilisation", utilisationPlots(p.utilisation(s, query)))}, nil
}

func (p *Pages) utilisationPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "hours", "from", "to")
	u := p.utilisation(p.snapshot(), query)
	return p.show(w, r, "utilisation", "Utilisation", query, func(drawn *live.Drawn) h.Node {
		return h.Group{
			h.Nav(h.Class("chips"), h.Aria("label", "Time range"), filters(u.Ranges)),
			rangeForm(u),
			smallLine(h.Text("Kept for up to a week, since "), h.Span(h.Class("nowrap"), age(u.Since)), h.Text(". Shaded: no data.")),
			region(drawn, h.Div, "utilisation"),
		}
	}, "plots.js")
}

// rangeForm chooses the time that plots show, which scripts let choose in the plot, too.
func rangeForm(u usage.Utilisation) h.Node {
	field := func(name, label string, at time.Time) h.Node {
		return h.Label(h.Text(label), h.Input(h.Type("datetime-local"), h.Name(name), h.Value(at.Local().Format(usage.TimeLayout)), h.Flag("required")))
	}
	return h.Form(h.Class("range"), h.Method("get"), h.Action("/utilisation"), h.If(u.Query.Manager != "", hidden("rm", u.Query.Manager)),
		field("from", "From ", u.From), h.Text(" "), field("to", "To ", u.To), h.Text(" "), h.Button(h.Text("Show")))
}

func utilisationPlots(u usage.Utilisation) h.Node {
	if len(u.Managers) == 0 {
		return emptyLine("No target has been listed yet.")
	}
	return h.Map(u.Managers, managerPlots)
}

func managerPlots(m usage.ManagerPlots) h.Node {
	plots := h.Map(m.Plots, plot)
	if len(plots) == 0 {
		plots = h.Group{mutedLine("No data for this time.")}
	}
	return h.Section(h.Class("card"), h.Aria("label", m.Name),
		h.Header(h.H2(h.Text(m.Name))),
		h.Iff(m.Note != nil, func() h.Node { return note(h.Text("It"), *m.Note) }),
		plots,
		h.If(len(m.Table) > 0, h.Details(h.Summary(h.Text("The numbers")), scroll("Numbers of "+m.Name, sampleTable(m.Table)))),
	)
}

func plot(p usage.Plot) h.Node {
	return h.Figure(h.Class("plot"),
		h.FigCaption(h.B(h.Text(p.Title)), h.Text(" "), h.Span(h.Class("counts"), spaced(p.Layers, func(l usage.PlotLayer) h.Node {
			return count(listing.StateCount{Mark: listing.Mark{Tone: l.Tone, Sign: "M1 1h10v10h-10z", Word: l.Name}, Count: l.Now})
		}))),
		h.Div(h.Class("graph"),
			h.Div(h.Class("scale"), h.Aria("hidden", "true"), h.Map(p.Scale, func(number string) h.Node { return h.Span(h.Text(number)) })),
			h.Div(area(p), axis(p.Ticks)),
		),
		h.P(h.Class("value small muted"), h.Role("status")),
	)
}

// area draws the layers of a plot, and where nothing was seen.
func area(p usage.Plot) h.Node {
	return h.El("svg", h.Class("area"), h.Attr("viewBox", "0 0 1000 200"), h.Attr("preserveAspectRatio", "none"), h.Role("img"), h.TabIndex("0"),
		h.Data("from", strconv.FormatInt(p.From, 10)), h.Data("to", strconv.FormatInt(p.To, 10)), h.Data("samples", p.Samples),
		h.Data("layers", strings.Join(layerNames(p), "|")),
		h.Aria("label", p.Title+" over time; newest "+p.Words),
		h.Map(p.Gaps, func(gap usage.Gap) h.Node {
			return h.El("rect", h.Class("unseen"), h.Attr("x", strconv.Itoa(gap.X)), h.Attr("y", "0"), h.Attr("width", strconv.Itoa(gap.Width)), h.Attr("height", "200"))
		}),
		h.Map(p.Layers, func(l usage.PlotLayer) h.Node { return outline("t-"+l.Tone, l.Path) }),
	)
}

func layerNames(p usage.Plot) []string {
	var names []string
	for _, layer := range p.Layers {
		names = append(names, layer.Name)
	}
	return names
}

func sampleTable(rows []usage.SampleRow) h.Node {
	return h.Table(h.Class("rows"),
		h.THead(h.Tr(heading("", "Seen"), heading("number", "Nodes in use"), heading("number", "free"), heading("number", "unusable"),
			heading("number", "CPUs in use"), heading("number", "Jobs running"), heading("number", "queued"))),
		h.TBody(h.Map(rows, func(r usage.SampleRow) h.Node {
			return h.Tr(
				rowHead("", "Seen", moment(r.At)),
				cell("number", "Nodes in use", h.Text(r.Used)),
				cell("number", "Nodes free", h.Text(r.Free)),
				cell("number", "Nodes unusable", h.Text(r.Unusable)),
				cell("number", "CPUs in use", h.Text(r.CPUs)),
				cell("number", "Jobs running", h.Text(r.Running)),
				cell("number", "Jobs queued", h.Text(r.Waiting)),
			)
		})),
	)
}
