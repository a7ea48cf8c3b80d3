package sdm

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// A value is a variable, with its requested children.
type value struct {
	debug.Variable
	number   string // of a constant of an enumeration
	children []value
}

// An encoded is a value as AIF has it: a description of the type, and bytes, those of numbers with the highest first.
type encoded struct {
	format string
	data   []byte
}

// longestText bounds a text in a value, in bytes.
const longestText = 1<<16 - 1

// encode returns a value as AIF has it. What has no number is a text as the debugger prints it.
func (v value) encode() encoded {
	kind := typeOf(v.Type)
	switch {
	case isQuoted(v.Value) && kind.pointers == 0:
		return textOf(v.Value)
	case kind.isArray && len(v.children) == 0:
		return textOf(v.Value)
	case kind.isArray:
		return v.encodeArray()
	case kind.pointers > 0:
		return v.encodePointer(kind)
	case kind.isFunction:
		return encoded{"&/is4", []byte(v.Name)}
	case len(v.children) > 0 || v.Reference != 0:
		return v.encodeFields(kind)
	case v.number != "":
		return v.encodeConstant(kind)
	}
	return encodeScalar(kind, v.Value)
}

// encodeArray encodes elements. Where they differ in their types, because a debugger cannot read all of them, they are
// texts.
func (v value) encodeArray() encoded {
	elements := make([]encoded, len(v.children))
	isSame := true
	for i, child := range v.children {
		elements[i] = child.encode()
		isSame = isSame && elements[i].format == elements[0].format
	}
	if !isSame {
		for i, child := range v.children {
			elements[i] = textOf(child.Value)
		}
	}
	first, _ := strconv.ParseUint(strings.Trim(v.children[0].Name, "[]()"), 10, 31) // 0 for other names
	bounds := "[r" + strconv.FormatUint(first, 10) + ".." + strconv.Itoa(int(first)+len(elements)-1) + "is4]"
	whole := encoded{format: bounds + elements[0].format}
	for _, element := range elements {
		whole.data = append(whole.data, element.data...)
	}
	return whole
}

// encodeFields encodes a structure, or a union with the bytes of all its fields.
func (v value) encodeFields(kind typeKind) encoded {
	open, end := "{", ";;;}"
	if kind.isUnion {
		open, end = "(", ")"
	}
	fields := make([]string, len(v.children))
	var data []byte
	for i, child := range v.children {
		field := child.encode()
		fields[i] = safeName(child.Name) + "=" + field.format
		data = append(data, field.data...)
	}
	return encoded{open + safeName(kind.name) + "|" + strings.Join(fields, ",") + end, data}
}

// encodePointer encodes a pointer, with its target if requested.
func (v value) encodePointer(kind typeKind) encoded {
	text, rest, _ := strings.Cut(strings.TrimPrefix(v.Value, "("+v.Type+") "), " ")
	address, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil {
		return textOf(v.Value)
	}
	bytes := binary.BigEndian.AppendUint64(nil, address)
	if kind.isText && kind.pointers == 1 {
		if !isQuoted(rest) {
			rest = ""
		}
		return encoded{"pa8", append(bytes, textOf(rest).data...)}
	}
	target := encoded{format: "v0"}
	switch {
	case len(v.children) == 1 && strings.HasPrefix(v.children[0].Name, "*"):
		target = v.children[0].encode()
	case len(v.children) > 0:
		target = v.encodeFields(typeOf(strings.TrimRight(v.Type, "* ")))
	}
	if address == 0 {
		return encoded{"^a8" + target.format, []byte{0}}
	}
	return encoded{"^a8" + target.format, append(append([]byte{1}, bytes...), target.data...)}
}

// encodeConstant encodes a constant of an enumeration, which is the only one that is known of it.
func (v value) encodeConstant(kind typeKind) encoded {
	number := encodeScalar(typeKind{name: "int", size: 4, isInteger: true, isSigned: true}, v.number)
	if !strings.HasPrefix(number.format, "is4") {
		return textOf(v.Value)
	}
	return encoded{"<" + safeName(kind.name) + "|" + safeName(v.Value) + "=" + v.number + ">" + number.format, number.data}
}

// encodeScalar encodes a number, a character, a truth value or void. If the name of the type is unknown, the
// value decides.
func encodeScalar(kind typeKind, text string) encoded {
	switch {
	case kind.name == "void":
		return encoded{format: "v0"}
	case kind.isBool:
		return encodeBool(text)
	case kind.isChar:
		number, _, _ := strings.Cut(text, " ")
		if code, err := strconv.ParseInt(number, 10, 16); err == nil {
			return encoded{"c", []byte{byte(code)}}
		}
		return textOf(text)
	case kind.isFloat:
		return encodeFloat(kind.size, text)
	case !kind.isInteger:
		return encodeUnknown(text)
	}
	return encodeInteger(kind, text)
}

func encodeBool(text string) encoded {
	switch strings.Trim(strings.ToLower(text), ".") {
	case "true", "1":
		return encoded{"b1", []byte{1}}
	case "false", "0":
		return encoded{"b1", []byte{0}}
	}
	return textOf(text)
}

func encodeInteger(kind typeKind, text string) encoded {
	bits := kind.size * 8
	sign := "u"
	var number uint64
	var err error
	if kind.isSigned {
		var signed int64
		sign = "s"
		signed, err = strconv.ParseInt(text, 10, bits)
		number = uint64(signed)
	} else {
		number, err = strconv.ParseUint(text, 10, bits)
	}
	if err != nil {
		return textOf(text)
	}
	all := binary.BigEndian.AppendUint64(nil, number)
	return encoded{"i" + sign + strconv.Itoa(kind.size), all[8-kind.size:]}
}

func encodeFloat(size int, text string) encoded {
	number, err := strconv.ParseFloat(strings.TrimPrefix(text, "-nan"), 64)
	switch {
	case strings.Contains(text, "nan"):
		number = math.NaN()
	case err != nil && !strings.Contains(err.Error(), "range"):
		return textOf(text)
	}
	if size == 4 {
		return encoded{"f4", binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(number)))}
	}
	return encoded{"f8", binary.BigEndian.AppendUint64(nil, math.Float64bits(number))}
}

// encodeUnknown encodes a value from its printed text.
func encodeUnknown(text string) encoded {
	integer := encodeInteger(typeKind{size: 8, isSigned: true}, text)
	if integer.format == "s" {
		integer = encodeInteger(typeKind{size: 8}, text)
	}
	switch {
	case integer.format != "s":
		return integer
	case isCharText(text):
		return encodeScalar(typeKind{isChar: true}, text)
	case isFloatText(text):
		return encodeFloat(8, text)
	case text == "true" || text == "false":
		return encodeBool(text)
	}
	return textOf(text)
}

// textOf encodes a text: its length in two bytes, and the text.
func textOf(text string) encoded {
	text = text[:min(len(text), longestText)]
	return encoded{"s", append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)}
}

// isQuoted reports whether a value is a text.
func isQuoted(text string) bool { return strings.HasPrefix(text, `"`) }

// safeName replaces characters with a meaning in a description of a type.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("|=,;{}()<>[]%/^&", r) {
			return '_'
		}
		return r
	}, name)
}
