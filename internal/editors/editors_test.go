package editors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/editors"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/rms"
)

// wrong is a definition with a mistake on each line but the first two and the last two.
const wrong = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="wrong" x:extends="slurm">
  <control-data>
    <attribute name="a" typ="string"/>
    <get-job-status x:timeout="soon"/>
    <terminate-jobs/>
  </control-data>
</resource-manager-builder>
`

func textOf(t *testing.T, name string) string {
	t.Helper()
	files, err := editors.Files()
	require.NoError(t, err)
	for _, file := range files {
		if file.Name == name {
			return file.Text
		}
	}
	require.Fail(t, "no file", name)
	return ""
}

func TestEditorSchemasRequireNoElements(t *testing.T) {
	for _, name := range []string{"editing/rm.xsd", "editing/ext.xsd"} {
		text := textOf(t, name)
		document, err := xmltree.Read(name, []byte(text))
		require.NoError(t, err)
		for e := range document.Root.All() {
			isParticle := e.Name == "element" || e.Name == "any" || e.Name == "group" && e.Value("ref") != ""
			if isParticle && e.Parent.Name != "schema" {
				require.Equal(t, "0", e.Value("minOccurs"), "line %d", e.Position().Line)
			}
			require.NotEqual(t, "required", e.Value("use"))
		}
	}
}

func TestTheCompactSchemaPlacesRmctlsElements(t *testing.T) {
	text := textOf(t, "definition.rnc")
	line := func(element string) string {
		_, rest, found := strings.Cut(text, "= element "+element+" {")
		require.True(t, found, element)
		rest, _, _ = strings.Cut(rest, "\n")
		return rest
	}
	require.Contains(t, line("control-data"), "x.outcome.")
	require.NotContains(t, line("control-data"), "x.fallback.")
	require.Contains(t, line("get-job-status"), "x.fallback.")
	require.Contains(t, line("x:outcome"), `attribute kind { "transient" | "doubtful"`)
}

func TestFilesOfAnEarlierReleaseAreOverwritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "schemas")
	require.NoError(t, editors.Write(folder))
	place := filepath.Join(folder, "editing", "ext.xsd")
	require.NoError(t, os.WriteFile(place, []byte("old"), 0o644))
	require.NoError(t, editors.Write(folder))
	text, err := os.ReadFile(place)
	require.NoError(t, err)
	require.Equal(t, textOf(t, "editing/ext.xsd"), string(text))
}

// needsProgram skips a test of a program where it is not to be run.
func needsProgram(t *testing.T, name string) {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("runs editors and validators only where RMCTL_CLUSTERS=1")
	}
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
}

// shippedFiles writes all shipped definitions, unchanged or merged with their bases.
func shippedFiles(t *testing.T, merged bool) (files []string) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range rms.Names() {
		source, _ := rms.Source(name)
		if merged {
			result, problems := config.Merge(name+".xml", source, check.ReadBase)
			require.NoError(t, problems.Err())
			source = []byte(result.XML)
		}
		file := filepath.Join(folder, name+".xml")
		require.NoError(t, os.WriteFile(file, source, 0o600))
		files = append(files, file)
	}
	return files
}

func wrongFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "wrong.xml")
	require.NoError(t, os.WriteFile(file, []byte(wrong), 0o600))
	return file
}

func TestXmllintAcceptsShippedDefinitions(t *testing.T) {
	needsProgram(t, "xmllint")
	folder := t.TempDir()
	require.NoError(t, editors.Write(folder))
	validate := func(schema string, files ...string) (string, error) {
		output, err := exec.Command("xmllint", append([]string{"--noout", "--nonet", "--schema", filepath.Join(folder, schema)}, files...)...).CombinedOutput()
		return string(output), err
	}
	output, err := validate("definition.xsd", shippedFiles(t, true)...)
	require.NoError(t, err, output)
	output, err = validate("editing/definition.xsd", shippedFiles(t, false)...)
	require.NoError(t, err, output)

	output, err = validate("editing/definition.xsd", wrongFile(t))
	require.Error(t, err)
	for _, line := range []string{":3:", ":4:", ":5:"} {
		require.Contains(t, output, "wrong.xml"+line)
	}
}

// validateInEmacs prints for each file its schema and how many errors it has.
const validateInEmacs = `(dolist (file command-line-args-left)
  (with-current-buffer (find-file-noselect file)
    (nxml-mode)
    (rng-validate-mode 1)
    (while (rng-do-some-validation))
    (princ (format "%s %s %s\n" (file-name-nondirectory file) (file-name-nondirectory rng-current-schema-file-name) rng-error-count))))
(setq command-line-args-left nil)`

func TestEmacsAcceptsShippedDefinitions(t *testing.T) {
	needsProgram(t, "emacs")
	folder := t.TempDir()
	require.NoError(t, editors.Write(folder))
	script := filepath.Join(folder, "validate.el")
	_, settings, _ := strings.Cut(editors.Settings(folder), "init.el:\n")
	settings, _, _ = strings.Cut(settings, "\n\n")
	require.NoError(t, os.WriteFile(script, []byte("(require 'rng-valid)\n(require 'rng-loc)\n(require 'nxml-mode)\n"+settings+"\n"+validateInEmacs), 0o600))
	files := shippedFiles(t, false)
	output, err := exec.Command("emacs", append([]string{"--batch", "-Q", "-l", script, wrongFile(t)}, files...)...).CombinedOutput()
	require.NoError(t, err, string(output))
	require.NotContains(t, string(output), "Incorrect schema")
	for _, file := range files {
		require.Contains(t, string(output), filepath.Base(file)+" definition.rnc 0\n")
	}
	require.Contains(t, string(output), "wrong.xml definition.rnc 3\n")
}
