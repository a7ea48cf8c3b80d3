package attribute

import "strings"

// A Field names one of the parts of an attribute that definitions can read and
// set. Parsers resolve a field's name once, when they are compiled.
type Field uint8

// The fields of an attribute, spelled in definitions as [Field.String] gives them.
const (
	FieldName Field = iota
	FieldType
	FieldStatus
	FieldTranslateBooleanAs
	FieldMin
	FieldMax
	FieldDescription
	FieldTooltip
	FieldChoice
	FieldTranslateChoiceAs
	FieldItemsFrom
	FieldDefault
	FieldValue
	FieldLinkValueTo
	FieldVisible
	FieldReadOnly
	FieldValidator

	fieldCount
)

var fieldNames = [fieldCount]string{
	"name", "type", "status", "translateBooleanAs", "min", "max", "description", "tooltip",
	"choice", "translateChoiceAs", "itemsFrom", "default", "value", "linkValueTo",
	"visible", "readOnly", "validator",
}

// ParseField returns the field of that name. The case of the first letter does
// not matter, as in the reference, which upper-cases it before use.
func ParseField(name string) (Field, bool) {
	for field, known := range fieldNames {
		if len(name) == len(known) && strings.EqualFold(name[:1], known[:1]) && name[1:] == known[1:] {
			return Field(field), true
		}
	}
	return 0, false
}

// FieldNames returns the names of all fields, for messages.
func FieldNames() []string { return append([]string(nil), fieldNames[:]...) }

func (f Field) String() string {
	if f < fieldCount {
		return fieldNames[f]
	}
	return "unknown"
}

type fieldKind uint8

const (
	textKind fieldKind = iota
	integerKind
	booleanKind
	anyKind
	closedKind // cannot be set by a parser
)

func (f Field) kind() fieldKind {
	switch f {
	case FieldMin, FieldMax:
		return integerKind
	case FieldVisible, FieldReadOnly:
		return booleanKind
	case FieldValue:
		return anyKind
	case FieldValidator:
		return closedKind
	default:
		return textKind
	}
}
