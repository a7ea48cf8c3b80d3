package main

import (
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A job whose process was killed together with all who knew of it is not said to
// run for ever.
func TestAJobThatWasKilledWithItsRmctlIsMissing(t *testing.T) {
	both(t, func(t *testing.T, d *desk) {
		s := d.sits(queued(`echo "child of <$PPID>"; while read -r line; do :; done`)...)
		s.waitFor(">")
		holder := regexp.MustCompile(`child of <(\d+)>`).FindStringSubmatch(s.screen)
		require.NotNil(t, holder, s.screen)
		id, err := strconv.Atoi(holder[1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
		for chunk := range s.chunks {
			s.screen += chunk
		}
		require.Error(t, s.command.Wait(), "nobody knows how it ended")

		table := d.does("status", "7")
		require.NotContains(t, table, "scheduler", "none was asked")
		require.Contains(t, table, "the process that it was attached to ("+holder[1]+" on ")
		said := d.does("status", "--json", "7")
		require.Contains(t, said, `"state":"RUNNING"`, "the last that was seen")
		require.Contains(t, said, `"missing":true`)
		require.Contains(t, d.refused(exitFailed, "wait", "7"), "is gone without having seen its end")
		require.Contains(t, d.refused(exitFailed, "attach", "7"), "is gone")
		s = d.sits(queued(`exit 4`)...) // the command is not taken to be open any more
		s.waitFor("job 7 ready")
		s.typeKeys("\r")
		s.ends(4)
	})
}
