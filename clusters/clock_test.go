package clusters_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The clocks of the machine where jobs run and of that where rmctl does may differ.
func TestClocksMayDiffer(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	libraries, err := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	require.NoError(t, err)
	require.NotEmpty(t, libraries, "the package faketime is not installed")
	for name, shift := range map[string]time.Duration{"clock-behind": -26 * time.Hour, "clock-ahead": 26 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seconds := strconv.Itoa(int(shift.Seconds()))
			if shift > 0 {
				seconds = "+" + seconds
			}
			there := rmctltest.SSHD(t, name, "RMCTL_SSHD_ENVIRONMENT=LD_PRELOAD="+libraries[0]+" FAKETIME="+seconds)
			d := rmctltest.NewDesk(t, "")
			d.Reaches("far", "local", "ssh", "rmtest-target", there.Configuration)
			before := time.Now().Add(shift).Truncate(time.Second)
			printed := strings.Fields(d.Does("submit", "-t", "far", "--show", "--", "date", "+%s"))
			reported, err := strconv.ParseInt(printed[len(printed)-1], 10, 64)
			require.NoError(t, err)
			require.WithinRange(t, time.Unix(reported, 0), before.Add(-time.Second), time.Now().Add(shift+time.Second), "the clock there is not shifted")

			job := d.Does("submit", "-t", "far", "--", "sh", "-c", "exit 3")
			d.Refused(3, "wait", "--timeout", "5m", job)
			require.Contains(t, d.Does("status", "--json", job), `"detail":"FAILED"`)

			job = d.Does("submit", "-t", "far", "-s", "time-limit=1", "--", "sleep", "1000")
			d.Refused(143, "wait", "--timeout", "5m", job)
			require.Contains(t, d.Does("status", "--json", job), `"detail":"FAILED"`, "its own time counts")

			job = d.Does("submit", "-t", "far", "--", "sleep", "1000")
			d.Does("wait", "--until", "RUNNING", "--timeout", "5m", job)
			for range 2 {
				said := d.Does("status", "--json", "--fresh", job)
				require.Contains(t, said, `"state":"RUNNING"`)
				require.NotContains(t, said, `"stale"`)
				require.NotContains(t, said, `"missing"`)
			}
			d.Does("--state-dir", filepath.Join(d.Home, "elsewhere"), "recover", "-t", "far")
			require.Contains(t, d.Does("--state-dir", filepath.Join(d.Home, "elsewhere"), "status", "--json"), `"id":"`+job+`"`, "its tag leads to it")
			d.Does("cancel", job)
			d.Refused(143, "wait", "--timeout", "5m", job)
			require.Contains(t, d.Does("status", "--json", job), `"detail":"CANCELED"`)
		})
	}
}
