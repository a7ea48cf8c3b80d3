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
