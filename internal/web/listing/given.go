package listing

import (
	"time"

	"github.com/rmctl/rmctl/model"
)

// TimeOf returns a time of an element in the format of the API.
func TimeOf(e *model.Element, attribute string) string {
	value, given := e.Value(attribute)
	if !given || value.Time().IsZero() {
		return ""
	}
	return value.Time().Format(time.RFC3339)
}

// GivenOf returns the value that an element was given, which no default stands for.
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
	value, given := GivenOf(e, attribute)
	if !given {
		return nil
	}
	return new(int(value.Integer()))
}

// GivenState returns the state that an element was seen in, empty if in none.
func GivenState(e *model.Element) string { return GivenText(e, e.Kind().StateAttribute()) }
