package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// An Input is a text that is being typed. Its line breaks are shown as a sign, so that
// it stays on one line.
type Input struct {
	text   []rune
	cursor int
	lines  bool // whether line breaks can be typed
}

// lineBreak is what stands for a line break where there is one line only.
const lineBreak = "↵"

// NewInput returns an input that holds a text, with the cursor behind it. It takes line
// breaks if lines is true.
func NewInput(text string, lines bool) Input {
	e := Input{text: []rune(text), lines: lines}
	e.cursor = len(e.text)
	return e
}

// String returns what was typed.
func (e *Input) String() string { return string(e.text) }

// Insert puts a text in where the cursor is. Line breaks become blanks where
// there may be none; other control characters are left out.
func (e *Input) Insert(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var typed []rune
	for _, r := range text {
		switch {
		case r == '\n' && !e.lines, r == '\t':
			r = ' '
		case r != '\n' && !unicode.IsPrint(r):
			continue
		}
		typed = append(typed, r)
	}
	e.text = append(e.text[:e.cursor:e.cursor], append(typed, e.text[e.cursor:]...)...)
	e.cursor += len(typed)
}

// IsAtStart reports whether nothing stands before the cursor.
func (e *Input) IsAtStart() bool { return e.cursor == 0 }

func (e *Input) remove(from, to int) {
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.cursor = from
}

// Key edits the text by a key, and reports whether the key was one for that.
func (e *Input) Key(key tea.KeyPressMsg) bool {
	switch key.String() {
	case "left", "ctrl+b":
		e.cursor = max(e.cursor-1, 0)
	case "right", "ctrl+f":
		e.cursor = min(e.cursor+1, len(e.text))
	case "home", "ctrl+a":
		e.cursor = 0
	case "end", "ctrl+e":
		e.cursor = len(e.text)
	case "backspace", "ctrl+h":
		e.remove(max(e.cursor-1, 0), e.cursor)
	case "delete", "ctrl+d":
		e.remove(e.cursor, min(e.cursor+1, len(e.text)))
	case "ctrl+u":
		e.remove(0, e.cursor)
	case "ctrl+k":
		e.remove(e.cursor, len(e.text))
	case "ctrl+w":
		e.remove(e.wordStart(), e.cursor)
	case "ctrl+j", "alt+enter":
		if !e.lines {
			return false
		}
		e.Insert("\n")
	default:
		if key.Text == "" {
			return false
		}
		e.Insert(key.Text)
	}
	return true
}

// wordStart returns where the word before the cursor begins.
func (e *Input) wordStart() int {
	at := e.cursor
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

// Window returns the part of the text around the cursor that fits into a width,
// and the column of the cursor in it.
func (e *Input) Window(width int) (shown string, column int) {
	start := 0
	for start < e.cursor && ansi.StringWidth(Verbatim(string(e.text[start:e.cursor]))) >= width {
		start++
	}
	shown = ansi.Truncate(Verbatim(string(e.text[start:])), width, "")
	return shown, ansi.StringWidth(Verbatim(string(e.text[start:e.cursor])))
}

// Verbatim makes a value safe for one line of a terminal, blanks kept.
func Verbatim(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", lineBreak)
	return strings.ReplaceAll(Printable(text), "\t", " ")
}
