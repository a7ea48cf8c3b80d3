package config

import (
	"strings"

	"github.com/rmctl/rmctl/internal/tree"
)

func (l *loader) launchTab(e tree.Element) *LaunchTab {
	tab := &LaunchTab{Position: e.Position()}
	e.Core(func(child tree.Element) {
		switch child.Name {
		case "dynamic":
			tab.Tabs = append(tab.Tabs, l.tab(child))
		case "import":
			tab.Import = l.importTab(child)
		}
	})
	return tab
}

func (l *loader) tab(e tree.Element) *Tab {
	tab := &Tab{
		Look:     l.look(e),
		Title:    e.ChildText("title").Text,
		Controls: l.controls(e),
	}
	if from := e.Value("includeWidgetValuesFrom"); from != "" {
		at := e.ValuePosition("includeWidgetValuesFrom")
		for title := range strings.SplitSeq(from, ",") {
			tab.IncludeFrom = append(tab.IncludeFrom, Reference{Position: at, Name: title})
			at.Column += len(title) + len(",")
		}
	}
	return tab
}

func (l *loader) importTab(e tree.Element) *ImportTab {
	tab := &ImportTab{Position: e.Position(), Title: e.Value("title")}
	if viewer, ok := e.First("export-for-override"); ok {
		tab.Viewer = l.viewer(viewer)
	}
	return tab
}

// look reads what all controls can have; an element that cannot have a part
// does not hold it.
func (l *loader) look(e tree.Element) Look {
	look := Look{
		Position: e.Position(),
		Span:     span(e, "layout-data"),
		Tooltip:  e.ChildText("tooltip"),
		Style:    e.Value("style"),
		State:    l.controlState(e, "control-state"),
	}
	if layout, ok := e.First("layout"); ok {
		if grid, isGrid := layout.First("grid-layout"); isGrid {
			look.Columns = max(grid.Integer("numColumns", 1), 1)
		}
	}
	return look
}

// span returns how many columns of a grid a control takes, 1 where that is not given.
func span(e tree.Element, name string) int {
	if data, ok := e.First(name); ok {
		if grid, isGrid := data.First("grid-data"); isGrid {
			return max(grid.Integer("horizontalSpan", 1), 1)
		}
	}
	return 1
}

func (l *loader) controls(e tree.Element) []Control {
	var controls []Control
	e.Core(func(child tree.Element) {
		if control := l.formControl(child); control != nil {
			controls = append(controls, control)
		}
	})
	return controls
}

func (l *loader) formControl(e tree.Element) Control {
	switch e.Name {
	case "composite":
		return &Composite{Look: l.look(e), Group: e.Boolean("group", false), Title: e.ChildText("title"), Controls: l.controls(e)}
	case "tab-folder":
		return l.tabFolder(e)
	case "widget":
		return l.widget(e)
	case "button-group":
		return l.buttonGroup(e)
	case "browse":
		return l.browse(e)
	case "action":
		return l.pushButton(e)
	case "viewer":
		return l.viewer(e)
	}
	return nil // a part of the control around it
}

func (l *loader) tabFolder(e tree.Element) *TabFolder {
	folder := &TabFolder{Look: l.look(e)}
	for _, item := range e.Named("item") {
		folder.Items = append(folder.Items, &TabItem{Look: l.look(item), Title: item.ChildText("title").Text, Controls: l.controls(item)})
	}
	return folder
}

func (l *loader) widget(e tree.Element) *Widget {
	widget := &Widget{
		Look:      l.look(e),
		Type:      WidgetType(e.Value("type")),
		ButtonID:  referenceIn(e, "buttonId"),
		Title:     e.Optional("title"),
		ReadOnly:  e.Boolean("readOnly", false),
		Attribute: boundAttribute(e),
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
		widget.DynamicText = l.arguments(dynamic, "arg")
	}
	return widget
}

func (l *loader) buttonGroup(e tree.Element) *ButtonGroup {
	group := &ButtonGroup{Look: l.look(e), Group: e.Boolean("group", false), Title: e.ChildText("title"), Attribute: boundAttribute(e)}
	for _, button := range e.Named("button") {
		group.Buttons = append(group.Buttons, l.widget(button))
	}
	return group
}

func (l *loader) browse(e tree.Element) *Browse {
	browse := &Browse{
		Look:        l.look(e),
		ButtonSpan:  span(e, "button-layout-data"),
		ButtonState: l.controlState(e, "button-control-state"),
		Title:       e.Optional("title"),
		Directory:   e.Boolean("directory", false),
		URI:         e.Boolean("uri", false),
		LocalOnly:   e.Boolean("localOnly", false),
		ReadOnly:    e.Boolean("readOnly", false),
		Attribute:   boundAttribute(e),
	}
	browse.Style = e.Value("textStyle")
	browse.Span = span(e, "text-layout-data")
	browse.State = l.controlState(e, "text-control-state")
	return browse
}

func (l *loader) pushButton(e tree.Element) *PushButton {
	button := &PushButton{Look: l.look(e), Title: e.Optional("title"), Refresh: true}
	if action, ok := e.First("button-action"); ok {
		button.Action = childReference(action, "action")
		button.ClearValue = referenceIn(action, "clearValue")
		button.Refresh = action.Boolean("refresh", true)
	}
	return button
}

func (l *loader) viewer(e tree.Element) *Viewer {
	viewer := &Viewer{
		Look:              l.look(e),
		Name:              referenceIn(e, "name"),
		Label:             e.ChildText("label"),
		InitialAllChecked: e.Boolean("initialAllChecked", true),
		Sort:              e.Boolean("sort", true),
	}
	for _, column := range e.Named("column-data") {
		viewer.Columns = append(viewer.Columns, column.Value("name"))
	}
	if items, ok := e.First("items"); ok {
		viewer.AllPredefined = items.Boolean("allPredefined", false)
		viewer.AllDiscovered = items.Boolean("allDiscovered", false)
		viewer.Include = childReferences(items, "include")
		viewer.Exclude = childReferences(items, "exclude")
	}
	if value, ok := e.First("value"); ok {
		viewer.Value = &ViewerValue{Position: value.Position(), Pattern: value.Value("pattern"), Separator: " "}
		if separator := value.Optional("separator"); separator.Set {
			viewer.Value.Separator = separator.Text
		}
	}
	return viewer
}

// bound returns the attribute that a control is bound to.
func boundAttribute(e tree.Element) Reference {
	if reference := referenceIn(e, "attribute"); reference.Name != "" {
		return reference
	}
	return referenceIn(e, "saveValueTo") // format of 5.0
}

// reference returns the name that an XML attribute holds.
func referenceIn(e tree.Element, name string) Reference {
	value := e.Optional(name)
	if !value.Set {
		return Reference{}
	}
	return Reference{Position: e.ValuePosition(name), Name: value.Text}
}

// childReference returns the name that the first child of a name holds.
func childReference(e tree.Element, name string) Reference {
	child, ok := e.First(name)
	if !ok {
		return Reference{}
	}
	return Reference{Position: child.TextPosition(true), Name: strings.TrimSpace(child.Text)}
}

func childReferences(e tree.Element, name string) []Reference {
	var references []Reference
	for _, child := range e.Named(name) {
		references = append(references, Reference{Position: child.TextPosition(true), Name: strings.TrimSpace(child.Text)})
	}
	return references
}
