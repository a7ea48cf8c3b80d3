package javaregex

import (
	"errors"
	"testing"
)

// FuzzCompileAndMatch searches for expressions and texts on which compiling or matching panics, does not
// end, or gives impossible positions.
func FuzzCompileAndMatch(f *testing.F) {
	for _, probe := range constructs {
		f.Add(probe.expression, uint16(probe.flags), []byte(probe.text))
	}
	f.Add(`(?<=(a|b{2}+)*?)[a&&[^b]]\Q`, uint16(0), []byte("\xFFab\xC3"))
	f.Add(`((a*)*|b)+\2`, uint16(comments), []byte("aab"))
	f.Add(`(?<!a?\R)(?:\R+?|(?=\R)b{2})*`, uint16(0), []byte("e\u0301\r\n\U0001F1E9\U0001F1EA\uAC01\xFF"))
	f.Fuzz(func(t *testing.T, expression string, flags uint16, text []byte) {
		if len(expression) > 200 || len(text) > 200 {
			return
		}
		compiled, err := Compile(expression, Flags(flags)&(unixLines<<1-1))
		if err != nil {
			var wrong *SyntaxError
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(expression) {
				t.Fatalf("%q: %v", expression, err)
			}
			return
		}
		positions, matched, err := compiled.Match(nil, text)
		checkAnswer(t, compiled, text, positions, matched, err)
		if matched && (positions[0] != 0 || positions[1] != len(text)) {
			t.Fatalf("%q: a whole match at %v of %d", expression, positions[:2], len(text))
		}
		positions, matched, err = compiled.Find(nil, text, len(text)/2)
		checkAnswer(t, compiled, text, positions, matched, err)
		_, err = compiled.Split(nil, text)
		checkError(t, compiled, text, err)
	})
}

func tooLarge(err error) bool { return errors.Is(err, errTooLong) }

func checkError(t *testing.T, compiled *Regexp, text []byte, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrBacktracking) && !tooLarge(err) {
		t.Fatalf("%q on %q: %v", compiled, text, err)
	}
}

func checkAnswer(t *testing.T, compiled *Regexp, text []byte, positions []int, matched bool, err error) {
	t.Helper()
	switch {
	case err != nil:
		checkError(t, compiled, text, err)
	case !matched:
		if len(positions) != 0 {
			t.Fatalf("%q: positions %v without a match", compiled, positions)
		}
	case len(positions) != 2*(compiled.Groups()+1):
		t.Fatalf("%q: %d groups, positions %v", compiled, compiled.Groups(), positions)
	}
	for i := 0; i+1 < len(positions); i += 2 {
		start, end := positions[i], positions[i+1]
		if start == -1 && end == -1 {
			continue
		}
		if start < 0 || end < start || end > len(text) {
			t.Fatalf("%q on %q: positions %v", compiled, text, positions)
		}
	}
}
