package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources.md has an example for each source: a reader, the output of a command, and what
// replay prints.
func TestTheExamplesOfSourcesDoWhatThePageShows(t *testing.T) {
	page, err := os.ReadFile("../../docs/write/sources.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Examples\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	examples := strings.Split(section, "\n### ")[1:]
	require.Len(t, examples, 6)
	t.Chdir(t.TempDir())
	for _, example := range examples {
		title, text, _ := strings.Cut(example, "\n")
		blocks := strings.Split(text, "```")
		require.Len(t, blocks, 7, title)
		reader, output, shown := strings.TrimPrefix(blocks[1], "xml\n"), strings.TrimPrefix(blocks[3], "text\n"), strings.TrimPrefix(blocks[5], "\n")
		require.Contains(t, reader, "<"+strings.Trim(title, "`")+" ", "an example of another source")
		definition := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="example"><control-data><get-job-status name="status"><arg>list ${ptp_rm:@jobId#name}</arg><x:read reader="example"/></get-job-status>` +
			"\n" + reader + "</control-data></resource-manager-builder>"
		require.NoError(t, os.WriteFile("example.xml", []byte(definition), 0o600))
		require.NoError(t, os.WriteFile("output.txt", []byte(output), 0o600))
		var stdout, stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, siteFolder: testSite()}
		require.Zero(t, a.execute(t.Context(), []string{"replay", "example.xml", "--command", "get-job-status", filepath.Base("output.txt")}), stderr.String())
		require.Equal(t, shown, stdout.String(), title)
	}
}
