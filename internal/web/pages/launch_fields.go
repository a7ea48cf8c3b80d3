package pages

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// node draws an item by its widget.
func (i launchItem) node() g.Node {
	switch i.Widget {
	case "group":
		return h.FieldSet(h.Class("launch-group launch-grid"+i.Part), h.Legend(g.Text(i.Label)), g.Map(i.Items, launchItem.node))
	case "table":
		return i.table()
	case "note":
		return h.P(h.Class("launch-note"), g.Text(i.Label))
	case "computed":
		return h.P(h.Class("launch-computed"+i.Part), h.ID(i.DOM+"-field"), g.If(i.Text == "", g.Attr("hidden")),
			g.If(i.Label != "", g.Group{h.B(g.Text(i.Label)), g.Text(" ")}), g.El("output", h.ID(i.DOM), g.Text(i.Text)))
	case "button":
		return h.P(h.Class("launch-button"+i.Part), h.ID(i.DOM+"-field"),
			h.Button(h.ID(i.DOM), do("press", i.ID), g.If(i.Help != "", h.Aria("describedby", i.DOM+"-help")), disabled(!i.Enabled), g.Text(i.Label)),
			i.problem(), i.help(),
		)
	case "radio":
		return i.radio()
	}
	return h.Div(h.Class("launch-field"+i.offClass()+i.Part), h.ID(i.DOM+"-field"), h.Label(h.For(i.DOM), g.Text(i.Label)), h.Div(h.Class("launch-value"),
		i.input(), g.Text(" "),
		i.problem(), i.help(),
	))
}

func (i launchItem) offClass() string {
	if i.Enabled {
		return ""
	}
	return " launch-off"
}

func disabled(isOff bool) g.Node { return g.If(isOff, h.Disabled()) }

func (i launchItem) problem() g.Node {
	return g.If(i.Problem != "", h.Span(h.ID(i.DOM+"-problem"), h.Class("problem"), g.Text(i.Problem)))
}

func (i launchItem) help() g.Node {
	return g.If(i.Help != "", h.Span(h.ID(i.DOM+"-help"), h.Class("launch-help"), g.Text(i.Help)))
}

func (i launchItem) describedBy() g.Node {
	return g.If(i.Described() != "", h.Aria("describedby", i.Described()))
}

func (i launchItem) marks() g.Node { return g.Group{invalid(i.Problem), i.describedBy()} }

func (i launchItem) radio() g.Node {
	var options g.Group
	for n, one := range i.Options {
		id := i.DOM + "-" + strconv.Itoa(n)
		options = append(options, h.Label(h.ID(id+"-label"),
			h.Input(h.Type("radio"), h.ID(id), h.Name(i.Input), h.Value(one.Text), g.If(one.Chosen, h.Checked()), disabled(i.Fixed)), g.Text(" "+one.Shown)), g.Text(" "))
	}
	legend := i.Label
	if legend == "" {
		legend = i.Name
	}
	return h.FieldSet(h.Class("launch-field launch-radio"+i.Part), h.ID(i.DOM+"-field"), i.describedBy(), disabled(!i.Enabled),
		h.Legend(g.Text(legend)),
		h.Div(h.Class("launch-value"), options, i.problem(), i.help()),
	)
}

// input draws the element that holds the value.
func (i launchItem) input() g.Node {
	switch i.Widget {
	case "switch":
		isOff := i.Fixed || i.IsOff()
		return g.Group{
			g.If(!isOff, hidden(i.Input, "false")),
			h.Input(h.Type("checkbox"), h.ID(i.DOM), h.Name(i.Input), h.Value("true"), g.If(i.IsOn(), h.Checked()), i.marks(), disabled(isOff)),
		}
	case "select":
		return h.Select(h.ID(i.DOM), h.Name(i.Input), i.marks(), disabled(i.Fixed || i.IsOff()), g.Map(i.Options, func(o launchOption) g.Node {
			return h.Option(h.Value(o.Text), g.If(o.Chosen, h.Selected()), g.Text(o.Shown))
		}))
	case "combo":
		items := i.DOM + "-items"
		return g.Group{
			i.line(i.Fixed, h.List(items)),
			h.DataList(h.ID(items), g.Map(i.Options, func(o launchOption) g.Node { return h.Option(h.Value(o.Text)) })),
		}
	case "lines":
		return h.Textarea(h.ID(i.DOM), h.Name(i.Input), h.Rows("4"), i.rest(i.Fixed), g.Text("\n"+i.Text))
	case "path":
		return h.Span(h.Class("launch-path"), i.line(i.Fixed || i.PickOnly), g.Text(" "),
			g.If(!i.Fixed, browseButton(i.DOM, i.ID, i.Label, disabled(i.IsOff()))),
		)
	case "number":
		return i.line(i.Fixed, h.Class("launch-number"), g.Attr("inputmode", "numeric"),
			h.Data("least", strconv.Itoa(i.Least)), h.Data("most", strconv.Itoa(i.Most)))
	}
	return i.line(i.Fixed)
}

// line is an input of one line.
func (i launchItem) line(isFixed bool, attributes ...g.Node) g.Node {
	return h.Input(h.ID(i.DOM), h.Name(i.Input), h.Value(i.Text), g.Group(attributes), i.rest(isFixed))
}

// rest are the attributes of all inputs that hold text.
func (i launchItem) rest(isFixed bool) g.Node {
	return g.Group{unchecked(), g.If(i.Default != "", h.Placeholder(i.Default)), i.marks(), g.If(isFixed, h.ReadOnly()), disabled(i.IsOff())}
}

// table lists the rows of a viewer, each with a box that checks it.
func (i launchItem) table() g.Node {
	column := func(name string) g.Node { return heading("", name) }
	return h.Div(h.Class("launch-scroll scroll"+i.Part), h.ID(i.DOM), h.Table(h.Class("rows"), h.Caption(g.Text(i.Label)),
		h.THead(h.Tr(column("Use"), column("Name"), column("Value"), g.Map(i.Columns, column), column("Description"))),
		h.TBody(g.Map(i.Items, launchItem.tableRow)),
	))
}

func (i launchItem) tableRow() g.Node {
	return h.Tr(h.ID(i.DOM+"-field"),
		cell("", "Use",
			g.If(i.Enabled, hidden(i.Check(), "false")),
			h.Input(h.Type("checkbox"), h.ID(i.DOM+"-check"), h.Name(i.Check()), h.Value("true"), h.Aria("label", "Use "+i.Name), g.If(i.On, h.Checked()), disabled(!i.Enabled)),
		),
		h.Th(h.Scope("row"), h.Label(h.For(i.DOM), g.Text(i.Label))),
		cell("", "Value", i.input(), i.problem()),
		g.Map(i.Cells, func(text string) g.Node { return h.Td(g.Text(text)) }),
		h.Td(h.ID(i.DOM+"-help"), g.Text(i.Help)),
	)
}
