package xmltree

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameEnd returns the end of the name that begins at an offset, treating colons as letters. splitName
// checks its first characters, so that errors quote the whole name.
func nameEnd(text string, at int) int {
	for at < len(text) {
		if c := text[at]; c < utf8.RuneSelf {
			if !isASCIIName(c) {
				return at
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isNameStart(r) && !isNameContinuation(r) {
			return at
		}
		at += size
	}
	return at
}

// splitName returns the parts of a name around its colon, the prefix empty
// without one, and whether the parts are names.
func splitName(name string) (prefix, local string, ok bool) {
	colon := strings.IndexByte(name, ':')
	if colon < 0 {
		return "", name, startsAsName(name)
	}
	prefix, local = name[:colon], name[colon+1:]
	return prefix, local, startsAsName(prefix) && startsAsName(local) && strings.IndexByte(local, ':') < 0
}

func startsAsName(name string) bool {
	if name == "" {
		return false
	}
	if c := name[0]; c < utf8.RuneSelf {
		return isASCIILetter(c) || c == '_'
	}
	r, _ := utf8.DecodeRuneInString(name)
	return isNameStart(r)
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isASCIIDigit(c byte) bool { return '0' <= c && c <= '9' }

func isASCIIName(c byte) bool {
	return isASCIILetter(c) || isASCIIDigit(c) || c == '_' || c == '-' || c == '.' || c == ':'
}

// isNameStart reports whether a name may begin with a character beyond ASCII,
// by the fifth edition of XML 1.0.
func isNameStart(r rune) bool { return unicode.Is(nameStart, r) }

var nameStart = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xc0, Hi: 0xd6, Stride: 1}, {Lo: 0xd8, Hi: 0xf6, Stride: 1}, {Lo: 0xf8, Hi: 0x2ff, Stride: 1},
		{Lo: 0x370, Hi: 0x37d, Stride: 1}, {Lo: 0x37f, Hi: 0x1fff, Stride: 1},
		{Lo: 0x200c, Hi: 0x200d, Stride: 1},
		{Lo: 0x2070, Hi: 0x218f, Stride: 1},
		{Lo: 0x2c00, Hi: 0x2fef, Stride: 1},
		{Lo: 0x3001, Hi: 0xd7ff, Stride: 1},
		{Lo: 0xf900, Hi: 0xfdcf, Stride: 1},
		{Lo: 0xfdf0, Hi: 0xfffd, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0x10000, Hi: 0xeffff, Stride: 1}},
	LatinOffset: 2,
}

// isNameContinuation reports whether a character beyond ASCII may continue but not begin a name.
func isNameContinuation(r rune) bool {
	return r == 0xb7 || r >= 0x300 && r <= 0x36f || r == 0x203f || r == 0x2040
}
