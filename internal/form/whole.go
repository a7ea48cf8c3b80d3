package form

import (
	"github.com/rmctl/rmctl/internal/launchtab"
)

var widgetTypes = map[Editor]launchtab.WidgetType{
	SwitchEditor: launchtab.CheckboxWidget,
	ChoiceEditor: launchtab.ComboWidget,
	NumberEditor: launchtab.SpinnerWidget,
}

// Whole returns a page with every attribute that users may set, each in the
// control that fits it best. It is for definitions without launch tab, and the
// same each time.
func (f *Form) Whole() *Page {
	if f.whole != nil {
		return f.whole
	}
	f.whole = &Page{Title: f.definition.Name, Whole: true}
	for _, defined := range f.definition.Attributes {
		if !defined.Visible() || defined.ReadOnly() {
			continue
		}
		kind, known := widgetTypes[EditorOf(defined.Attribute)]
		if !known {
			kind = launchtab.TextWidget
		}
		widget := &launchtab.Widget{
			Look: launchtab.Look{Position: defined.Position}, Type: kind, ReadOnly: kind == launchtab.ComboWidget,
			Attribute: launchtab.Reference{Position: defined.Position, Name: defined.Name()},
		}
		f.numbers[widget] = len(f.numbers)
		f.whole.Controls = append(f.whole.Controls, widget)
	}
	return f.whole
}
