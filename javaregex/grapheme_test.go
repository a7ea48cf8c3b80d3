package javaregex

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// graphemeKinds are a few characters of each kind that the rules for clusters
// tell apart.
var graphemeKinds = map[string]string{
	"other":             "aé\U00010330\U00020000\U00100000\uFFFD\u1083\u0378",
	"carriage return":   "\r",
	"line feed":         "\n",
	"control":           "\x02\x7F\u00AD\u2028\uFEFF\u0379\U000E0001\U0002FFFE\U000EFFFF",
	"extender":          "\u0301\u20DD\u200C\uFF9E\U0001F3FD\U000E0067",
	"joiner":            "\u200D",
	"regional":          "\U0001F1E6\U0001F1FF",
	"prepended":         "\u0600\u0D4E\U000110BD",
	"spacing mark":      "\u0903\u0E33\U0001D166",
	"leading jamo":      "\u1100\uA960",
	"vowel jamo":        "\u1161\uD7B0",
	"trailing jamo":     "\u11A8\uD7CB",
	"open syllable":     "\uAC00\uD788",
	"closed syllable":   "\uAC01\uD7A3",
	"pictograph":        "\u00A9\u2764\U0001F468",
	"future pictograph": "\U0001FAFF",
}

func clustersOf(t *testing.T, text string) []string {
	t.Helper()
	expression := mustCompile(t, `\X`, 0)
	var clusters []string
	for offset := 0; offset < len(text); {
		positions, found, err := expression.Find(nil, []byte(text), offset)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, offset, positions[0])
		clusters = append(clusters, text[positions[0]:positions[1]])
		offset = positions[1]
	}
	return clusters
}

func TestClustersEndWhereTheyEndInJava17(t *testing.T) {
	for name, clusters := range map[string][]string{
		"nothing":               nil,
		"letters":               {"a", "b"},
		"letter with marks":     {"e\u0301\u0323", "a"},
		"mark without a letter": {"\u0301\u0302", "a"},
		"mark after a control":  {"\x01", "\u0301"},
		"line ends":             {"\r\n", "\n", "\r", "\r\n", "\r"},
		"mark after a line end": {"\r\n", "\u0301"},
		"spacing mark":          {"\u0915\u093F", "a"},
		"mark that does not count as a spacing one": {"\u1019", "\u102C"},
		"vowel sign that is a letter":               {"\u0E01\u0E33"},
		"prepended":                                 {"\u0600\u0601\u0661\u0301", "\u0661"},
		"prepended before a control":                {"\u0600", "\n"},
		"prepended before a mark":                   {"\u0600\u0301", "a"},
		"prepended at the end":                      {"a", "\u0600\u0600"},
		"prepended before a flag":                   {"\u0600\U0001F1E9\U0001F1EA", "\U0001F1EB"},
		"flags":                                     {"\U0001F1E9\U0001F1EA", "\U0001F1EB\U0001F1F7", "\U0001F1EC"},
		"flag letters with a mark between":          {"\U0001F1E9\u0301", "\U0001F1EA\U0001F1EB"},
		"family":                                    {"\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D", "a"},
		"pictographs without a joiner":              {"\u2764", "\u2764\uFE0F"},
		"pictographs with marks before a joiner":    {"\u2764\uFE0F\u0903\u200D\u200D\U0001F525\U0001F3FD", "\U0001F525"},
		"joiner after a letter":                     {"a\u200D", "\u2764"},
		"prepended pictograph":                      {"\u0600\u2764\u200D", "\u2764"},
		"pictograph yet to come":                    {"\U0001FAFF\u200D\U0001FAFF"},
		"jamos":                                     {"\u1100\u1100\u1161\u1161\u11A8\u11A8\u0301", "\u1161", "\u1100"},
		"open syllable":                             {"\u1100\uAC00\u1161\u11A8", "\uAC00\u11A8\u11A8"},
		"closed syllable":                           {"\u1100\uAC01\u11A8", "\u1161", "\uAC01", "\u1161\u11A8"},
		"trailing jamos":                            {"\u11A8\u11A8", "\u1161", "\u1100"},
		"syllables":                                 {"\uAC00", "\uAC01", "\uAC00", "\u1100", "a"},
		"unassigned characters are controls":        {"a", "\u0379", "\u0301"},
		"but for one":                               {"\u0378\u0301"},
		"private use":                               {"\uE000\u0301"},
		"tags":                                      {"\U0001F3F4\U000E0067\U000E007F", "a"},
		"bytes that are not UTF-8":                  {"\xFF", "\xC3\u0301", "\xE2", "\x82"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, clusters, clustersOf(t, strings.Join(clusters, "")))
		})
	}
}

var clusterProbes = []struct {
	expression, text string
	matched          bool
}{
	{`\X\u0301`, "e\u0301", false},
	{`\X.`, "\r\n", false},
	{`\X+\n`, "a\r\n", false},
	{`\X+?b`, "e\u0301b", true},
	{`\X{2}`, "e\u0301", false},
	{`\X{2}`, "e\u0301a", true},
	{`(?=\X\z)..`, "e\u0301", true},
	{`a*\X`, "aa", true},
	{`\X`, "", false},
	{`(?i)\X`, "E", true},
	{`(?x) \X \X`, "ab", true},
	// Java counts no characters for \X when it finds out how far to look back.
	{`a(?<=\X)`, "a", false},
	{`a(?<!\X)`, "a", true},
	{`.*(?<=a\X)`, "ab", false},
	{`.*(?<=\X|abc)`, "xe\u0301", true},
	{`.*(?<=\X|abc)d`, "e\u0301d", true},
	{`.*(?<=\X|ab)\u0301`, "e\u0301", false},
}

func TestAClusterGivesNothingBack(t *testing.T) {
	for _, probe := range clusterProbes {
		compiled := mustCompile(t, probe.expression, 0)
		require.Equal(t, "regexp2", compiled.Engine(), probe.expression)
		matched, err := compiled.MatchString(probe.text)
		require.NoError(t, err)
		require.Equal(t, probe.matched, matched, "%s on %q", probe.expression, probe.text)
	}
}

func TestInspectorClaimsNothingAboutClusters(t *testing.T) {
	inspector := NewInspector(1_000_000)
	clusters, anything := mustCompile(t, `\X*`, 0), mustCompile(t, `(?s).*`, 0)
	require.False(t, inspector.Covered(anything, []*Regexp{clusters}, Texts{}))
	require.False(t, inspector.Covered(mustCompile(t, `ab`, 0), []*Regexp{mustCompile(t, `\Xb`, 0)}, Texts{}))
	require.False(t, inspector.Covered(clusters, []*Regexp{mustCompile(t, `.`, 0)}, Texts{}))
	require.True(t, inspector.Covered(clusters, []*Regexp{anything}, Texts{}))
	require.False(t, inspector.Impossible(mustCompile(t, `\X\X`, 0), Texts{Delimiter: '\n'}))
	require.True(t, inspector.Overlap(mustCompile(t, `\X`, 0), mustCompile(t, `e\u0301`, 0)))
	_, _, _, runsAway := inspector.Runaway(mustCompile(t, `(?:\X+)+!`, 0))
	require.False(t, runsAway)
}

// separator is a control, so no cluster goes beyond it.
const separator = "\x01"

func TestEachCharacterJoinsOthersAsInJava(t *testing.T) {
	contexts := []string{
		"a ", " \u0301",
		"\U0001F468\u200D ", "\U0001F1E6 ", "\u1100 ", " \u11A8",
		" ", " \u200D\U0001F468", "\U0001F1E6\U0001F1E7 ", "\u0600 \u0301",
	}
	const (
		forEach = 2 // contexts that come first, and tell most kinds apart
		forMost = 6
	)
	for _, name := range slices.Sorted(maps.Keys(graphemeKinds)) {
		representative := string([]rune(graphemeKinds[name])[0])
		contexts = append(contexts, representative+" ", " "+representative)
	}
	java := askJava(t, []question{
		{operation: "counts", expression: `\X`, text: strings.Join(contexts, separator)},
		{operation: "members", expression: `\p{Cn}`},
	})
	assignedLater := runesOf(t, java[1]).intersection(assigned.runes())
	counters := map[string]*Regexp{}
	for _, count := range []string{"1", "2", "3"} {
		counters[count] = mustCompile(t, `(?:\X{`+count+`}`+separator+`)++`, 0)
	}
	words := strings.Fields(java[0])
	require.Equal(t, "yes", words[0])
	for run := range slices.Chunk(words[1:], 3) {
		low, err := strconv.Atoi(run[0])
		require.NoError(t, err)
		high, err := strconv.Atoi(run[1])
		require.NoError(t, err)
		set := rangeOf(rune(low), rune(high)).without(assignedLater).without(rangeOf(0xD800, 0xDFFF))
		for i, context := range contexts {
			switch i {
			case forEach:
				set = withoutMiddles(set)
			case forMost:
				set = someOf(set)
			}
			requireCount(t, counters[run[2][i:i+1]], set, context)
		}
	}
}

// withoutMiddles leaves out the middle of long ranges, to save time: they are
// Han characters, or for private use, or unassigned.
func withoutMiddles(set runeSet) runeSet {
	const ends = 300
	var ranges []runeRange
	for _, part := range set {
		if part.high-part.low < 2*ends {
			ranges = append(ranges, part)
			continue
		}
		ranges = append(ranges, runeRange{part.low, part.low + ends}, runeRange{part.high - ends, part.high})
	}
	return normalized(ranges)
}

// someOf takes the ends of each range, and each eighth character between them.
func someOf(set runeSet) runeSet {
	var ranges []runeRange
	for _, part := range set {
		for r := part.low; r < part.high; r += 8 {
			ranges = append(ranges, runeRange{r, r})
		}
		ranges = append(ranges, runeRange{part.high, part.high})
	}
	return normalized(ranges)
}

// requireCount requires that an expression matches a context, with a separator
// behind it, for each character of a set.
func requireCount(t *testing.T, counter *Regexp, set runeSet, context string) {
	t.Helper()
	const most = 500 // at once, since time is limited
	var text strings.Builder
	first, written := rune(0), 0
	check := func() {
		if written == 0 {
			return
		}
		matched, err := counter.MatchString(text.String())
		require.NoError(t, err)
		require.Truef(t, matched, "%s on %q for some of the %d characters from %U on", counter, context, written, first)
		text.Reset()
		written = 0
	}
	for _, part := range set {
		for r := part.low; r <= part.high; r++ {
			if written == 0 {
				first = r
			}
			text.WriteString(strings.Replace(context, " ", string(r), 1))
			text.WriteString(separator)
			if written++; written == most {
				check()
			}
		}
	}
	check()
}

func TestRandomClustersAreThoseOfJava(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 17))
	var kinds [][]rune
	for _, name := range slices.Sorted(maps.Keys(graphemeKinds)) {
		kinds = append(kinds, []rune(graphemeKinds[name]))
	}
	expressions := []string{
		`(\X)(\X)?+(\X*?)(.*)`, `(\X+?)(\X{2})(?s:(.*))`, `((\X)\u0301?)*`, `(?s)(?:(?=(\X))(.))*`, `(?s)(.)(\X+)`, `(?s)(..)(\X)+`,
	}
	var questions []question
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(9) {
			kind := kinds[random.IntN(len(kinds))]
			text.WriteRune(kind[random.IntN(len(kind))])
		}
		q := question{operation: "match", expression: expressions[random.IntN(len(expressions))], text: text.String()}
		switch random.IntN(4) {
		case 0:
			// It matches wherever the search begins, so not between two halves of a character.
			q.operation, q.expression, q.text, q.offset = "find", expressions[0], "ab"+q.text, random.IntN(3)
		case 1:
			q.operation, q.expression = "split", `\X`
		}
		questions = append(questions, q)
	}
	for _, probe := range clusterProbes {
		questions = append(questions, question{operation: "match", expression: probe.expression, text: probe.text})
	}
	java := askJava(t, questions)
	compiled := map[string]*Regexp{}
	for _, q := range questions {
		if compiled[q.expression] == nil {
			compiled[q.expression] = mustCompile(t, q.expression, 0)
		}
	}
	for i, q := range questions {
		require.Equal(t, java[i], answerOf(compiled[q.expression], q), q)
	}
}
