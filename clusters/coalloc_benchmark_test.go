package clusters_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// BenchmarkEnsembles measures the whole program: from the start of rmctl coalloc submit until
// all 64 processes have checked in, on this machine and over an open SSH connection.
func BenchmarkEnsembles(b *testing.B) {
	daemons := rmctltest.SSHD(b, "coalloc")
	for _, where := range []string{"here", "over SSH"} {
		for _, parts := range []int{1, 25} {
			b.Run(fmt.Sprintf("%d parts %s", parts, where), func(b *testing.B) {
				v := venue{desk: rmctltest.NewDesk(b, ""), local: "local", directory: openDirectory(b)}
				if where == "over SSH" {
					v.local = "far-local"
					v.desk.Reaches(v.local, "local", "ssh", "rmtest-target", daemons.Configuration)
				}
				v.checksIn(b, 1) // connects
				for b.Loop() {
					v.checksIn(b, parts)
				}
			})
		}
	}
}

// checksIn submits an ensemble with 64 processes, and cancels it once they have checked in.
// Only the first part counts.
func (v venue) checksIn(b *testing.B, parts int) {
	b.Helper()
	var request strings.Builder
	for i := range parts {
		count := 64 / parts
		if i < 64%parts {
			count++
		}
		fmt.Fprintf(&request, "%scount = %d\n", v.running(fmt.Sprintf("part-%d", i), v.local, "true"), count)
	}
	file := v.request(b, request.String())
	id := v.desk.Does("coalloc", "submit", file)
	require.Eventually(b, func() bool {
		waiting := 0
		for _, p := range v.status(b, id).Parts {
			if p.State == coalloc.PartCheckedIn {
				waiting++
			}
		}
		return waiting == parts
	}, 5*time.Minute, time.Millisecond)
	b.StopTimer()
	v.desk.Does("coalloc", "cancel", id)
	v.desk.Refused(exitFailed, "coalloc", "wait", id)
	b.StartTimer()
}
