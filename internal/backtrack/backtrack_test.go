package backtrack

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/stretchr/testify/require"
)

// plenty is more work than the matches of these tests need.
const plenty = 50_000_000

func compiled(t testing.TB, expression string) *Program {
	t.Helper()
	program, err := Compile(expression)
	require.NoError(t, err, expression)
	return program
}

// expected returns what regexp2 itself finds.
func expected(t testing.TB, expression string, text []rune, from, groups int) []int {
	t.Helper()
	original, err := regexp2.Compile(expression, regexp2.None)
	require.NoError(t, err, expression)
	match, err := original.FindRunesMatchStartingAt(text, from)
	require.NoError(t, err)
	if match == nil {
		return nil
	}
	var positions []int
	for number := range groups + 1 {
		group := match.GroupByNumber(number)
		if group == nil || len(group.Captures) == 0 {
			positions = append(positions, -1, -1)
			continue
		}
		positions = append(positions, group.Index, group.Index+group.Length)
	}
	return positions
}

func requireSame(t testing.TB, expression, text string, groups int) {
	t.Helper()
	program, runes := compiled(t, expression), []rune(text)
	for from := range len(runes) + 1 {
		found, matched, _, err := program.Find(nil, runes, from, groups, plenty)
		require.NoError(t, err, "%s on %q", expression, text)
		wanted := expected(t, expression, runes, from, groups)
		require.Equal(t, wanted != nil, matched, "%s on %q from %d", expression, text, from)
		require.Equal(t, wanted, found, "%s on %q from %d", expression, text, from)
	}
}

func TestMatchesAreThoseOfTheOriginal(t *testing.T) {
	for _, expression := range []string{
		`(?<1>a+)+b`, `(?<1>a+?)+?b`, `(?<1>a*)*c`, `(?<1>a*?)*?c`, `(?<1>a|b){2,3}c`, `(?<1>a|b){2,3}?c`, `(?<1>a?){3}b`, `(?<1>a??){3,}?b`,
		`(?>a+)ab`, `(?=(?<1>a+))a*b\k<1>`, `(?!ab)a.`, `(?<=(?<1>a|ab))c`, `(?<=(?<1>a{1,2})b)c`, `(?<!a+b)c`, `(?i:\k<1>)(?<1>a)`,
		`(?<1>a)(?i:\k<1>)`, `(?<=\k<1>(?<1>a))b`, `\A(?:a|b)*\z`, `\Gb`, `[^a]+`, `[^a]+?b`, `[a-b\p{Lu}é]{2,4}c`, `[ab]{2}?`, `abc`, `(?!)`, ``,
		`(?<1>(?<2>a)|b)+(?<3>c)?`, `(?<=[^b]{2})c`, `(?<=ab*?)c`, `é+(?<1>[^\u0000-\u007F]*)`, `\z`, `(?>(?<1>a|ab)+)c`,
	} {
		for _, text := range []string{"", "a", "aaab", "abcabc", "aabbcc", "éÉaAbB", "bbbac", "caab", "aaaaac"} {
			requireSame(t, expression, text, 6)
		}
	}
}

// randomExpression returns an expression of a few constructs, and opens its
// groups in order.
func randomExpression(random *rand.Rand, depth int, groups *int) string {
	pick := func(options ...string) string { return options[random.IntN(len(options))] }
	inner := func() string { return randomExpression(random, depth-1, groups) }
	if depth == 0 {
		return pick("a", "b", "ab", "[ab]", "[^a]", "(?s:.)", "é", "[é-ü]", `\p{L}`, "")
	}
	quantified := func() string {
		return "(?:" + inner() + ")" + pick("", "*", "+", "?", "{2}", "{1,3}", "{2,}") + pick("", "", "?")
	}
	switch random.IntN(9) {
	case 0:
		return "(?:" + inner() + "|" + inner() + ")"
	case 1:
		*groups++
		number := string(rune('0' + *groups))
		return "(?<" + number + ">" + inner() + ")" + pick("", "*", "+?", "{1,2}")
	case 2:
		return pick("(?=", "(?!", "(?<=", "(?<!", "(?>") + inner() + ")"
	case 3:
		if *groups == 0 {
			return inner()
		}
		return pick(`\k<1>`, `(?i:\k<1>)`)
	case 4:
		return pick(`\A`, `\z`, `\G`) + inner()
	case 5, 6:
		return quantified()
	}
	return inner() + quantified()
}

func TestMatchesOfRandomExpressionsAreThoseOfTheOriginal(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 4))
	for range 3000 {
		groups := 0
		expression := randomExpression(random, 4, &groups)
		if groups > 9 || len(expression) > 120 {
			continue
		}
		text := make([]rune, random.IntN(8))
		for i := range text {
			text[i] = []rune("aabbéA")[random.IntN(6)]
		}
		requireSame(t, expression, string(text), groups)
	}
}

func TestAGroupThatIsMissingMatchesNothing(t *testing.T) {
	found, matched, _, err := compiled(t, `(?<2>a)(?<5>b)`).Find(nil, []rune("ab"), 0, 6, plenty)
	require.NoError(t, err)
	require.True(t, matched)
	require.Equal(t, []int{0, 2, -1, -1, 0, 1, -1, -1, -1, -1, 1, 2, -1, -1}, found)
}

func TestWorkIsTheSameEachTime(t *testing.T) {
	program := compiled(t, `\A(?<1>a+)+\z`)
	text := []rune(strings.Repeat("a", 16) + "b")
	_, _, first, err := program.Find(nil, text, 0, 1, plenty)
	require.NoError(t, err)
	for range 3 {
		_, matched, work, err := program.Find(nil, text, 0, 1, first)
		require.NoError(t, err)
		require.False(t, matched)
		require.Equal(t, first, work)
		_, _, _, err = program.Find(nil, text, 0, 1, first-1)
		require.ErrorIs(t, err, ErrWork)
	}
}

func TestAllThatTakesLongCountsAsWork(t *testing.T) {
	long := []rune(strings.Repeat("a", 1000) + strings.Repeat("é", 1000))
	for _, expression := range []string{
		`[aé]*`, `[aé]*?\z`, `[aé]{2000}`, `x`, `[xy]z`, `(?<1>[aé]+)\k<1>`, `(?<=[aé]*)\z`, string(long), `(?:a|é)*`,
	} {
		_, _, work, err := compiled(t, expression).Find(nil, long, 0, 0, plenty)
		require.NoError(t, err)
		require.GreaterOrEqual(t, work, len(long)/8, expression)
	}
}

func TestARuneBeyondASCIICostsWhatItsClassCosts(t *testing.T) {
	work := func(expression string) int {
		_, _, work, err := compiled(t, expression).Find(nil, []rune("üüüüüüüü"), 0, 0, plenty)
		require.NoError(t, err)
		return work
	}
	var class strings.Builder
	for r := rune(0x100); r < 0x300; r += 2 {
		class.WriteRune(r)
	}
	require.Greater(t, work(`\A(?:[`+class.String()+`ü]|x)*\z`), 4*work(`\A(?:[üx]|x)*\z`))
}

func TestWhatIsNeverUsedIsRefused(t *testing.T) {
	for _, expression := range []string{`\bx`, `a$`, `(?m:^a)`, `(?i:a)`, `(?<1>a)(?<2-1>b)`, `(?<1>a)(?(1)b|c)`, `(?i:[ab]+)`} {
		_, err := Compile(expression)
		require.ErrorContains(t, err, "unsupported", expression)
	}
	_, err := Compile(`(a`)
	require.Error(t, err)
}

func BenchmarkFind(b *testing.B) {
	for name, probe := range map[string]struct{ expression, text string }{
		"backreference":      {`\A(?:(?<1>[A-Za-z]+) [^=]*=\k<1>)\z`, "word some text=word"},
		"lookahead":          {`\A(?:(?!ERROR)(?<1>[^ ]+) +(?<2>[0-9]+) +(?s:.)*)\z`, "node01 1234 running since this morning"},
		"nested loops":       {`\A(?<1>a+)+\z`, strings.Repeat("a", 16) + "b"},
		"nested lazy loops":  {`\A(?:(?:(?<1>[^x]*?)[^y]*?)+)z\z`, strings.Repeat("a", 8) + "xy"},
		"counted loops":      {`\A(?:(?<1>a{1,3}){1,9}){1,9}\z`, strings.Repeat("a", 14) + "b"},
		"loops in a row":     {`\A[ab]*[ab]*[ab]*[ab]*c\z`, strings.Repeat("a", 60)},
		"lazy loops":         {`\A(?s:.)*?(?s:.)*?(?s:.)*?(?s:.)*?c\z`, strings.Repeat("a", 60)},
		"beyond ASCII":       {`\A(?:(?<1>\p{L}+)+)\z`, strings.Repeat("é", 14) + "1"},
		"runes":              {`\A(?:a|a)+b|(?:(?=[ab]{500}c)|a)+c\z`, strings.Repeat("a", 600)},
		"atomic runes":       {`\A(?:(?>[ab]*)c|a)*d\z`, strings.Repeat("a", 1500)},
		"long literals":      {`\A(?:` + strings.Repeat("a", 500) + `b|a)*d\z`, strings.Repeat("a", 1500)},
		"long backreference": {`\A(?<1>[ab]*),(?:\k<1>x|a)*d\z`, strings.Repeat("a", 500) + "," + strings.Repeat("a", 1000)},
		"lookbehind":         {`(?<=[ab]{500})c|(?<=ca*)d`, strings.Repeat("a", 600)},
		"captures":           {`\A(?:(?:(?<1>(?<2>(?<3>(?<4>a))))*)*)*\z`, strings.Repeat("a", 12) + "b"},
		"wide class":         {`\A(?:(?<1>[àâäåçèêëìîïñòôöùûüýÿāăąćĉċčďđēĕėęěĝğġģĥħ\p{Lu}é]+)+)\z`, strings.Repeat("é", 14) + "1"},
	} {
		text := []rune(probe.text)
		b.Run(name+"/fork", func(b *testing.B) {
			program, positions, total := compiled(b, probe.expression), make([]int, 0, 8), 0
			for b.Loop() {
				_, _, work, err := program.Find(positions[:0], text, 0, 2, plenty)
				require.NoError(b, err)
				total += work
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/work")
		})
		b.Run(name+"/original", func(b *testing.B) {
			original, err := regexp2.Compile(probe.expression, regexp2.None)
			require.NoError(b, err)
			original.MatchTimeout = time.Minute // as it checks its clock with a limit only
			_, _, work, err := compiled(b, probe.expression).Find(nil, text, 0, 2, plenty)
			require.NoError(b, err)
			total := 0
			for b.Loop() {
				total += work
				_, err := original.FindRunesMatchStartingAt(text, 0)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/work")
		})
	}
}
