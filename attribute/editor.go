package attribute

import "strings"

// An Editor is the kind of control that an attribute is edited with where
// nothing else says so, as in tables.
type Editor string

// The editors.
const (
	SwitchEditor Editor = "switch" // on or off
	ChoiceEditor Editor = "choice" // one of the items
	ComboEditor  Editor = "combo"  // one of the items, or any text
	NumberEditor Editor = "number" // a whole number of 32 bits, within min and max
	TextEditor   Editor = "text"   // any text
	ListEditor   Editor = "list"   // elements, one by one
	MapEditor    Editor = "map"    // entries, one by one
)

// Editor returns the kind of control that edits the attribute: what holds a list
// or map is edited as that; else its fields decide in this order: a translation
// of booleans, items to choose from, the type.
func (a *Attribute) Editor() Editor {
	switch a.Value().(type) {
	case []string:
		return ListEditor
	case map[string]string:
		return MapEditor
	}
	kind := strings.ToLower(Text(a.Field(FieldType)))
	switch {
	case a.Field(FieldTranslateBooleanAs) != nil:
		return SwitchEditor
	case a.Field(FieldChoice) != nil || a.Field(FieldItemsFrom) != nil:
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

// Translation returns what a switch is stored as when it is on and when it is
// off. A translation that is no pair is ignored, and ok is false as without one.
func (a *Attribute) Translation() (on, off string, ok bool) {
	parts := strings.Split(a.Text(FieldTranslateBooleanAs), ",")
	if len(parts) != 2 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// An Item is one of the values to choose from.
type Item struct {
	Shown  string // what users see and choose
	Stored string // what the attribute gets
}

// Items returns the items of the attribute's choice. Blank ones are left out;
// blanks around others belong to them. An item that has no translation is
// stored as it is shown.
func (a *Attribute) Items() []Item {
	shown, stored := items(a.Text(FieldChoice)), items(a.Text(FieldTranslateChoiceAs))
	list := make([]Item, len(shown))
	for i, item := range shown {
		list[i] = Item{item, item}
		if i < len(stored) {
			list[i].Stored = stored[i]
		}
	}
	return list
}

// Shown returns what users see of a value of the attribute's choice.
func (a *Attribute) Shown(stored string) string {
	for _, item := range a.Items() {
		if item.Stored == stored {
			return item.Shown
		}
	}
	return stored
}

func items(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(item) != "" {
			list = append(list, item)
		}
	}
	return list
}
