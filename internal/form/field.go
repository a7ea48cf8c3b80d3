package form

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// A Kind is what a field is.
type Kind string

// The kinds of fields. The first three only show something.
const (
	Heading  Kind = "heading"
	Note     Kind = "note"
	Computed Kind = "computed" // a text that follows the values of others
	Text     Kind = "text"
	Lines    Kind = "lines" // a text of several lines
	Switch   Kind = "switch"
	Number   Kind = "number"
	Choice   Kind = "choice"
	Path     Kind = "path"
	Button   Kind = "button" // runs a command of the definition
	Row      Kind = "row"    // of a viewer: an attribute to check and to edit
)

// A Field is one line of a page as users see it. Texts are those of the
// definition and of its commands, and may hold anything. The JSON is that of the API.
type Field struct {
	Kind     Kind     `json:"kind"`
	Label    string   `json:"label,omitempty"`
	Hint     string   `json:"hint,omitempty"`    // a few words beside the field
	Tooltip  string   `json:"tooltip,omitempty"` // more help; one line
	Text     string   `json:"text"`              // what it shows; of a refused text, that
	Default  string   `json:"default,omitempty"` // what the job gets while the field is empty: its default, if that is made of other values and these are known
	Items    []string `json:"items,omitempty"`
	Open     bool     `json:"open,omitempty"` // whether a choice takes other texts than its items
	On       bool     `json:"on,omitempty"`   // of a switch; of a row, whether it is checked
	Editor   Editor   `json:"-"`
	Least    int      `json:"-"` // of a number
	Most     int      `json:"-"`
	Enabled  bool     `json:"enabled"`
	Fixed    bool     `json:"fixed,omitempty"`   // whether the value cannot be changed
	PickOnly bool     `json:"-"`                 // whether a path is chosen and not typed
	Problem  string   `json:"problem,omitempty"` // why the text was refused; empty if it was not
	Name     string   `json:"name,omitempty"`    // of the attribute; empty for none
	ID       string   `json:"id,omitempty"`      // identifies the field in all forms of the definition, whatever they hold; empty for headings and notes
	Depth    int      `json:"depth"`             // how many headings are above the field
	Row      int      `json:"-"`                 // the same number for fields and groups that the definition puts beside each other; 0 for what stands alone
	Span     int      `json:"-"`                 // how many columns of such a row it takes with its label and its hint, at least 1

	control launchtab.Control
}

// IsInput reports whether a user can do something with the field now.
func (f Field) IsInput() bool {
	switch f.Kind {
	case Heading, Note, Computed:
		return false
	}
	return f.Enabled && (!f.Fixed || f.Kind == Row)
}

// Same reports whether two fields, made at different times, are the same one.
func (f Field) Same(other Field) bool {
	return f.ID == other.ID && f.Kind == other.Kind && (f.ID != "" || f.Label == other.Label)
}

// as returns the control of a field; the zero value if it is of another kind.
func as[T launchtab.Control](f Field) T {
	control, _ := f.control.(T)
	return control
}

// Browse returns what a path field chooses from; nil for other fields.
func (f Field) Browse() *launchtab.Browse { return as[*launchtab.Browse](f) }

// Group returns the buttons that a choice chooses from; nil for other fields.
func (f Field) Group() *launchtab.ButtonGroup { return as[*launchtab.ButtonGroup](f) }

// Action returns the button of a field that is one; nil for other fields.
func (f Field) Action() *launchtab.PushButton { return as[*launchtab.PushButton](f) }

// Viewer returns the table that a row is of; nil for other fields.
func (f Field) Viewer() *launchtab.Viewer { return as[*launchtab.Viewer](f) }

// Field returns the field of an ID, be it shown or not, without what stands
// beside it and as if it were enabled; ok is false for an ID that no field has
// which takes something.
func (f *Form) Field(id string) (field Field, ok bool) {
	number, row, _ := strings.Cut(id, ".")
	state := condition{Shown: true, Enabled: true}
	for control := range f.numbers {
		if f.id(control) != number {
			continue
		}
		switch c := control.(type) {
		case *launchtab.Viewer:
			if slices.Contains(f.rows(c), row) {
				return f.row(c, row, state), true
			}
		case *launchtab.Widget:
			if _, isLabel := f.label(c); !isLabel && len(c.DynamicText) == 0 {
				return f.field(c, state), id == number
			}
		case *launchtab.ButtonGroup, *launchtab.Browse, *launchtab.PushButton:
			return f.field(c, state), id == number
		}
	}
	return Field{}, false
}

func (f *Form) id(control launchtab.Control) string { return strconv.Itoa(f.numbers[control]) }

// newField returns a field of an ID that shows the value of an attribute, which may be nil.
func (f *Form) newField(control launchtab.Control, id string, a *attribute.Attribute, state condition) Field {
	field := Field{control: control, ID: id, Enabled: state.Enabled, Editor: TextEditor, Text: f.texts[control]}
	if a == nil {
		return field
	}
	field.Name, field.Fixed, field.Editor, field.Text = a.Name(), a.ReadOnly(), EditorOf(a), attribute.Text(a.Value())
	if elements, isList := a.Value().([]string); isList && field.Editor == ListEditor {
		field.Text = strings.Join(elements, ", ")
	}
	return field
}

// finish shows the default of an empty field, and a text that was refused.
func (f *Form) finish(field Field, a *attribute.Attribute) Field {
	f.showDefault(&field, a)
	if refused, ok := f.refused[field.ID]; ok {
		field.Text, field.Problem = refused.text, refused.reason
	}
	return field
}

// field returns the field for a control that is neither a label nor holds others.
func (f *Form) field(control launchtab.Control, state condition) Field {
	a := f.bound(control)
	field := f.newField(control, f.id(control), a, state)
	field.Tooltip, field.Least, field.Most = f.tooltip(control.Common().Tooltip.Text), math.MinInt32, math.MaxInt32
	switch c := control.(type) {
	case *launchtab.Widget:
		f.widget(&field, c, a)
	case *launchtab.ButtonGroup:
		field.Kind, field.Label = Choice, c.Title.Text
		field.Items = []string{""}
		for _, button := range c.Buttons {
			if f.within(state, button.State).effective() {
				field.Items = append(field.Items, button.Title.Text)
			}
		}
	case *launchtab.Browse:
		field.Kind, field.PickOnly = Path, c.ReadOnly
	case *launchtab.PushButton:
		field.Kind, field.Label = Button, c.Title.Text
	}
	return f.finish(field, a)
}

func (f *Form) widget(field *Field, w *launchtab.Widget, a *attribute.Attribute) {
	field.Label, field.Editor = f.expand(w.Title.Text), EditorOfWidget(w, field.Editor)
	switch w.Type {
	case launchtab.CheckboxWidget, launchtab.RadioButtonWidget:
		field.Kind, field.On = Switch, f.isSelected(w)
		field.Text = attribute.Text(field.On)
	case launchtab.SpinnerWidget:
		field.Kind = Number
		field.Least, field.Most = bounds(a)
	case launchtab.ComboWidget:
		field.Kind = Choice
		f.choices(field, a, f.items(w.ItemsFrom.Name, a), w.ReadOnly)
	default:
		field.Kind = Text
		if isMultiline(w) {
			field.Kind = Lines
		}
		field.Fixed = field.Fixed || w.ReadOnly || field.Editor == MapEditor
	}
}

// bounds returns those of a spinner, which counts from 0 unless something else
// is said.
func bounds(a *attribute.Attribute) (least, most int) {
	most = math.MaxInt32
	if a == nil {
		return 0, most
	}
	if bound, ok := a.Field(attribute.FieldMin).(int); ok {
		least = bound
	}
	if bound, ok := a.Field(attribute.FieldMax).(int); ok {
		most = bound
	}
	return least, most
}

func isMultiline(w *launchtab.Widget) bool {
	if w.Type == launchtab.CustomWidget {
		return true
	}
	tokens := launchtab.StyleTokens(w.Style)
	return slices.ContainsFunc([]string{"MULTI", "WRAP", "V_SCROLL"}, func(token string) bool { return slices.Contains(tokens, token) })
}

// items returns the items to choose from: those of the list that from names,
// else that the attribute names, else of the attribute's choice. A choice
// begins with an empty item.
func (f *Form) items(from string, a *attribute.Attribute) []item {
	if a == nil {
		a = attribute.New("")
	}
	if from == "" {
		from = a.Text(attribute.FieldItemsFrom)
	}
	if from == "" {
		if a.Field(attribute.FieldChoice) == nil {
			return nil
		}
		return append([]item{{}}, itemsOf(a)...)
	}
	list := f.environment.Lookup(from)
	if list == nil {
		return nil
	}
	values, _ := list.Value().([]string)
	items := make([]item, len(values))
	for i, value := range values {
		items[i] = item{shown: shownOf(a, value), stored: value}
	}
	return items
}

// choices fills a field with items. One that has none, as long as nothing has
// found any, takes any text, and so does one that is not read-only.
func (f *Form) choices(field *Field, a *attribute.Attribute, items []item, readOnly bool) {
	field.Open = len(items) == 0 || !readOnly
	for _, each := range items {
		field.Items = append(field.Items, each.shown)
	}
	if a != nil {
		field.Text = shownOf(a, attribute.Text(a.Value()))
	}
}

// row returns the field for a row of a viewer.
func (f *Form) row(viewer *launchtab.Viewer, name string, state condition) Field {
	a := f.environment.Lookup(name)
	field := f.newField(viewer, f.rowID(viewer, name), a, state)
	field.Kind, field.Name, field.Label, field.On = Row, name, name, f.isChecked(viewer, name)
	field.Hint = oneLine(a.Text(attribute.FieldDescription))
	field.Tooltip = strings.TrimSpace(f.tooltip(a.Text(attribute.FieldTooltip)) + " " + f.columns(viewer, a))
	switch field.Editor {
	case SwitchEditor:
		field.Text = attribute.Text(isOn(a, a.Value()))
	case ChoiceEditor:
		f.choices(&field, a, f.items("", a), true)
	case MapEditor:
		field.Fixed = true
	}
	return f.finish(field, a)
}

// columns returns what the columns of a viewer say about an attribute beside its
// name, value, description and tooltip, which a row has anyway.
func (f *Form) columns(viewer *launchtab.Viewer, a *attribute.Attribute) string {
	var parts []string
	for _, column := range viewer.Columns {
		var text string
		switch column {
		case "Type":
			text = a.Text(attribute.FieldType)
		case "Status":
			text = a.Text(attribute.FieldStatus)
		case "Default":
			text = a.Text(attribute.FieldDefault)
		}
		if text != "" {
			parts = append(parts, column+": "+oneLine(text))
		}
	}
	return strings.Join(parts, "; ")
}

// expand resolves the references of a text; one that cannot be resolved stays
// as it is, as in the reference.
func (f *Form) expand(text string) string {
	resolved, err := f.environment.Resolve(text, "")
	if err != nil {
		return text
	}
	return resolved
}

func (f *Form) tooltip(text string) string { return oneLine(f.expand(text)) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// label returns the text of a control that only shows one; ok is false for
// controls that do more.
func (f *Form) label(control launchtab.Control) (text string, ok bool) {
	w, isWidget := control.(*launchtab.Widget)
	if !isWidget || len(w.DynamicText) > 0 {
		return "", false
	}
	if w.Type != launchtab.LabelWidget && !(w.Type == launchtab.TextWidget && w.FixedText.Set) {
		return "", false
	}
	return oneLine(f.expand(w.FixedText.Text)), true
}

// computed returns the text of a widget that follows others.
func (f *Form) computed(w *launchtab.Widget) string {
	text, err := config.Scope{Environment: f.environment}.Line(w.DynamicText)
	if err != nil {
		return err.Error()
	}
	return text
}
