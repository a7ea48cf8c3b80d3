package reader

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rmctl/rmctl/internal/xpath"
)

// itemName is the name of the elements of an array.
const itemName = "item"

// A jsonWalk passes the tokens of JSON documents on as elements. Numbers keep their text, null is no
// value, and the elements of an array are children of its member.
type jsonWalk struct {
	decoder *jsontext.Decoder
	records *recordBuilder
	open    []jsonValue // objects and arrays
}

// A jsonValue is an object or an array.
type jsonValue struct {
	isObject bool
	member   string // whose value comes next; empty if a name comes next
	isNamed  bool
}

// decodeJSON reads JSON documents.
func decodeJSON(input *feed, records *recordBuilder) error {
	walk := &jsonWalk{decoder: jsontext.NewDecoder(limitedFeed{input, records}, jsontext.AllowInvalidUTF8(true)), records: records}
	for {
		token, err := walk.decoder.ReadToken()
		if err == io.EOF { // an early end wraps io.EOF
			return io.EOF
		}
		if err == nil {
			err = walk.walk(token)
		}
		if err != nil {
			return walk.damage(err)
		}
	}
}

// walk passes a token on.
func (w *jsonWalk) walk(token jsontext.Token) error {
	end := w.decoder.InputOffset()
	inObject := len(w.open) > 0 && w.open[len(w.open)-1].isObject
	switch kind := token.Kind(); {
	case kind == '}' || kind == ']':
		w.open = w.open[:len(w.open)-1]
		if len(w.open) == 0 {
			return nil // the document itself is not an element
		}
		return w.records.close(end)
	case inObject && !w.open[len(w.open)-1].isNamed:
		last := &w.open[len(w.open)-1]
		last.member, last.isNamed = xpath.FieldName(token.String()), true
		return nil
	case kind == '{' || kind == '[':
		isDocument := len(w.open) == 0
		name := w.name()
		w.open = append(w.open, jsonValue{isObject: kind == '{'})
		if isDocument {
			return nil
		}
		return w.records.open(name, nil, end-1)
	default:
		return w.value(token, end)
	}
}

// value passes on a scalar.
func (w *jsonWalk) value(token jsontext.Token, end int64) error {
	isDocument := len(w.open) == 0
	name := w.name()
	if token.Kind() == 'n' || isDocument {
		return nil
	}
	if err := w.records.open(name, nil, end); err != nil {
		return err
	}
	w.records.text(token.String())
	return w.records.close(end)
}

// name returns the name of the next value.
func (w *jsonWalk) name() string {
	if len(w.open) == 0 || !w.open[len(w.open)-1].isObject {
		return itemName
	}
	last := &w.open[len(w.open)-1]
	last.isNamed = false
	return last.member
}

// damage returns an error of a document as its damage.
func (w *jsonWalk) damage(err error) error {
	var syntax *jsontext.SyntacticError
	offset := w.decoder.InputOffset()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return w.records.damage(offset, "the document ends early")
	case errors.As(err, &syntax):
		return w.records.damage(offset, "invalid JSON: "+syntax.Err.Error())
	}
	return err
}
