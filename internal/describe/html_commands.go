package describe

import (
	"strconv"
	"strings"

	h "github.com/rmctl/rmctl/internal/html"
)

func (p page) script() h.Node {
	if p.Script == nil {
		return nil
	}
	note := "Lines and arguments with a dotted underline are left out if they are empty."
	if p.Script.DeleteAfterSubmit {
		note += " rmctl removes the file after the submission."
	}
	var lines h.Group
	for i, l := range p.Script.Lines {
		lines = append(lines, p.line(l, "left out "))
		if i == p.Script.InsertEnvironmentAfter {
			lines = append(lines, h.Li(h.Class("note"), h.Value(strconv.Itoa(i+1)), h.Text("the variables of the job")))
		}
	}
	return h.Group{quiet(note), h.Ol(h.Class("lines"), lines)}
}

// line is a line of a script or file. Prefix begins its title, which says when it
// vanishes.
func (p page) line(l lineDescription, prefix string) h.Node {
	return h.Li(
		h.If(len(l.Vanishes) > 0, h.Group{h.Class("optional"), h.Title(prefix + strings.Join(l.Vanishes, "; "))}),
		p.code(l.Text),
	)
}

func (p page) file(f fileDescription) h.Node {
	var set []string
	for _, property := range []struct {
		name  string
		isSet bool
	}{{"uniqueIdPrefix", f.UniqueName}, {"deleteTargetAfterUse", f.DeleteTargetAfterUse}, {"deleteSourceAfterUse", f.DeleteSourceAfterUse}} {
		if property.isSet {
			set = append(set, property.name)
		}
	}
	return h.Article(h.Class("command"),
		h.H3(code(f.Name), h.Text(" "), p.position(f.Position)),
		h.Dl(
			p.codeEntry("Folder", f.Location),
			p.codeEntry("Copy of", f.Path),
			h.If(f.Mode != "", h.Group{h.Dt(h.Text("Mode")), h.Dd(code(f.Mode))}),
			h.If(len(set) > 0, h.Group{h.Dt(h.Text("Set")), h.Dd(choices(set))}),
		),
		h.If(f.Contents != "", h.Pre(p.text(f.Contents))),
		h.If(len(f.Lines) > 0, h.Ol(h.Class("lines"), h.Map(f.Lines, func(l lineDescription) h.Node { return p.line(l, "") }))),
	)
}

func (p page) commands() h.Node {
	if len(p.Commands) == 0 {
		return h.P(h.Text("No commands."))
	}
	return h.Map(p.Commands, p.command)
}

func (p page) command(c commandDescription) h.Node {
	return h.Article(h.Class("command"),
		h.H3(code(c.Element), h.Text(" "+c.Name+" "), p.position(c.Position)),
		h.If(len(c.On) > 0, quiet("tried after "+strings.Join(c.On, ", "))),
		h.Map(c.Before, func(exec string) h.Node { return h.P(h.Class("quiet"), h.Text("before: "), p.code(exec)) }),
		h.Pre(p.arguments(c.Arguments)),
		h.Map(c.After, func(exec string) h.Node { return h.P(h.Class("quiet"), h.Text("then: "), p.code(exec)) }),
		h.Dl(
			h.If(len(c.Needs) > 0, h.Group{h.Dt(h.Text("Needs")), h.Dd(p.references(c.Needs))}),
			p.codeEntry("Directory", c.Directory),
			p.codeEntry("Standard input", c.InputFile),
			p.codeEntry("Only", c.Only),
			h.If(len(c.Input) > 0, h.Group{h.Dt(h.Text("Input")), h.Dd(h.Code(p.arguments(c.Input)))}),
			h.If(len(c.Environment) > 0, h.Group{h.Dt(h.Text("Environment")), h.Map(c.Environment, p.variable)}),
			h.If(len(c.Properties) > 0, h.Group{h.Dt(h.Text("Set")), h.Dd(choices(c.Properties))}),
			entry("Timeout", c.Timeout),
			h.If(len(c.Marks) > 0, h.Group{h.Dt(h.Text("Process marks")), h.Map(c.Marks, p.mark)}),
		),
		h.Map(c.Parsers, p.parser),
		h.Iff(len(c.Fallbacks) > 0, func() h.Node { return h.Div(h.Class("fallbacks"), h.Map(c.Fallbacks, p.command)) }),
	)
}

func (p page) variable(v variableDescription) h.Node {
	var value h.Node
	switch {
	case v.Value != "":
		value = h.Group{h.Text("="), p.text(v.Value)}
	case len(v.Arguments) > 0:
		value = h.Group{h.Text("="), p.arguments(v.Arguments)}
	case v.Preserve:
		value = h.Text(" unchanged")
	}
	return h.Dd(h.Code(h.Text(v.Name), value))
}

func (p page) mark(m markDescription) h.Node {
	return h.Dd(p.code(m.Text), h.If(m.Output, h.Text(", then what it prints")))
}

func (p page) parser(r parserDescription) h.Node {
	return h.Details(
		h.Summary(code(r.Element), h.Text(" reads "+r.Segments),
			h.If(r.Type != "", h.Group{h.Text(" by "), code(r.Type)}),
			h.If(r.ApplyToAll, h.Text(", each for all targets")),
		),
		h.Map(r.Targets, p.target),
		h.If(r.ExitOn != "", h.P(h.Text("ends at "), code(r.ExitOn))),
		h.If(r.ExitAfter != "", h.P(h.Text("ends after "), code(r.ExitAfter))),
	)
}

func (p page) target(t targetDescription) h.Node {
	var rows h.Group
	for _, match := range t.Matches {
		rows = append(rows, actionsRow(match.Actions, match.head()))
	}
	for _, test := range t.Tests {
		if len(test.Actions) > 0 {
			rows = append(rows, actionsRow(test.Actions, h.Text("at the end, if "), code(test.Condition)))
		}
		if len(test.Else) > 0 {
			rows = append(rows, actionsRow(test.Else, h.Text("at the end, unless "), code(test.Condition)))
		}
	}
	if len(t.Else) > 0 {
		rows = append(rows, actionsRow(t.Else, h.Text("otherwise")))
	}
	changed := h.Text("creates attributes")
	if t.Attribute != "" {
		changed = h.Span(h.Class("ref"), h.Text(t.Attribute))
	}
	return h.Table(h.Class("target"), h.Caption(changed, h.Text(" "), p.position(t.Position)), h.TBody(rows))
}

// head shows which segments a match takes.
func (m matchDescription) head() h.Node {
	if m.Expression == "" {
		return h.Text("anything")
	}
	return h.Group{h.If(m.Split, h.Text("split at ")), code(m.Expression)}
}

func actionsRow(actions []string, when ...h.Node) h.Node {
	what := h.Text(strings.Join(actions, "; "))
	if len(actions) == 0 {
		what = h.Span(h.Class("quiet"), h.Text("nothing"))
	}
	return h.Tr(h.Th(h.Scope("row"), h.Group(when)), h.Td(what))
}

func (p page) states() h.Node {
	if len(p.States) == 0 {
		return nil
	}
	return h.Table(columns("State", "When", "Seen by"), h.TBody(h.Map(p.States, func(s stateDescription) h.Node {
		return h.Tr(h.Th(h.Scope("row"), code(s.State)), h.Td(code(s.When)), h.Td(h.Text(s.Command+" "), p.position(s.Position)))
	})))
}

func (p page) failures() h.Node {
	if len(p.Outcomes) == 0 {
		return nil
	}
	return h.Group{
		quiet("What a failed command means; the first outcome that fits counts."),
		h.Table(columns("Meaning", "When", "Defined"), h.TBody(h.Map(p.Outcomes, p.failure))),
	}
}

func (p page) failure(o outcomeDescription) h.Node {
	exit := "any exit code except 0"
	if len(o.ExitCodes) > 0 {
		exit = "exit code"
	}
	for _, exitCode := range o.ExitCodes {
		exit += " " + strconv.Itoa(exitCode)
	}
	return h.Tr(
		h.Th(h.Scope("row"), code(o.Kind)),
		h.Td(h.Text(exit), h.If(o.Expression != "", h.Group{h.Text(", output with "), code(o.Expression)})),
		h.Td(h.Class("position"), h.Text(p.place(o.Position))),
	)
}

func (p page) portable() h.Node {
	if len(p.Portable) == 0 {
		return nil
	}
	return h.Group{
		quiet("These mean the same in every definition that supports them."),
		h.Table(columns("Name", "Meaning", "Written as", "Here"), h.TBody(h.Map(p.Portable, func(name portableDescription) h.Node {
			return h.Tr(h.Th(h.Scope("row"), code(name.Name)), h.Td(h.Text(name.Meaning)), h.Td(h.Text(name.Syntax)),
				h.Td(h.Ul(h.Map(name.Links, func(link portableLinkDescription) h.Node { return h.Li(h.Text(link.Effect())) }))))
		}))),
	}
}

func (p page) probes() h.Node {
	if len(p.Probes) == 0 {
		return nil
	}
	return h.Group{
		h.P(h.Class("quiet"), code("rmctl doctor"), h.Text(" runs these commands to check whether jobs can run.")),
		h.Map(p.Probes, p.probe),
	}
}

func (p page) probe(r probeDescription) h.Node {
	return h.Article(h.Class("command"),
		h.H3(h.Text(r.Name+" "), h.If(!r.Required, h.Group{quietWords("optional"), h.Text(" ")}), p.position(r.Position)),
		h.Pre(p.arguments(r.Arguments)),
		h.Dl(
			entry("Demand", r.Demand()),
			entry("Impact", r.Impact),
			entry("Fix", r.Fix),
			entry("Timeout", r.Timeout),
		),
	)
}

func quietWords(text string) h.Node { return h.Span(h.Class("quiet"), h.Text(text)) }

func (p page) tab(t tabDescription) h.Node {
	return h.Article(h.Class("form"),
		h.H3(h.Text(t.Title+" "),
			h.If(len(t.Includes) > 0, h.Group{quietWords("with the values of " + strings.Join(t.Includes, ", ")), h.Text(" ")}),
			h.If(t.Import, h.Group{quietWords("submits a user's own script"), h.Text(" ")}),
			p.position(t.Position),
		),
		p.controls(t.Controls),
	)
}

func (p page) controls(controls []controlDescription) h.Node {
	var all h.Group
	for _, c := range controls {
		if c.IsSeen() {
			all = append(all, p.control(c))
		}
	}
	return h.Ul(all)
}

func (p page) control(c controlDescription) h.Node {
	text := c.Text
	if text == c.Title {
		text = ""
	}
	return h.Li(h.Span(h.Class("kind"), h.Text(c.Kind)),
		h.If(c.Title != "", h.Group{h.Text(" "), h.Strong(p.text(c.Title))}),
		h.If(text != "", h.Group{h.Text(" "), p.text(text)}),
		h.If(c.Attribute != "", h.Group{h.Text(" → "), p.reference(c.Attribute, c.Attribute)}),
		h.If(len(c.Attributes) > 0, h.Group{h.Text(" of "), p.references(c.Attributes)}),
		h.If(c.Action != "", h.Group{h.Text(" runs "), code(c.Action)}),
		h.If(c.ButtonID != "", h.Group{h.Text(" "), quietWords("[" + c.ButtonID + "]")}),
		h.If(c.ReadOnly, h.Group{h.Text(" "), quietWords("read-only")}),
		h.Map(c.Rules, func(rule string) h.Node { return h.Group{h.Text(" "), h.Span(h.Class("rule"), h.Text(rule))} }),
		h.Iff(len(c.Inside) > 0, func() h.Node { return p.controls(c.Inside) }),
	)
}
