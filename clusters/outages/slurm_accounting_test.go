package outages_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A Slurm with a slurmdbd knows how jobs ended that its controller has
// forgotten. Each script of testdata/script-slurm-accounting is a conversation
// with it.
func TestSlurmAccounting(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "accounting", "RMCTL_SLURM_MINJOBAGE=2", "RMCTL_SLURM_ACCOUNTING=yes", "RMCTL_SLURM_REST=yes")
	// It runs before the scripts, which need the services that it stops.
	t.Run("slurmdbd is away", func(t *testing.T) { testAccountingAway(t, cluster) })
	t.Run("slurmctld", func(t *testing.T) {
		rmctltest.Scripts(t, filepath.Join("testdata", "script-slurm-accounting"), map[string]string{"SLURM_CONF": cluster.Configuration})
	})
	// The user that the token is of submits the jobs.
	t.Run("slurmrestd", func(t *testing.T) {
		rmctltest.Scripts(t, filepath.Join("testdata", "script-slurm-rest"), map[string]string{
			"SLURM_CONF": cluster.Configuration, "URL": fmt.Sprintf("http://127.0.0.1:%d", cluster.Port+4),
			"ACCESS": filepath.Join(cluster.Directory, "rest", "access"),
		})
	})
}

// A job ends and is forgotten while slurmdbd is away. Some time after slurmdbd is
// back, slurmctld reports the end to it. The job never becomes unknown.
func testAccountingAway(t *testing.T, cluster *rmctltest.Cluster) {
	o := newOutage(t, cluster)
	// slurmctld 22.05 ends if it loses slurmdbd while it waits for an answer, as right after its start.
	require.Eventually(t, func() bool {
		port := o.Asks(t, "sacctmgr", "--noheader", "--parsable2", "show", "clusters", "format=ControlPort")
		return port != "0" && strings.Contains(o.Asks(t, "sdiag"), "DBD Agent queue size: 0")
	}, time.Minute, 200*time.Millisecond, "slurmctld has sent slurmdbd all that it has")
	o.Stop(t, "slurmdbd")
	job := o.submit("exit 3")
	require.Eventually(t, func() bool {
		return !strings.Contains(o.Asks(t, "squeue", "--states=all", "--noheader", "--format=|%A|"), "|"+job+"|")
	}, 10*time.Minute, 200*time.Millisecond, "slurmctld forgets the job")
	said := o.refusedOnceAnswersAreOld("status", "--json", "--fresh", job)
	require.Contains(t, said, `"stale":true`)
	require.Contains(t, said, "Connection refused")
	o.Start(t)
	var known record
	require.Eventually(t, func() bool {
		_, _ = o.starts("status", "--fresh", job)() // fails until slurmdbd has the end
		known = o.record(job)
		return known.Missing || known.State == "COMPLETED"
	}, 10*time.Minute, 200*time.Millisecond, "slurmctld reports the end to slurmdbd")
	require.False(t, known.Missing, "accounting is only late")
	require.Equal(t, "FAILED", known.Detail)
	require.Equal(t, 3, *known.ExitCode)
}
