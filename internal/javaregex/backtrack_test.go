package javaregex

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/backtrack"
)

// plenty exceeds the work of all matches in these tests.
const plenty = 50_000_000

func backtrackerOf(t testing.TB, expression string, whole bool) *backtrack.Program {
	t.Helper()
	parsed, err := parse(expression, 0)
	require.NoError(t, err, expression)
	return newBacktracker(parsed, whole)
}

func TestBacktrackingEqualsJava(t *testing.T) {
	for _, probe := range []struct {
		expression, text string
		positions        []int // nil: no match
	}{
		{`(a*)+c`, "aac", []int{0, 3, 2, 2}},
		{`(a*?)*?c`, "aac", []int{0, 3, 1, 2}},
		{`(a|b){2,3}c`, "babc", []int{0, 4, 2, 3}},
		{`(a|b){2,3}?(.*)`, "bab", []int{0, 3, 1, 2, 2, 3}},
		{`(a?){3}b`, "ab", []int{0, 2, 1, 1}},
		{`(?>a+)ab`, "aab", nil},
		{`(?>(a|ab)+)c`, "abc", nil},
		{`(?=(a+))a*b\1`, "aabaa", []int{0, 5, 0, 2}},
		{`(?!(a)b)a.`, "ac", []int{0, 2, -1, -1}},
		{`.*(?<=(a|ab))c`, "abc", []int{0, 3, 0, 2}},
		{`.*(?<=(a{1,2})b)c`, "aabc", []int{0, 4, 1, 2}},
		{`.*(?<!(?<=b)c)d`, "bcd", nil},
		{`(?:(a)|\1b)+`, "aab", []int{0, 3, 0, 1}},
		{`(a|\1b)+`, "aab", []int{0, 3, 1, 3}},
		{`(a)(?i)\1`, "aA", []int{0, 2, 0, 1}},
		{`(é)(?iu)\1`, "éÉ", []int{0, 2, 0, 1}},
		{`(é)(?i)\1`, "éÉ", nil},
		{`(a)\1(b)?\2`, "aa", nil},
		{`((a)|b)+(c)?(?=)`, "ab", []int{0, 2, 1, 2, 0, 1, -1, -1}},
	} {
		found, matched, _, err := backtrackerOf(t, probe.expression, true).Find(nil, []rune(probe.text), 0, 0, plenty)
		require.NoError(t, err)
		require.Equal(t, probe.positions != nil, matched, probe.expression)
		require.Equal(t, probe.positions, found, probe.expression)
	}
}

// If the automaton can run an expression, both must give the same result.
func TestBacktrackingEqualsTheAutomaton(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, q := range append(invented(plainInventor, 9, 4_000, 2), invented(richInventor, 10, 4_000, 2)...) {
		compiled, own, _ := compileBoth(q)
		if own == nil || !compiled.whole.mayMatch([]byte(q.text)) {
			continue
		}
		expected, wanted, decided := own.match(nil, []byte(q.text))
		positions, matched, err := compiled.whole.backtrack(nil, []byte(q.text), 0, false)
		if err != nil || !decided {
			continue
		}
		compared++
		require.Equal(t, wanted, matched, "%s", q)
		if matched {
			require.Equal(t, expected, positions, "%s", q)
		}
	}
	require.Greater(t, compared, 2_000)
}

func TestWorkIsTheSameEachTime(t *testing.T) {
	program := backtrackerOf(t, `(a+)+`, true)
	text := []rune(strings.Repeat("a", 16) + "b")
	_, _, first, err := program.Find(nil, text, 0, 0, plenty)
	require.NoError(t, err)
	for range 3 {
		_, matched, work, err := program.Find(nil, text, 0, 0, first)
		require.NoError(t, err)
		require.False(t, matched)
		require.Equal(t, first, work)
		_, _, _, err = program.Find(nil, text, 0, 0, first-1)
		require.ErrorIs(t, err, ErrBacktracking)
	}
}

func TestAllSlowOperationsCountAsWork(t *testing.T) {
	long := []rune(strings.Repeat("a", 1000) + strings.Repeat("é", 1000))
	for _, expression := range []string{
		`[aé]*`, `[aé]*?\z`, `[aé]{2000}`, `x`, `[xy]z`, `([aé]+)\1`, `(?<=[aé]{500})\z`, string(long), `(?:a|é)*`, `(?:ab?|é)*+`,
	} {
		_, _, work, err := backtrackerOf(t, expression, false).Find(nil, long, 0, 0, plenty)
		require.NoError(t, err)
		require.GreaterOrEqual(t, work, len(long)/8, expression)
	}
}

func TestARuneBeyondASCIICostsMore(t *testing.T) {
	work := func(text string) int {
		_, _, work, err := backtrackerOf(t, `(?:[aü]|xy)*`, true).Find(nil, []rune(text), 0, 0, plenty)
		require.NoError(t, err)
		return work
	}
	require.GreaterOrEqual(t, work("üüüüüüüü"), work("aaaaaaaa")+8)
}

func BenchmarkBacktracking(b *testing.B) {
	for name, probe := range map[string]struct{ expression, text string }{
		"backreference":      {`(?:([A-Za-z]+) [^=]*=\1)`, "word some text=word"},
		"lookahead":          {`(?:(?!ERROR)([^ ]+) +([0-9]+) +(?s:.)*)`, "node01 1234 running since this morning"},
		"nested loops":       {`(a+)+`, strings.Repeat("a", 16) + "b"},
		"nested lazy loops":  {`(?:(?:([^x]*?)[^y]*?)+)z`, strings.Repeat("a", 8) + "xy"},
		"counted loops":      {`(?:(?:(a{1,3}){1,9}){1,9})`, strings.Repeat("a", 14) + "b"},
		"loops in a row":     {`[ab]*[ab]*[ab]*[ab]*c`, strings.Repeat("a", 60)},
		"lazy loops":         {`(?s:.)*?(?s:.)*?(?s:.)*?(?s:.)*?c`, strings.Repeat("a", 60)},
		"beyond ASCII":       {`(?:(\p{L}+)+)`, strings.Repeat("é", 14) + "1"},
		"runes":              {`(?:(?=[ab]{500}c)|a)+c`, strings.Repeat("a", 600)},
		"atomic runes":       {`(?:(?>[ab]*)c|a)*d`, strings.Repeat("a", 1500)},
		"long literals":      {`(?:` + strings.Repeat("a", 500) + `b|a)*d`, strings.Repeat("a", 1500)},
		"long backreference": {`([ab]*),(?:\1x|a)*d`, strings.Repeat("a", 500) + "," + strings.Repeat("a", 1000)},
		"captures":           {`(?:(?:((((a))))*)*)*`, strings.Repeat("a", 12) + "b"},
		"wide class":         {`(?:([àâäåçèêëìîïñòôöùûüýÿāăąćĉċčďđēĕėęěĝğġģĥħ\p{Lu}é]+)+)`, strings.Repeat("é", 14) + "1"},
		"word edges":         {`(?:\b\w+\b\W*)+(?=)`, "node01 1234 running since this morning"},
	} {
		text := []rune(probe.text)
		b.Run(name, func(b *testing.B) {
			program, positions, total := backtrackerOf(b, probe.expression, true), make([]int, 0, 8), 0
			for b.Loop() {
				_, _, work, err := program.Find(positions[:0], text, 0, 0, plenty)
				require.NoError(b, err)
				total += work
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/work")
		})
	}
}
