package attribute

import (
	"fmt"
	"strings"
)

// Accept returns the value that an editor makes of a text. The empty text is no
// value, with every editor. An *InvalidError tells what the editor does not
// take; the validator is asked by [Attribute.Check].
//
// Of an editor of lists the value is one element, as a text, and of an editor of
// maps one entry, as a map; it is written key=value.
func (a *Attribute) Accept(text string, editor Editor) (Value, error) {
	if text == "" {
		return nil, nil
	}
	switch editor {
	case SwitchEditor:
		return a.acceptSwitch(text)
	case ChoiceEditor, ComboEditor:
		return a.acceptItem(text, editor == ComboEditor)
	case NumberEditor:
		return a.acceptInteger(text)
	case MapEditor:
		key, entry, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, a.refuse(text, "it is a map: give an entry as key=value")
		}
		return map[string]string{key: entry}, nil
	}
	return text, nil
}

func (a *Attribute) refuse(text, reason string) error {
	return &InvalidError{Attribute: a.Name(), Value: text, Reason: reason}
}

// acceptSwitch takes what a switch is stored as before what is usual for one,
// since a translation may be "0,1".
func (a *Attribute) acceptSwitch(text string) (Value, error) {
	on, off, translated := a.Translation()
	if translated && (text == on || text == off) {
		return text, nil
	}
	isOn := false
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		isOn = true
	case "false", "no", "off", "0":
	default:
		return nil, a.refuse(text, "it is a switch: give true or false")
	}
	switch {
	case !translated:
		return isOn, nil
	case isOn:
		return on, nil
	}
	return off, nil
}

// acceptItem takes an item as it is shown, with or without the blanks around it,
// or as it is stored.
func (a *Attribute) acceptItem(text string, anyText bool) (Value, error) {
	items := a.Items()
	names := make([]string, len(items))
	for i, item := range items {
		if strings.TrimSpace(item.Shown) == strings.TrimSpace(text) {
			return item.Stored, nil
		}
		names[i] = strings.TrimSpace(item.Shown)
	}
	for _, item := range items {
		if item.Stored == text {
			return text, nil
		}
	}
	// Items of another attribute are what a command found, which need not be all.
	if anyText || a.Field(FieldItemsFrom) != nil || len(items) == 0 {
		return text, nil
	}
	return nil, a.refuse(text, "it is none of "+strings.Join(names, ", "))
}

func (a *Attribute) acceptInteger(text string) (Value, error) {
	number, ok := parseInteger(strings.TrimSpace(text))
	if !ok {
		return nil, a.refuse(text, "it is not an integer, or has more than 32 bits")
	}
	if least, ok := a.Field(FieldMin).(int); ok && number < least {
		return nil, a.refuse(text, fmt.Sprintf("the smallest value is %d", least))
	}
	if most, ok := a.Field(FieldMax).(int); ok && number > most {
		return nil, a.refuse(text, fmt.Sprintf("the largest value is %d", most))
	}
	return number, nil
}
