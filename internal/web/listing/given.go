package listing

import (
	"time"

	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// TimeOf returns a time of an element in the format of the API, empty if it is unknown.
func TimeOf(e *model.Element, attribute string) string {
	value, isSet := e.Value(attribute)
	if !isSet || value.Time().IsZero() {
		return ""
	}
	return value.Time().Format(time.RFC3339)
}

// GivenOf returns the value of an attribute, unless it is a default.
func GivenOf(e *model.Element, attribute string) (model.Value, bool) {
	for definition, value := range e.Attributes() {
		if definition.ID == attribute {
			return value, true
		}
	}
	return model.Value{}, false
}

func GivenText(e *model.Element, attribute string) string {
	value, _ := GivenOf(e, attribute)
	return value.Text()
}

func GivenNumber(e *model.Element, attribute string) *int {
	value, isSet := GivenOf(e, attribute)
	if !isSet {
		return nil
	}
	return new(int(value.Integer()))
}

// Further returns the attributes of an element that rmctl has no names for.
func Further(e *model.Element) further.Text {
	var all further.Attributes
	for definition, value := range e.Attributes() {
		if vocabulary.IsKnown(definition.ID) {
			continue
		}
		for _, text := range value.Array() {
			all.Add(definition.ID, text, definition.Type == model.Array)
		}
	}
	return further.Text(all.Text())
}

// GivenState returns the state of an element, empty if it is unknown.
func GivenState(e *model.Element) string { return GivenText(e, e.Kind().StateAttribute()) }
