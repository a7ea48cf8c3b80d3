package pages

import (
	"strconv"

	h "github.com/rmctl/rmctl/internal/html"
)

// node draws an item by its widget.
func (i launchItem) node() h.Node {
	switch i.Widget {
	case "group":
		return h.FieldSet(h.Class("launch-group launch-grid"+i.Part), h.Legend(h.Text(i.Label)), h.Map(i.Items, launchItem.node))
	case "table":
		return i.table()
	case "note":
		return h.P(h.Class("launch-note"), h.Text(i.Label))
	case "computed":
		return h.P(h.Class("launch-computed"+i.Part), h.ID(i.DOM+"-field"), h.If(i.Text == "", h.Flag("hidden")),
			h.If(i.Label != "", h.Group{h.B(h.Text(i.Label)), h.Text(" ")}), h.El("output", h.ID(i.DOM), h.Text(i.Text)))
	case "button":
		return h.P(h.Class("launch-button"+i.Part), h.ID(i.DOM+"-field"),
			h.Button(h.ID(i.DOM), do("press", i.ID), h.If(i.Help != "", h.Aria("describedby", i.DOM+"-help")), disabled(!i.Enabled), h.Text(i.Label)),
			i.problem(), i.help(),
		)
	case "radio":
		return i.radio()
	}
	return h.Div(h.Class("launch-field"+i.offClass()+i.Part), h.ID(i.DOM+"-field"), h.If(i.Title != "", h.Title(i.Title)), h.Label(h.For(i.DOM), h.Text(i.Label)), h.Div(h.Class("launch-value"),
		i.input(), h.Text(" "),
		i.problem(), i.help(),
	))
}

func (i launchItem) offClass() string {
	if i.Enabled {
		return ""
	}
	return " launch-off"
}

func disabled(isOff bool) h.Node { return h.If(isOff, h.Flag("disabled")) }

func (i launchItem) problem() h.Node {
	return h.If(i.Problem != "", h.Span(h.ID(i.DOM+"-problem"), h.Class("problem"), h.Text(i.Problem)))
}

func (i launchItem) help() h.Node {
	return h.If(i.Help != "", h.Span(h.ID(i.DOM+"-help"), h.Class("launch-help"), h.Text(i.Help)))
}

func (i launchItem) describedBy() h.Node {
	return h.If(i.Described() != "", h.Aria("describedby", i.Described()))
}

func (i launchItem) marks() h.Node { return h.Group{invalid(i.Problem), i.describedBy()} }

func (i launchItem) radio() h.Node {
	var options h.Group
	for n, one := range i.Options {
		id := i.DOM + "-" + strconv.Itoa(n)
		options = append(options, h.Label(h.ID(id+"-label"),
			h.Input(h.Type("radio"), h.ID(id), h.Name(i.Input), h.Value(one.Text), h.If(one.Chosen, h.Flag("checked")), disabled(i.Fixed)), h.Text(" "+one.Shown)), h.Text(" "))
	}
	legend := i.Label
	if legend == "" {
		legend = i.Name
	}
	return h.FieldSet(h.Class("launch-field launch-radio"+i.Part), h.ID(i.DOM+"-field"), i.describedBy(), disabled(!i.Enabled),
		h.Legend(h.Text(legend)),
		h.Div(h.Class("launch-value"), options, i.problem(), i.help()),
	)
}

// input draws the element that holds the value.
func (i launchItem) input() h.Node {
	switch i.Widget {
	case "switch":
		isOff := i.Fixed || i.IsOff()
		return h.Group{
			h.If(!isOff, hidden(i.Input, "false")),
			h.Input(h.Type("checkbox"), h.ID(i.DOM), h.Name(i.Input), h.Value("true"), h.If(i.IsOn(), h.Flag("checked")), i.marks(), disabled(isOff)),
		}
	case "select":
		return h.Select(h.ID(i.DOM), h.Name(i.Input), i.marks(), disabled(i.Fixed || i.IsOff()), h.Map(i.Options, func(o launchOption) h.Node {
			return h.Option(h.Value(o.Text), h.If(o.Chosen, h.Flag("selected")), h.Text(o.Shown))
		}))
	case "combo":
		items := i.DOM + "-items"
		return h.Group{
			i.line(i.Fixed, h.Attr("list", items)),
			h.DataList(h.ID(items), h.Map(i.Options, func(o launchOption) h.Node { return h.Option(h.Value(o.Text)) })),
		}
	case "lines":
		return h.Textarea(h.ID(i.DOM), h.Name(i.Input), h.Attr("rows", "4"), i.rest(i.Fixed), h.Text("\n"+i.Text))
	case "path":
		return h.Span(h.Class("launch-path"), i.line(i.Fixed || i.PickOnly), h.Text(" "),
			h.If(!i.Fixed, browseButton(i.DOM, i.ID, i.Label, disabled(i.IsOff()))),
		)
	case "number":
		return i.line(i.Fixed, h.Class("launch-number"), h.Attr("inputmode", "numeric"),
			h.Data("least", strconv.Itoa(i.Least)), h.Data("most", strconv.Itoa(i.Most)))
	}
	return i.line(i.Fixed)
}

// line is an input of one line.
func (i launchItem) line(isFixed bool, attributes ...h.Node) h.Node {
	return h.Input(h.ID(i.DOM), h.Name(i.Input), h.Value(i.Text), h.Group(attributes), i.rest(isFixed))
}

// rest are the attributes of all inputs that hold text.
func (i launchItem) rest(isFixed bool) h.Node {
	return h.Group{unchecked(), h.If(i.Default != "", h.Attr("placeholder", i.Default)), i.marks(), h.If(isFixed, h.Flag("readonly")), disabled(i.IsOff())}
}

// table lists the rows of a viewer, each with a box that checks it.
func (i launchItem) table() h.Node {
	column := func(name string) h.Node { return heading("", name) }
	return h.Div(h.Class("launch-scroll scroll"+i.Part), h.ID(i.DOM), h.Table(h.Class("rows"), h.Caption(h.Text(i.Label)),
		h.THead(h.Tr(column("Use"), column("Name"), column("Value"), h.Map(i.Columns, column), column("Description"))),
		h.TBody(h.Map(i.Items, launchItem.tableRow)),
	))
}

func (i launchItem) tableRow() h.Node {
	return h.Tr(h.ID(i.DOM+"-field"),
		cell("", "Use",
			h.If(i.Enabled, hidden(i.Check(), "false")),
			h.Input(h.Type("checkbox"), h.ID(i.DOM+"-check"), h.Name(i.Check()), h.Value("true"), h.Aria("label", "Use "+i.Name), h.If(i.On, h.Flag("checked")), disabled(!i.Enabled)),
		),
		h.Th(h.Scope("row"), h.Label(h.For(i.DOM), h.Text(i.Label))),
		cell("", "Value", i.input(), i.problem()),
		h.Map(i.Cells, func(text string) h.Node { return h.Td(h.Text(text)) }),
		h.Td(h.ID(i.DOM+"-help"), h.Text(i.Help)),
	)
}
