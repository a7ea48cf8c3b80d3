package pages

import (
	"strconv"
	"strings"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/internal/wording"
)

// do makes a button do something with the form: a word, and what it is done to.
func do(words ...string) h.Node {
	return h.Group{h.Name("do"), h.Value(launch.AsText(words))}
}

// origin says what describes the form.
func (d launchData) origin() h.Node {
	if definition := d.Controller.Definition; definition.Monitor.SchedulerType != wording.AgentType {
		return h.Group{h.Text("Definition "), h.B(h.Text(definition.Name)), h.Text(".")}
	}
	return h.Text("The target's agent provides this form.")
}

func (d launchData) main(csrf h.Node) h.Node {
	return h.Group{
		h.P(h.Class("muted"), h.ID("launch-origin"),
			d.origin(),
			h.If(len(d.Saved) > 0, h.Group{h.Text(" Start from a saved submission: "), savedLinks(d.Saved), h.Text(".")}),
		),
		h.Form(h.ID("launch"), h.Class("launch"), h.Method("post"), h.Action(launchAddressOf(d.Manager, "")), h.Flag("novalidate"), h.Attr("autocomplete", "off"),
			h.Flag("data-launch"), h.If(d.Outcome.FocusedOn != "", h.Data("focus", d.Outcome.FocusedOn)),
			d.kept(csrf),
			h.Div(h.ID("launch-error"), h.Role("alert"), h.If(d.Outcome.Error != "", d.failure())),
			d.said(),
			h.Div(h.Class("launch-fields card"), h.ID("launch-fields"),
				d.program(),
				d.tabs(),
				d.fields(),
				d.more(),
				d.end(),
			),
			d.Preview.aside(d.IsReady),
			h.Iff(d.Outcome.Browsed != nil, func() h.Node { return folderDialog(d.Outcome.Browsed) }),
		),
	}
}

func savedLinks(saved []launchSaved) h.Node {
	return h.Join(", ", h.Map(saved, func(one launchSaved) h.Node { return link(one.Address, one.Name) }))
}

// kept is what the page carries to the next request. Its button is what the Enter key presses.
func (d launchData) kept(csrf h.Node) h.Node {
	return h.Div(h.ID("launch-kept"), csrf,
		hidden("tag", d.State.Tag),
		hidden("tab", d.State.Tab),
		hidden("given", launch.AsText(d.State.Given)),
		hidden("edits", launch.AsText(d.State.Edits)),
		h.Button(h.Class("hidden"), do("update"), h.TabIndex("-1"), h.Aria("hidden", "true"), h.Text("Update")),
	)
}

func (d launchData) failure() h.Node {
	o := d.Outcome
	return h.P(h.Class("note edge-red"), h.Text(o.Error),
		h.If(o.JobPage != "", h.Group{h.Text(" It is "), link(o.JobPage, "job "+o.JobName), h.Text(".")}),
	)
}

// said is what a screen reader says after a change.
func (d launchData) said() h.Node {
	refused := ""
	switch number := len(d.Form.Problems(d.Page)); number {
	case 0:
	case 1:
		refused = "1 value is invalid."
	default:
		refused = strconv.Itoa(number) + " values are invalid."
	}
	return h.Div(h.ID("launch-said"), h.Role("status"),
		h.If(d.Outcome.Done != "", warning("green", d.Outcome.Done)),
		h.If(d.Warning != "", warning("yellow", d.Warning)),
		hiddenText(refused),
	)
}

// tabs leads to the tabs of the form.
func (d launchData) tabs() h.Node {
	pages := d.Form.Pages()
	if len(pages) == 0 {
		return nil
	}
	var tabs h.Group
	for i, page := range pages {
		number := strconv.Itoa(i)
		tabs = append(tabs, h.Li(h.ID("launch-tab-item-"+number), h.Button(h.ID("launch-tab-"+number), do("tab", page.Title),
			h.If(page == d.Page, h.Aria("current", "true")), h.If(page.Tooltip != "", h.Title(page.Tooltip)), h.Text(page.Title))))
	}
	return h.Nav(h.Class("launch-tabs"), h.ID("launch-tabs"), h.Aria("label", "Tabs of the form"), h.Ul(tabs))
}

// fields are those of the definition.
func (d launchData) fields() h.Node {
	var content h.Node = h.Map(d.Items, launchItem.node)
	if len(d.Items) == 0 {
		content = h.P(h.Class("launch-note"), h.Text("Nothing to fill in."))
	}
	return h.Section(h.ID("launch-tab"), h.Class("launch-grid"), h.Aria("label", "Attributes"), content)
}

// program are the fields of what to run, and where, which every form has.
func (d launchData) program() h.Node {
	return h.Section(h.Class("launch-run"), h.ID("launch-run"), h.Aria("label", "What to run"),
		h.If(d.Page.Import, d.script()),
		d.ownField("program", "Program", "", d.ownInput("program", d.State.Program)),
		d.ownField("arguments", "Arguments", "quoted as in a shell", d.ownInput("arguments", d.State.Arguments)),
		d.ownField("directory", "Directory", "", d.ownPath("directory", "Directory", d.State.Directory)),
	)
}

// more are the fields that every form has and few users need.
func (d launchData) more() h.Node {
	further := "name=value on each line, as for rmctl submit -s"
	if len(d.Portable) > 0 {
		further += "; portable names: " + strings.Join(d.Portable, ", ")
	}
	isChecked := h.If(d.State.Debug, h.Flag("checked"))
	return h.FieldSet(h.Class("launch-group"), h.ID("launch-more"), h.Legend(h.Text("More")),
		h.If(d.Controller.Definition.Script != nil && !d.Page.Import, d.script()),
		d.ownField("environment", "Environment", "NAME=VALUE on each line", d.ownLines("environment", d.State.Environment)),
		d.ownField("further", "Other attributes", further, d.ownLines("further", d.State.Further)),
		h.If(d.HasDebug, h.Div(h.Class("launch-field"), h.ID("own-debug-field"), h.Label(h.For("own-debug"), h.Text("Debug")), h.Div(h.Class("launch-value"),
			hidden("debug", "false"), h.Input(h.Type("checkbox"), h.ID("own-debug"), h.Name("debug"), h.Value("true"), isChecked)))),
	)
}

func (d launchData) script() h.Node {
	return d.ownField("script", "Script", "submit this file instead of the program", d.ownPath("script", "Script", d.State.Script))
}

// ownField is a field of the page itself, with what is wrong with it.
func (d launchData) ownField(name, label, help string, input h.Node) h.Node {
	id := "own-" + name
	return h.Div(h.Class("launch-field"), h.ID(id+"-field"), h.Label(h.For(id), h.Text(label)), h.Div(h.Class("launch-value"),
		input, h.Text(" "),
		h.Span(h.ID(id+"-problem"), h.Class("problem"), h.Text(d.Problems[name])), h.Text(" "),
		h.Span(h.ID(id+"-help"), h.Class("launch-help"), h.Text(help)),
	))
}

func (d launchData) ownInput(name, value string) h.Node {
	return h.Input(h.ID("own-"+name), h.Name(name), h.Value(value), d.ownMarks(name))
}

func (d launchData) ownLines(name, text string) h.Node {
	return h.Textarea(h.ID("own-"+name), h.Name(name), h.Attr("rows", "2"), d.ownMarks(name), h.Text("\n"+text))
}

func (d launchData) ownPath(name, label, value string) h.Node {
	return h.Span(h.Class("launch-path"), d.ownInput(name, value), h.Text(" "), browseButton("own-"+name, name, label))
}

func (d launchData) ownMarks(name string) h.Node {
	return h.Group{unchecked(), invalid(d.Problems[name]), h.Aria("describedby", "own-"+name+"-problem own-"+name+"-help")}
}

func unchecked() h.Node { return h.Attr("spellcheck", "false") }

func invalid(problem string) h.Node { return h.If(problem != "", h.Aria("invalid", "true")) }

func browseButton(id, field, label string, attributes ...h.Node) h.Node {
	return h.Button(h.ID(id+"-browse"), do("browse", field), h.Aria("label", "Browse for "+label), h.Group(attributes), h.Text("Browse"))
}

// end is where the form is submitted or saved.
func (d launchData) end() h.Node {
	submit := h.Button(h.ID("launch-submit"), h.Class("primary"), do("submit"), h.Flag("data-leaves"), h.Text("Submit"))
	if d.IsInteractive {
		submit = h.P(h.Class("launch-note"), h.ID("launch-interactive"), h.Text("Jobs of this definition require a terminal: copy the command line from the preview."))
	}
	replace := h.Group{
		hidden("replace", "false"),
		h.Label(h.Class("launch-replace"), h.ID("own-replace-label"),
			h.Input(h.Type("checkbox"), h.ID("own-replace"), h.Name("replace"), h.Value("true")), h.Text(" replace it")),
	}
	return h.Div(h.Class("launch-end"), h.ID("launch-end"),
		submit, h.Text(" "),
		h.Button(h.ID("launch-reset"), do("reset"), h.Text("Reset")),
		h.NoScript(h.Button(do("update"), h.Text("Update"))),
		h.Span(h.Class("launch-save"), h.Label(h.For("own-save-as"), h.Text("Save as")), h.Text(" "),
			h.Input(h.ID("own-save-as"), h.Name("save-as"), h.Value(d.State.SaveAs), unchecked(), h.Attr("size", "14"), invalid(d.Problems["save-as"]),
				h.Aria("describedby", "own-save-as-help")), h.Text(" "),
			h.Span(h.ID("own-save-as-help"), h.Class("hidden"), h.Text("name of the saved submission")), h.Text(" "),
			h.If(d.Outcome.Existing, replace), h.Text(" "),
			h.Button(h.ID("launch-save"), do("save"), h.Text("Save")),
		),
	)
}

// aside shows what would be submitted, as far as the values are not refused.
func (p launchPreview) aside(isReady bool) h.Node {
	return h.Aside(h.Class("launch-preview card"), h.ID("launch-preview"), h.Aria("labelledby", "launch-preview-title"),
		h.H2(h.ID("launch-preview-title"), h.Text("Preview")),
		p.content(isReady),
	)
}

func (p launchPreview) content(isReady bool) h.Node {
	if p.Error != "" {
		return h.P(h.Class("note edge-red"), h.ID("launch-preview-error"), h.Text(p.Error))
	}
	part := func(id, title, text string) h.Node {
		return h.Group{
			h.H3(h.ID(id+"-title"), h.Text(title)),
			h.Pre(h.Class("output"), h.ID(id), h.TabIndex("0"), h.Role("region"), h.Aria("labelledby", id+"-title"), h.Text("\n"+text)),
		}
	}
	return h.Group{
		h.If(!isReady, h.P(h.Class("note edge-yellow"), h.ID("launch-preview-without"), h.Text("Without the invalid values."))),
		h.If(p.Script != "", part("launch-script", "Script", p.Script)),
		h.If(p.Command != "", part("launch-command", "Command", p.Command)),
		part("launch-rmctl", "On the command line", p.Rmctl),
	}
}

// dialog is where a path is chosen.
func folderDialog(f *launch.Folder) h.Node {
	return h.Div(h.Class("launch-browse"), h.ID("launch-browse"), h.Role("dialog"), h.Aria("labelledby", "launch-browse-title"),
		h.H2(h.ID("launch-browse-title"), h.Text(f.Label+": "+f.Path)),
		h.P(h.Class("launch-browse-ends"),
			h.If(f.Here != "", h.Group{h.Button(h.Class("primary"), h.Name("do"), h.Value(f.Here), h.Text("Choose this folder")), h.Text(" ")}),
			h.If(f.Up != "", h.Group{h.Button(h.Name("do"), h.Value(f.Up), h.Text("Folder above")), h.Text(" ")}),
			h.Button(do("update"), h.Flag("data-closes"), h.Text("Close")),
		),
		h.Ul(h.Map(f.Entries, folderItem)),
		h.If(f.Left > 0, h.P(h.Class("launch-note"), h.Text(strconv.Itoa(f.Left)+" more are not shown."))),
	)
}

func folderItem(e launch.FolderEntry) h.Node {
	name := e.Name
	if e.Folder {
		name += "/"
	}
	if e.Do == "" {
		return h.Li(h.Span(h.Text(name)))
	}
	return h.Li(h.Button(h.Name("do"), h.Value(e.Do), h.Text(name)))
}

func launchListMain(places []launchPlace) h.Node {
	if len(places) == 0 {
		return emptyLine("No targets.")
	}
	return h.Div(h.Class("scroll"), h.Table(h.Class("rows"), caption("Targets for jobs"),
		h.THead(h.Tr(heading("", "Target"), heading("", "Definition"), heading("", "Saved submissions"))),
		h.TBody(h.Map(places, func(place launchPlace) h.Node {
			name := link(place.Address, place.Name)
			if place.Address == "" {
				name = h.Group{h.Text(place.Name + " "), h.Span(h.Class("muted small"), h.Text("is "+place.State+"; start it first"))}
			}
			return h.Tr(
				h.Th(h.Scope("row"), name),
				cell("", "Definition", h.Text(place.Definition)),
				cell("", "Configurations", savedLinks(place.Saved)),
			)
		})),
	))
}
