package javaregex

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// runesOf reads the ranges of an answer to a question for members.
func runesOf(t *testing.T, answer string) runeSet {
	t.Helper()
	words := strings.Fields(answer)
	require.NotEmpty(t, words)
	require.Equal(t, "yes", words[0], answer)
	var ranges []runeRange
	for pair := range slices.Chunk(words[1:], 2) {
		low, err := strconv.Atoi(pair[0])
		require.NoError(t, err)
		high, err := strconv.Atoi(pair[1])
		require.NoError(t, err)
		ranges = append(ranges, runeRange{rune(low), rune(high)})
	}
	return normalized(ranges)
}

// changedSince are characters of Unicode 13, the version of Java 17, that have
// other properties in the later version of the Go library.
var changedSince = setOf("\u0C04\u0F82\u0F83\u10FC\u1734\uAB69\U00011080\U00011081\U00016FE2\U00016FE3")

// classExpressions are expressions that match one character.
func classExpressions() []string {
	var expressions []string
	for _, name := range slices.Sorted(maps.Keys(plainProperties())) {
		expressions = append(expressions, `\p{`+name+`}`)
	}
	for _, name := range slices.Sorted(maps.Keys(caselessProperties())) {
		expressions = append(expressions, `(?i)\p{`+name+`}`)
	}
	for _, name := range []string{"Lu", "Ll", "Lt", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp", "Cc", "Cf", "Co",
		"Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf"} {
		expressions = append(expressions, `\p{`+name+`}`, `\p{gc=`+name+`}`)
	}
	for _, name := range slices.Sorted(maps.Keys(binaryProperties())) {
		expressions = append(expressions, `\p{Is`+name+`}`, `(?i)\p{Is`+name+`}`)
	}
	for _, name := range slices.Sorted(maps.Keys(unicodePosixProperties())) {
		expressions = append(expressions, `(?U)\p{`+name+`}`, `(?iU)\p{`+name+`}`)
	}
	expressions = append(expressions,
		`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\h`, `\H`, `\v`, `\V`, `.`, `(?d).`, `(?s).`,
		`(?U)\d`, `(?U)\s`, `(?U)\w`, `(?U)\W`,
		`(?i)k`, `(?iu)k`, `(?iu)s`, `(?iu)[k-l]`, `(?iu)\u00B5`, `(?iu)[\u00B5]`, `(?iu)\u0130`, `(?iu)[\u0131]`, `(?iu)[i]`,
		`(?i)[^a]`, `(?i)[^A-C]`, `(?iu)[^\u00E9-\u00EF]`, `(?iu)\u00FF`, `(?iu)[\u01C4-\u01CC]`, `(?iu)\u01C5`, `(?iu)\u1E9E`,
		`[a-z&&[^aeiou]]`, `[a&&[b]&c]`, `[a&&&b]`, `[a&&[b][c]d]`, `[a-z&&b-d&&c]`, `[&&a]`, `[^a&&b]`, `[^[^a]b]`, `[[^a]b]`,
		`[ab&&^b]`, `[\d\w&&]`, `[\w&&[^\d]]`, `[\w&&\D]`, `[a-f&&[c-z]&&[^d]]`, `[\[^a]`, `[a\v-\x20]`, `[\t-\v]`, `[+--]`,
		`[\Qa-z\E]`, `[a-\Qz\E]`, `(?x)[a # b
			c]`, `(?x)[ ^a]`, `[\u00E9&&[\u00E9]&a]`, `[^\p{L}&&\p{ASCII}]`, `[a-c[x-z&&[y]]&&[^b]]`,
	)
	return expressions
}

func memberQuestions() []question {
	var questions []question
	for _, expression := range classExpressions() {
		questions = append(questions, question{operation: "members", expression: expression})
	}
	return append(questions, question{operation: "members", expression: `\p{Cn}`})
}

func TestClassesEqualJava(t *testing.T) {
	t.Parallel()
	expressions := classExpressions()
	java := askJava(t, memberQuestions())
	// The Go library knows more characters than Java 17 does. Lone
	// surrogates cannot be written in UTF-8.
	unknown := runesOf(t, java[len(java)-1]).union(changedSince).union(rangeOf(0xD800, 0xDFFF)).union(rangeOf(0x20000, unicode.MaxRune))
	for i, expression := range expressions {
		parsed, err := parse(expression, 0)
		require.NoError(t, err, expression)
		if java[i] == "undecided" {
			continue
		}
		own, isClass := parsed.root.(one)
		require.True(t, isClass, expression)
		expected := runesOf(t, java[i]).without(unknown)
		actual := own.set.without(unknown)
		require.Truef(t, expected.equal(actual), "%s: here too many %X, too few %X",
			expression, actual.without(expected), expected.without(actual))
	}
}
