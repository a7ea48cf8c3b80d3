package pages

import (
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/rmctl/rmctl/internal/web/launch"
)

// do makes a button do something with the form: a word, and what it is done to.
func do(words ...string) g.Node {
	return g.Group{h.Name("do"), h.Value(launch.AsText(words))}
}

func (d launchData) main(csrf g.Node) g.Node {
	return g.Group{
		h.P(h.Class("muted"), h.ID("launch-origin"),
			g.Text("Form of the definition "), h.B(g.Text(d.Controller.Definition.Name)), g.Text("."),
			g.If(len(d.Saved) > 0, g.Group{g.Text(" Begin with a launch configuration: "), savedLinks(d.Saved), g.Text(".")}),
		),
		h.Form(h.ID("launch"), h.Class("launch"), h.Method("post"), h.Action(launchAddressOf(d.Manager, "")), g.Attr("novalidate"), h.AutoComplete("off"),
			g.Attr("data-launch"), g.If(d.Outcome.FocusedOn != "", h.Data("focus", d.Outcome.FocusedOn)),
			d.kept(csrf),
			h.Div(h.ID("launch-error"), h.Role("alert"), g.If(d.Outcome.Error != "", d.failure())),
			d.said(),
			h.Div(h.Class("launch-fields card"), h.ID("launch-fields"),
				d.tabs(),
				d.fields(),
				d.own(),
				d.end(),
			),
			d.Preview.aside(d.IsReady),
			g.Iff(d.Outcome.Browsed != nil, func() g.Node { return d.Outcome.Browsed.dialog() }),
		),
	}
}

func savedLinks(saved []launchSaved) g.Node {
	return joined(", ", g.Map(saved, func(one launchSaved) g.Node { return link(one.Address, one.Name) }))
}

// kept is what the page carries to the next request. Its button is what the Enter key presses.
func (d launchData) kept(csrf g.Node) g.Node {
	return h.Div(h.ID("launch-kept"), csrf,
		hidden("tag", d.State.Tag),
		hidden("tab", d.State.Tab),
		hidden("given", launch.AsText(d.State.Given)),
		hidden("edits", launch.AsText(d.State.Edits)),
		h.Button(h.Class("hidden"), do("update"), h.TabIndex("-1"), h.Aria("hidden", "true"), g.Text("Update")),
	)
}

func (d launchData) failure() g.Node {
	o := d.Outcome
	return h.P(h.Class("note edge-red"), g.Text(o.Error),
		g.If(o.JobPage != "", g.Group{g.Text(" It is "), link(o.JobPage, "job "+o.JobName), g.Text(".")}),
	)
}

// said is what a screen reader says after a change.
func (d launchData) said() g.Node {
	refused := ""
	switch number := len(d.Form.Problems(d.Page)); number {
	case 0:
	case 1:
		refused = "1 value is refused."
	default:
		refused = strconv.Itoa(number) + " values are refused."
	}
	return h.Div(h.ID("launch-said"), h.Role("status"),
		g.If(d.Outcome.Done != "", warning("green", d.Outcome.Done)),
		g.If(d.Warning != "", warning("yellow", d.Warning)),
		hiddenText(refused),
	)
}

// tabs leads to the tabs of the form.
func (d launchData) tabs() g.Node {
	pages := d.Form.Pages()
	if len(pages) == 0 {
		return nil
	}
	var tabs g.Group
	for i, page := range pages {
		number := strconv.Itoa(i)
		tabs = append(tabs, h.Li(h.ID("launch-tab-item-"+number), h.Button(h.ID("launch-tab-"+number), do("tab", page.Title),
			g.If(page == d.Page, h.Aria("current", "true")), g.If(page.Tooltip != "", h.Title(page.Tooltip)), g.Text(page.Title))))
	}
	return h.Nav(h.Class("launch-tabs"), h.ID("launch-tabs"), h.Aria("label", "Tabs of the form"), h.Ul(tabs))
}

// fields are those of the definition.
func (d launchData) fields() g.Node {
	var content g.Node = g.Map(d.Items, launchItem.node)
	if len(d.Items) == 0 {
		content = h.P(h.Class("launch-note"), g.Text("There is nothing to fill in here."))
	}
	return h.Section(h.ID("launch-tab"), h.Class("launch-grid"), h.Aria("label", "What the definition asks for"), content)
}

// own are the fields that every form has: what to run, and where.
func (d launchData) own() g.Node {
	further := "name=value on each line, as -s of rmctl submit takes them"
	if len(d.Portable) > 0 {
		further += "; names that mean the same everywhere are " + strings.Join(d.Portable, ", ")
	}
	isChecked := g.If(d.State.Debug, h.Checked())
	return h.FieldSet(h.Class("launch-group"), h.ID("launch-run"), h.Legend(g.Text("What to run")),
		g.If(d.Page.Import, d.script()),
		d.ownField("program", "Program", "what the job runs", d.ownInput("program", d.State.Program)),
		h.Div(h.Class("launch-field"), h.ID("own-arguments-field"), h.Label(h.For("own-arguments"), g.Text("Arguments")), h.Div(h.Class("launch-value"),
			h.Input(h.ID("own-arguments"), h.Name("arguments"), h.Value(d.State.Arguments), unchecked(), h.Aria("describedby", "own-arguments-help")), g.Text(" "),
			h.Span(h.ID("own-arguments-help"), h.Class("launch-help"), g.Text("quoted as in a shell")),
		)),
		d.ownField("directory", "Directory", "where it runs; without one where the program is, or in the home directory", d.ownPath("directory", "Directory", d.State.Directory)),
		g.If(d.Controller.Definition.Script != nil && !d.Page.Import, d.script()),
		d.ownField("environment", "Environment", "NAME=VALUE on each line", d.ownLines("environment", d.State.Environment)),
		d.ownField("further", "Further values", further, d.ownLines("further", d.State.Further)),
		g.If(d.HasDebug, h.Div(h.Class("launch-field"), h.ID("own-debug-field"), h.Label(h.For("own-debug"), g.Text("For debugging")), h.Div(h.Class("launch-value"),
			hidden("debug", "false"), h.Input(h.Type("checkbox"), h.ID("own-debug"), h.Name("debug"), h.Value("true"), isChecked)))),
	)
}

func (d launchData) script() g.Node {
	return d.ownField("script", "Script", "a file beside rmctl serve to submit instead of a script that is made", d.ownPath("script", "Script", d.State.Script))
}

// ownField is a field of the page itself, with what is wrong with it.
func (d launchData) ownField(name, label, help string, input g.Node) g.Node {
	id := "own-" + name
	return h.Div(h.Class("launch-field"), h.ID(id+"-field"), h.Label(h.For(id), g.Text(label)), h.Div(h.Class("launch-value"),
		input, g.Text(" "),
		h.Span(h.ID(id+"-problem"), h.Class("problem"), g.Text(d.Problems[name])), g.Text(" "),
		h.Span(h.ID(id+"-help"), h.Class("launch-help"), g.Text(help)),
	))
}

func (d launchData) ownInput(name, value string) g.Node {
	return h.Input(h.ID("own-"+name), h.Name(name), h.Value(value), d.ownMarks(name))
}

func (d launchData) ownLines(name, text string) g.Node {
	return h.Textarea(h.ID("own-"+name), h.Name(name), h.Rows("2"), d.ownMarks(name), g.Text("\n"+text))
}

func (d launchData) ownPath(name, label, value string) g.Node {
	return h.Span(h.Class("launch-path"), d.ownInput(name, value), g.Text(" "), browseButton("own-"+name, name, label))
}

func (d launchData) ownMarks(name string) g.Node {
	return g.Group{unchecked(), invalid(d.Problems[name]), h.Aria("describedby", "own-"+name+"-problem own-"+name+"-help")}
}

func unchecked() g.Node { return g.Attr("spellcheck", "false") }

func invalid(problem string) g.Node { return g.If(problem != "", h.Aria("invalid", "true")) }

func browseButton(id, field, label string, attributes ...g.Node) g.Node {
	return h.Button(h.ID(id+"-browse"), do("browse", field), h.Aria("label", "Browse for "+label), g.Group(attributes), g.Text("Browse"))
}

// end is where the form is submitted or saved.
func (d launchData) end() g.Node {
	submit := h.Button(h.ID("launch-submit"), h.Class("primary"), do("submit"), g.Attr("data-leaves"), g.Text("Submit"))
	if d.IsInteractive {
		submit = h.P(h.Class("launch-note"), h.ID("launch-interactive"), g.Text("Its jobs run at a terminal: copy the command line beside."))
	}
	replace := g.Group{
		hidden("replace", "false"),
		h.Label(h.Class("launch-replace"), h.ID("own-replace-label"),
			h.Input(h.Type("checkbox"), h.ID("own-replace"), h.Name("replace"), h.Value("true")), g.Text(" replace it")),
	}
	return h.Div(h.Class("launch-end"), h.ID("launch-end"),
		submit, g.Text(" "),
		h.Button(h.ID("launch-reset"), do("reset"), g.Text("Restore the defaults")),
		h.NoScript(h.Button(do("update"), g.Text("Update"))),
		h.Span(h.Class("launch-save"), h.Label(h.For("own-save-as"), g.Text("Save as")), g.Text(" "),
			h.Input(h.ID("own-save-as"), h.Name("save-as"), h.Value(d.State.SaveAs), unchecked(), g.Attr("size", "14"), invalid(d.Problems["save-as"]),
				h.Aria("describedby", "own-save-as-help")), g.Text(" "),
			h.Span(h.ID("own-save-as-help"), h.Class("hidden"), g.Text("the name of a launch configuration")), g.Text(" "),
			g.If(d.Outcome.Existing, replace), g.Text(" "),
			h.Button(h.ID("launch-save"), do("save"), g.Text("Save")),
		),
	)
}

// aside shows what would be submitted, as far as the values are not refused.
func (p launchPreview) aside(isReady bool) g.Node {
	return h.Aside(h.Class("launch-preview card"), h.ID("launch-preview"), h.Aria("labelledby", "launch-preview-title"),
		h.H2(h.ID("launch-preview-title"), g.Text("Preview")),
		p.content(isReady),
	)
}

func (p launchPreview) content(isReady bool) g.Node {
	if p.Error != "" {
		return h.P(h.Class("note edge-red"), h.ID("launch-preview-error"), g.Text(p.Error))
	}
	part := func(id, title, text string) g.Node {
		return g.Group{
			h.H3(h.ID(id+"-title"), g.Text(title)),
			h.Pre(h.Class("output"), h.ID(id), h.TabIndex("0"), h.Role("region"), h.Aria("labelledby", id+"-title"), g.Text("\n"+text)),
		}
	}
	return g.Group{
		g.If(!isReady, h.P(h.Class("note edge-yellow"), h.ID("launch-preview-without"), g.Text("Without the values that are refused."))),
		g.If(p.Script != "", part("launch-script", "Script", p.Script)),
		g.If(p.Command != "", part("launch-command", "What is run", p.Command)),
		part("launch-rmctl", "The same in a shell", p.Rmctl),
	}
}

// dialog is where a path is chosen.
func (f *launchFolder) dialog() g.Node {
	return h.Div(h.Class("launch-browse"), h.ID("launch-browse"), h.Role("dialog"), h.Aria("labelledby", "launch-browse-title"),
		h.H2(h.ID("launch-browse-title"), g.Text(f.Label+": "+f.Path)),
		h.P(h.Class("launch-browse-ends"),
			g.If(f.Here != "", g.Group{h.Button(h.Class("primary"), h.Name("do"), h.Value(f.Here), g.Text("Choose this folder")), g.Text(" ")}),
			g.If(f.Up != "", g.Group{h.Button(h.Name("do"), h.Value(f.Up), g.Text("Folder above")), g.Text(" ")}),
			h.Button(do("update"), g.Attr("data-closes"), g.Text("Close")),
		),
		h.Ul(g.Map(f.Entries, launchEntry.listItem)),
		g.If(f.Left > 0, h.P(h.Class("launch-note"), g.Text(strconv.Itoa(f.Left)+" more are not shown."))),
	)
}

func (e launchEntry) listItem() g.Node {
	name := e.Name
	if e.Folder {
		name += "/"
	}
	if e.Do == "" {
		return h.Li(h.Span(g.Text(name)))
	}
	return h.Li(h.Button(h.Name("do"), h.Value(e.Do), g.Text(name)))
}

func launchListMain(places []launchPlace) g.Node {
	if len(places) == 0 {
		return emptyLine("There is no resource manager.")
	}
	return h.Div(h.Class("scroll"), h.Table(h.Class("rows"), caption("Where jobs can be launched"),
		h.THead(h.Tr(heading("", "Resource manager"), heading("", "Definition"), heading("", "Launch configurations"))),
		h.TBody(g.Map(places, func(place launchPlace) g.Node {
			name := link(place.Address, place.Name)
			if place.Address == "" {
				name = g.Group{g.Text(place.Name + " "), h.Span(h.Class("muted small"), g.Text("is "+place.State+"; start it first"))}
			}
			return h.Tr(
				h.Th(h.Scope("row"), name),
				cell("", "Definition", g.Text(place.Definition)),
				cell("", "Configurations", savedLinks(place.Saved)),
			)
		})),
	))
}
