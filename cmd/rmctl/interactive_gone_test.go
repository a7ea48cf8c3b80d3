package main

import (
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// If the process of a job and its rmctl are killed together, the job is not shown as running
// for ever.
func TestAJobKilledWithItsRmctlIsMissing(t *testing.T) {
	both(t, func(t *testing.T, d *rmctltest.Desk) {
		s := d.Sits(queued(`echo "child of <$PPID>"; while read -r line; do :; done`)...)
		s.WaitFor(">")
		holder := regexp.MustCompile(`child of <(\d+)>`).FindStringSubmatch(s.Screen)
		require.NotNil(t, holder, s.Screen)
		id, err := strconv.Atoi(holder[1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
		require.Error(t, s.End(), "nobody knows how it ended")
		// The connections of a process are closed some time before it has ended.
		require.Eventually(t, func() bool {
			process, err := os.ReadFile("/proc/" + holder[1] + "/stat")
			return err != nil || regexp.MustCompile(`\) [ZX] `).Match(process)
		}, 5*time.Minute, 10*time.Millisecond, "process %s was killed", holder[1])

		table := d.Does("status", "7")
		require.NotContains(t, table, "scheduler", "none was asked")
		require.Contains(t, table, "the process that it was attached to ("+holder[1]+" on ")
		said := d.Does("status", "--json", "7")
		require.Contains(t, said, `"state":"RUNNING"`, "the last that was seen")
		require.Contains(t, said, `"missing":true`)
		require.Contains(t, d.Refused(exitFailed, "wait", "7"), "is gone without having seen its end")
		require.Contains(t, d.Refused(exitFailed, "attach", "7"), "is gone")
		s = d.Sits(queued(`exit 4`)...) // the command is not taken to be open any more
		s.WaitFor("job 7 ready")
		s.Type("\r")
		s.Ends(4)
	})
}
