package javaregex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func (e *emitter) set(set runeSet) {
	writeClass(&e.out, set, e.dialect)
}

func classText(set runeSet, target dialect) string {
	var out strings.Builder
	writeClass(&out, set, target)
	return out.String()
}

// maxClassRanges is how many ranges are written as one class for regexp2,
// which takes time that grows with their square to read them.
const maxClassRanges = 256

// writeClass writes a set of runes as a literal or a class.
func writeClass(out *strings.Builder, set runeSet, target dialect) {
	switch r, single := set.only(); {
	case single:
		writeRune(out, r, target)
	case len(set) == 0 && target == backtracking:
		out.WriteString("(?!)")
	case len(set) == 0:
		out.WriteString(`[^\x00-\x{10FFFF}]`)
	case set.equal(everyRune):
		out.WriteString("(?s:.)")
	case target == backtracking && len(set) > maxClassRanges:
		out.WriteString("(?:")
		for i, part := range slices.Collect(slices.Chunk(set, maxClassRanges)) {
			if i > 0 {
				out.WriteByte('|')
			}
			out.WriteByte('[')
			writeRanges(out, part, target)
			out.WriteByte(']')
		}
		out.WriteByte(')')
	case set[0].low == 0 && set[len(set)-1].high == unicode.MaxRune:
		out.WriteString("[^")
		writeRanges(out, set.complement(), target)
		out.WriteByte(']')
	default:
		out.WriteByte('[')
		writeRanges(out, set, target)
		out.WriteByte(']')
	}
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
		var digits [8]byte
		out.WriteString(`\x{`)
		out.Write(strconv.AppendInt(digits[:0], int64(r), 16))
		out.WriteByte('}')
	case r < 0x80:
		fmt.Fprintf(out, `\x%02X`, r)
	case r <= 0xFFFF:
		fmt.Fprintf(out, `\u%04X`, r)
	default:
		out.WriteRune(r)
	}
}
