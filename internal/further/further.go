// Package further keeps attributes of elements that rmctl does not know, such as an agent's, as
// one JSON object of texts and lists of texts. It bounds them and makes them printable.
package further

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/rmctl/rmctl/internal/plaintext"
)

const (
	mostAttributes = 100
	mostItems      = 100 // of a list
	longestID      = 100 // characters
	longestValue   = 500 // characters
	longestText    = 4000
)

// An Attribute is one further attribute of a job.
type Attribute struct {
	ID     string
	Values []string
	IsList bool
}

// Attributes are gathered in their order. The zero value has none.
type Attributes struct {
	all  []Attribute
	size int
}

// Add adds an attribute, or an item of one that is a list. An empty text is left out. The first
// text of an id counts.
func (a *Attributes) Add(id, text string, isItem bool) {
	if text = plaintext.Clean(text, longestValue); text == "" {
		return
	}
	at := slices.IndexFunc(a.all, func(known Attribute) bool { return known.ID == id })
	switch {
	case at < 0 && id != "" && id == plaintext.Clean(id, longestID) && len(a.all) < mostAttributes:
		if a.reserve(id, text) {
			a.all = append(a.all, Attribute{id, []string{text}, isItem})
		}
	case at >= 0 && isItem && a.all[at].IsList && len(a.all[at].Values) < mostItems && a.reserve(text):
		a.all[at].Values = append(a.all[at].Values, text)
	}
}

// punctuation is the number of bytes that JSON adds to two texts besides their quotes.
const punctuation = 4

// reserve reports whether there is room for more texts.
func (a *Attributes) reserve(texts ...string) bool {
	size := a.size + punctuation
	for _, text := range texts {
		size += len(encoded(text))
	}
	if size > longestText {
		return false
	}
	a.size = size
	return true
}

// encoded returns a text or a list of texts in JSON.
func encoded(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts can be encoded
	return bytes.TrimSpace(text.Bytes())
}

// Text returns the attributes as one text; empty without any.
func (a *Attributes) Text() string {
	var text []byte
	for i, each := range a.all {
		text = append(append(append(text, "{,"[min(i, 1)]), encoded(each.ID)...), ':')
		if each.IsList {
			text = append(text, encoded(each.Values)...)
		} else {
			text = append(text, encoded(each.Values[0])...)
		}
	}
	if text != nil {
		text = append(text, '}')
	}
	return string(text)
}

// Read reads a text. It returns nothing for any other one.
func Read(text string) []Attribute {
	if text == "" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	var read Attributes
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		name, err := decoder.Token()
		id, isText := name.(string)
		var value any
		if err != nil || !isText || decoder.Decode(&value) != nil {
			return nil
		}
		switch value := value.(type) {
		case string:
			read.Add(id, value, false)
		case []any:
			for _, item := range value {
				if text, isText := item.(string); isText {
					read.Add(id, text, true)
				}
			}
		}
	}
	if _, err := decoder.Token(); err != nil || decoder.More() {
		return nil
	}
	return read.all
}

// A Text is attributes as one text. In JSON it is an object.
type Text string

// Object returns a text of attributes, without what is too much; it is empty for any other one.
func Object(text string) Text {
	read := Attributes{all: Read(text)}
	return Text(read.Text())
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(t), nil }
