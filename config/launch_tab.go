package config

import "strings"

// A LaunchTab is the form of a definition: a tab for each way of filling it in.
type LaunchTab struct {
	Position
	Tabs   []*Tab
	Import *ImportTab // nil where users cannot submit a script of their own by the form
}

// Tab returns the tab of that title, or nil. Of several the first counts.
func (l *LaunchTab) Tab(title string) *Tab {
	if l == nil {
		return nil
	}
	for _, tab := range l.Tabs {
		if tab.Title == title {
			return tab
		}
	}
	return nil
}

// Walk calls visit for each control of all tabs, the outer ones before those
// inside, in document order.
func (l *LaunchTab) Walk(visit func(Control)) {
	for _, tab := range l.Tabs {
		tab.Walk(visit)
	}
	if l.Import != nil && l.Import.Viewer != nil {
		visit(l.Import.Viewer)
	}
}

// A Tab (dynamic) is one tab of the form.
type Tab struct {
	Look
	Title       string
	IncludeFrom []Reference // titles of tabs whose values count, too; not trimmed
	Controls    []Control
}

// Walk calls visit for each control of the tab, the outer ones before those
// inside, in document order.
func (t *Tab) Walk(visit func(Control)) { walk(t.Controls, visit) }

func walk(controls []Control, visit func(Control)) {
	for _, control := range controls {
		visit(control)
		walk(control.Inside(), visit)
	}
}

// An ImportTab (import) is the tab by which a user submits a script that exists.
type ImportTab struct {
	Position
	Title  string
	Viewer *Viewer // export-for-override; nil if there is none
}

// A Reference is a name of something else in the definition and where it
// stands. An empty name refers to nothing.
type Reference struct {
	Position
	Name string
}

// A Control is an element of a tab: one of *Composite, *TabFolder, *Widget,
// *ButtonGroup, *Browse, *PushButton and *Viewer, or a *TabItem in a folder.
type Control interface {
	// Common returns what all controls have.
	Common() *Look
	// Inside returns the controls inside this one. The buttons of a group are
	// a part of it and not among them.
	Inside() []Control
}

// Bound returns the attribute whose value a control shows and sets, or a
// reference to nothing. Viewers set the attributes of their rows instead, and a
// widget with a dynamic text shows that whatever else it names.
func Bound(control Control) Reference {
	switch c := control.(type) {
	case *Widget:
		if len(c.DynamicText) == 0 {
			return c.Attribute
		}
	case *ButtonGroup:
		return c.Attribute
	case *Browse:
		return c.Attribute
	}
	return Reference{}
}

// A Look is what controls have in common, as far as a form without pixels shows it.
// What a control's element cannot have is unset.
type Look struct {
	Position
	Columns int           // of the grid of the controls inside; 0 for another layout
	Span    int           // how many columns of a grid around it the control takes; at least 1
	Tooltip Optional      // may hold references
	Style   string        // tokens as written; see StyleTokens
	State   *ControlState // nil for a control that is always there
}

// StyleTokens returns the tokens of a style, such as WRAP of "SWT.BORDER |
// SWT.WRAP", without the prefix.
func StyleTokens(style string) []string {
	var tokens []string
	for token := range strings.SplitSeq(style, "|") {
		token = strings.TrimSpace(token)
		token = strings.TrimPrefix(strings.TrimPrefix(token, "SWT."), "GridData.")
		if token != "" {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// Common returns the look itself.
func (l *Look) Common() *Look { return l }

// Inside returns nothing: most controls have none inside.
func (l *Look) Inside() []Control { return nil }

// A Composite holds controls; with Group it has a frame and a title.
type Composite struct {
	Look
	Group    bool
	Title    Optional
	Controls []Control
}

// Inside returns the controls of the composite.
func (c *Composite) Inside() []Control { return c.Controls }

// A TabFolder holds pages of which one is seen at a time.
type TabFolder struct {
	Look
	Items []*TabItem
}

// Inside returns the pages.
func (f *TabFolder) Inside() []Control {
	controls := make([]Control, 0, len(f.Items))
	for _, item := range f.Items {
		controls = append(controls, item)
	}
	return controls
}

// A TabItem is one page of a folder.
type TabItem struct {
	Look
	Title    string
	Controls []Control
}

// Inside returns the controls of the page.
func (i *TabItem) Inside() []Control { return i.Controls }

// A WidgetType is what a widget is.
type WidgetType string

// The types of widgets.
const (
	LabelWidget       WidgetType = "label"
	TextWidget        WidgetType = "text"
	CheckboxWidget    WidgetType = "checkbox"
	RadioButtonWidget WidgetType = "radiobutton"
	SpinnerWidget     WidgetType = "spinner"
	ComboWidget       WidgetType = "combo"
	CustomWidget      WidgetType = "custom" // the one that definitions use is of commands that run before the program
)

// IsButton reports whether the widget is one that is selected or not.
func (t WidgetType) IsButton() bool { return t == CheckboxWidget || t == RadioButtonWidget }

// A Widget shows a text, or shows and sets the value of an attribute.
type Widget struct {
	Look
	Type        WidgetType
	ButtonID    Reference // the name by which rules mean this button
	Title       Optional
	ReadOnly    bool
	Attribute   Reference   // the attribute that it sets; none for one that only shows
	ItemsFrom   Reference   // the attribute whose list holds the items of a combo
	FixedText   Optional    // may hold references
	DynamicText []*Argument // made up anew after every change; empty if there is none
}

// A ButtonGroup is a set of buttons of which one at most is selected; the title
// of that one is the value of the attribute.
type ButtonGroup struct {
	Look
	Group     bool // whether it has a frame and a title
	Title     Optional
	Attribute Reference
	Buttons   []*Widget // check boxes or radio buttons
}

// A Browse is a text for a path and a button that chooses one.
type Browse struct {
	Look                      // of the text; style is its textStyle, the state its text-control-state
	ButtonSpan  int           // how many columns of a grid the button takes
	ButtonState *ControlState // when the button is there; nil for always
	Title       Optional      // of the button
	Directory   bool          // chooses a directory instead of a file
	URI         bool          // stores the URI of the file instead of its path
	LocalOnly   bool          // chooses on this machine instead of the target
	ReadOnly    bool
	Attribute   Reference
}

// A PushButton (action) runs a command of the definition.
type PushButton struct {
	Look
	Title      Optional
	Action     Reference // the name of a button-action, start-up or shut-down command
	ClearValue Reference // the attribute that loses its value first
	Refresh    bool      // whether the form is made anew afterwards
}

// A Viewer shows attributes in a table or tree, to choose and to edit; those
// chosen make up its own value.
type Viewer struct {
	Look
	Name              Reference // what its value is stored under
	Label             Optional
	InitialAllChecked bool
	Sort              bool
	Columns           []string // Name, Value, Type, Status, Default, Description or Tooltip
	AllPredefined     bool     // shows all visible attributes of the definition
	AllDiscovered     bool     // shows all visible attributes that parsers have found
	Include           []Reference
	Exclude           []Reference
	Value             *ViewerValue // nil for one whose value is empty
}

// A ViewerValue tells how the value of a viewer is made of its chosen rows.
type ViewerValue struct {
	Position
	Pattern   string // for one row, with @name and @value for its name and value
	Separator string // between two rows
}
