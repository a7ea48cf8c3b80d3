package attribute

import "fmt"

// Add appends texts to the list in a field. What is not a list, or unset, is
// replaced by one. Only the value can hold a list.
func (a *Attribute) Add(field Field, texts ...string) error {
	if field.kind() != anyKind {
		return fmt.Errorf("adding to %s of attribute %q: only the value can hold a list", field, a.Name())
	}
	list, isList := a.fields[field].([]string)
	size := sizeOf(texts)
	if isList {
		size += a.collected
	}
	if err := checkSize(a, field, size); err != nil {
		return err
	}
	if !isList {
		list = make([]string, 0, len(texts))
		a.unsetKeys = nil
	}
	a.fields[field], a.collected = append(list, texts...), size
	return nil
}

// Put stores an entry in the map in a field. What is not a map, or unset, is
// replaced by one. Only the value can hold a map. An entry that is not set has a key but
// no value: the map holds an empty text under the key, texts and JSON show it as null.
func (a *Attribute) Put(field Field, key, text string, set bool) error {
	if !set {
		text = ""
	}
	entries, err := a.entries(field, key, text)
	if err != nil {
		return err
	}
	entries[key] = text
	delete(a.unsetKeys, key)
	if !set {
		if a.unsetKeys == nil {
			a.unsetKeys = map[string]bool{}
		}
		a.unsetKeys[key] = true
	}
	return nil
}

// entries returns the map in a field, with room for an entry.
func (a *Attribute) entries(field Field, key, text string) (map[string]string, error) {
	if field.kind() != anyKind {
		return nil, fmt.Errorf("putting %q in %s of attribute %q: only the value can hold a map", key, field, a.Name())
	}
	entries, isMap := a.fields[field].(map[string]string)
	size := len(text)
	if isMap {
		size += a.collected
	}
	if present, has := entries[key]; has {
		size -= len(present)
	} else {
		size += itemSize + len(key)
	}
	if err := checkSize(a, field, size); err != nil {
		return nil, err
	}
	if !isMap {
		entries = map[string]string{}
		a.fields[field] = entries
		a.unsetKeys = nil
	}
	a.collected = size
	return entries, nil
}

// EntryUnset reports whether the key of the value's map has no value.
func (a *Attribute) EntryUnset(key string) bool { return a.unsetKeys[key] }

// LargestValue is the largest size that a field of an attribute may grow to,
// in bytes. Definitions can double a value with each line of output.
const LargestValue = 64 << 20

// itemSize is the size in bytes of an element of a list or an entry of a map, without its
// texts.
const itemSize = 16

// Size returns the size of a field in bytes: the length of a text, and of a list
// or map all texts with [itemSize] for each item. Its text form is no longer.
func (a *Attribute) Size(field Field) int {
	switch value := a.Field(field).(type) {
	case string:
		return len(value)
	case []string, map[string]string:
		return a.collected
	}
	return 0
}

// checkSize returns an error if a field would grow beyond [LargestValue].
func checkSize(a *Attribute, field Field, size int) error {
	if size > LargestValue {
		return fmt.Errorf("storing %s of attribute %q: larger than the limit of %d MiB", field, a.Name(), LargestValue>>20)
	}
	return nil
}

func sizeOf(value Value) int {
	size := 0
	switch v := value.(type) {
	case string:
		return len(v)
	case []string:
		for _, text := range v {
			size += itemSize + len(text)
		}
	case map[string]string:
		for key, text := range v {
			size += itemSize + len(key) + len(text)
		}
	}
	return size
}
