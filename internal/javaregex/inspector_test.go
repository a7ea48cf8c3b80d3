package javaregex_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/javaregex"
)

const effort = 100_000

func compile(t testing.TB, expression string) *javaregex.Regexp {
	t.Helper()
	compiled, err := javaregex.Compile(expression, 0)
	require.NoError(t, err, expression)
	return compiled
}

// lines are the texts of a stream that is split at line feeds.
var lines = javaregex.Texts{Delimiter: '\n'}

func TestExpressionsThatMatchNothingAreFound(t *testing.T) {
	ended := javaregex.Texts{Delimiter: '\n', KeepsDelimiter: true}
	for _, test := range []struct {
		expression string
		texts      javaregex.Texts
		culprit    int // negative where something matches
	}{
		{`job \d+`, lines, -1},
		{`^job \d+$`, lines, -1},
		{`job \d+\n`, lines, 7},
		{`job \d+\n`, ended, -1},
		{`job \d+\n`, javaregex.Texts{}, -1},
		{`a\nb`, ended, 3},
		{`a\n?b`, lines, -1},
		{`(?:a|b\n)c`, lines, -1},
		{`(?:a\n|b\n)c`, lines, 8},
		{`\n*a\nb`, lines, 4},
		{`a^b`, lines, 1},
		{`$x`, lines, 1},
		{`x$\n`, javaregex.Texts{}, -1},
		{`x$\n`, lines, 2},
		{`(?m)a$\n^b`, javaregex.Texts{}, -1},
		{`\s^`, lines, 2},
		{`\s*^a`, lines, -1},
		{`a\zb`, lines, 3},
		{`[\s&&\S]a`, lines, 0},
		{`(?!x)a\bb`, lines, -1}, // word edges are not looked into
		{`(?=a)b`, lines, -1},
		{``, javaregex.Texts{NotEmpty: true}, 0},
		{`^`, javaregex.Texts{NotEmpty: true}, 0},
		{`a?`, javaregex.Texts{NotEmpty: true}, -1},
		{`\r\n`, javaregex.Texts{Delimiter: '\r', KeepsDelimiter: true}, -1},
		{`\r\na`, javaregex.Texts{Delimiter: '\r', KeepsDelimiter: true}, 4},
		{`\nb`, javaregex.Texts{Delimiter: '\r'}, -1},
		{`(\w+)\1\n`, lines, 7},
	} {
		inspector := javaregex.NewInspector(effort)
		expression := compile(t, test.expression)
		require.Equal(t, test.culprit >= 0, inspector.Impossible(expression, test.texts), test.expression)
		if test.culprit >= 0 {
			require.Equal(t, test.culprit, inspector.Culprit(expression, test.texts), test.expression)
		}
	}
}

func TestExpressionsThatOthersCoverAreFound(t *testing.T) {
	for _, test := range []struct {
		expression string
		others     []string
		covered    bool
	}{
		{`([\d]+)[.].+`, []string{`([\d]+).*`}, true},
		{`([\d]+)[.].+`, []string{`\d+`}, false},
		{`\d+ \s+x`, []string{`\d+.*`}, false}, // white space may be a carriage return
		{`(\d+)`, []string{`[0-9]+`}, true},
		{`job (\d+)`, []string{`^job (\d+)$`}, true},
		{`^job (\d+)$`, []string{`job (\d+)`}, true},
		{`^job (\d+)\z`, []string{`job (\d+)`}, true},
		{`job (\d{3})`, []string{`job (\d+)`}, true},
		{`job (\d+)`, []string{`job (\d{3})`}, false},
		{`a|b`, []string{`a`, `b`}, true},
		{`a|b|c`, []string{`a`, `b`}, false},
		{`.*`, []string{`[^x]*`, `.*x.*`}, true},
		{`[^\r\n]*`, []string{`[^x]*`, `.*x.*`}, false}, // a line separator and an x
		{`[a-z]*`, []string{`[^x]*`, `.*x.*`}, true},
		{`a`, []string{`(?!b)a`}, false}, // a lookahead proves nothing
		{`(?!b)a`, []string{`a`}, true},
		{`(a)\1`, []string{`a(?s:.*)`}, true},
		{`aa`, []string{`(a)\1`}, false},
		{`aa`, []string{`(?>a*)a`}, false},
		{`a`, []string{`\ba`}, false},
		{`\ba`, []string{`a`}, true},
		{`(?:a|aa|aaa)*`, []string{`a*`}, true},
		{``, []string{`a?`}, true},
		{`a?`, []string{`a+`}, false},
		{`a`, nil, false},
		{`\R`, []string{`\r|\x0b|\f|\x85|[\u2028\u2029]`}, true},
		{`\r`, []string{`\R`}, false},
		{`JOB`, []string{`job`}, false},
		{`JOB`, []string{`(?i)job`}, true},
		{`(?i)job`, []string{`JOB`, `job`}, false},
	} {
		var others []*javaregex.Regexp
		for _, other := range test.others {
			others = append(others, compile(t, other))
		}
		require.Equal(t, test.covered, javaregex.NewInspector(effort).Covered(compile(t, test.expression), others, lines), "%s by %s", test.expression, test.others)
	}
	inspector := javaregex.NewInspector(effort)
	require.True(t, inspector.Covered(compile(t, `a`), []*javaregex.Regexp{nil}, lines), "what matches everything covers everything")
	require.False(t, inspector.Covered(nil, []*javaregex.Regexp{compile(t, `.*`)}, lines), "anything may have a carriage return")
	require.True(t, inspector.Covered(nil, []*javaregex.Regexp{compile(t, `(?s).*`)}, lines))
}

func TestDisjointExpressionsAreFound(t *testing.T) {
	for _, test := range []struct {
		one, other string
		overlap    bool
	}{
		{`REQUEU\w+ .*`, `(?s)(?:.*\W)?REQUEUED(?:\W.*)?`, true},
		{`REQUEU\w+ .*`, `(?s)(?:.*\W)?QUEUED(?:\W.*)?`, true},
		{`REQUEU\w+`, `(?s)(?:.*\W)?QUEUED(?:\W.*)?`, false},
		{`a+`, `(?:aa)*b?`, true},
		{`a+`, `b+`, false},
		{`a*`, `b*`, true},
		{`(a|b)\1`, `c.`, false},
		{`(?=b)a`, `a`, true}, // a lookahead is not looked into
	} {
		require.Equal(t, test.overlap, javaregex.NewInspector(effort).Overlap(compile(t, test.one), compile(t, test.other)), "%s and %s", test.one, test.other)
	}
}

// Some expressions need exponentially many steps for a proof, others a huge automaton.
func TestNothingIsProvedWithoutEffort(t *testing.T) {
	hard, other := compile(t, `(?:a|b)*a(?:a|b){40}c`), compile(t, `(?:b|a)*a(?:b|a){40}c`)
	require.False(t, javaregex.NewInspector(effort).Covered(hard, []*javaregex.Regexp{other}, lines))
	huge := compile(t, `(?:a{1000}){1000}\n`)
	require.False(t, javaregex.NewInspector(effort).Impossible(huge, lines))
	require.True(t, javaregex.NewInspector(effort).Impossible(compile(t, `a\n`), lines))
	require.False(t, javaregex.NewInspector(0).Covered(compile(t, `a`), []*javaregex.Regexp{compile(t, `.`)}, lines))
}

// Proofs must agree with the behaviour of expressions.
func FuzzInspector(f *testing.F) {
	f.Add(`\d+.*`, `\d+[.]x`, "1.x")
	f.Add(`^a$|b\n`, `(?m)^a$`, "a\r")
	f.Add(`(?:a{2}b?)*`, `a*+b`, "aab")
	f.Add(`(?=a)\w`, `\R|(.)\1`, "\r\n")
	f.Fuzz(func(t *testing.T, one, another, text string) {
		if len(one)+len(another) > 200 || len(text) > 100 {
			return
		}
		first, err := javaregex.Compile(one, 0)
		if err != nil {
			return
		}
		second, err := javaregex.Compile(another, 0)
		if err != nil {
			return
		}
		_, matchesFirst, err := first.Match(nil, []byte(text))
		if err != nil {
			return
		}
		_, matchesSecond, err := second.Match(nil, []byte(text))
		if err != nil {
			return
		}
		inspector := javaregex.NewInspector(10_000)
		if matchesFirst && inspector.Impossible(first, javaregex.Texts{}) {
			t.Fatalf("%q matches %q and is said to match nothing", one, text)
		}
		if matchesFirst && matchesSecond && !inspector.Overlap(first, second) {
			t.Fatalf("%q and %q match %q and are said to have nothing in common", one, another, text)
		}
		if matchesFirst && !matchesSecond && inspector.Covered(first, []*javaregex.Regexp{second}, javaregex.Texts{}) {
			t.Fatalf("%q matches %q, %q does not and is said to cover it", one, text, another)
		}
	})
}

func TestExpressionsThatRunAwayAreFound(t *testing.T) {
	for expression, runsAway := range map[string]bool{
		`(?!x)(\w+\s?)*end`: true,
		`(?=(a+)+$)a*b`:     true,
		`(\w*\w*)*\1`:       true,
		// A carriage return, or the text of the loop behind what the loop cannot take, fails.
		`(.*?)(?:a\w([\d.])??((?:\S)*?)+){1,3}(.*)`: true,
		`(?!#)(\w+\s?)*[^\r\n]*`:                    true,
		`(\S*)+\s*`:                                 true,
		`(?s)((?:\S)*?)+.*`:                         false, // takes every text
		`((a|a)*)\2`:                                false, // the engine makes one of the branches
		`(?!x)(\w+\s+)*end`:                         false,
		`(a+)+b`:                                    false, // runs in linear time
		`(?!x)(?>a+)+b`:                             false,
		`(?!x)a+b+`:                                 false,
		`(?:a{1000}){100}\1?`:                       false,
	} {
		compiled, err := javaregex.Compile(expression, 0)
		if err != nil {
			continue
		}
		before, repeated, after, found := javaregex.NewInspector(effort).Runaway(compiled)
		require.Equal(t, runsAway, found, expression)
		if found {
			require.NotEmpty(t, repeated, expression)
			t.Logf("%s: %q %q %q", expression, before, repeated, after)
		}
	}
}
