package pages

import (
	"strconv"

	h "github.com/rmctl/rmctl/internal/html"
)

func (f targetForm) main(csrf h.Node) h.Node {
	unchecked := h.Attr("spellcheck", "false")
	name, action := h.Group{h.Flag("readonly")}, "Save"
	if f.IsNew {
		name, action = h.Group{h.Flag("required"), unchecked, h.Flag("autofocus")}, "Add"
	}
	return h.Group{
		h.If(f.Problem != "", alert(f.Problem)),
		h.Form(h.Class("card form"), h.Method("post"), h.Action("/managers/target"), h.Attr("autocomplete", "off"),
			csrf, hidden("new", strconv.FormatBool(f.IsNew)),
			field("target-name", "Name", "", h.Input(h.ID("target-name"), h.Name("name"), h.Value(f.Name), name)),
			field("target-definition", "Definition", "a shipped definition, or a file in the configuration folder",
				h.Input(h.ID("target-definition"), h.Name("definition"), h.Value(f.Definition), h.Attr("list", "definitions"), unchecked, h.Aria("describedby", "target-definition-help"))),
			suggestions("definitions", f.Known),
			field("target-agent", "Agent", "instead of a definition: rmctl or another program that speaks the proxy protocol, with its arguments",
				h.Input(h.ID("target-agent"), h.Name("agent"), h.Value(f.Agent), unchecked, h.Aria("describedby", "target-agent-help"))),
			field("target-proxy", "Agent connection", "", h.Select(h.ID("target-proxy"), h.Name("proxy"), h.Map(f.Proxies, option))),
			field("target-transport", "Run commands", "", h.Select(h.ID("target-transport"), h.Name("transport"), h.Map(f.Transports, option))),
			field("target-host", "Host", "a host of your SSH configuration; empty for this machine",
				h.Input(h.ID("target-host"), h.Name("host"), h.Value(f.Host), unchecked, h.Aria("describedby", "target-host-help"))),
			field("target-config", "SSH configuration", "a file; empty for the default",
				h.Input(h.ID("target-config"), h.Name("ssh_config"), h.Value(f.SSHConfig), unchecked, h.Aria("describedby", "target-config-help"))),
			field("target-attributes", "Preset attributes", "name=value on each line",
				h.Textarea(h.ID("target-attributes"), h.Name("attributes"), h.Attr("rows", "4"), unchecked, h.Aria("describedby", "target-attributes-help"), h.Text("\n"+f.Attributes))),
			h.P(h.Class("actions"), h.Button(h.Class("primary"), h.Text(action)), h.Text(" "), linkButton("/", "Back")),
		),
	}
}

// field is a line of the form: a label for the input, and a few words that describe it.
func field(id, label, help string, input h.Node) h.Node {
	return h.P(h.Class("field"), h.Label(h.For(id), h.Text(label)), input,
		h.If(help != "", h.Group{h.Text(" "), h.Span(h.Class("muted small"), h.ID(id+"-help"), h.Text(help))}),
	)
}

// alert says what went wrong.
func alert(problem string) h.Node {
	return h.P(h.Class("note edge-red"), h.Role("alert"), h.Text(problem))
}

func (c confirmation) main(csrf h.Node) h.Node {
	return h.Form(h.Class("card form"), h.Method("post"), h.Action(c.Action), csrf,
		h.Map(c.Fields, hiddenField.input),
		h.P(h.B(h.Text(c.Question))),
		h.If(c.Consequence != "", mutedLine(c.Consequence)),
		h.If(len(c.Rows) > 0, h.Ul(h.Class("plain"), h.Map(c.Rows, confirmedJob))),
		h.P(h.Class("actions"), h.Button(h.Class("danger"), h.Text(c.Yes)), h.Text(" "), linkButton(c.Back, "Back")),
	)
}

func confirmedJob(r jobRow) h.Node {
	return h.Li(mark(r.Mark), h.Text(" "), link(r.Address, r.ID), h.Text(" "), isolated(r.Name),
		h.If(r.User != "", h.Group{h.Text(" "), h.Span(h.Class("muted"), h.Text("of "), isolated(r.User))}),
	)
}

func (o outcomes) main() h.Node {
	return h.Group{
		alert(o.Summary),
		h.Ul(h.Class("plain"), h.Map(o.Rows, func(row outcome) h.Node {
			result := h.Text("done")
			if row.Problem != "" {
				result = h.Span(h.Class("problem"), h.Text(row.Problem))
			}
			return h.Li(link(row.Address, row.ID), h.Text(": "), result)
		})),
		h.P(h.Class("actions"), linkButton(o.Back, "Back")),
	}
}

func loginMain(problem string) h.Node {
	return h.Group{
		h.If(problem != "", h.P(h.Class("problem"), h.Role("alert"), h.Text(problem))),
		h.Form(h.Method("post"), h.Action("/login"), h.Class("login"),
			h.P(h.Label(h.For("name"), h.Text("Name")), h.Text(" "),
				h.Input(h.ID("name"), h.Name("name"), h.Attr("autocomplete", "username"), h.Attr("autocapitalize", "none"), h.Flag("required"), h.Flag("autofocus"))),
			h.P(h.Label(h.For("password"), h.Text("Password")), h.Text(" "),
				h.Input(h.ID("password"), h.Name("password"), h.Type("password"), h.Attr("autocomplete", "current-password"), h.Flag("required"))),
			h.P(h.Button(h.Text("Log in"))),
		),
		h.P(h.Text("Or open the address that "), h.Code(h.Text("rmctl serve")), h.Text(" printed.")),
	}
}
