package transition_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// documented returns the table of transitions that the documentation shows, by the
// state that is known and the one that is seen.
func documented(t *testing.T) map[job.Detail]map[job.Detail]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "states.md"))
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
		for _, known := range detailsOf(row[0]) {
			table[known] = map[job.Detail]string{}
			for i, cell := range row[1:] {
				for _, seen := range detailsOf(header[i]) {
					table[known][seen] = cell
				}
			}
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

// detailsOf returns the states of a cell, which commas separate.
func detailsOf(cell string) []job.Detail {
	var details []job.Detail
	for _, word := range strings.Split(cell, ", ") {
		details = append(details, job.Detail(strings.Trim(word, "`")))
	}
	return details
}

func TestTheDocumentedTransitionsMatchTheCode(t *testing.T) {
	table := documented(t)
	shown := []job.Detail{"UNDETERMINED", "SUBMITTED", "SUSPENDED", "RUNNING", "COMPLETED", "FAILED", "CANCELED", "JOB_OUTERR_READY"}
	for _, known := range shown {
		for _, seen := range shown {
			require.Equal(t, string(transition.Between(known, seen)), table[known][seen], "%s, seen %s", known, seen)
		}
	}
}

// What the table shows of a primary state holds for all that refine it.
func TestEveryPairOfStatesHasATransition(t *testing.T) {
	all := []string{"keeps", string(transition.Follows), string(transition.Returns), string(transition.Contradicts)}
	primary := func(d job.Detail) job.Detail {
		if d.Ended() {
			return d
		}
		return d.Primary()
	}
	for _, known := range job.Details() {
		for _, seen := range job.Details() {
			found := transition.Between(known, seen)
			require.True(t, slices.Contains(all, string(found)), "%s, seen %s", known, seen)
			require.Equal(t, transition.Between(primary(known), primary(seen)), found, "%s, seen %s", known, seen)
			expected := known
			if found == transition.Follows || found == transition.Returns {
				expected = seen
			}
			require.Equal(t, expected, transition.Next(known, seen), "%s, seen %s", known, seen)
		}
	}
}

func TestNextFollowsTheSchedulerButKeepsEndings(t *testing.T) {
	cases := []struct{ current, seen, want job.Detail }{
		{job.Submitted, job.QueuedActive, job.QueuedActive},
		{job.Running, job.UserOnHold, job.UserOnHold},
		{job.Running, job.QueuedActive, job.QueuedActive},
		{job.UserOnHold, job.QueuedActive, job.QueuedActive},
		{job.Suspended, job.Running, job.Running},
		{job.Suspended, job.UserSuspended, job.UserSuspended},
		{job.Running, job.Undetermined, job.Running},
		{job.Running, "", job.Running},
		{"", job.Running, job.Running},
		{job.Completed, job.Failed, job.Failed},
		{job.Failed, job.Canceled, job.Failed},
		{job.Failed, job.Completed, job.Failed},
		{job.Completed, job.Running, job.Completed},
		{job.Canceled, job.OutputReady, job.OutputReady},
		{job.OutputReady, job.Failed, job.OutputReady},
	}
	for _, c := range cases {
		require.Equal(t, c.want, transition.Next(c.current, c.seen), "%s then %s", c.current, c.seen)
	}
}

// Old records may have times without zones, and a host whose zone has no name may have another
// offset in summer.
func TestTheIdentityOfAJobDoesNotDependOnItsZone(t *testing.T) {
	for _, recorded := range []string{"2026-03-04T17:00:00", "2026-03-04T17:00:00+08:00", "2026-03-04T08:00:00Z"} {
		j := &job.Job{ID: "9", Observation: job.Observation{Detail: job.Running, Submitted: recorded}}
		require.False(t, transition.IsAnother(j, job.Observation{Detail: job.QueuedActive, Submitted: "2026-03-04T17:00:00+09:00"}), recorded)
		require.True(t, transition.IsAnother(j, job.Observation{Detail: job.QueuedActive, Submitted: "2026-03-04T17:00:01+09:00"}), recorded)
	}
}
