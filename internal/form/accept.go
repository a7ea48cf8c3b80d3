package form

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
)

// Accept returns the value that an editor makes of a text. The empty text is no
// value, with every editor. An *attribute.InvalidError says what the editor does not
// take; [attribute.Attribute.Check] runs the validator.
//
// Of an editor of lists the value is one element, as a text, and of an editor of
// maps one entry, as a map; it is written key=value.
func Accept(a *attribute.Attribute, text string, editor Editor) (attribute.Value, error) {
	if text == "" {
		return nil, nil
	}
	switch editor {
	case SwitchEditor:
		return acceptSwitch(a, text)
	case ChoiceEditor, comboEditor:
		return acceptItem(a, text, editor == comboEditor)
	case NumberEditor:
		return acceptInteger(a, text)
	case MapEditor:
		key, entry, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, refused(a, text, "enter key=value")
		}
		return map[string]string{key: entry}, nil
	}
	return text, nil
}

func refused(a *attribute.Attribute, text, reason string) error {
	return &attribute.InvalidError{Attribute: a.Name(), Value: text, Reason: reason}
}

// acceptSwitch prefers the stored values of a switch to the usual words,
// since a translation may be "0,1".
func acceptSwitch(a *attribute.Attribute, text string) (attribute.Value, error) {
	on, off, translated := translation(a)
	if translated && (text == on || text == off) {
		return text, nil
	}
	isOn := false
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		isOn = true
	case "false", "no", "off", "0":
	default:
		return nil, refused(a, text, "enter true or false")
	}
	return switched(a, isOn), nil
}

// acceptItem takes an item as it is shown, with or without the blanks around it,
// or as it is stored.
func acceptItem(a *attribute.Attribute, text string, anyText bool) (attribute.Value, error) {
	items := itemsOf(a)
	names := make([]string, len(items))
	for i, item := range items {
		if strings.TrimSpace(item.shown) == strings.TrimSpace(text) {
			return item.stored, nil
		}
		names[i] = strings.TrimSpace(item.shown)
	}
	for _, item := range items {
		if item.stored == text {
			return text, nil
		}
	}
	// Items of another attribute are what a command found, which need not be all.
	if anyText || a.Field(attribute.FieldItemsFrom) != nil || len(items) == 0 {
		return text, nil
	}
	return nil, refused(a, text, "choose one of "+strings.Join(names, ", "))
}

func acceptInteger(a *attribute.Attribute, text string) (attribute.Value, error) {
	number, ok := attribute.Literal(strings.TrimSpace(text)).(int)
	if !ok {
		return nil, refused(a, text, "enter a whole number")
	}
	if least, ok := a.Field(attribute.FieldMin).(int); ok && number < least {
		return nil, refused(a, text, fmt.Sprintf("the minimum is %d", least))
	}
	if most, ok := a.Field(attribute.FieldMax).(int); ok && number > most {
		return nil, refused(a, text, fmt.Sprintf("the maximum is %d", most))
	}
	return number, nil
}
