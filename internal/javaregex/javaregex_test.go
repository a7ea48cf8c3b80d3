package javaregex

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func mustCompile(t testing.TB, expression string, flags Flags) *Regexp {
	t.Helper()
	compiled, err := Compile(expression, flags)
	require.NoError(t, err, expression)
	return compiled
}

func TestMatchReturnsTheGroupsOfBothEngines(t *testing.T) {
	for _, probe := range []struct {
		expression, text, engine string
		positions                []int
	}{
		{`(\d+)[.](x)?.+`, "12.ab", "automaton", []int{0, 5, 0, 2, -1, -1}},
		{`(a)(?<n>b)(c)`, "abc", "automaton", []int{0, 3, 0, 1, 1, 2, 2, 3}},
		{`(a)(?<n>b)(c)(?=)`, "abc", "backtracking", []int{0, 3, 0, 1, 1, 2, 2, 3}},
		{`(é)(x)?+(.*)`, "éü", "backtracking", []int{0, 4, 0, 2, -1, -1, 2, 4}},
		{`(a*)+`, "aa", "backtracking", []int{0, 2, 2, 2}},
		{`\bab\b`, "ab", "regexp", []int{0, 2}},
		{`(x$|y)+`, "yx", "backtracking", []int{0, 2, 1, 2}},
		{`(x$|y)`, "x", "automaton", []int{0, 1, 0, 1}},
	} {
		compiled := mustCompile(t, probe.expression, 0)
		engine, reason := compiled.Engine()
		require.Equal(t, probe.engine, engine, probe.expression)
		require.Equal(t, probe.engine != "backtracking", reason == "", probe.expression)
		require.Equal(t, len(probe.positions)/2-1, compiled.Groups(), probe.expression)
		positions, matched, err := compiled.Match(make([]int, 3, 40), []byte(probe.text))
		require.NoError(t, err)
		require.True(t, matched, probe.expression)
		require.Equal(t, probe.positions, positions, probe.expression)
	}
}

func TestMatchReusesTheGivenSlice(t *testing.T) {
	buffer := make([]int, 0, 8)
	for _, expression := range []string{`(a)b`, `(a)b(?=)`, `ab`} {
		positions, matched, err := mustCompile(t, expression, 0).Match(buffer, []byte("ab"))
		require.NoError(t, err)
		require.True(t, matched)
		require.Same(t, &buffer[:1][0], &positions[0])
	}
}

func TestEachInvalidByteIsOneCharacterForBothEngines(t *testing.T) {
	text := []byte("a\xFF\xFEé\xC3")
	for _, expression := range []string{`a(.)(.)é(.)`, `a(.)(.)é(.)(?=)`, `a(.)(.)é(\x{FFFD})`, `a(\W)(\W)\bé\b(.)`} {
		positions, matched, err := mustCompile(t, expression, 0).Match(nil, text)
		require.NoError(t, err)
		require.True(t, matched, expression)
		require.Equal(t, []int{0, 6, 1, 2, 2, 3, 5, 6}, positions, expression)
	}
}

func TestFindSeesTheTextBeforeTheOffset(t *testing.T) {
	for _, probe := range []struct {
		expression, text string
		offset           int
		positions        []int // nil: no match
	}{
		{`b`, "abab", 2, []int{3, 4}},
		{`^b`, "ab", 1, nil},
		{`\bb`, "ab b", 1, []int{3, 4}},
		{`\bé`, "aé é", 1, []int{4, 6}},
		{`(?<=a)b`, "ab", 1, []int{1, 2}},
		{`(?md)^(b)`, "a\nb", 2, []int{2, 3, 2, 3}},
		{`\Gb`, "ab", 1, []int{1, 2}},
		{`b$`, "ab\r\n", 0, []int{1, 2}},
		{`b$`, "ab\r\n\n", 0, nil},
		{`x*`, "ab", 2, []int{2, 2}},
		{`.`, "é", 1, []int{1, 2}},
		{`.(?=)`, "é", 1, []int{1, 2}},
		{`a`, "ab", 1, nil},
	} {
		positions, matched, err := mustCompile(t, probe.expression, 0).Find(nil, []byte(probe.text), probe.offset)
		require.NoError(t, err)
		require.Equal(t, probe.positions != nil, matched, probe.expression)
		if matched {
			require.Equal(t, probe.positions, positions, probe.expression)
		}
	}
	for _, offset := range []int{-1, 3} {
		_, _, err := mustCompile(t, "a", 0).Find(nil, []byte("ab"), offset)
		require.ErrorContains(t, err, "offset")
	}
}

func TestSplitFollowsJava(t *testing.T) {
	for _, probe := range []struct {
		expression, text string
		pieces           []string
	}{
		{`,`, "a,b,,c,,", []string{"a", "b", "", "c"}},
		{`,`, ",a", []string{"", "a"}},
		{`,`, "abc", []string{"abc"}},
		{`,`, "", []string{""}},
		{`,`, ",,", nil},
		{``, "abc", []string{"a", "b", "c"}},
		{`(?=b)`, "bab", []string{"ba", "b"}},
		{`b*`, "abbc", []string{"a", "", "c"}},
		{`\G,`, ",,a,b", []string{"", "", "a,b"}},
		{`\G`, "abc", []string{"abc"}},
		{`\s*`, "é ü", []string{"é", "", "ü"}},
		{`\b`, "é ü", []string{"é", " ", "ü"}},
		{`$`, "a\n", []string{"a", "\n"}},
	} {
		positions, err := mustCompile(t, probe.expression, 0).Split(nil, []byte(probe.text))
		require.NoError(t, err)
		var texts []string
		for piece := range slices.Chunk(positions, 2) {
			texts = append(texts, probe.text[piece[0]:piece[1]])
		}
		require.Equal(t, probe.pieces, texts, "%s on %q", probe.expression, probe.text)
	}
}

func splitQuestions() []question {
	var questions []question
	for _, expression := range []string{`,`, ``, `(?=b)`, `b*`, `\G,`, `\G`, `\s*`, `\b`, `$`, `(?m)^`, `a|(?<=b)`} {
		for _, text := range []string{"", ",", ",,", "a", "a,b,,c,,", ",a", "bab", "abbc", ",,a,b", "é ü", "a\nb\r\n"} {
			questions = append(questions, question{operation: "split", expression: expression, text: text})
		}
	}
	return questions
}

func TestSplitExamplesEqualJava(t *testing.T) {
	t.Parallel()
	questions := splitQuestions()
	var here answerer
	for i, answer := range askJava(t, questions) {
		require.Equal(t, answer, here.answer(questions[i]), questions[i])
	}
}

func TestErrorsOfMatchesDoNotQuoteTheText(t *testing.T) {
	compiled := mustCompile(t, `(a+)+(?!x)b`, 0)
	require.Equal(t, maxWork, compiled.whole.limit)
	compiled.whole.limit /= 1000
	text := []byte(strings.Repeat("a", 40) + "b secret")
	_, matched, err := compiled.Match(nil, text)
	require.False(t, matched)
	require.ErrorIs(t, err, ErrBacktracking)
	require.ErrorContains(t, err, `(a+)+(?!x)b`)
	require.NotContains(t, err.Error(), "secret")
}

func TestTheWorkOfAMatchDoesNotDependOnLoad(t *testing.T) {
	compiled := mustCompile(t, `(.*?)(?:a\w([\d.])??((?:\S)*?)+){1,3}(.*)`, 0)
	text := []rune("-------awaw1aw.2xxxxx\r")
	require.Len(t, text, 22)
	engine := compiled.whole.backtrackingEngine()
	_, matched, alone, err := engine.Find(nil, text, 0, 0, maxWork)
	require.NoError(t, err)
	require.False(t, matched)
	var atOnce errgroup.Group
	for range 4 * runtime.NumCPU() {
		atOnce.Go(func() error {
			_, _, work, err := engine.Find(nil, text, 0, 0, alone)
			if work != alone {
				return fmt.Errorf("%d of work instead of %d: %w", work, alone, err)
			}
			return err
		})
	}
	require.NoError(t, atOnce.Wait())
	_, _, _, err = engine.Find(nil, text, 0, 0, alone-1)
	require.ErrorIs(t, err, ErrBacktracking)
}

func TestSyntaxErrorsHaveAPosition(t *testing.T) {
	for _, probe := range []struct {
		expression string
		flags      Flags
		offset     int
		reason     string
	}{
		{"é(a", 0, 4, "not closed"},
		{"a)b", 0, 1, "unmatched"},
		{"ab**", 0, 3, "dangling"},
		{"a{x", 0, 1, "repetition"},
		{"a{2,1}", 0, 5, "2 is more than 1"},
		{"a{99999999999}", 0, 12, "too large"},
		{"[z-a]", 0, 2, "range"},
		{"[abc", 0, 4, "not closed"},
		{`ab\`, 0, 2, "backslash"},
		{`a\y`, 0, 1, `\y`},
		{`\p{Nonsense}`, 0, 11, "Nonsense"},
		{`(?<=a*(b|c)+)d`, 0, 12, "a repetition without an upper bound in a lookbehind is not supported"},
		{`(?<!(?:ab){2})d`, 0, 13, "a count behind more than one character in a lookbehind is not supported"},
		{`(?<=a{1001})d`, 0, 11, "a repetition of more than 1000 in a lookbehind is not supported"},
		{`(a)(?<=\1)d`, 0, 9, "a backreference in a lookbehind is not supported"},
		{`a\X`, 0, 1, `\X is not supported`},
		{`\p{script=Greek}`, 0, 15, `the script "script=Greek" is not supported`},
		{`[\p{IsGreek}]`, 0, 11, `"IsGreek"; a script is not supported`},
		{`\P{InGreek}`, 0, 10, `the Unicode block "InGreek" is not supported`},
		{`\p{blk=Greek}`, 0, 12, `the Unicode block "blk=Greek" is not supported`},
		{`\k<n>`, 0, 4, `"n"`},
		{"a", canonEq, 0, "CANON_EQ"},
		{strings.Repeat("(", 201), 0, 201, "nested"},
		{strings.Repeat("[", 201), 0, 201, "nested"},
		{strings.Repeat("a", maxExpressionLength+1), 0, maxExpressionLength, "longer"},
		{strings.Repeat(`\p{IsAlphabetic}`, 2000), 0, 0, "too large"},
	} {
		_, err := Compile(probe.expression, probe.flags)
		var wrong *SyntaxError
		require.ErrorAs(t, err, &wrong)
		require.Contains(t, wrong.Reason, probe.reason)
		require.LessOrEqual(t, abs(wrong.Offset-probe.offset), 1, "%s: %s", probe.expression[:min(len(probe.expression), 20)], err)
		require.Less(t, len(err.Error()), 500)
	}
}

func abs(number int) int { return max(number, -number) }

func TestCountsBeyondTheLinearEngineWork(t *testing.T) {
	compiled := mustCompile(t, `a{1500}`, 0)
	engine, _ := compiled.Engine()
	require.Equal(t, "backtracking", engine)
	_, matched, err := compiled.Match(nil, bytes.Repeat([]byte("a"), 1500))
	require.NoError(t, err)
	require.True(t, matched)
	compiled = mustCompile(t, `(?:(?:a{100}){100}){100}b`, 0)
	engine, _ = compiled.Engine()
	require.Equal(t, "backtracking", engine)
}

func TestRequiredLiteralsAreInEveryMatch(t *testing.T) {
	for expression, literals := range map[string][]string{
		`^[\s]*JobState=([\w]+)[\s]+Reason=(.*)`: {"JobState=", "Reason="},
		`(ab)c+d`:                                {"ab"},
		`a|b`:                                    nil,
		`(?:ab|cd)ef`:                            {"ef"},
		`(?i)abc1`:                               {"1"},
		`(?:xyz)*ab`:                             {"ab"},
		`(?:xyz)+ab`:                             {"xyz", "ab"},
		`a\bb$`:                                  {"ab"},
		`(?!abc)d`:                               {"d"},
		`é\x{FFFD}`:                              {"é"},
		`a.b.c`:                                  {"a"},
		`aa.bb.cc.dd.ee`:                         {"aa", "bb", "cc", "dd"},
	} {
		var found []string
		for _, literal := range mustCompile(t, expression, 0).whole.required {
			found = append(found, string(literal))
		}
		require.Equal(t, literals, found, expression)
	}
}

func TestRequiredLiteralsMustBeInOrder(t *testing.T) {
	required := requiredLiterals{[]byte("aba"), []byte("ab")}
	for text, wanted := range map[string]bool{"abaab": true, "xabayabz": true, "abab": false, "ababab": true, "ab aba": false, "": false} {
		require.Equal(t, wanted, required.in([]byte(text)), text)
	}
}
