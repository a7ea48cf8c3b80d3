package javaregex

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Results of whole matches in Java.
const (
	matches  = "match"
	matchNot = "no"
	refuses  = "rejects"
)

// A construct is one probe of java.util.regex with the answer of Java 17.
type construct struct {
	name       string
	expression string
	flags      Flags
	text       string
	java       string
	// unsupported: this package refuses it, even if Java supports it.
	unsupported bool
}

var constructs = []construct{
	// Quantifiers
	{name: "possessive star gives nothing back", expression: `a*+a`, text: "aaa", java: matchNot},
	{name: "possessive plus", expression: `a++b`, text: "aab", java: matches},
	{name: "possessive question mark", expression: `a?+a`, text: "a", java: matchNot},
	{name: "possessive count", expression: `a{1,2}+a`, text: "aa", java: matchNot},
	{name: "lazy star", expression: `a*?b`, text: "aab", java: matches},
	{name: "count with both bounds", expression: `a{2,3}`, text: "aaa", java: matches},
	{name: "count without a lower bound", expression: `a{,3}`, text: "aa", java: refuses},
	{name: "opening brace as a literal", expression: `a{`, text: "a{", java: refuses},
	{name: "closing brace as a literal", expression: `a}`, text: "a}", java: matches},
	{name: "double quantifier", expression: `a**`, text: "aa", java: refuses},

	// Groups, lookaround, references
	{name: "atomic group gives nothing back", expression: `(?>a*)a`, text: "aaa", java: matchNot},
	{name: "atomic group", expression: `(?>a+)b`, text: "aab", java: matches},
	{name: "lookahead", expression: `a(?=b).*`, text: "abc", java: matches},
	{name: "negative lookahead", expression: `a(?!b).*`, text: "acb", java: matches},
	{name: "lookbehind", expression: `.*(?<=ab)c`, text: "abc", java: matches},
	{name: "lookbehind of bounded length", expression: `.*(?<=a{1,3})c`, text: "aac", java: matches},
	{name: "lookbehind of alternatives", expression: `.*(?<=ab|(?:bc)?d)c`, text: "bcdc", java: matches},
	{name: "negative lookbehind", expression: `.*(?<!b)c`, text: "aac", java: matches},
	{name: "loop in a lookahead in a lookbehind", expression: `a(?<=a(?=b*c))bbc`, text: "abbc", java: matches},
	{name: "loop in a lookahead in a lookbehind that fails", expression: `a(?<=a(?=b*c))bbd`, text: "abbd", java: matchNot},
	{name: "reference in a lookahead in a lookbehind", expression: `(a)(?<=(?=\1)a)b`, text: "ab", java: matches},
	{name: "lookbehind of unbounded length", expression: `.*(?<=a+)c`, text: "aac", java: matches, unsupported: true},
	{name: "counted group in a lookbehind", expression: `.*(?<=(?:ab){2})c`, text: "ababc", java: matches, unsupported: true},
	{name: "large count in a lookbehind", expression: `.*(?<=a{2000})`, text: "aac", java: matchNot, unsupported: true},
	{name: "count of alternatives in a lookbehind", expression: `.*(?<=(?:a|bc){2})c`, text: "aac", java: refuses, unsupported: true},
	{name: "reference in a lookbehind", expression: `(a).*(?<=\1)c`, text: "aac", java: refuses, unsupported: true},
	{name: "named group", expression: `(?<name>a)b`, text: "ab", java: matches},
	{name: "reference by name", expression: `(?<name>a|b)\k<name>`, text: "bb", java: matches},
	{name: "named group as in Python", expression: `(?P<name>a)`, text: "a", java: refuses},
	{name: "reference by number", expression: `(a|b)\1`, text: "bb", java: matches},
	{name: "reference to a group that took no part", expression: `(a)?\1b`, text: "b", java: matchNot},
	{name: "reference takes no digit beyond the groups", expression: `(a)\11`, text: "aa1", java: matches},
	{name: "flag", expression: `(?i)abc`, text: "ABC", java: matches},
	{name: "flag of a group", expression: `(?i:a)B`, text: "AB", java: matches},
	{name: "flag switched off", expression: `(?i)a(?-i)b`, text: "Ab", java: matches},
	{name: "named groups are counted in order", expression: `(a)(?<x>b)(c)\2`, text: "abcb", java: matches},
	{name: "empty branch", expression: `(a|)b`, text: "b", java: matches},
	{name: "group name twice", expression: `(?<x>a)(?<x>b)`, text: "ab", java: refuses},
	{name: "underscore in a group name", expression: `(?<a_b>a)`, text: "a", java: refuses},

	// Character classes
	{name: "intersection", expression: `[a-z&&[^aeiou]]`, text: "b", java: matches},
	{name: "intersection leaves out", expression: `[a-z&&[^aeiou]]`, text: "e", java: matchNot},
	{name: "intersection without brackets", expression: `[a-z&&def]`, text: "e", java: matches},
	{name: "intersection is no ampersand", expression: `[a-z&&def]`, text: "&", java: matchNot},
	{name: "nested class", expression: `[a-d[m-p]]`, text: "n", java: matches},
	{name: "nested class ends the outer one", expression: `[a-d[m-p]]`, text: "n]", java: matchNot},
	{name: "double negation", expression: `[^\S\n]`, text: " ", java: matches},
	{name: "hyphen after a range", expression: `[0-9-_]`, text: "-", java: matches},
	{name: "hyphen at the end", expression: `[\d.-]`, text: "-", java: matches},
	{name: "hyphen after a class", expression: `[\w-.]`, text: "-", java: matches},
	{name: "escaped bracket", expression: `[\[]`, text: "[", java: matches},
	{name: "bracket opens a nested class", expression: `[a[]`, text: "[", java: refuses},
	{name: "closing bracket first", expression: `[]a]`, text: "]", java: matches},
	{name: "closing bracket first in a negation", expression: `[^]a]`, text: "b", java: matches},
	{name: "caret inside", expression: `[a^]`, text: "^", java: matches},
	{name: "empty class", expression: `[]`, text: "", java: refuses},
	{name: "quote in a class", expression: `[\Q^]\E]`, text: "]", java: matches},
	{name: "single ampersand", expression: `[a&b]`, text: "&", java: matches},

	// Quoting
	{name: "quote", expression: `\Qa.b\E`, text: "a.b", java: matches},
	{name: "quote protects", expression: `\Qa.b\E`, text: "axb", java: matchNot},
	{name: "quote without an end", expression: `\Qa.b`, text: "a.b", java: matches},
	{name: "LITERAL", expression: `a.b`, flags: literalText, text: "a.b", java: matches},
	{name: "LITERAL protects", expression: `a.b`, flags: literalText, text: "axb", java: matchNot},

	// Dot and line terminators
	{name: "dot and CR", expression: `a.b`, text: "a\rb", java: matchNot},
	{name: "dot and U+0085", expression: `a.b`, text: "a\u0085b", java: matchNot},
	{name: "dot and U+2028", expression: `a.b`, text: "a\u2028b", java: matchNot},
	{name: "dot and LF", expression: `a.b`, text: "a\nb", java: matchNot},
	{name: "dot and CR, UNIX_LINES", expression: `a.b`, flags: unixLines, text: "a\rb", java: matches},
	{name: "dot and LF, UNIX_LINES", expression: `a.b`, flags: unixLines, text: "a\nb", java: matchNot},
	{name: "dot and LF, DOTALL", expression: `a.b`, flags: dotAll, text: "a\nb", java: matches},
	{name: "flag s", expression: `(?s)a.b`, text: "a\nb", java: matches},
	{name: "flag d", expression: `(?d)a.b`, text: "a\rb", java: matches},
	{name: "line that ends in CR", expression: `abc.*`, text: "abc\r", java: matchNot},

	// Anchors and boundaries
	{name: "dollar before a last LF", expression: `abc$\n`, text: "abc\n", java: matches},
	{name: "dollar before a last CRLF", expression: `abc$\r\n`, text: "abc\r\n", java: matches},
	{name: "dollar before a last CRLF, UNIX_LINES", expression: `abc$\r\n`, flags: unixLines, text: "abc\r\n", java: matchNot},
	{name: "dollar before a last CR", expression: `abc$\r`, text: "abc\r", java: matches},
	{name: `\Z before a last LF`, expression: `abc\Z\n`, text: "abc\n", java: matches},
	{name: `\z before a last LF`, expression: `abc\z\n`, text: "abc\n", java: matchNot},
	{name: `\A`, expression: `\Aabc`, text: "abc", java: matches},
	{name: `\G`, expression: `\Gabc`, text: "abc", java: matches},
	{name: "line anchors and LF", expression: `(?m)a$\n^b`, text: "a\nb", java: matches},
	{name: "end of line before CRLF", expression: `(?m)a$\r\nb`, text: "a\r\nb", java: matches},
	{name: "start of line after CR", expression: `(?m)a\r^b`, text: "a\rb", java: matches},
	{name: `\b`, expression: `\babc\b`, text: "abc", java: matches},
	{name: `\B`, expression: `a\Bbc`, text: "abc", java: matches},
	{name: `\b after a letter beyond ASCII`, expression: `café\b!`, text: "café!", java: matches},
	{name: `\b{g}`, expression: `a\b{g}b`, text: "ab", java: matches, unsupported: true},

	// Predefined classes
	{name: `\d and an Arabic digit`, expression: `\d`, text: "\u0663", java: matchNot},
	{name: `\w and é`, expression: `\w`, text: "é", java: matchNot},
	{name: `\s and NBSP`, expression: `\s`, text: "\u00A0", java: matchNot},
	{name: `\s and VT`, expression: `\s`, text: "\v", java: matches},
	{name: `\s and U+0085`, expression: `\s`, text: "\u0085", java: matchNot},
	{name: `\W and é`, expression: `\W`, text: "é", java: matches},
	{name: `\h and a tab`, expression: `\h`, text: "\t", java: matches},
	{name: `\h and NBSP`, expression: `\h`, text: "\u00A0", java: matches},
	{name: `\h and the letter`, expression: `\h`, text: "h", java: matchNot},
	{name: `\H`, expression: `\H`, text: "h", java: matches},
	{name: `\v and VT`, expression: `\v`, text: "\v", java: matches},
	{name: `\v and LF`, expression: `\v`, text: "\n", java: matches},
	{name: `\V`, expression: `\V`, text: "a", java: matches},
	{name: `\R and CRLF`, expression: `a\Rb`, text: "a\r\nb", java: matches},
	{name: `\X`, expression: `\X`, text: "e\u0301", java: matches, unsupported: true},

	// POSIX classes
	{name: "Alpha", expression: `\p{Alpha}`, text: "a", java: matches},
	{name: "Alpha is ASCII", expression: `\p{Alpha}`, text: "é", java: matchNot},
	{name: "Lower", expression: `\p{Lower}`, text: "a", java: matches},
	{name: "Upper", expression: `\p{Upper}`, text: "A", java: matches},
	{name: "Digit", expression: `\p{Digit}`, text: "7", java: matches},
	{name: "Alnum", expression: `\p{Alnum}`, text: "7", java: matches},
	{name: "Punct", expression: `\p{Punct}`, text: "$", java: matches},
	{name: "Graph", expression: `\p{Graph}`, text: "!", java: matches},
	{name: "Print", expression: `\p{Print}`, text: " ", java: matches},
	{name: "Blank", expression: `\p{Blank}`, text: "\t", java: matches},
	{name: "Cntrl", expression: `\p{Cntrl}`, text: "\x01", java: matches},
	{name: "XDigit", expression: `\p{XDigit}`, text: "f", java: matches},
	{name: "Space", expression: `\p{Space}`, text: "\v", java: matches},
	{name: "ASCII", expression: `\p{ASCII}`, text: "~", java: matches},
	{name: "brackets of POSIX are a nested class", expression: `[[:alpha:]]`, text: "b", java: matchNot},

	// Unicode properties
	{name: "category", expression: `\p{L}`, text: "é", java: matches},
	{name: "category of one letter", expression: `\pL`, text: "é", java: matches},
	{name: "category of two letters", expression: `\p{Lu}`, text: "É", java: matches},
	{name: "category with Is", expression: `\p{IsL}`, text: "é", java: matches},
	{name: "binary property", expression: `\p{IsAlphabetic}`, text: "é", java: matches},
	{name: "script with Is", expression: `\p{IsLatin}`, text: "é", java: matches, unsupported: true},
	{name: "script=", expression: `\p{script=Greek}`, text: "α", java: matches, unsupported: true},
	{name: "script by its code", expression: `\p{sc=GREK}`, text: "α", java: matches, unsupported: true},
	{name: "block", expression: `\p{InGreek}`, text: "α", java: matches, unsupported: true},
	{name: "block=", expression: `\p{block=Greek}`, text: "α", java: matches, unsupported: true},
	{name: "script without Is", expression: `\p{Greek}`, text: "α", java: refuses},
	{name: "javaLowerCase", expression: `\p{javaLowerCase}`, text: "é", java: matches},
	{name: "negated property", expression: `\P{Lu}`, text: "a", java: matches},
	{name: "rune beyond the basic plane", expression: `.`, text: "\U0001F600", java: matches},
	{name: "flag U", expression: `(?U)\w`, text: "é", java: matches},

	// Case
	{name: "CASE_INSENSITIVE is ASCII", expression: `É`, flags: caseInsensitive, text: "é", java: matchNot},
	{name: "UNICODE_CASE", expression: `É`, flags: caseInsensitive | unicodeCase, text: "é", java: matches},
	{name: "flags iu", expression: `(?iu)É`, text: "é", java: matches},
	{name: "k and the Kelvin sign", expression: `k`, flags: caseInsensitive, text: "\u212A", java: matchNot},
	{name: "range", expression: `[a-z]`, flags: caseInsensitive, text: "K", java: matches},

	// COMMENTS
	{name: "COMMENTS", expression: "a b # text\nc", flags: comments, text: "abc", java: matches},
	{name: "flag x", expression: "(?x)a b # text", text: "ab", java: matches},
	{name: "COMMENTS in a class", expression: "[a b]", flags: comments, text: " ", java: matchNot},
	{name: "COMMENTS and # in a class", expression: "[a#]", flags: comments, text: "#", java: refuses},
	{name: "comment in brackets", expression: "a(?#text)b", text: "ab", java: refuses},

	// CANON_EQ
	{name: "CANON_EQ", expression: "a\u030A", flags: canonEq, text: "\u00E5", java: matches, unsupported: true},

	// Escapes
	{name: "control characters", expression: `\t\f\a\e`, text: "\t\f\a\x1B", java: matches},
	{name: "two hexadecimal digits", expression: `\x41`, text: "A", java: matches},
	{name: "hexadecimal digits in braces", expression: `\x{1F600}`, text: "\U0001F600", java: matches},
	{name: "four hexadecimal digits", expression: `\u0041`, text: "A", java: matches},
	{name: "three octal digits", expression: `\0101`, text: "A", java: matches},
	{name: "two octal digits", expression: `\012`, text: "\n", java: matches},
	{name: "control", expression: `\cA`, text: "\x01", java: matches},
	{name: "name of a character", expression: `\N{WHITE SMILING FACE}`, text: "\u263A", java: matches, unsupported: true},
	{name: "hyphen", expression: `\-`, text: "-", java: matches},
	{name: "colon", expression: `\:`, text: ":", java: matches},
	{name: "other punctuation", expression: `\#\<\>`, text: "#<>", java: matches},
	{name: "letter without a meaning", expression: `\y`, text: "y", java: refuses},
	{name: "underscore", expression: `\_`, text: "_", java: matches},
	{name: "slash", expression: `a/b`, text: "a/b", java: matches},

	// Alternation
	{name: "another branch for a whole match", expression: `a|ab`, text: "ab", java: matches},
	{name: "branches in two groups", expression: `(a|ab)(c|bcd)`, text: "abcd", java: matches},
}

func TestConstructsEqualJava17(t *testing.T) {
	for _, probe := range constructs {
		t.Run(probe.name, func(t *testing.T) {
			compiled, err := Compile(probe.expression, probe.flags)
			if probe.java == refuses || probe.unsupported {
				var wrong *SyntaxError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, probe.expression, wrong.Expression)
				require.NotEmpty(t, wrong.Reason)
				require.LessOrEqual(t, wrong.Offset, len(probe.expression))
				return
			}
			require.NoError(t, err)
			_, matched, err := compiled.Match(nil, []byte(probe.text))
			require.NoError(t, err)
			require.Equal(t, probe.java == matches, matched)
		})
	}
}

func constructQuestions() []question {
	var questions []question
	for _, probe := range constructs {
		questions = append(questions, question{
			operation: "match", expression: probe.expression, flags: probe.flags, text: probe.text,
		})
	}
	return questions
}

func TestConstructTableEqualsJava(t *testing.T) {
	t.Parallel()
	questions := constructQuestions()
	java := askJava(t, questions)
	var here answerer
	for i, probe := range constructs {
		switch probe.java {
		case refuses:
			require.Equal(t, "refused", java[i], questions[i])
		case matches:
			require.Contains(t, java[i], "yes", questions[i])
		default:
			require.Equal(t, "no", java[i], questions[i])
		}
		own := here.answer(questions[i])
		if probe.unsupported {
			require.Equal(t, "unsupported", own, questions[i])
			continue
		}
		require.Equal(t, java[i], own, questions[i])
	}
}
