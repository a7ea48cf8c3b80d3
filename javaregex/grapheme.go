package javaregex

import (
	"strings"
	"sync"
)

// This file writes \X for the backtracking engine: one extended grapheme
// cluster, as UAX #29 divides texts and as Java 17 applies it. Where the two
// differ, Java counts: unassigned characters are controls, and what joins two
// pictographs is not only extending characters and one joiner.
//
// The text below says for each kind of cluster what must not follow it, so that
// at each place exactly one cluster begins, in whichever direction it is read: a
// lookbehind reads from its end.

// The kinds of characters, written for the insides of a class. Categories are
// named, since the engine finds those faster than it compares many ranges.
const (
	leadingJamo  = "\u1100-\u115F\uA960-\uA97C"
	vowelJamo    = "\u1160-\u11A7\uD7B0-\uD7C6"
	trailingJamo = "\u11A8-\u11FF\uD7CB-\uD7FB"
	syllables    = "\uAC00-\uD7A3"

	regionalIndicators = "\U0001F1E6-\U0001F1FF" // two of them stand for a flag
	joiner             = "\u200D"

	// Marks that Java, like UAX #29, does not take for spacing ones.
	standaloneMarks = "\u102B\u102C\u1038\u1062-\u1064\u1067-\u106D\u1083\u1087-\u108C\u108F\u109A-\u109C" +
		"\u1A61\u1A63\u1A64\uAA7B\uAA7D"
	// What extends a cluster and is no mark: vowel signs that are letters, half
	// width voice marks, skin tones, tags.
	furtherExtenders = "\u200C" + joiner + "\u0E33\u0EB3\uFF9E\uFF9F\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F"

	prepended = "\u0600-\u0605\u06DD\u070F\u08E2\u0D4E\U000110BD\U000110CD\U000111C2\U000111C3\U0001193F\U00011941" +
		"\U00011A3A\U00011A84-\U00011A89\U00011D46"

	// pictographs have the property Extended_Pictographic of Unicode 13. Those
	// yet to be assigned are among them.
	pictographs = "\u00A9\u00AE\u203C\u2049\u2122\u2139\u2194-\u2199\u21A9\u21AA\u231A\u231B\u2328\u2388\u23CF" +
		"\u23E9-\u23F3\u23F8-\u23FA\u24C2\u25AA\u25AB\u25B6\u25C0\u25FB-\u25FE\u2600-\u2605\u2607-\u2612" +
		"\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716\u271D\u2721\u2728\u2733\u2734\u2744\u2747\u274C" +
		"\u274E\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27A1\u27B0\u27BF\u2934\u2935\u2B05-\u2B07" +
		"\u2B1B\u2B1C\u2B50\u2B55\u3030\u303D\u3297\u3299" +
		"\U0001F000-\U0001F0FF\U0001F10D-\U0001F10F\U0001F12F\U0001F16C-\U0001F171\U0001F17E\U0001F17F" +
		"\U0001F18E\U0001F191-\U0001F19A\U0001F1AD-\U0001F1E5\U0001F201-\U0001F20F\U0001F21A\U0001F22F" +
		"\U0001F232-\U0001F23A\U0001F23C-\U0001F23F\U0001F249-\U0001F3FA\U0001F400-\U0001F53D" +
		"\U0001F546-\U0001F64F\U0001F680-\U0001F6FF\U0001F774-\U0001F77F\U0001F7D5-\U0001F7FF" +
		"\U0001F80C-\U0001F80F\U0001F848-\U0001F84F\U0001F85A-\U0001F85F\U0001F888-\U0001F88F" +
		"\U0001F8AE-\U0001F8FF\U0001F90C-\U0001F93A\U0001F93C-\U0001F945\U0001F947-\U0001FAFF\U0001FC00-\U0001FFFD"

	controlCategories = `\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}`
	// unassignedLetter is the one unassigned character that Java does not take
	// for a control.
	unassignedLetter = "\u0378"
)

const (
	control           = `[` + controlCategories + `-[\r` + furtherExtenders + prepended + pictographs + unassignedLetter + `]]`
	prepend           = `[` + prepended + `]`
	pictograph        = `[` + pictographs + `]`
	regionalIndicator = `[` + regionalIndicators + `]`
	extender          = `[\p{M}` + furtherExtenders + `-[` + standaloneMarks + `]]`
	// other is what none of the rules names.
	other = `(?:[^` + controlCategories + `\p{M}` + furtherExtenders + prepended + pictographs + regionalIndicators +
		leadingJamo + vowelJamo + trailingJamo + syllables + `]|[` + standaloneMarks + unassignedLetter + `])`

	// plain is by far the most frequent cluster, and the quickest to be found.
	plain = `[ -~](?=[ -~\r\n]|\z)`

	// extended takes what extends a cluster, to the last.
	extended = extender + `*(?!` + extender + `)`
	// flag is a pair of letters, or one that has none to pair with.
	flag = regionalIndicator + `(?:` + regionalIndicator + `|(?!` + regionalIndicator + `))`
	// emoji may join further pictographs.
	emoji = pictograph + `(?:` + joiner + pictograph + `|` + extender + `)*(?!` + extender + `)` +
		`(?!(?<=` + joiner + `)` + pictograph + `)`
	// After prepended characters a pictograph joins no others. They stand alone
	// where nothing follows that they could belong to.
	prependedAlone = prepend + `+(?:` + pictograph + extended + `|` + extender + `+(?!` + extender + `)|(?=` + control + `|\r|\z))`
)

// hangul is a run of jamos and syllables that make up one syllable. A vowel
// may follow a syllable only if that has no trailing consonant yet.
func hangul() string {
	open := openSyllable()
	return `(?:[` + leadingJamo + `]+(?![` + leadingJamo + vowelJamo + syllables + `])` +
		`|(?:[` + leadingJamo + `]*` +
		`(?:(?:[` + vowelJamo + `]|` + open + `)[` + vowelJamo + `]*(?:[` + trailingJamo + `]+|(?![` + vowelJamo + `]))` +
		`|(?!` + open + `)[` + syllables + `][` + trailingJamo + `]*)` +
		`|[` + trailingJamo + `]+)(?![` + trailingJamo + `]))`
}

// openSyllable is one of the syllables without a trailing consonant, in several
// classes: the engine takes time that grows with the square of a class to read it.
func openSyllable() string {
	const (
		trailers = 28 // one of them stands for none
		vowels   = 21
	)
	var open strings.Builder
	open.WriteString(`(?=[` + syllables + `])(?:`)
	for leading := '\uAC00'; leading <= '\uD7A3'; leading += vowels * trailers {
		if leading > '\uAC00' {
			open.WriteByte('|')
		}
		open.WriteByte('[')
		for vowel := range rune(vowels) {
			open.WriteRune(leading + vowel*trailers)
		}
		open.WriteByte(']')
	}
	open.WriteByte(')')
	return open.String()
}

// anyCluster matches one cluster, and no less of it.
var anyCluster = sync.OnceValue(func() string {
	return plain + `|\r\n|\r(?!\n)|` + prepend + `*(?:` + other + `|` + hangul() + `|` + flag + `)` + extended +
		`|` + emoji + `|` + prependedAlone + `|` + extender + `+(?!` + extender + `)|` + control
})

func (e *emitter) cluster() error {
	if err := e.needsBacktracking("grapheme cluster"); err != nil {
		return err
	}
	if e.behind {
		// Several clusters, begun at different places, may end where the engine stands.
		e.out.WriteString("(?:")
	} else {
		e.out.WriteString("(?>")
	}
	e.out.WriteString(anyCluster())
	e.out.WriteByte(')')
	return nil
}

// neverBehind reports whether the body of a lookbehind is longer than Java ever
// looks back: there, it expects no characters of \X.
func neverBehind(body node) bool {
	return holds(body, isCluster) && int64(minLength(body)) > int64(studied(body).maxLength)
}
