package form

import (
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// An Editor is the kind of control that an attribute is edited with where
// nothing else says so, as in tables.
type Editor string

// The editors.
const (
	SwitchEditor Editor = "switch" // on or off
	ChoiceEditor Editor = "choice" // one of the items
	comboEditor  Editor = "combo"  // one of the items, or any text
	NumberEditor Editor = "number" // a whole number of 32 bits, within min and max
	TextEditor   Editor = "text"   // any text
	ListEditor   Editor = "list"   // elements, one by one
	MapEditor    Editor = "map"    // entries, one by one
)

// EditorOf returns the kind of control that edits an attribute: what holds a list
// or map is edited as that; else its fields decide in this order: a translation
// of booleans, items to choose from, the type.
func EditorOf(a *attribute.Attribute) Editor {
	switch a.Value().(type) {
	case []string:
		return ListEditor
	case map[string]string:
		return MapEditor
	}
	kind := strings.ToLower(attribute.Text(a.Field(attribute.FieldType)))
	switch {
	case a.Field(attribute.FieldTranslateBooleanAs) != nil:
		return SwitchEditor
	case a.Field(attribute.FieldChoice) != nil || a.Field(attribute.FieldItemsFrom) != nil:
		return ChoiceEditor
	case strings.Contains(kind, "int"):
		return NumberEditor
	case strings.Contains(kind, "bool"):
		return SwitchEditor
	case strings.Contains(kind, "list"):
		return ListEditor
	case strings.Contains(kind, "map"):
		return MapEditor
	}
	return TextEditor
}

// EditorOfWidget returns the editor of a widget; own is the attribute's, which counts for
// texts: an integer stays one where its widget takes any text.
func EditorOfWidget(widget *launchtab.Widget, own Editor) Editor {
	switch {
	case widget.Type.IsButton():
		return SwitchEditor
	case widget.Type == launchtab.SpinnerWidget:
		return NumberEditor
	case widget.Type == launchtab.ComboWidget && (!widget.ReadOnly || widget.ItemsFrom.Name != ""):
		// What a command found need not be all that there is.
		return comboEditor
	case widget.Type == launchtab.ComboWidget:
		return ChoiceEditor
	}
	return own
}

// translation returns what a switch is stored as when it is on and when it is
// off. A translation that is no pair is ignored, and ok is false as without one.
func translation(a *attribute.Attribute) (on, off string, ok bool) {
	parts := strings.Split(a.Text(attribute.FieldTranslateBooleanAs), ",")
	if len(parts) != 2 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// An item is one of the values to choose from.
type item struct {
	shown  string // what users see and choose
	stored string // what the attribute gets
}

// itemsOf returns the items of the attribute's choice. Blank ones are left out;
// blanks around others belong to them. An item that has no translation is
// stored as it is shown.
func itemsOf(a *attribute.Attribute) []item {
	shown, stored := listed(a.Text(attribute.FieldChoice)), listed(a.Text(attribute.FieldTranslateChoiceAs))
	list := make([]item, len(shown))
	for i, text := range shown {
		list[i] = item{text, text}
		if i < len(stored) {
			list[i].stored = stored[i]
		}
	}
	return list
}

// shownOf returns what users see of a value of the attribute's choice.
func shownOf(a *attribute.Attribute, stored string) string {
	for _, each := range itemsOf(a) {
		if each.stored == stored {
			return each.shown
		}
	}
	return stored
}

func listed(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(item) != "" {
			list = append(list, item)
		}
	}
	return list
}
