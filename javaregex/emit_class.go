package javaregex

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

func (e *emitter) set(set runeSet) {
	e.out.WriteString(classText(set, e.dialect))
}

// maxClassRanges is how many ranges are written as one class for regexp2,
// which takes time that grows with their square to read them.
const maxClassRanges = 256

// classText writes a set of runes as a literal or a class.
func classText(set runeSet, target dialect) string {
	var out strings.Builder
	switch r, single := set.only(); {
	case single:
		writeRune(&out, r, target)
	case len(set) == 0:
		if target == backtracking {
			return "(?!)"
		}
		return `[^\x00-\x{10FFFF}]`
	case set.equal(everyRune):
		return "(?s:.)"
	case target == backtracking && len(set) > maxClassRanges:
		out.WriteString("(?:")
		for i, part := range slices.Collect(slices.Chunk(set, maxClassRanges)) {
			if i > 0 {
				out.WriteByte('|')
			}
			out.WriteByte('[')
			writeRanges(&out, part, target)
			out.WriteByte(']')
		}
		out.WriteByte(')')
	case set[0].low == 0 && set[len(set)-1].high == unicode.MaxRune:
		out.WriteString("[^")
		writeRanges(&out, set.complement(), target)
		out.WriteByte(']')
	default:
		out.WriteByte('[')
		writeRanges(&out, set, target)
		out.WriteByte(']')
	}
	return out.String()
}

func writeRanges(out *strings.Builder, set runeSet, target dialect) {
	for _, part := range set {
		writeRune(out, part.low, target)
		if part.high > part.low {
			if part.high > part.low+1 {
				out.WriteByte('-')
			}
			writeRune(out, part.high, target)
		}
	}
}

// writeRune writes a rune so that it stands for itself in and outside a class.
func writeRune(out *strings.Builder, r rune, target dialect) {
	switch {
	case isASCIIDigit(r) || isASCIILetter(r):
		out.WriteRune(r)
	case target == linear:
		fmt.Fprintf(out, `\x{%X}`, r)
	case r < 0x80:
		fmt.Fprintf(out, `\x%02X`, r)
	case r <= 0xFFFF:
		fmt.Fprintf(out, `\u%04X`, r)
	default:
		out.WriteRune(r)
	}
}
