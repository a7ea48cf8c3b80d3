package attribute

import "fmt"

// LargestValue is the largest size that a field of an attribute may grow to,
// in bytes. Definitions can double a value with each line of output.
const LargestValue = 64 << 20

// itemSize is what an element of a list, or an entry of a map, counts besides
// its texts, in bytes.
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
