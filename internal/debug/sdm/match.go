package sdm

import (
	"slices"
	"strconv"
	"strings"
)

// The names of types and the values that debuggers print are matched without regular expressions, whose package would
// be a fortieth of the program for nodes.

// withoutQualifiers removes words that do not change a type, each with the space after it.
func withoutQualifiers(name string) string {
	var kept strings.Builder
	for name != "" {
		length := wordLength(name)
		if slices.Contains([]string{"const", "volatile", "restrict", "static", "mut"}, name[:length]) {
			name = strings.TrimPrefix(name[length:], " ")
			continue
		}
		length = max(length, 1)
		kept.WriteString(name[:length])
		name = name[length:]
	}
	return kept.String()
}

// wordLength returns how many bytes at the beginning of a text are a word.
func wordLength(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		return len(text)
	}
	return end
}

// A sized type has its number of bits in its name, such as uint_fast32_t, f64 or i8.
type sized struct {
	isUnsigned, isFloat bool
	bits                int
}

func sizedOf(name string) (sized, bool) {
	name = strings.TrimSuffix(name, "_t")
	for _, bits := range []int{8, 16, 32, 64} {
		head, isCut := strings.CutSuffix(name, strconv.Itoa(bits))
		if !isCut {
			continue
		}
		head = strings.TrimSuffix(strings.TrimSuffix(head, "fast"), "least")
		head = strings.TrimSuffix(head, "_")
		rest, isUnsigned := strings.CutPrefix(head, "u")
		if rest = strings.TrimLeft(rest, "_"); isUnsigned && rest == "" {
			rest = "u"
		}
		isKnown := slices.Contains([]string{"int", "uint", "i", "u", "f", "float"}, rest)
		return sized{isUnsigned: isUnsigned || strings.HasPrefix(rest, "u"), isFloat: strings.HasPrefix(rest, "f"), bits: bits}, isKnown
	}
	return sized{}, false
}

// fortranOf takes a type of Fortran such as integer(kind=4) apart.
func fortranOf(name string) (word string, size int, isFortran bool) {
	word, rest, _ := strings.Cut(name, "(kind=")
	digits, isClosed := strings.CutSuffix(rest, ")")
	size, _ = strconv.Atoi(digits)
	isFortran = isClosed && digits != "" && digitsLength(digits) == len(digits) && slices.Contains([]string{"integer", "real", "logical", "character"}, word)
	return word, size, isFortran
}

// digitsLength returns how many bytes at the beginning of a text are decimal digits.
func digitsLength(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// withoutArrayEnd removes the last brackets, such as [5], and reports whether there were any.
func withoutArrayEnd(name string) (string, bool) {
	at := strings.LastIndexByte(name, '[')
	if at < 0 || !strings.HasSuffix(name, "]") || digitsLength(name[at+1:]) != len(name)-at-2 {
		return name, false
	}
	return name[:at], true
}

// isCharText reports whether a value is a number and a character, such as 97 'a'.
func isCharText(text string) bool {
	text = strings.TrimPrefix(text, "-")
	length := digitsLength(text)
	return length > 0 && strings.HasPrefix(text[length:], " '")
}

// isFloatText reports whether a value is a number that may have a fraction, infinite, or none at all.
func isFloatText(text string) bool {
	text = strings.TrimPrefix(text, "-")
	if text == "inf" || text == "nan" {
		return true
	}
	if digits, isNaN := strings.CutPrefix(text, "nan(0x"); isNaN {
		digits, isClosed := strings.CutSuffix(digits, ")")
		return isClosed && digits != "" && strings.Trim(digits, "0123456789abcdef") == ""
	}
	length := digitsLength(text)
	rest, hasFraction := strings.CutPrefix(text[length:], ".")
	if hasFraction {
		rest = rest[digitsLength(rest):]
	}
	if exponent, hasExponent := strings.CutPrefix(rest, "e"); hasExponent {
		if exponent != "" && strings.ContainsRune("+-", rune(exponent[0])) {
			exponent = exponent[1:]
		}
		rest = exponent[digitsLength(exponent):]
		return length > 0 && exponent != "" && rest == ""
	}
	return length > 0 && rest == ""
}
