package tui

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
)

func TestALineIsEditedByKeys(t *testing.T) {
	control := func(letter rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: letter, Mod: tea.ModCtrl} }
	for name, c := range map[string]struct {
		keys   []tea.KeyPressMsg
		want   string
		cursor int
	}{
		"typed at the end":         {[]tea.KeyPressMsg{{Code: 'x', Text: "x"}}, "one twox", 8},
		"typed inside":             {[]tea.KeyPressMsg{namedKeys["left"], {Code: 'x', Text: "x"}}, "one twxo", 7},
		"typed at the start":       {[]tea.KeyPressMsg{namedKeys["home"], {Code: 'ä', Text: "ä"}}, "äone two", 1},
		"the character before":     {[]tea.KeyPressMsg{namedKeys["backspace"]}, "one tw", 6},
		"nothing before the start": {[]tea.KeyPressMsg{control('a'), namedKeys["backspace"], namedKeys["left"]}, "one two", 0},
		"the character under it":   {[]tea.KeyPressMsg{namedKeys["home"], namedKeys["delete"]}, "ne two", 0},
		"nothing behind the end":   {[]tea.KeyPressMsg{namedKeys["end"], namedKeys["delete"], namedKeys["right"]}, "one two", 7},
		"a word":                   {[]tea.KeyPressMsg{control('w')}, "one ", 4},
		"two words":                {[]tea.KeyPressMsg{control('w'), control('w')}, "", 0},
		"all before":               {[]tea.KeyPressMsg{namedKeys["left"], control('u')}, "o", 0},
		"all behind":               {[]tea.KeyPressMsg{control('a'), namedKeys["right"], control('k')}, "o", 1},
		"a line break is refused":  {[]tea.KeyPressMsg{control('j')}, "one two", 7},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewInput("one two", false)
			for _, key := range c.keys {
				e.Key(key)
			}
			require.Equal(t, c.want, e.String())
			require.Equal(t, c.cursor, e.cursor)
		})
	}
	e := NewInput("a", true)
	require.True(t, e.Key(control('j')))
	require.Equal(t, "a\n", e.String())
	require.False(t, e.Key(tea.KeyPressMsg{Code: tea.KeyF5}))
}

func FuzzTheWindowOfALineHoldsTheCursor(f *testing.F) {
	f.Add("one two", 3, 5)
	f.Add("日本語のテキスト", 7, 6)
	f.Add("a\x1b[31m\nb", 4, 1)
	f.Add("e\u0301\u0301", 2, 2)
	f.Fuzz(func(t *testing.T, text string, left, width int) {
		if width < 1 || width > 500 || len(text) > 1000 || !utf8.ValidString(text) {
			t.Skip()
		}
		e := NewInput("", true)
		e.Insert(text)
		for range max(min(left, 100), 0) {
			e.Key(namedKeys["left"])
		}
		shown, column := e.Window(width)
		require.LessOrEqual(t, ansi.StringWidth(shown), width)
		require.GreaterOrEqual(t, column, 0)
		require.Less(t, column, max(width, 1))
		require.False(t, strings.ContainsAny(shown, "\n\x1b\t"))
	})
}
