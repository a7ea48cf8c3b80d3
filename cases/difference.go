package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A Difference is one difference between expectation and result.
type Difference struct {
	Where    string `json:"where"`              // such as job.detail or attributes["job.reason"]
	Expected any    `json:"expected,omitempty"` // nil for nothing
	Actual   any    `json:"actual,omitempty"`
}

// differences compares two values as their JSON shows them. The same texts, as
// most have, need no closer look.
func differences(expected, actual any) ([]Difference, error) {
	expectedText, err := marshal(expected)
	if err != nil {
		return nil, err
	}
	actualText, err := marshal(actual)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(expectedText, actualText) {
		return nil, nil
	}
	left, err := plain(expectedText)
	if err != nil {
		return nil, err
	}
	right, err := plain(actualText)
	if err != nil {
		return nil, err
	}
	return compare(nil, "", left, right), nil
}

// plain reads JSON as maps, lists and scalars.
func plain(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	err := decoder.Decode(&decoded)
	return decoded, err
}

func compare(found []Difference, where string, expected, actual any) []Difference {
	left, leftIs := expected.(map[string]any)
	right, rightIs := actual.(map[string]any)
	if (leftIs || expected == nil) && (rightIs || actual == nil) && (leftIs || rightIs) {
		keys := slices.Collect(maps.Keys(left))
		for key := range right {
			if _, both := left[key]; !both {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			oneSided := compare(nil, member(where, key), left[key], right[key])
			if _, expectedKey := left[key]; len(oneSided) == 0 && hasKey(right, key) != expectedKey {
				oneSided = []Difference{{Where: member(where, key) + " (as null)", Expected: presence(expectedKey), Actual: presence(!expectedKey)}}
			}
			found = append(found, oneSided...)
		}
		return found
	}
	if reflect.DeepEqual(expected, actual) {
		return found
	}
	return append(found, Difference{Where: where, Expected: expected, Actual: actual})
}

func hasKey(object map[string]any, key string) bool {
	_, has := object[key]
	return has
}

func presence(present bool) any {
	if present {
		return "there"
	}
	return nil
}

func member(where, key string) string {
	switch {
	case where == "":
		return key
	case where == "attributes" || where == "discovered":
		return fmt.Sprintf("%s[%q]", where, key)
	}
	return where + "." + key
}

// String returns the difference on one line.
func (d Difference) String() string {
	expected, actual := d.Texts()
	return fmt.Sprintf("%s: expected %s, got %s", d.Where, expected, actual)
}

// Texts returns the expected and the actual value, each as JSON on one line, or "nothing".
func (d Difference) Texts() (expected, actual string) { return shown(d.Expected), shown(d.Actual) }

func shown(value any) string {
	if value == nil {
		return "nothing"
	}
	text, err := marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
