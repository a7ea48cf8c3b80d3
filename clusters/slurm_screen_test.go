package clusters_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The full screen shows the listings of a real Slurm, and operations on the screen take
// effect.
func TestSlurmOnTheScreen(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "screen")
	d := rmctltest.NewDesk(t, "", cluster.Setting(), rmctltest.Foreground, "TERM=xterm-256color")
	// One belongs to another user: rmctl has no record of it.
	other := cluster.Asks(t, "sbatch", "--parsable", "--hold", "--job-name=others", "--output=/dev/null", "--wrap=true")
	name := fmt.Sprintf("j%d", os.Getpid()) // the cluster may know jobs of earlier runs
	id := d.Does("submit", "-t", "slurm", "-s", "job-name="+name, "--", "sh", "-c", "echo it begins; sleep 1000")
	require.Regexp(t, `(?m)^`+other+` +root +HELD +normal +others `, d.Does("jobs", "--everyone", "-t", "slurm"))
	s := d.Sits("watch", "-t", "slurm")
	const endOfList, endOfDetail = "help", "Esc"

	s.ShowsRow(endOfList, id, "RUNNING", "normal", name)
	s.ShowsRow(endOfList, other, "HELD", "others")
	s.Type("m\r\t\t") // mine
	s.Shows(endOfDetail, "it", "begins")
	s.Type("q")
	s.Type("cy")
	s.ShowsRow(endOfList, id, "CANCELED", name)
	require.Regexp(t, "JobState=(CANCELLED|COMPLETING)", cluster.Asks(t, "scontrol", "show", "job", id))
	s.Type("m/others\r") // everybody's, of that name
	s.ShowsRow(endOfList, other, "HELD")
	s.Type("ry")
	s.ShowsRow(endOfList, other, "COMPLETED")
	s.Type("2")
	s.Shows(endOfList, "closed", "COLLECTING", "normal", "NORMAL", "default")
	s.Type("3v")
	s.Shows(endOfList, "node1", "UP", "node2", "UP")
	s.Type("q")
	s.Ends(0)
}
