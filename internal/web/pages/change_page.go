package pages

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

func (f targetForm) main(csrf g.Node) g.Node {
	unchecked := g.Attr("spellcheck", "false")
	name, action := g.Group{g.Attr("readonly")}, "Save"
	if f.IsNew {
		name, action = g.Group{h.Required(), unchecked, h.AutoFocus()}, "Add"
	}
	return g.Group{
		g.If(f.Problem != "", alert(f.Problem)),
		h.Form(h.Class("card form"), h.Method("post"), h.Action("/managers/target"), h.AutoComplete("off"),
			csrf, hidden("new", strconv.FormatBool(f.IsNew)),
			field("target-name", "Name", "", h.Input(h.ID("target-name"), h.Name("name"), h.Value(f.Name), name)),
			field("target-definition", "Definition", "a shipped one, or a file in the configuration folder",
				h.Input(h.ID("target-definition"), h.Name("definition"), h.Value(f.Definition), h.List("definitions"), h.Required(), unchecked, h.Aria("describedby", "target-definition-help"))),
			suggestions("definitions", f.Known),
			field("target-transport", "Its commands run", "", h.Select(h.ID("target-transport"), h.Name("transport"), g.Map(f.Transports, option))),
			field("target-host", "Host", "as your SSH configuration knows it; none on this machine",
				h.Input(h.ID("target-host"), h.Name("host"), h.Value(f.Host), unchecked, h.Aria("describedby", "target-host-help"))),
			field("target-config", "SSH configuration", "a file; empty for the usual ones",
				h.Input(h.ID("target-config"), h.Name("ssh_config"), h.Value(f.SSHConfig), unchecked, h.Aria("describedby", "target-config-help"))),
			field("target-attributes", "Values for every job", "name=value on each line",
				h.Textarea(h.ID("target-attributes"), h.Name("attributes"), h.Rows("4"), unchecked, h.Aria("describedby", "target-attributes-help"), g.Text("\n"+f.Attributes))),
			h.P(h.Class("actions"), h.Button(h.Class("primary"), g.Text(action)), g.Text(" "), linkButton("/", "Back")),
		),
	}
}

// field is a line of the form: a label for the input, and a few words that describe it.
func field(id, label, help string, input g.Node) g.Node {
	return h.P(h.Class("field"), h.Label(h.For(id), g.Text(label)), input,
		g.If(help != "", g.Group{g.Text(" "), h.Span(h.Class("muted small"), h.ID(id+"-help"), g.Text(help))}),
	)
}

// alert says what went wrong.
func alert(problem string) g.Node {
	return h.P(h.Class("note edge-red"), h.Role("alert"), g.Text(problem))
}

func (c confirmation) main(csrf g.Node) g.Node {
	return h.Form(h.Class("card form"), h.Method("post"), h.Action(c.Action), csrf,
		g.Map(c.Fields, hiddenField.input),
		h.P(h.B(g.Text(c.Question))),
		g.If(c.Consequence != "", mutedLine(c.Consequence)),
		g.If(len(c.Rows) > 0, h.Ul(h.Class("plain"), g.Map(c.Rows, confirmedJob))),
		h.P(h.Class("actions"), h.Button(h.Class("danger"), g.Text(c.Yes)), g.Text(" "), linkButton(c.Back, "Back")),
	)
}

func confirmedJob(r jobRow) g.Node {
	return h.Li(mark(r.Mark), g.Text(" "), link(r.Address, r.ID), g.Text(" "), isolated(r.Name),
		g.If(r.User != "", g.Group{g.Text(" "), h.Span(h.Class("muted"), g.Text("of "), isolated(r.User))}),
	)
}

func (o outcomes) main() g.Node {
	return g.Group{
		alert(o.Summary),
		h.Ul(h.Class("plain"), g.Map(o.Rows, func(row outcome) g.Node {
			result := g.Text("done")
			if row.Problem != "" {
				result = h.Span(h.Class("problem"), g.Text(row.Problem))
			}
			return h.Li(link(row.Address, row.ID), g.Text(": "), result)
		})),
		h.P(h.Class("actions"), linkButton(o.Back, "Back")),
	}
}

func loginMain(problem string) g.Node {
	return g.Group{
		g.If(problem != "", h.P(h.Class("problem"), h.Role("alert"), g.Text(problem))),
		h.Form(h.Method("post"), h.Action("/login"), h.Class("login"),
			h.P(h.Label(h.For("name"), g.Text("Name")), g.Text(" "),
				h.Input(h.ID("name"), h.Name("name"), h.AutoComplete("username"), g.Attr("autocapitalize", "none"), h.Required(), h.AutoFocus())),
			h.P(h.Label(h.For("password"), g.Text("Password")), g.Text(" "),
				h.Input(h.ID("password"), h.Name("password"), h.Type("password"), h.AutoComplete("current-password"), h.Required())),
			h.P(h.Button(g.Text("Log in"))),
		),
		h.P(g.Text("Or open the address that "), h.Code(g.Text("rmctl serve")), g.Text(" printed.")),
	}
}
