// Package launchtab holds the launch tab of a definition as Go types, and reads it from
// the elements: the form's tabs, their controls, and the rules by which these are shown.
package launchtab

import (
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A Form is the launch tab of a definition: a tab for each way of filling it in.
type Form struct {
	xmltree.Position
	Tabs   []*Tab
	Import *ImportTab // nil where users cannot submit a script of their own by the form
}

// Walk calls visit for each control of all tabs, the outer ones before those
// inside, in document order.
func (f *Form) Walk(visit func(Control)) {
	for _, tab := range f.Tabs {
		tab.Walk(visit)
	}
	if f.Import != nil && f.Import.Viewer != nil {
		visit(f.Import.Viewer)
	}
}

// A Tab (dynamic) is one tab of the form.
type Tab struct {
	Look
	Title       string
	IncludeFrom []Reference // titles of tabs whose values count, too; not trimmed
}

// Walk calls visit for each control inside, the outer ones before those inside
// them, in document order.
func (l *Look) Walk(visit func(Control)) {
	for _, control := range l.Controls {
		visit(control)
		control.Common().Walk(visit)
	}
}

// An ImportTab (import) is the tab by which a user submits a script that exists.
type ImportTab struct {
	xmltree.Position
	Title  string
	Viewer *Viewer // export-for-override, or nil
}

// A Reference is a name of something else in the definition and where it
// stands. An empty name refers to nothing.
type Reference struct {
	xmltree.Position
	Name string
}

// A Control is an element of a tab: one of *Composite, *TabFolder, *Widget,
// *ButtonGroup, *Browse, *PushButton and *Viewer, or a *TabItem in a folder.
type Control interface {
	// Common returns what all controls have.
	Common() *Look
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
	xmltree.Position
	Columns int              // of the grid of the controls inside; 0 for another layout
	Span    int              // how many columns of a grid around it the control takes; at least 1
	Tooltip xmltree.Optional // may hold references
	Style   string           // tokens as written; see StyleTokens
	State   *ControlState    // nil for a control that is always there

	// Controls are those inside, for pages those of a folder. The buttons of a group
	// are a part of it and not among them.
	Controls []Control
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

// A Composite holds controls; with Group it has a frame and a title.
type Composite struct {
	Look
	Group bool
	Title xmltree.Optional
}

// A TabFolder holds pages of type *TabItem. One is visible at a time.
type TabFolder struct{ Look }

// A TabItem is one page of a folder.
type TabItem struct {
	Look
	Title string
}

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
	Title       xmltree.Optional
	ReadOnly    bool
	Attribute   Reference           // the attribute that it sets; none for one that only shows
	ItemsFrom   Reference           // the attribute whose list holds the items of a combo
	FixedText   xmltree.Optional    // may hold references
	DynamicText []*xmltree.Argument // resolved again after each change; may be empty
}

// A ButtonGroup is a set of buttons; at most one is selected. The title
// of that one is the value of the attribute.
type ButtonGroup struct {
	Look
	Title     xmltree.Optional
	Attribute Reference
	Buttons   []*Widget // check boxes or radio buttons
}

// A Browse is a text for a path and a button that chooses one.
type Browse struct {
	Look                         // of the text; style is its textStyle, the state its text-control-state
	ButtonSpan  int              // how many columns of a grid the button takes
	ButtonState *ControlState    // when the button is there; nil for always
	Title       xmltree.Optional // of the button
	Directory   bool             // chooses a directory instead of a file
	URI         bool             // stores the URI of the file instead of its path
	LocalOnly   bool             // chooses on this machine instead of the target
	ReadOnly    bool
	Attribute   Reference
}

// A PushButton (action) runs a command of the definition.
type PushButton struct {
	Look
	Title      xmltree.Optional
	Action     Reference // the name of a button-action, start-up or shut-down command
	ClearValue Reference // the attribute that loses its value first
	Refresh    bool      // whether the form is built again afterwards
}

// A Viewer shows attributes in a table or tree, to choose and to edit; those
// chosen make up its own value.
type Viewer struct {
	Look
	Name              Reference // what its value is stored under
	Label             xmltree.Optional
	InitialAllChecked bool
	Columns           []string // Name, Value, Type, Status, Default, Description or Tooltip
	AllPredefined     bool     // shows all visible attributes of the definition
	OnlyOthers        bool     // of these only those that no other control sets (x:others); the others are among Exclude
	AllDiscovered     bool     // shows all visible attributes that parsers have found
	Include           []Reference
	Exclude           []Reference
	Value             *ViewerValue // nil for one whose value is empty
}

// A ViewerValue says how the value of a viewer is made of its chosen rows.
type ViewerValue struct {
	xmltree.Position
	Pattern   string // for one row, with @name and @value for its name and value
	Separator string // between two rows
}
