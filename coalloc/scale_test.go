package coalloc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
)

// spread returns parts that have some processes together.
func spread(parts, processes int, script string) []coalloc.Part {
	all := make([]coalloc.Part, parts)
	for i := range all {
		share := processes / parts
		if i < processes%parts {
			share++
		}
		all[i] = part(fmt.Sprintf("part-%02d", i), script, count(share), on([]string{"here", "there"}[i%2]))
	}
	return all
}

func TestTwentyFivePartsWith64ProcessesAreReleasedTogether(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(spread(25, 64, marks)...)
	e.commits()
	e.ends(coalloc.Done)
	processes := 0
	for i := range 25 {
		processes += len(s.marksOf(fmt.Sprintf("part-%02d", i)))
	}
	require.Equal(t, 64, processes)
	s.isEmpty()
}

// checkedIn waits until all processes of an ensemble are checked in.
func (e *ensemble) checkedIn() {
	e.site.t.Helper()
	require.Eventually(e.site.t, func() bool {
		for _, p := range e.status().Parts {
			if p.State != coalloc.PartCheckedIn {
				return false
			}
		}
		return true
	}, 5*patience, 2*time.Millisecond)
}

func BenchmarkCheckIn(b *testing.B) {
	for _, c := range []struct{ parts, processes int }{{1, 64}, {25, 64}, {25, 1600}} {
		b.Run(fmt.Sprintf("%d processes in %d parts", c.processes, c.parts), func(b *testing.B) {
			s := newSite(b, "here", "there")
			warm := s.starts(part("warm", "true", on("here")), part("warmer", "true", on("there")))
			warm.commits()
			warm.ends(coalloc.Done)
			for b.Loop() {
				e := s.starts(spread(c.parts, c.processes, "true")...)
				e.checkedIn()
				b.StopTimer()
				require.NoError(b, e.Cancel(b.Context()))
				e.ends(coalloc.Canceled)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkRestart measures how long a co-allocator that starts again takes until it accepts the first process, and until all are back.
func BenchmarkRestart(b *testing.B) {
	const processes = 1600
	s := newSite(b, "here", "there")
	e := s.starts(spread(25, processes, "true")...)
	e.checkedIn()
	for b.Loop() {
		require.NoError(b, e.Close())
		began := time.Now()
		e = s.resumes(e.ID())
		b.ReportMetric(e.awaitsPresent(1).Sub(began).Seconds(), "s/first-back")
		b.ReportMetric(e.awaitsPresent(processes).Sub(began).Seconds(), "s/all-back")
	}
	require.NoError(b, e.Cancel(b.Context()))
	e.ends(coalloc.Canceled)
}

// awaitsPresent waits until some processes are checked in, and returns when.
func (e *ensemble) awaitsPresent(count int) time.Time {
	e.site.t.Helper()
	require.Eventually(e.site.t, func() bool {
		present := 0
		for _, p := range e.status().Parts {
			present += p.CheckedIn
		}
		return present >= count
	}, 5*patience, 2*time.Millisecond)
	return time.Now()
}
