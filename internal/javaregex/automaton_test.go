package javaregex

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// The automaton and Go's engine must give the same results; they share only the parsed expression.
func TestAutomatonEqualsLinearEngine(t *testing.T) {
	t.Parallel()
	questions := append(invented(plainInventor, 3, 20_000, 3), invented(richInventor, 4, 10_000, 2)...)
	questions = append(questions, invented(wideInventor, 8, 1_000, 3)...)
	compared, matched, byThreads := requireTheSame(t, questions)
	t.Logf("%d compared, %d of them matched, %d by threads", compared, matched, byThreads)
	require.Greater(t, compared, 15_000)
	require.Greater(t, byThreads, 2_000)
	require.Greater(t, matched-byThreads, 1_000)
}

// wideInventor creates texts with runes of several bytes.
var wideInventor = inventor{
	atoms: []string{"a", "é", "a", "é", "[aé]", "."},
	runes: []rune("aaéé\U0001F600"),
}

// Only in longer texts does the automaton skip several bytes at once.
func TestAutomatonEqualsLinearEngineOnLongTexts(t *testing.T) {
	t.Parallel()
	questions := append(invented(plainInventor, 5, 3_000, 3), invented(wideInventor, 6, 2_000, 3)...)
	random := rand.New(rand.NewPCG(7, 17))
	for i, q := range questions {
		var stretched strings.Builder
		for _, r := range q.text {
			stretched.WriteString(strings.Repeat(string(r), 1+random.IntN(24)))
		}
		questions[i].text = stretched.String()
	}
	_, _, byThreads := requireTheSame(t, questions)
	require.Greater(t, byThreads, 1_000)
}

// requireTheSame compares what both engines find as far as both take the expressions, and
// counts how many answers were compared, and of these matches of all and by threads.
func requireTheSame(t *testing.T, questions []question) (compared, matched, byThreads int) {
	var compiled *Regexp
	var own *automaton
	var other *regexp.Regexp
	for i, q := range questions {
		// Questions about one expression follow one another.
		if i == 0 || q.expression != questions[i-1].expression || q.flags != questions[i-1].flags {
			compiled, own, other = compileBoth(q)
		}
		if own == nil || other == nil {
			continue
		}
		text := []byte(q.text)
		expected := other.FindSubmatchIndex(text)
		if !compiled.whole.mayMatch(text) {
			require.Nil(t, expected, "%s", q)
			continue
		}
		positions, found, decided := own.match(nil, text)
		require.True(t, decided, "%s", q)
		require.Equal(t, expected != nil, found, "%s", q)
		if found {
			require.Equal(t, expected, positions, "%s", q)
			matched++
			if own.steps == nil {
				byThreads++
			}
		}
		compared++
	}
	return compared, matched, byThreads
}

func compileBoth(q question) (compiled *Regexp, own *automaton, other *regexp.Regexp) {
	compiled, err := Compile(q.expression, q.flags)
	if err != nil {
		return nil, nil, nil
	}
	if own = compiled.whole.ownEngine(); own == nil {
		return compiled, nil, nil
	}
	return compiled, own, compiled.whole.linearEngine()
}

func TestAnotherEngineIsUsedIfTheTablesGrowTooLarge(t *testing.T) {
	// Which of the next 13 runes are an a makes a different future each.
	compiled := mustCompile(t, `([ab]*)a[ab]{12}`, 0)
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 20_000)
	for i := range text {
		text[i] = "ab"[random.IntN(2)]
	}
	text[len(text)-13] = 'a'
	own := compiled.whole.ownEngine()
	_, _, decided := own.match(nil, text)
	require.False(t, decided)

	positions, matched, err := compiled.Match(nil, text)
	require.NoError(t, err)
	require.True(t, matched)
	require.Equal(t, compiled.whole.linearEngine().FindSubmatchIndex(text), positions)
}

func TestAnotherEngineIsUsedIfThePrefixDoesNotFit(t *testing.T) {
	var prefix strings.Builder
	for r := 'A'; r < 'A'+200; r++ {
		prefix.WriteRune(r)
	}
	compiled := mustCompile(t, regexp.QuoteMeta(prefix.String())+`.*b.*(b).*`, 0)
	require.NotNil(t, compiled.whole.ownEngine())
	text := prefix.String() + "abab"
	positions, matched, err := compiled.Match(nil, []byte(text))
	require.NoError(t, err)
	require.True(t, matched)
	require.Equal(t, []int{0, len(text), len(text) - 1, len(text)}, positions)
}

func TestExpressionsAreSafeForConcurrentUse(t *testing.T) {
	compiled := mustCompile(t, `.+[\s]+.+[\s]+([A-Z])[\s]+.+`, 0)
	var all errgroup.Group
	for worker := range 8 {
		all.Go(func() error {
			for i := range 200 {
				text := fmt.Appendf(nil, "%d worker-%d é  X %d", i, worker, i)
				at := bytes.IndexByte(text, 'X')
				positions, matched, err := compiled.Match(nil, text)
				if err != nil || !matched || positions[2] != at || positions[3] != at+1 {
					return fmt.Errorf("%q: %v %t %w", text, positions, matched, err)
				}
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
}

func FuzzAutomaton(f *testing.F) {
	for _, one := range benchmarks {
		f.Add(one.expression, uint8(one.flags), []byte(one.hit))
		f.Add(one.expression, uint8(one.flags), []byte(one.miss))
	}
	f.Add(`(a|ab)(c|bcd)(d*)`, uint8(0), []byte("abcd"))
	f.Add(`(é*?)(\S+)\s*([^é]*)`, uint8(0), []byte("ééé x\xffé"))
	f.Fuzz(func(t *testing.T, expression string, flags uint8, text []byte) {
		compiled, err := Compile(expression, Flags(flags)&(unixLines<<1-1))
		if err != nil {
			return
		}
		own, other := compiled.whole.ownEngine(), compiled.whole.linearEngine()
		if own == nil || other == nil || compiled.whole.asciiOnly && !isASCII(text) {
			return
		}
		expected := other.FindSubmatchIndex(text)
		for range 2 { // the second match must not depend on the first
			positions, matched, err := compiled.Match(nil, text)
			require.NoError(t, err)
			require.Equal(t, expected != nil, matched)
			if matched {
				require.Equal(t, expected, positions)
			}
		}
	})
}
