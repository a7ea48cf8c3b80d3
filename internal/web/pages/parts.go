package pages

import (
	"strconv"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
)

// region returns an element of a page with the content of a region, whose id it has.
func region(drawn *live.Drawn, element func(...h.Node) h.Node, id string, attributes ...h.Node) h.Node {
	return element(h.ID(id), h.Group(attributes), drawn.Region(id))
}

// withClass returns the attribute class, unless the name is empty.
func withClass(name string) h.Node { return h.If(name != "", h.Class(name)) }

func muted(text string) h.Node { return h.Span(h.Class("muted"), h.Text(text)) }

func mutedLine(text string) h.Node { return h.P(h.Class("muted"), h.Text(text)) }

// emptyLine says why a page shows nothing.
func emptyLine(text string) h.Node { return h.P(h.Class("empty"), h.Text(text)) }

// isolated keeps the direction of a text from the schedulers from changing what is around it.
func isolated(text string) h.Node { return h.El("bdi", h.Text(text)) }

func hiddenText(text string) h.Node { return h.Span(h.Class("hidden"), h.Text(text)) }

func hidden(name, value string) h.Node {
	return h.Input(h.Type("hidden"), h.Name(name), h.Value(value))
}

func link(address, text string) h.Node { return h.A(h.Href(address), h.Text(text)) }

func linkButton(address, text string) h.Node {
	return h.A(h.Class("button"), h.Href(address), h.Text(text))
}

// linkOrText returns a text that leads to an address, if there is one.
func linkOrText(address, text string) h.Node {
	if address == "" {
		return h.Text(text)
	}
	return link(address, text)
}

// spaced draws all of a list, with a space after each.
func spaced[T any](all []T, draw func(T) h.Node) h.Group {
	return h.Map(all, func(one T) h.Node { return h.Group{draw(one), h.Text(" ")} })
}

func card(title string, content ...h.Node) h.Node {
	return h.Section(h.Class("card"), h.H2(h.Text(title)), h.Group(content))
}

// output shows what a program wrote.
func output(text string) h.Node {
	return h.Pre(h.Class("output"), h.TabIndex("0"), h.Text("\n"+text))
}

// scroll is a box that is scrolled sideways, also with keys.
func scroll(label string, content ...h.Node) h.Node {
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("label", label), h.Group(content))
}

func caption(text string) h.Node { return h.Caption(h.Class("hidden"), h.Text(text)) }

func heading(name, label string) h.Node {
	return h.Th(h.Scope("col"), withClass(name), h.Text(label))
}

// cell is a cell of a table; where there is no room for columns the label stands before it.
func cell(name, label string, content ...h.Node) h.Node {
	return h.Td(withClass(name), h.Data("label", label), h.Group(content))
}

// rowHead is the cell that names a row.
func rowHead(name, label string, content ...h.Node) h.Node {
	return h.Th(h.Scope("row"), withClass(name), h.Data("label", label), h.Group(content))
}

func option(c listing.Choice) h.Node {
	return h.Option(h.Value(c.Value), h.If(c.IsOn, h.Flag("selected")), h.Text(c.Label))
}

// suggestions are the values that an input offers.
func suggestions(id string, values []string) h.Node {
	return h.DataList(h.ID(id), h.Map(values, func(value string) h.Node { return h.Option(h.Value(value)) }))
}

// meter shows a share in per cent; a negative one is unknown.
func meter(share int) h.Node {
	if share < 0 {
		return nil
	}
	return h.Group{h.Meter(h.Attr("min", "0"), h.Attr("max", "100"), h.Value(strconv.Itoa(share)), h.Aria("hidden", "true")), h.Text(" ")}
}

func outline(tone, path string) h.Node {
	return h.El("path", withClass(tone), h.Attr("d", path))
}

// sign draws the sign of a mark, whose word stands beside it.
func sign(m listing.Mark) h.Node {
	return h.El("svg", h.Class("sign t-"+m.Tone), h.Attr("viewBox", "0 0 12 12"), h.Aria("hidden", "true"), outline("", m.Sign))
}

func mark(m listing.Mark) h.Node {
	return h.Span(h.Class("mark"), sign(m), h.Span(h.Text(m.Word)))
}

func count(c listing.StateCount) h.Node {
	return h.Span(h.Class("count"), sign(c.Mark), h.B(h.Text(c.Count)), h.Text(" "+c.Mark.Word))
}

// native is the scheduler's own word for a state.
func native(word string) h.Node {
	return h.If(word != "", h.Group{h.Text(" "), h.Span(h.Class("native"), h.Title("the scheduler’s word"), h.Text(word))})
}

// plainNative is the same where no title explains it.
func plainNative(word string) h.Node {
	return h.If(word != "", h.Group{h.Text(" "), h.Span(h.Class("native"), h.Text(word))})
}

func mine(isMine bool) h.Node {
	return h.If(isMine, h.Group{h.Text(" "), h.Span(h.Class("tag"), h.Text("mine"))})
}

// moment is a time where there is little room.
func moment(m listing.Moment) h.Node {
	if !m.IsKnown() {
		return h.Span(h.Class("none"), h.Text("–"))
	}
	return h.Time(h.Attr("datetime", m.Machine()), h.Title(m.Text()), h.Text(m.Brief()))
}

// age is a time that scripts show as how long ago it was.
func age(m listing.Moment) h.Node {
	return h.Time(h.Class("age"), h.Aria("live", "off"), h.Attr("datetime", m.Machine()), h.Title(m.Text()), h.Text(m.Text()))
}

func notes(all []listing.Note) h.Node {
	return h.Map(all, func(n listing.Note) h.Node { return note(h.B(h.Text(n.Manager)), n) })
}

// note says of the target that subject names what is wrong with its picture.
func note(subject h.Node, n listing.Note) h.Node {
	return h.P(h.Class("note edge-"+n.Tone), subject, h.Text(" "+n.Text),
		h.Iff(n.At.IsKnown(), func() h.Node {
			return h.Group{h.Text(" "), h.Span(h.Class("nowrap"), age(n.At))}
		}),
		h.If(n.Cause != "", h.Group{h.Text(": "), h.Span(h.Class("cause"), h.Text(n.Cause))}),
	)
}

// warning is a line of a colour that says how bad it is.
func warning(tone, text string) h.Node {
	return h.P(h.Class("note edge-"+tone), h.Text(text))
}

func filters(links []listing.FilterLink) h.Node {
	return spaced(links, func(l listing.FilterLink) h.Node {
		return h.A(h.Class("chip"), h.Href(l.Address), h.If(l.IsOn, h.Aria("current", "true")),
			h.Iff(l.Mark != nil, func() h.Node { return sign(*l.Mark) }),
			h.Text(l.Label),
			h.If(l.Count != "", h.Group{h.Text(" "), h.B(h.Text(l.Count))}),
		)
	})
}

// pager leads through the pages of a table that has more than one.
func pager(p listing.Pager) h.Node {
	if p.Pages <= 1 {
		return nil
	}
	off := func(text string, attributes ...h.Node) h.Node {
		return h.Span(h.Class("off"), h.Group(attributes), h.Text(text))
	}
	before := h.Group{off("«", h.Aria("hidden", "true")), h.Text(" "), off("Previous")}
	if p.Previous != "" {
		before = h.Group{h.A(h.Href(p.First), h.Aria("label", "First page"), h.Text("«")), h.Text(" "), h.A(h.Attr("rel", "prev"), h.Href(p.Previous), h.Text("Previous"))}
	}
	after := h.Group{off("Next"), h.Text(" "), off("»", h.Aria("hidden", "true"))}
	if p.Next != "" {
		after = h.Group{h.A(h.Attr("rel", "next"), h.Href(p.Next), h.Text("Next")), h.Text(" "), h.A(h.Href(p.Last), h.Aria("label", "Last page"), h.Text("»"))}
	}
	return h.Nav(h.Class("pager"), h.Aria("label", "Pages"), before, h.Text(" "), h.Span(h.Text(p.String())), h.Text(" "), after)
}

func factsList(facts []fact) h.Node {
	return h.Dl(h.Class("facts"), h.Map(facts, func(f fact) h.Node {
		return h.Div(h.Dt(h.Title(f.Description), h.Text(f.Name)), h.Dd(factValue(f)))
	}))
}

func factValue(f fact) h.Node {
	switch {
	case len(f.Words) > 0:
		return spaced(f.Words, func(word string) h.Node { return h.Code(h.Text(word)) })
	case f.At.IsKnown():
		return age(f.At)
	}
	return linkOrText(f.Address, f.Value)
}

func processTable(rows []processRow) h.Node {
	return h.Table(h.Class("rows"), caption("Processes"),
		h.THead(h.Tr(heading("", "Process"), heading("", "State"), heading("number", "PID"), heading("", "Node"), heading("", "Ended with"))),
		h.TBody(h.Map(rows, func(r processRow) h.Node {
			return h.Tr(
				rowHead("", "Process", link(r.Address, r.Index)),
				cell("", "State", mark(r.Mark)),
				cell("number", "PID", h.Text(r.PID)),
				cell("", "Node", linkOrText(r.NodeAddress, r.Node)),
				cell("", "Ended with", h.Text(r.Exit)),
			)
		})),
	)
}

// more says how many of a list are not shown.
func more(number int) h.Node {
	return h.If(number > 0, mutedLine("and "+strconv.Itoa(number)+" more"))
}
