package job_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

// documented returns the table of transitions that the documentation shows, by the
// state that is known and the one that is seen.
func documented(t *testing.T) map[job.Detail]map[job.Detail]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "using.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "| known \\ seen |")
	require.True(t, found, "the table is there")
	lines := strings.Split("| known \\ seen |"+after, "\n")
	header := cellsOf(lines[0])[1:]
	table := map[job.Detail]map[job.Detail]string{}
	for _, line := range lines[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		row := cellsOf(line)
		known := job.Detail(row[0])
		table[known] = map[job.Detail]string{}
		for i, cell := range row[1:] {
			table[known][job.Detail(header[i])] = cell
		}
	}
	return table
}

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, cell := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cell), "`*")
	}
	return cells
}

func TestTheDocumentedTransitionsAreThoseOfTheCode(t *testing.T) {
	table := documented(t)
	shown := []job.Detail{"UNDETERMINED", "SUBMITTED", "SUSPENDED", "RUNNING", "COMPLETED", "FAILED", "CANCELED", "JOB_OUTERR_READY"}
	for _, known := range shown {
		for _, seen := range shown {
			require.Equal(t, string(job.TransitionOf(known, seen)), table[known][seen], "%s, seen %s", known, seen)
		}
	}
}

// What the table shows of a primary state holds for all that refine it.
func TestEveryPairOfStatesHasATransition(t *testing.T) {
	all := []job.Transition{job.Transition("keeps"), job.Follows, job.Returns, job.Contradicts}
	primary := func(d job.Detail) job.Detail {
		if d.Ended() {
			return d
		}
		return d.Primary()
	}
	for _, known := range job.Details() {
		for _, seen := range job.Details() {
			transition := job.TransitionOf(known, seen)
			require.True(t, slices.Contains(all, transition), "%s, seen %s", known, seen)
			require.Equal(t, job.TransitionOf(primary(known), primary(seen)), transition, "%s, seen %s", known, seen)
			expected := known
			if transition == job.Follows || transition == job.Returns {
				expected = seen
			}
			require.Equal(t, expected, job.Next(known, seen), "%s, seen %s", known, seen)
		}
	}
}
