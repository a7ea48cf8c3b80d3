package pages

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
)

// region returns an element of a page with the content of a region, whose id it has.
func region(drawn *live.Drawn, element func(...g.Node) g.Node, id string, attributes ...g.Node) g.Node {
	return element(h.ID(id), g.Group(attributes), drawn.Region(id))
}

// withClass returns the attribute class, unless the name is empty.
func withClass(name string) g.Node { return g.If(name != "", h.Class(name)) }

func muted(text string) g.Node { return h.Span(h.Class("muted"), g.Text(text)) }

func mutedLine(text string) g.Node { return h.P(h.Class("muted"), g.Text(text)) }

// emptyLine says why a page shows nothing.
func emptyLine(text string) g.Node { return h.P(h.Class("empty"), g.Text(text)) }

// isolated keeps the direction of a text from the schedulers from changing what is around it.
func isolated(text string) g.Node { return g.El("bdi", g.Text(text)) }

func hiddenText(text string) g.Node { return h.Span(h.Class("hidden"), g.Text(text)) }

func hidden(name, value string) g.Node {
	return h.Input(h.Type("hidden"), h.Name(name), h.Value(value))
}

func link(address, text string) g.Node { return h.A(h.Href(address), g.Text(text)) }

func linkButton(address, text string) g.Node {
	return h.A(h.Class("button"), h.Href(address), g.Text(text))
}

// linkOrText returns a text that leads to an address, if there is one.
func linkOrText(address, text string) g.Node {
	if address == "" {
		return g.Text(text)
	}
	return link(address, text)
}

// joined puts a text between nodes.
func joined(separator string, nodes g.Group) g.Group {
	var all g.Group
	for i, node := range nodes {
		if i > 0 {
			all = append(all, g.Text(separator))
		}
		all = append(all, node)
	}
	return all
}

// spaced draws all of a list, with a space after each.
func spaced[T any](all []T, draw func(T) g.Node) g.Group {
	return g.Map(all, func(one T) g.Node { return g.Group{draw(one), g.Text(" ")} })
}

func card(title string, content ...g.Node) g.Node {
	return h.Section(h.Class("card"), h.H2(g.Text(title)), g.Group(content))
}

// output shows what a program wrote.
func output(text string) g.Node {
	return h.Pre(h.Class("output"), h.TabIndex("0"), g.Text("\n"+text))
}

// scroll is a box that is scrolled sideways, also with keys.
func scroll(label string, content ...g.Node) g.Node {
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("label", label), g.Group(content))
}

func caption(text string) g.Node { return h.Caption(h.Class("hidden"), g.Text(text)) }

func heading(name, label string) g.Node {
	return h.Th(h.Scope("col"), withClass(name), g.Text(label))
}

// cell is a cell of a table; where there is no room for columns the label stands before it.
func cell(name, label string, content ...g.Node) g.Node {
	return h.Td(withClass(name), h.Data("label", label), g.Group(content))
}

// rowHead is the cell that names a row.
func rowHead(name, label string, content ...g.Node) g.Node {
	return h.Th(h.Scope("row"), withClass(name), h.Data("label", label), g.Group(content))
}

func option(c listing.Choice) g.Node {
	return h.Option(h.Value(c.Value), g.If(c.IsOn, h.Selected()), g.Text(c.Label))
}

// suggestions are the values that an input offers.
func suggestions(id string, values []string) g.Node {
	return h.DataList(h.ID(id), g.Map(values, func(value string) g.Node { return h.Option(h.Value(value)) }))
}

// meter shows a share in per cent; a negative one is unknown.
func meter(share int) g.Node {
	if share < 0 {
		return nil
	}
	return g.Group{h.Meter(h.Min("0"), h.Max("100"), h.Value(strconv.Itoa(share)), h.Aria("hidden", "true")), g.Text(" ")}
}

func outline(tone, path string) g.Node {
	return g.El("path", withClass(tone), g.Attr("d", path))
}

// sign draws the sign of a mark, whose word stands beside it.
func sign(m listing.Mark) g.Node {
	return h.SVG(h.Class("sign t-"+m.Tone), g.Attr("viewBox", "0 0 12 12"), h.Aria("hidden", "true"), outline("", m.Sign))
}

func mark(m listing.Mark) g.Node {
	return h.Span(h.Class("mark"), sign(m), h.Span(g.Text(m.Word)))
}

func count(c listing.StateCount) g.Node {
	return h.Span(h.Class("count"), sign(c.Mark), h.B(g.Text(c.Count)), g.Text(" "+c.Mark.Word))
}

// native is the scheduler's own word for a state.
func native(word string) g.Node {
	return g.If(word != "", g.Group{g.Text(" "), h.Span(h.Class("native"), h.Title("the scheduler’s word"), g.Text(word))})
}

// plainNative is the same where no title explains it.
func plainNative(word string) g.Node {
	return g.If(word != "", g.Group{g.Text(" "), h.Span(h.Class("native"), g.Text(word))})
}

func mine(isMine bool) g.Node {
	return g.If(isMine, g.Group{g.Text(" "), h.Span(h.Class("tag"), g.Text("mine"))})
}

// moment is a time where there is little room.
func moment(m listing.Moment) g.Node {
	if !m.IsKnown() {
		return h.Span(h.Class("none"), g.Text("–"))
	}
	return h.Time(h.DateTime(m.Machine()), h.Title(m.Text()), g.Text(m.Brief()))
}

// age is a time that scripts show as how long ago it was.
func age(m listing.Moment) g.Node {
	return h.Time(h.Class("age"), h.Aria("live", "off"), h.DateTime(m.Machine()), h.Title(m.Text()), g.Text(m.Text()))
}

func notes(all []listing.Note) g.Node {
	return g.Map(all, func(n listing.Note) g.Node { return note(h.B(g.Text(n.Manager)), n) })
}

// note says of the resource manager that subject names what is wrong with its picture.
func note(subject g.Node, n listing.Note) g.Node {
	return h.P(h.Class("note edge-"+n.Tone), subject, g.Text(" "+n.Text),
		g.Iff(n.At.IsKnown(), func() g.Node {
			return g.Group{g.Text(" "), h.Span(h.Class("nowrap"), g.Text("("), age(n.At), g.Text(")"))}
		}),
		g.If(n.Cause != "", g.Group{g.Text(": "), h.Span(h.Class("cause"), g.Text(n.Cause))}),
	)
}

// warning is a line of a colour that says how bad it is.
func warning(tone, text string) g.Node {
	return h.P(h.Class("note edge-"+tone), g.Text(text))
}

func filters(links []listing.FilterLink) g.Node {
	return spaced(links, func(l listing.FilterLink) g.Node {
		return h.A(h.Class("chip"), h.Href(l.Address), g.If(l.IsOn, h.Aria("current", "true")),
			g.Iff(l.Mark != nil, func() g.Node { return sign(*l.Mark) }),
			g.Text(l.Label),
			g.If(l.Count != "", g.Group{g.Text(" "), h.B(g.Text(l.Count))}),
		)
	})
}

// pager leads through the pages of a table that has more than one.
func pager(p listing.Pager) g.Node {
	if p.Pages <= 1 {
		return nil
	}
	off := func(text string, attributes ...g.Node) g.Node {
		return h.Span(h.Class("off"), g.Group(attributes), g.Text(text))
	}
	before := g.Group{off("«", h.Aria("hidden", "true")), g.Text(" "), off("Previous")}
	if p.Previous != "" {
		before = g.Group{h.A(h.Href(p.First), h.Aria("label", "First page"), g.Text("«")), g.Text(" "), h.A(h.Rel("prev"), h.Href(p.Previous), g.Text("Previous"))}
	}
	after := g.Group{off("Next"), g.Text(" "), off("»", h.Aria("hidden", "true"))}
	if p.Next != "" {
		after = g.Group{h.A(h.Rel("next"), h.Href(p.Next), g.Text("Next")), g.Text(" "), h.A(h.Href(p.Last), h.Aria("label", "Last page"), g.Text("»"))}
	}
	return h.Nav(h.Class("pager"), h.Aria("label", "Pages"), before, g.Text(" "), h.Span(g.Text(p.String())), g.Text(" "), after)
}

func factsList(facts []fact) g.Node {
	return h.Dl(h.Class("facts"), g.Map(facts, func(f fact) g.Node {
		return h.Div(h.Dt(h.Title(f.Description), g.Text(f.Name)), h.Dd(factValue(f)))
	}))
}

func factValue(f fact) g.Node {
	switch {
	case len(f.Words) > 0:
		return spaced(f.Words, func(word string) g.Node { return h.Code(g.Text(word)) })
	case f.At.IsKnown():
		return age(f.At)
	}
	return g.Text(f.Value)
}

func processTable(rows []processRow) g.Node {
	return h.Table(h.Class("rows"), caption("Processes"),
		h.THead(h.Tr(heading("", "Process"), heading("", "State"), heading("number", "PID"), heading("", "Node"), heading("", "Ended with"))),
		h.TBody(g.Map(rows, func(r processRow) g.Node {
			return h.Tr(
				rowHead("", "Process", link(r.Address, r.Index)),
				cell("", "State", mark(r.Mark)),
				cell("number", "PID", g.Text(r.PID)),
				cell("", "Node", linkOrText(r.NodeAddress, r.Node)),
				cell("", "Ended with", g.Text(r.Exit)),
			)
		})),
	)
}

// more says how many of a list are not shown.
func more(number int) g.Node {
	return g.If(number > 0, mutedLine("and "+strconv.Itoa(number)+" more"))
}
