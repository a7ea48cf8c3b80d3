package javaregex

import (
	"strconv"
	"strings"
	"unicode"
)

// writeClass writes a set of runes as a literal or a class.
func writeClass(out *strings.Builder, set runeSet) {
	switch r, single := set.only(); {
	case single:
		writeRune(out, r)
	case len(set) == 0:
		out.WriteString(`[^\x00-\x{10FFFF}]`)
	case set.equal(everyRune):
		out.WriteString("(?s:.)")
	case set[0].low == 0 && set[len(set)-1].high == unicode.MaxRune:
		out.WriteString("[^")
		writeRanges(out, set.complement())
		out.WriteByte(']')
	default:
		out.WriteByte('[')
		writeRanges(out, set)
		out.WriteByte(']')
	}
}

func writeRanges(out *strings.Builder, set runeSet) {
	for _, part := range set {
		writeRune(out, part.low)
		if part.high > part.low {
			if part.high > part.low+1 {
				out.WriteByte('-')
			}
			writeRune(out, part.high)
		}
	}
}

// writeRune writes a rune so that it stands for itself in and outside a class.
func writeRune(out *strings.Builder, r rune) {
	if isASCIIDigit(r) || isASCIILetter(r) {
		out.WriteRune(r)
		return
	}
	var digits [8]byte
	out.WriteString(`\x{`)
	out.Write(strconv.AppendInt(digits[:0], int64(r), 16))
	out.WriteByte('}')
}
