package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// project writes files into a folder, with rules that forbid "riddle".
func project(t *testing.T, exceptions string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["scripts/words/patterns.txt"] = "# the rules\n\\briddles?\\b\tplain words\n"
	files["scripts/words/exceptions.txt"] = exceptions
	for path, contents := range files {
		path = filepath.Join(root, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(contents), 0o600))
	}
	return root
}

func TestEachKindOfTextIsChecked(t *testing.T) {
	for path, contents := range map[string]string{
		"a/a.go":            "// Package a is\n// a riddle.\npackage a\n",
		"a/b.go":            "package a\n\nvar _ = \"this is a riddle\"\n",
		"a/c_test.go":       "package a\n\nfunc TestARiddleIsSolved() {}\n",
		"docs/use/page.md":  "# Page\n\n- an item with\n  a Riddle\n",
		"README.md":         "| a table | of riddles |\n",
		"rms/a.xml":         "<a>\n<description>a riddle</description></a>\n",
		"rms/b.xml":         "<a tooltip=\"a riddle\"/>\n",
		"schemas/ext.xsd":   "<!-- a\nriddle -->\n",
		"check":             "#!/bin/sh\n# a riddle\n",
		"web/page.js":       "show('a riddle')\n",
		"testdata/a.txtar":  "# a riddle\nexec true\n",
		"rms/local.sh":      "true # not this: riddle\n# a riddle\n",
		"cmd/module/mod.py": "# a riddle\n",
		"testdata/a.toml":   "description = 'a riddle'\n",
		"testdata/b.toml":   "description = \"a riddle\"\n",
		"cases/c.toml":      "description = \"\"\"\na\nriddle\"\"\"\n",
		"testdata/d.toml":   "# a riddle\nkind = 'x'\n",
		".ci/run":           "#!/bin/sh\n# a riddle\n",
	} {
		t.Run(path, func(t *testing.T) {
			var out bytes.Buffer
			err := run(project(t, "", map[string]string{path: contents}), nil, &out)
			require.EqualError(t, err, "1 problems", out.String())
			require.Contains(t, out.String(), path+":")
			require.Contains(t, out.String(), "write plain words")
		})
	}
}

func TestWhatOtherProgramsPrintIsNotChecked(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(project(t, "", map[string]string{
		"a/testdata/output.go": "package a // riddle\n",
		"a/a_test.go":          "package a\n\nvar _ = \"qstat prints a riddle\"\n",
		"a/imports.go":         "package a\n\nimport _ \"riddle\"\n",
		"docs/page.md":         "A block:\n\n```\n$ riddle\n```\n",
		"testdata/case.toml":   "name = 'riddle'\n",
		"testdata/case.xml":    "<a>a riddle</a>\n",
		"testdata/a/case.js":   "// a riddle\n",
		"dist/a.go":            "package a // riddle\n",
		"image.png":            "riddle",
	}), nil, &out), out.String())
}

func TestAnExceptionAllowsOneFragmentInOneFile(t *testing.T) {
	const allowed = "# FILE\ndocs/game.md\tthe riddle of the sphinx\tthe name of a game\n"
	var out bytes.Buffer
	require.NoError(t, run(project(t, allowed, map[string]string{"docs/game.md": "Solve the riddle of\nthe sphinx.\n"}), nil, &out), out.String())

	err := run(project(t, allowed, map[string]string{
		"docs/game.md":  "Solve the riddle of the sphinx, and a riddle.\n",
		"docs/other.md": "the riddle of the sphinx\n",
	}), nil, &out)
	require.EqualError(t, err, "2 problems", out.String())

	out.Reset()
	require.EqualError(t, run(project(t, allowed, map[string]string{"docs/game.md": "Solve it.\n"}), nil, &out), "1 problems")
	require.Contains(t, out.String(), "exceptions.txt:2: not needed any more")
}

func TestRulesNeedTheirColumns(t *testing.T) {
	require.ErrorContains(t, run(project(t, "docs/game.md\triddle\n", map[string]string{}), nil, &bytes.Buffer{}), "exceptions.txt:1: want 3 columns")
}

func TestADrawCanBeRepeated(t *testing.T) {
	root := project(t, "", map[string]string{"docs/a.md": "One two three four.\n\nFive six seven eight.\n\nshort\n\nNine ten eleven twelve.\n"})
	var first, second bytes.Buffer
	require.NoError(t, run(root, []string{"draw", "5", "7"}, &first))
	require.NoError(t, run(root, []string{"draw", "5", "7"}, &second))
	require.Equal(t, first.String(), second.String())
	require.Contains(t, first.String(), "(doc)")
	require.NotContains(t, first.String(), "short")
	require.Error(t, run(root, []string{"draw", "many"}, &first))
}

func TestADrawHasAllKinds(t *testing.T) {
	var texts []text
	for _, as := range []kind{message, paragraph, markup, comment, testName} {
		for range 60 {
			texts = append(texts, text{kind: as, words: "one two three four"})
		}
	}
	counts := map[kind]int{}
	for _, drawn := range draw(texts, 50, rand.New(rand.NewPCG(1, 1))) {
		counts[drawn.kind]++
	}
	require.Equal(t, map[kind]int{message: 18, paragraph: 15, markup: 7, comment: 7, testName: 3}, counts)
}
