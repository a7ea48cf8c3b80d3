package ssh_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// testSlurmInAnotherTimeZone runs jobs of a Slurm whose commands print times of Tokyo.
func testSlurmInAnotherTimeZone(t *testing.T, there slurmThere) {
	daemons := rmctltest.SSHD(t, "zone", "RMCTL_SSHD_ENVIRONMENT="+there.Setting()+" TZ=Asia/Tokyo")
	for _, transport := range []string{"ssh", "openssh"} {
		t.Run(transport, func(t *testing.T) {
			begun := time.Now()
			d := rmctltest.NewDesk(t, "", "TZ=America/New_York")
			d.Reaches("far", "slurm", transport, "rmtest-target", daemons.Configuration)
			job := d.Does("submit", "-t", "far", "--", "sleep", "1000")
			d.Does("wait", "--until", "RUNNING", "--timeout", "5m", job)
			// isNow takes a time that one of the job's commands printed.
			isNow := func(text string) {
				moment, err := time.Parse(time.RFC3339, text)
				require.NoError(t, err, "it must name its zone")
				require.WithinRange(t, moment, begun.Add(-time.Minute), time.Now().Add(time.Minute), text)
				require.True(t, strings.HasSuffix(text, "+09:00"), text)
			}
			isNow(fieldOf(t, d.Does("jobs", "-t", "far", "--everyone", "--json"), job, "submitted"))
			isNow(fieldOf(t, d.Does("status", "--json", job), job, "started"))

			elsewhere := filepath.Join(d.Home, "elsewhere")
			d.Does("--state-dir", elsewhere, "recover", "-t", "far")
			found, err := time.Parse(time.RFC3339, fieldOf(t, d.Does("--state-dir", elsewhere, "jobs", "--all", "--json"), job, "submitted"))
			require.NoError(t, err, "it was submitted when its scheduler says")
			require.WithinRange(t, found, begun.Add(-time.Minute), time.Now())
			d.Does("cancel", job)
		})
	}
}

// fieldOf returns a field of the job with an id among those that a command printed.
func fieldOf(t *testing.T, printed, id, field string) string {
	t.Helper()
	for line := range strings.Lines(printed) {
		var job map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &job), line)
		if job["id"] == id {
			text, _ := job[field].(string)
			return text
		}
	}
	require.Fail(t, "the job is not listed", "%s in %s", id, printed)
	return ""
}
