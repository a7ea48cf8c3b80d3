package launchtab

import (
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// Read reads the launch-tab of a definition.
//
// Row returns what a row for an attribute shows, also for an unknown name, which the checks report.
func Read(e *xmltree.Element, row func(attribute string) Row) *Form {
	r := formReader{row}
	form := &Form{Position: e.Position()}
	e.Core(func(child *xmltree.Element) {
		switch child.Name {
		case "dynamic":
			form.Tabs = append(form.Tabs, r.readTab(child))
		case "import":
			form.Import = &ImportTab{Position: child.Position(), Title: child.Value("title")}
			if viewer, ok := child.First("export-for-override"); ok {
				form.Import.Viewer = readViewer(viewer)
			}
		}
	})
	form.leaveOthers()
	return form
}

// A formReader reads the controls of a form.
type formReader struct{ row func(attribute string) Row }

func (r formReader) readTab(e *xmltree.Element) *Tab {
	tab := &Tab{Look: r.readContainer(e), Title: e.ChildText("title").Text}
	if from := e.Value("includeWidgetValuesFrom"); from != "" {
		at := e.ValuePosition("includeWidgetValuesFrom")
		for title := range strings.SplitSeq(from, ",") {
			tab.IncludeFrom = append(tab.IncludeFrom, Reference{Position: at, Name: title})
			at.Column += len(title) + len(",")
		}
	}
	return tab
}

// readLook reads what all controls can have; an element that cannot have a part
// does not hold it.
func readLook(e *xmltree.Element) Look {
	look := Look{
		Position: e.Position(),
		Span:     span(e, "layout-data"),
		Tooltip:  e.ChildText("tooltip"),
		Style:    e.Value("style"),
		State:    readControlState(e, "control-state"),
	}
	if layout, ok := e.First("layout"); ok {
		if grid, isGrid := layout.First("grid-layout"); isGrid {
			look.Columns = max(grid.Integer("numColumns", 1), 1)
		}
	}
	return look
}

// span returns how many columns of a grid a control takes, 1 where that is not given.
func span(e *xmltree.Element, name string) int {
	if data, ok := e.First(name); ok {
		if grid, isGrid := data.First("grid-data"); isGrid {
			return max(grid.Integer("horizontalSpan", 1), 1)
		}
	}
	return 1
}

// readContainer reads the look of an element that holds controls.
func (r formReader) readContainer(e *xmltree.Element) Look {
	look := readLook(e)
	e.Core(func(child *xmltree.Element) {
		if control := r.readControl(child); control != nil {
			look.Controls = append(look.Controls, control)
		}
	})
	return look
}

func (r formReader) readControl(e *xmltree.Element) Control {
	switch e.Name {
	case "composite":
		composite := &Composite{Look: r.readContainer(e), Group: e.Boolean("group", false), Title: e.ChildText("title")}
		r.addRows(e, &composite.Look)
		return composite
	case "tab-folder":
		folder := &TabFolder{readLook(e)}
		for _, item := range e.Named("item") {
			folder.Controls = append(folder.Controls, &TabItem{Look: r.readContainer(item), Title: item.ChildText("title").Text})
		}
		return folder
	case "widget":
		return readWidget(e)
	case "button-group":
		group := &ButtonGroup{Look: readLook(e), Title: e.ChildText("title"), Attribute: bound(e)}
		for _, button := range e.Named("button") {
			group.Buttons = append(group.Buttons, readWidget(button))
		}
		return group
	case "browse":
		return readBrowse(e)
	case "action":
		return readPushButton(e)
	case "viewer":
		return readViewer(e)
	}
	return nil // a part of the control around it
}

func readWidget(e *xmltree.Element) *Widget {
	widget := &Widget{
		Look:      readLook(e),
		Type:      WidgetType(e.Value("type")),
		ButtonID:  reference(e, "buttonId"),
		Title:     e.Optional("title"),
		ReadOnly:  e.Boolean("readOnly", false),
		Attribute: bound(e),
		ItemsFrom: childReference(e, "items-from"),
		FixedText: e.ChildText("fixed-text"),
	}
	switch widget.Type {
	case "":
		widget.Type = TextWidget
	case "envconfig": // format of 5.0
		widget.Type = CustomWidget
	}
	if dynamic, ok := e.First("dynamic-text"); ok {
		widget.DynamicText = dynamic.Arguments("arg")
	}
	return widget
}

func readBrowse(e *xmltree.Element) *Browse {
	browse := &Browse{
		Look:        readLook(e),
		ButtonSpan:  span(e, "button-layout-data"),
		ButtonState: readControlState(e, "button-control-state"),
		Title:       e.Optional("title"),
		Directory:   e.Boolean("directory", false),
		URI:         e.Boolean("uri", false),
		LocalOnly:   e.Boolean("localOnly", false),
		ReadOnly:    e.Boolean("readOnly", false),
		Attribute:   bound(e),
	}
	browse.Style = e.Value("textStyle")
	browse.Span = span(e, "text-layout-data")
	browse.State = readControlState(e, "text-control-state")
	return browse
}

func readPushButton(e *xmltree.Element) *PushButton {
	button := &PushButton{Look: readLook(e), Title: e.Optional("title"), Refresh: true}
	if action, ok := e.First("button-action"); ok {
		button.Action = childReference(action, "action")
		button.ClearValue = reference(action, "clearValue")
		button.Refresh = action.Boolean("refresh", true)
	}
	return button
}

func readViewer(e *xmltree.Element) *Viewer {
	viewer := &Viewer{
		Look:              readLook(e),
		Name:              reference(e, "name"),
		Label:             e.ChildText("label"),
		InitialAllChecked: e.Boolean("initialAllChecked", true),
	}
	for _, column := range e.Named("column-data") {
		viewer.Columns = append(viewer.Columns, column.Value("name"))
	}
	if items, ok := e.First("items"); ok {
		viewer.AllPredefined = items.Boolean("allPredefined", false)
		viewer.AllDiscovered = items.Boolean("allDiscovered", false)
		viewer.Include = childReferences(items, "include")
		viewer.Exclude = childReferences(items, "exclude")
		others, _ := items.Lookup(xmltree.ExtensionNamespace, "others")
		viewer.OnlyOthers = others.Value == "true"
	}
	if value, ok := e.First("value"); ok {
		viewer.Value = &ViewerValue{Position: value.Position(), Pattern: value.Value("pattern"), Separator: " "}
		if separator := value.Optional("separator"); separator.Set {
			viewer.Value.Separator = separator.Text
		}
	}
	return viewer
}

// bound returns the attribute that a control names.
func bound(e *xmltree.Element) Reference {
	if reference := reference(e, "attribute"); reference.Name != "" {
		return reference
	}
	return reference(e, "saveValueTo") // format of 5.0
}

// reference returns the name that an XML attribute holds.
func reference(e *xmltree.Element, name string) Reference {
	value := e.Optional(name)
	if !value.Set {
		return Reference{}
	}
	return Reference{Position: e.ValuePosition(name), Name: value.Text}
}

// childReference returns the name that the first child of a name holds.
func childReference(e *xmltree.Element, name string) Reference {
	for _, found := range childReferences(e, name) {
		return found
	}
	return Reference{}
}

func childReferences(e *xmltree.Element, name string) []Reference {
	var references []Reference
	for _, child := range e.Named(name) {
		references = append(references, Reference{Position: child.TextPosition(), Name: strings.TrimSpace(child.Text)})
	}
	return references
}
