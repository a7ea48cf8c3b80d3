package rsl

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func seed(f *testing.F) {
	f.Helper()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		_, text2, _ := strings.Cut(string(text), "-- in --\n")
		request, _, _ := strings.Cut(text2, "\n-- ")
		f.Add(request)
	}
	g := &generator{rand.New(rand.NewPCG(1, 2))}
	for range 20 {
		f.Add(g.request())
	}
}

// FuzzParse checks that printing and parsing again gives the same tree, and that problems
// can be shown.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := Parse(text)
		if err != nil {
			require.LessOrEqual(t, len(err.(Problems)), mostProblems)
			for _, problem := range err.(Problems) {
				requirePrintable(t, problem.Excerpt("file", text))
			}
			return
		}
		printed := Print(spec)
		if len(printed) > MaxSize {
			return
		}
		again, err := Parse(printed)
		require.NoError(t, err)
		require.Equal(t, printed, Print(again))
		first, err := EncodeJSON(spec)
		require.NoError(t, err)
		second, err := EncodeJSON(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}

// FuzzEvaluate checks that the result has no references, and does not change when it is evaluated again.
func FuzzEvaluate(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := Parse(text)
		if err != nil {
			return
		}
		before := Print(spec)
		evaluated, warnings, err := Evaluate(spec, oracleSymbols)
		require.Equal(t, before, Print(spec))
		byOther, ok := evaluateAsC(spec)
		if err != nil {
			require.False(t, ok || len(byOther) > 0)
			return
		}
		require.True(t, ok)
		require.LessOrEqual(t, len(warnings), mostProblems)
		printed := Print(evaluated)
		again, _, err := Evaluate(evaluated, nil)
		require.NoError(t, err)
		require.Equal(t, printed, Print(again))
		Canonicalize(evaluated)
		require.Equal(t, byOther, Print(evaluated))
	})
}

func requirePrintable(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\x00")
}
