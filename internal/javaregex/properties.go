package javaregex

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
)

var (
	asciiDigits  = runeSet{{'0', '9'}}
	asciiUpper   = runeSet{{'A', 'Z'}}
	asciiLower   = runeSet{{'a', 'z'}}
	asciiLetters = runeSet{{'A', 'Z'}, {'a', 'z'}}
	asciiAlnum   = runeSet{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}
	asciiWord    = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	asciiSpace   = runeSet{{'\t', '\r'}, {' ', ' '}}
	asciiGraph   = runeSet{{0x21, 0x7E}}
	asciiHex     = runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}

	horizontalSpace = runeSet{{'\t', '\t'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}}
	verticalSpace   = runeSet{{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}

	everyRune        = runeSet{{0, unicode.MaxRune}}
	noLineTerminator = runeSet{{0, '\t'}, {'\v', '\f'}, {0x0E, 0x84}, {0x86, 0x2027}, {0x202A, unicode.MaxRune}}
	noNewline        = runeSet{{0, '\t'}, {'\v', unicode.MaxRune}}
)

// A namedSet computes the runes that have a property, once.
type namedSet struct {
	compute func() runeSet
	once    sync.Once
	set     runeSet
}

func computed(compute func() runeSet) *namedSet { return &namedSet{compute: compute} }

func tables(list ...*unicode.RangeTable) *namedSet {
	return computed(func() runeSet { return fromTables(list...) })
}

func fixed(set runeSet) *namedSet { return computed(func() runeSet { return set }) }

func (n *namedSet) runes() runeSet {
	n.once.Do(func() { n.set = n.compute() })
	return n.set
}

// These take no work at the start of the program: no arguments are evaluated.
var (
	letters       = computed(func() runeSet { return fromTables(unicode.L) })
	decimalDigits = computed(func() runeSet { return fromTables(unicode.Nd) })
	lettersDigits = computed(func() runeSet { return fromTables(unicode.L, unicode.Nd) })
	controls      = computed(func() runeSet { return fromTables(unicode.Cc) })
	ignorable     = computed(func() runeSet {
		return fromTables(unicode.Cf).union(rangeOf(0, 8)).union(rangeOf(0xE, 0x1B)).union(rangeOf(0x7F, 0x9F))
	})
	anyCaseLetters = computed(func() runeSet { return fromTables(unicode.Lu, unicode.Ll, unicode.Lt) })
	assigned       = computed(func() runeSet {
		return fromTables(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z,
			unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
	})
	unassigned = computed(func() runeSet { return assigned.runes().complement() })
	alphabetic = computed(func() runeSet { return fromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic) })
	lowercase  = computed(func() runeSet { return fromTables(unicode.Ll, unicode.Other_Lowercase) })
	uppercase  = computed(func() runeSet { return fromTables(unicode.Lu, unicode.Other_Uppercase) })
	anyCase    = computed(func() runeSet {
		return fromTables(unicode.Ll, unicode.Other_Lowercase, unicode.Lu, unicode.Other_Uppercase, unicode.Lt)
	})
	whiteSpace  = computed(func() runeSet { return fromTables(unicode.White_Space) })
	blanks      = computed(func() runeSet { return fromTables(unicode.Zs).union(singleRune('\t')) })
	punctuation = computed(func() runeSet { return fromTables(unicode.P) })
	hexDigits   = computed(func() runeSet { return fromTables(unicode.Nd, unicode.Hex_Digit) })
	visible     = computed(func() runeSet {
		return assigned.runes().without(fromTables(unicode.White_Space, unicode.Z, unicode.Cc, unicode.Cs))
	})
	printable = computed(func() runeSet { return visible.runes().union(blanks.runes()).without(controls.runes()) })
	alnum     = computed(func() runeSet { return fromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.Nd) })
	word      = computed(func() runeSet {
		return fromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
	})
)

// plainProperties are the names of \p{…} and of \p{Is…} and gc=… .
var plainProperties = sync.OnceValue(func() map[string]*namedSet {
	return map[string]*namedSet{
		"Cn": unassigned,
		"L":  letters, "M": tables(unicode.M), "N": tables(unicode.N), "P": punctuation,
		"S": tables(unicode.S), "Z": tables(unicode.Z),
		"C": computed(func() runeSet {
			return fromTables(unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs).union(unassigned.runes())
		}),
		"LC":  anyCaseLetters,
		"LD":  lettersDigits,
		"L1":  fixed(rangeOf(0, 0xFF)),
		"all": fixed(everyRune),

		"ASCII": fixed(rangeOf(0, 0x7F)), "Alnum": fixed(asciiAlnum), "Alpha": fixed(asciiLetters),
		"Blank": fixed(setOf(" \t")), "Cntrl": fixed(rangeOf(0, 0x1F).union(singleRune(0x7F))),
		"Digit": fixed(asciiDigits), "Graph": fixed(asciiGraph), "Lower": fixed(asciiLower),
		"Print": fixed(rangeOf(0x20, 0x7E)), "Punct": fixed(asciiGraph.without(asciiAlnum)),
		"Space": fixed(asciiSpace), "Upper": fixed(asciiUpper), "XDigit": fixed(asciiHex),

		"javaLowerCase": lowercase, "javaUpperCase": uppercase, "javaTitleCase": tables(unicode.Lt),
		"javaAlphabetic": alphabetic, "javaIdeographic": tables(unicode.Ideographic),
		"javaDigit": decimalDigits, "javaDefined": assigned, "javaLetter": letters,
		"javaLetterOrDigit":       lettersDigits,
		"javaJavaIdentifierStart": tables(unicode.L, unicode.Nl, unicode.Sc, unicode.Pc),
		"javaJavaIdentifierPart": computed(func() runeSet {
			return fromTables(unicode.L, unicode.Nl, unicode.Sc, unicode.Pc, unicode.Nd, unicode.Mn, unicode.Mc).union(ignorable.runes())
		}),
		"javaUnicodeIdentifierStart": tables(unicode.L, unicode.Nl, unicode.Other_ID_Start),
		"javaUnicodeIdentifierPart": computed(func() runeSet {
			return fromTables(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Pc, unicode.Nd,
				unicode.Mn, unicode.Mc, unicode.Other_ID_Continue).union(ignorable.runes())
		}),
		"javaIdentifierIgnorable": ignorable,
		"javaSpaceChar":           tables(unicode.Z),
		"javaWhitespace": computed(func() runeSet {
			return fromTables(unicode.Z).without(setOf("\u00A0\u2007\u202F")).
				union(rangeOf(0x9, 0xD)).union(rangeOf(0x1C, 0x1F))
		}),
		"javaISOControl": controls,
	}
})

// caselessProperties replace those of the same name where case is ignored.
var caselessProperties = sync.OnceValue(func() map[string]*namedSet {
	return map[string]*namedSet{
		"Lu": anyCaseLetters, "Ll": anyCaseLetters, "Lt": anyCaseLetters,
		"Lower": fixed(asciiLetters), "Upper": fixed(asciiLetters),
		"javaLowerCase": anyCase, "javaUpperCase": anyCase, "javaTitleCase": anyCase,
	}
})

// binaryProperties are the names of \p{Is…}, in upper case.
var binaryProperties = sync.OnceValue(func() map[string]*namedSet {
	return map[string]*namedSet{
		"ALPHABETIC": alphabetic, "LETTER": letters, "IDEOGRAPHIC": tables(unicode.Ideographic),
		"LOWERCASE": lowercase, "UPPERCASE": uppercase, "TITLECASE": tables(unicode.Lt),
		"WHITE_SPACE": whiteSpace, "WHITESPACE": whiteSpace, "CONTROL": controls,
		"PUNCTUATION": punctuation, "HEX_DIGIT": hexDigits, "HEXDIGIT": hexDigits,
		"ASSIGNED":                assigned,
		"NONCHARACTER_CODE_POINT": tables(unicode.Noncharacter_Code_Point),
		"NONCHARACTERCODEPOINT":   tables(unicode.Noncharacter_Code_Point),
		"DIGIT":                   decimalDigits, "ALNUM": alnum, "BLANK": blanks, "GRAPH": visible,
		"PRINT": printable, "WORD": word,
		"JOIN_CONTROL": tables(unicode.Join_Control), "JOINCONTROL": tables(unicode.Join_Control),
	}
})

// unicodePosixProperties are the names of \p{…} under
// UNICODE_CHARACTER_CLASS, in upper case.
var unicodePosixProperties = sync.OnceValue(func() map[string]*namedSet {
	return map[string]*namedSet{
		"ALPHA": alphabetic, "LOWER": lowercase, "UPPER": uppercase, "SPACE": whiteSpace,
		"PUNCT": punctuation, "XDIGIT": hexDigits, "ALNUM": alnum, "CNTRL": controls,
		"DIGIT": decimalDigits, "BLANK": blanks, "GRAPH": visible, "PRINT": printable,
	}
})

func plainProperty(name string, ignoreCase bool) (runeSet, bool) {
	if ignoreCase {
		if set, found := caselessProperties()[name]; found {
			return set.runes(), true
		}
	}
	if set, found := plainProperties()[name]; found {
		return set.runes(), true
	}
	// What is left are the general categories of two letters.
	if table, found := unicode.Categories[name]; found && len(name) == 2 {
		return fromTables(table), true
	}
	return nil, false
}

// upperCaseProperty looks a name up in a table of names in upper case.
func upperCaseProperty(table map[string]*namedSet, name string, ignoreCase bool) (runeSet, bool) {
	name = strings.ToUpper(name)
	set, found := table[name]
	if !found {
		return nil, false
	}
	switch name {
	case "LOWER", "UPPER", "LOWERCASE", "UPPERCASE", "TITLECASE":
		if ignoreCase {
			set = anyCase
		}
	}
	return set.runes(), true
}

// property resolves the name between the braces of \p{…}.
func property(name string, flags Flags) (runeSet, error) {
	ignoreCase := flags&caseInsensitive != 0
	if key, value, paired := strings.Cut(name, "="); paired {
		return pairedProperty(name, strings.ToLower(key), value, ignoreCase)
	}
	if strings.HasPrefix(name, "In") {
		return nil, unsupportedBlock(name)
	}
	plain, hasIs := strings.CutPrefix(name, "Is")
	if hasIs {
		if set, known := upperCaseProperty(binaryProperties(), plain, ignoreCase); known {
			return set, nil
		}
	} else if flags&unicodeClasses != 0 {
		if set, known := upperCaseProperty(unicodePosixProperties(), name, ignoreCase); known {
			return set, nil
		}
	}
	set, known := plainProperty(plain, ignoreCase)
	switch {
	case known:
		return set, nil
	case hasIs:
		return nil, fmt.Errorf("unknown character property %q; a script is not supported", name)
	}
	return nil, fmt.Errorf("unknown character property %q", name)
}

func pairedProperty(name, key, value string, ignoreCase bool) (runeSet, error) {
	switch key {
	case "gc", "general_category":
		if set, known := plainProperty(value, ignoreCase); known {
			return set, nil
		}
	case "sc", "script":
		return nil, fmt.Errorf("the script %q is not supported; list its characters", name)
	case "blk", "block":
		return nil, unsupportedBlock(name)
	}
	return nil, fmt.Errorf("unknown character property %q", name)
}

func unsupportedBlock(name string) error {
	return fmt.Errorf(`the Unicode block %q is not supported; write a range such as [\u0370-\u03FF]`, name)
}
