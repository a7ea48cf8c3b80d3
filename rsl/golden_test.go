package rsl

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the problems in testdata")

// A golden is a file of testdata: a comment and sections, without their last line end.
type golden struct {
	path    string
	archive *txtar.Archive
}

func goldens(t *testing.T, folder string) []golden {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	require.NoError(t, err)
	var found []golden
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		found = append(found, golden{path, archive})
	}
	return found
}

func (g golden) name() string { return strings.TrimSuffix(filepath.Base(g.path), ".txtar") }

// sections returns the texts of all sections of a name.
func (g golden) sections(name string) []string {
	var texts []string
	for _, file := range g.archive.Files {
		if file.Name == name {
			texts = append(texts, strings.TrimSuffix(string(file.Data), "\n"))
		}
	}
	return texts
}

func TestAcceptedRequestsGiveTheirTreeAndValues(t *testing.T) {
	cases := goldens(t, "accepted")
	require.GreaterOrEqual(t, len(cases), 48)
	for _, g := range cases {
		t.Run(g.name(), func(t *testing.T) {
			spec, err := Parse(g.sections("in")[0])
			require.NoError(t, err)
			tree, err := EncodeJSON(spec)
			require.NoError(t, err)
			require.Equal(t, g.sections("tree")[0], string(tree))
			canonical := g.sections("canonical")[0]
			require.Equal(t, canonical, Print(spec))

			again, err := Parse(canonical)
			require.NoError(t, err)
			require.Equal(t, canonical, Print(again))
			evaluated, warnings, err := Evaluate(spec, map[string]string{"HOME": "/home/u", "ROOT": "/r", "LEAF": "z"})
			require.NoError(t, err)
			require.Empty(t, warnings)
			Canonicalize(evaluated)
			require.Equal(t, g.sections("evaluated")[0], Print(evaluated))
			require.Equal(t, canonical, Print(spec), "the evaluation changed its argument")
		})
	}
}

// TestRefusedRequestsHaveProblems reads the cases of all stages: P fails in the parser, V in the evaluation; G
// and D fail later, where attributes get their meaning, and must pass here.
func TestRefusedRequestsHaveProblems(t *testing.T) {
	cases := goldens(t, "refused")
	require.GreaterOrEqual(t, len(cases), 47)
	for _, g := range cases {
		t.Run(g.name(), func(t *testing.T) {
			stage, _, isStage := strings.Cut(string(g.archive.Comment), ":")
			require.True(t, isStage)
			stage = strings.TrimPrefix(stage, "stage ")
			require.Contains(t, []string{"P", "V", "G", "D"}, stage)
			var problems []string
			for _, text := range g.sections("in") {
				err := problemsAt(t, stage, text)
				require.Equal(t, stage == "P" || stage == "V", err != nil, "%s: %v", text, err)
				if err != nil {
					problems = append(problems, err.Error())
				}
			}
			if *update {
				g.setProblems(t, strings.Join(problems, "\n"))
			}
			require.Equal(t, strings.Join(g.sections("problems"), "\n"), strings.Join(problems, "\n"))
		})
	}
}

func problemsAt(t *testing.T, stage, text string) error {
	t.Helper()
	spec, err := Parse(text)
	if stage == "P" {
		return err
	}
	require.NoError(t, err, text)
	_, _, err = Evaluate(spec, nil)
	return err
}

func (g *golden) setProblems(t *testing.T, problems string) {
	t.Helper()
	var files []txtar.File
	for _, file := range g.archive.Files {
		if file.Name != "problems" {
			files = append(files, file)
		}
	}
	if problems != "" {
		files = append(files, txtar.File{Name: "problems", Data: []byte(problems + "\n")})
	}
	g.archive.Files = files
	require.NoError(t, os.WriteFile(g.path, txtar.Format(g.archive), 0o600))
}

func TestProblemsAreShownInTheText(t *testing.T) {
	cases := goldens(t, "problems")
	require.NotEmpty(t, cases)
	for _, g := range cases {
		t.Run(g.name(), func(t *testing.T) {
			text := g.sections("in")[0]
			spec, err := Parse(text)
			var warnings Problems
			if err == nil {
				_, warnings, err = Evaluate(spec, nil)
			}
			require.Error(t, err)
			var shown []string
			for _, problem := range slices.Concat(warnings, err.(Problems)) {
				shown = append(shown, problem.Excerpt("job.rsl", text))
			}
			if *update {
				g.setProblems(t, strings.Join(shown, "\n"))
			}
			require.Equal(t, strings.Join(g.sections("problems"), "\n"), strings.Join(shown, "\n"))
		})
	}
}
