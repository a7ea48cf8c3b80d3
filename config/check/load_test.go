package check_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/rms"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

// readBase finds the shipped definitions.
func readBase(name, _ string) (string, []byte, error) {
	source, shipped := rms.Source(name)
	if !shipped {
		return "", nil, os.ErrNotExist
	}
	return name, source, nil
}

// Next to each definition of testdata/diagnostics are its problems, as validate
// shows them.
func TestProblemsAreReportedWithTheirPositions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/diagnostics/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".xml"), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			_, problems := check.Load(filepath.Base(file), source, nil)
			var text strings.Builder
			for _, problem := range problems {
				text.WriteString(problem.Excerpt() + "\n")
			}
			golden := strings.TrimSuffix(file, ".xml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text.String())
			require.NotEmpty(t, problems)
		})
	}
}

// Definitions that look suspicious but are correct.
func TestCorrectDefinitionsHaveNoProblems(t *testing.T) {
	shipped, err := filepath.Glob("../../rms/*.xml")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/clean/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(append(files, shipped...), "../../docs/example.xml") {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		_, problems := check.Load(filepath.Base(file), source, readBase)
		require.Empty(t, problems)
	}
}

func shared(t *testing.T, folder string) string {
	t.Helper()
	base := os.Getenv("RMCTL_SHARED")
	if base == "" {
		base = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(base, folder)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("definitions of other projects are not part of this one and not here: %v", err)
	}
	return path
}

func TestDefinitionsFromTheFieldLoadWithoutErrors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "definitions"), "*.xml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		definition, problems := check.Load(filepath.Base(file), source, nil)
		require.NoError(t, problems.Err())
		require.NotEmpty(t, definition.Name, file)
	}
}

func TestReportedProblemsAreLimited(t *testing.T) {
	source := "<resource-manager-builder name=\"x\"><control-data>" + strings.Repeat(`<attribute name="a"/>`, 5000) + "</control-data></resource-manager-builder>"
	_, problems := check.Load("flood.xml", []byte(source), nil)
	require.Len(t, problems, 1001)
	require.Equal(t, "too-many-problems", problems[1000].Code)
	require.NoError(t, problems.Err(), "all of them are warnings")
}

func TestErrorsAreReportedAfterManyWarnings(t *testing.T) {
	source := "<resource-manager-builder name=\"x\"><control-data>" + strings.Repeat(`<attribute name="a"/>`, 5000) + "</control-data><nothing/></resource-manager-builder>"
	_, problems := check.Load("flood.xml", []byte(source), nil)
	require.Len(t, problems, 1002)
	require.Equal(t, "too-many-problems", problems[1000].Code)
	require.ErrorContains(t, problems.Err(), `"nothing" is not an element`)
	require.Equal(t, problems, problems.Lenient(), "there may be errors of other kinds among those that are not shown")
}

func TestLenientDefinitionIgnoresUnknownElements(t *testing.T) {
	source := `<resource-manager-builder xmlns:x="urn:rmctl:definition:1" name="x"><control-data colour="red"><nothing/></control-data></resource-manager-builder>`
	_, problems := check.Load("strict.xml", []byte(source), nil)
	require.Error(t, problems.Err())
	require.NoError(t, problems.Lenient().Err())

	_, problems = check.Load("lenient.xml", []byte(strings.Replace(source, "name=", `x:lenient="true" name=`, 1)), nil)
	require.NoError(t, problems.Err())
	require.Len(t, problems, 2)
	require.Contains(t, problems[0].String(), `warning: "control-data" has no attributes, not "colour"; it is ignored (unknown-attribute)`)
	require.Contains(t, problems[1].String(), `; it is ignored (unknown-element)`)

	_, problems = check.Load("wrong.xml", []byte(strings.Replace(source, `<nothing/>`, `<nothing/><script/>`, 1)), nil)
	require.Equal(t, problems, problems.Lenient(), "other errors stay, and what is unknown with them")
}

func TestByteOrderMarkDoesNotShiftMarks(t *testing.T) {
	_, problems := check.Load("bom.xml", []byte("\ufeff<resource-manager-builder nam='x'/>"), nil)
	require.Contains(t, problems[0].Excerpt(), `
    1 | <resource-manager-builder nam='x'/>
      |                           ^~~
        did you mean "name"?`)
}

func TestMarksAreCorrectInOtherEncodings(t *testing.T) {
	_, problems := check.Load("latin.xml", []byte("<?xml version='1.0' encoding='ISO-8859-1'?>\n<resource-manager-builder name='Z\xfcrich' nam='x'/>"), nil)
	require.Contains(t, problems[0].Excerpt(), `
    2 | <resource-manager-builder name='Zürich' nam='x'/>
      |                                         ^~~
        did you mean "name"?`)
}
