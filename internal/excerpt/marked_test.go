package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// In each line «» is what is wrong. Below it stands what the terminal shows.
func TestMarksStandBelowWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ line, text, marks string }{
		"plain":                {`<a b="«wrong»"/>`, `<a b="wrong"/>`, `      ^~~~~`},
		"a place only":         {`<a «»b=""/>`, `<a b=""/>`, `   ^`},
		"at the end":           {`<a«»`, `<a`, `  ^`},
		"tabs":                 {"\t\t<a «b»>", `  <a b>`, `     ^`},
		"accents":              {`déjà «vu» x`, `déjà vu x`, `     ^~`},
		"combining accents":    {"de\u0301ja\u0300 «vu» x", "de\u0301ja\u0300 vu x", `     ^~`},
		"wide characters":      {`日本 «語a» x`, `日本 語a x`, `     ^~~`},
		"control characters":   {"\x1b[31m\x00 «x»", `?[31m? x`, `       ^`},
		"invisible characters": {"\u200b\u202e«x»", `??x`, `  ^`},
		"no UTF-8":             {"\xff\xfe «x»", `?? x`, `   ^`},
	} {
		t.Run(name, func(t *testing.T) {
			before, rest, _ := strings.Cut(c.line, "«")
			wrong, after, _ := strings.Cut(rest, "»")
			shown, marks := excerptOf(before+wrong+after, len(before), len(wrong))
			require.Equal(t, c.text, shown)
			require.Equal(t, c.marks, marks)
		})
	}
}

func TestLongLinesAreShownAroundWhatIsWrong(t *testing.T) {
	line := strings.Repeat("日", 50_000) + "wrong" + strings.Repeat("y", 50_000)
	shown, marks := excerptOf(line, len("日")*50_000, len("wrong"))
	require.Equal(t, "…"+strings.Repeat("日", 30)+"wrong"+strings.Repeat("y", 44)+"…", shown)
	require.Equal(t, strings.Repeat(" ", 61)+"^~~~~", marks)
}

func TestPartsOfLongLinesBeginWithACharacter(t *testing.T) {
	line := strings.Repeat("日", 50_000)
	for at := range 12 {
		part, within := nearby(line, 100_000+at)
		require.True(t, utf8.RuneStart(part[0]))
		require.Equal(t, line[100_000+at:100_000+at+10], part[within:within+10])
	}
	part, within := nearby(strings.Repeat("\x80", 100_000), 50_000)
	require.Less(t, within, len(part))
}
