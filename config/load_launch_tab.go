package config

import "strings"

func (l *loader) launchTab(e element) *LaunchTab {
	tab := &LaunchTab{Position: e.position()}
	e.children(func(child element) {
		switch child.Name {
		case "dynamic":
			tab.Tabs = append(tab.Tabs, l.tab(child))
		case "import":
			tab.Import = l.importTab(child)
		}
	})
	return tab
}

func (l *loader) tab(e element) *Tab {
	tab := &Tab{
		Look:             l.look(e),
		Title:            e.childText("title").Text,
		ShowViewConfig:   e.boolean("showViewConfig", true),
		ShowViewExcluded: e.boolean("showViewExcluded", false),
		Controls:         l.controls(e),
	}
	if from := e.text("includeWidgetValuesFrom"); from != "" {
		at := e.valuePosition("includeWidgetValuesFrom")
		for title := range strings.SplitSeq(from, ",") {
			tab.IncludeFrom = append(tab.IncludeFrom, Reference{Position: at, Name: title})
			at.Column += len(title) + len(",")
		}
	}
	return tab
}

func (l *loader) importTab(e element) *ImportTab {
	tab := &ImportTab{Position: e.position(), Title: e.text("title")}
	if viewer, ok := e.first("export-for-override"); ok {
		tab.Viewer = l.viewer(viewer)
	}
	return tab
}

// look reads what all controls can have; an element that cannot have a part
// does not hold it.
func (l *loader) look(e element) Look {
	return Look{
		Position:   e.position(),
		Layout:     l.layout(e),
		LayoutData: l.layoutData(e, "layout-data"),
		Font:       l.font(e),
		Tooltip:    e.childText("tooltip"),
		Style:      e.text("style"),
		Foreground: e.text("foreground"),
		Background: e.text("background"),
		State:      l.controlState(e, "control-state"),
	}
}

func (l *loader) controls(e element) []Control {
	var controls []Control
	e.children(func(child element) {
		if control := l.formControl(child); control != nil {
			controls = append(controls, control)
		}
	})
	return controls
}

func (l *loader) formControl(e element) Control {
	switch e.Name {
	case "composite":
		return &Composite{Look: l.look(e), Group: e.boolean("group", false), Title: e.childText("title"), Controls: l.controls(e)}
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

func (l *loader) tabFolder(e element) *TabFolder {
	folder := &TabFolder{Look: l.look(e)}
	for _, item := range e.named("item") {
		folder.Items = append(folder.Items, &TabItem{Look: l.look(item), Title: item.childText("title").Text, Controls: l.controls(item)})
	}
	return folder
}

func (l *loader) widget(e element) *Widget {
	widget := &Widget{
		Look:      l.look(e),
		Type:      WidgetType(e.text("type")),
		TypeID:    e.text("typeId"),
		ButtonID:  e.reference("buttonId"),
		Title:     e.optional("title"),
		ReadOnly:  e.boolean("readOnly", false),
		Attribute: e.bound(),
		ItemsFrom: e.childReference("items-from"),
		FixedText: e.childText("fixed-text"),
	}
	switch widget.Type {
	case "":
		widget.Type = TextWidget
	case EnvironmentModules: // format of 5.0
		widget.Type, widget.TypeID = CustomWidget, EnvironmentModules
	}
	if dynamic, ok := e.first("dynamic-text"); ok {
		widget.DynamicText = l.arguments(dynamic, "arg")
	}
	return widget
}

func (l *loader) buttonGroup(e element) *ButtonGroup {
	group := &ButtonGroup{Look: l.look(e), Group: e.boolean("group", false), Title: e.childText("title"), Attribute: e.bound()}
	for _, button := range e.named("button") {
		group.Buttons = append(group.Buttons, l.widget(button))
	}
	return group
}

func (l *loader) browse(e element) *Browse {
	browse := &Browse{
		Look:             l.look(e),
		ButtonLayoutData: l.layoutData(e, "button-layout-data"),
		ButtonState:      l.controlState(e, "button-control-state"),
		Title:            e.optional("title"),
		Directory:        e.boolean("directory", false),
		URI:              e.boolean("uri", false),
		LocalOnly:        e.boolean("localOnly", false),
		ReadOnly:         e.boolean("readOnly", false),
		Attribute:        e.bound(),
	}
	browse.Style = e.text("textStyle")
	browse.LayoutData = l.layoutData(e, "text-layout-data")
	browse.State = l.controlState(e, "text-control-state")
	return browse
}

func (l *loader) pushButton(e element) *PushButton {
	button := &PushButton{Look: l.look(e), Title: e.optional("title"), Refresh: true}
	if action, ok := e.first("button-action"); ok {
		button.Action = action.childReference("action")
		button.ClearValue = action.reference("clearValue")
		button.Refresh = action.boolean("refresh", true)
	}
	return button
}

func (l *loader) viewer(e element) *Viewer {
	viewer := &Viewer{
		Look:              l.look(e),
		Tree:              e.text("type") == "tree",
		Name:              e.reference("name"),
		Label:             e.childText("label"),
		InitialAllChecked: e.boolean("initialAllChecked", true),
		Sort:              e.boolean("sort", true),
		HeaderVisible:     e.boolean("headerVisible", true),
		LinesVisible:      e.boolean("linesVisible", true),
		TooltipEnabled:    e.boolean("tooltipEnabled", true),
	}
	for _, column := range e.named("column-data") {
		viewer.Columns = append(viewer.Columns, l.column(column))
	}
	if items, ok := e.first("items"); ok {
		viewer.AllPredefined = items.boolean("allPredefined", false)
		viewer.AllDiscovered = items.boolean("allDiscovered", false)
		viewer.Include = items.childReferences("include")
		viewer.Exclude = items.childReferences("exclude")
	}
	if value, ok := e.first("value"); ok {
		viewer.Value = &ViewerValue{Position: value.position(), Pattern: value.text("pattern"), Separator: " "}
		if separator := value.optional("separator"); separator.Set {
			viewer.Value.Separator = separator.Text
		}
	}
	return viewer
}

func (l *loader) column(e element) *Column {
	return &Column{
		Position:   e.position(),
		Name:       e.text("name"),
		Width:      e.integer("width", NotSaid),
		Alignment:  e.text("alignment"),
		Resizable:  e.boolean("resizable", false),
		Moveable:   e.boolean("moveable", false),
		Foreground: e.text("foreground"),
		Background: e.text("background"),
		Font:       l.font(e),
		Tooltip:    e.childText("tooltip"),
	}
}

// bound returns the attribute that a control is bound to.
func (e element) bound() Reference {
	if reference := e.reference("attribute"); reference.Name != "" {
		return reference
	}
	return e.reference("saveValueTo") // format of 5.0
}

// reference returns the name that an XML attribute holds.
func (e element) reference(name string) Reference {
	value := e.optional(name)
	if !value.Set {
		return Reference{}
	}
	return Reference{Position: e.valuePosition(name), Name: value.Text}
}

// childReference returns the name that the first child of a name holds.
func (e element) childReference(name string) Reference {
	child, ok := e.first(name)
	if !ok {
		return Reference{}
	}
	return Reference{Position: child.textPosition(true), Name: strings.TrimSpace(child.Text)}
}

func (e element) childReferences(name string) []Reference {
	var references []Reference
	for _, child := range e.named(name) {
		references = append(references, Reference{Position: child.textPosition(true), Name: strings.TrimSpace(child.Text)})
	}
	return references
}
