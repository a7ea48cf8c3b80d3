package casereport_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/casereport"
)

// hostile is what nobody should call a folder, and no scheduler should print.
const hostile = "a\nok 9 - b # SKIP <&>\"]]>\x1b[2J\x00\xff"

var results = []cases.Result{
	{Folder: "one", Definition: "slurm", Command: "get-job-status", Verdict: cases.Passed, Duration: 1500 * time.Microsecond},
	{Folder: hostile, Definition: "slurm", Verdict: cases.Differing, Differences: []cases.Difference{{Where: "job.id", Expected: "1", Actual: hostile}}},
	{Folder: "three", Verdict: cases.Broken, Err: errors.New("expected.json: " + hostile)},
	{Folder: "four", Definition: "slurm", Verdict: cases.Updated},
}

func TestTAPHasALineForEachResultWhateverItsText(t *testing.T) {
	var text strings.Builder
	report := &casereport.TAP{To: &text}
	for _, result := range results {
		require.NoError(t, report.Add(result))
	}
	require.NoError(t, report.Close())
	var lines []string
	for line := range strings.Lines(text.String()) {
		if !strings.HasPrefix(line, "# ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	require.Equal(t, []string{
		"TAP version 13", "ok 1 - one", "not ok 2 - a ok 9 - b \\# SKIP <&>\"]]>\uFFFD[2J\uFFFD\uFFFD", "not ok 3 - three", "ok 4 - four", "1..4",
	}, lines)
	require.NotContains(t, text.String(), "\x1b")

	text.Reset()
	require.NoError(t, (&casereport.TAP{To: &text}).Close())
	require.Equal(t, "TAP version 13\n1..0\n", text.String())
}

func TestJUnitIsWellFormedWhateverTheText(t *testing.T) {
	report := &casereport.JUnit{}
	for _, result := range results {
		report.Add(result)
	}
	var text strings.Builder
	require.NoError(t, report.Write(&text))
	decoder := xml.NewDecoder(strings.NewReader(text.String()))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.Contains(t, text.String(), `<testsuites name="rmctl test" tests="4" failures="1" errors="1" time="0.001500">`)
	require.Contains(t, text.String(), `<testsuite name="slurm" tests="3" failures="1" errors="0"`)
	require.Contains(t, text.String(), `<testsuite name="unreadable" tests="1" failures="0" errors="1"`)
	require.Contains(t, text.String(), `<testcase name="one" classname="slurm" time="0.001500">`)
}
