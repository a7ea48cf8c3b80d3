package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// FuzzLoad reads and checks anything. Whatever it is, problems have places that
// exist, checks do not depend on chance, and what has no error can be used.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("<resource-manager-builder/>"))
	f.Add([]byte("\ufeff<?xml version='1.0' encoding='UTF-8'?>\r\n<r:resource-manager-builder xmlns:r='http://eclipse.org/ptp/rm'><r:control-data/></r:resource-manager-builder>"))
	seeds, err := filepath.Glob(filepath.Join("testdata", "diagnostics", "*.xml"))
	require.NoError(f, err)
	for _, file := range append(seeds, filepath.Join("..", "rms", "fork.xml")) {
		source, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		definition, problems := config.Load("fuzz.xml", source)
		if definition == nil && !problems.HasErrors() {
			t.Fatal("neither a definition nor an error")
		}
		requirePlaces(t, problems, source)
		_, again := config.Load("fuzz.xml", source)
		require.Equal(t, describe(problems, source), describe(again, source))
		if problems.HasErrors() {
			return
		}
		unchecked, err := config.Read("fuzz.xml", source)
		require.NoError(t, err)
		require.Len(t, unchecked.Attributes, len(definition.Attributes))
		require.Len(t, unchecked.Commands, len(definition.Commands))
	})
}

// requirePlaces demands that each problem has a place in the source and a code.
func requirePlaces(t *testing.T, problems config.Diagnostics, source []byte) {
	lines := strings.Split(string(source), "\n")
	for _, problem := range problems {
		require.NotEmpty(t, problem.Code)
		require.NotEmpty(t, problem.Message)
		require.Positive(t, problem.Line, problem)
		require.LessOrEqual(t, problem.Line, len(lines), problem)
		require.Positive(t, problem.Column, problem)
		require.LessOrEqual(t, problem.Column, len(lines[problem.Line-1])+1, problem)
	}
}

func describe(problems config.Diagnostics, source []byte) string {
	var text strings.Builder
	for _, problem := range problems {
		text.WriteString(problem.String() + "\n" + problem.Excerpt(source) + "\n")
	}
	return text.String()
}
