package control_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/state"
)

// A pacedSite is one whose scheduler takes as long for each query as a test says, by a
// clock that stands still otherwise.
type pacedSite struct {
	*site
	each  func(query int) time.Duration
	spent time.Duration // of which the last query took
	last  time.Duration
}

func paced(t *testing.T, each func(query int) time.Duration) (s *pacedSite, look func()) {
	t.Helper()
	plain, jobs := crowd(t, 2, `x:interval="1s"`)
	s = &pacedSite{site: plain, each: each}
	start, queries := time.Now(), 0
	var lock sync.Mutex
	options := plain.options
	options.Connection = &faultyConnection{Connection: options.Connection, start: startHook(func() {
		lock.Lock()
		defer lock.Unlock()
		queries++
		s.ahead += s.each(queries)
		s.last = s.each(queries)
		s.spent += s.last
	})}
	options.Now = func() time.Time {
		lock.Lock()
		defer lock.Unlock()
		return start.Add(s.ahead)
	}
	s.Controller = control.New(options)
	states := []state.Detail{state.Running, state.Suspended}
	return s, func() {
		states[0], states[1] = states[1], states[0] // something moves all the time
		s.shows(t, jobs, states...)
		s.updates(t, jobs, control.Recent)
		s.ahead += 4 * time.Second
	}
}

// A controller that is away for less than its commands try to reach it makes one query slow.
func TestAQueryThatWaitedForItsSchedulerDelaysTheNextOneForASmallTime(t *testing.T) {
	slow := 0 // the query that takes long
	s, look := paced(t, func(query int) time.Duration {
		if query == slow {
			return 8 * time.Second
		}
		return 10 * time.Millisecond
	})
	for s.ahead < 4*time.Minute {
		look()
	}
	slow = len(s.asked(t)) + 1
	for len(s.asked(t)) < slow {
		look()
	}
	begun := s.ahead
	for len(s.asked(t)) == slow {
		look()
	}
	require.Less(t, s.ahead-begun, 20*time.Second)
}

func TestASchedulerIsNotKeptBusyByQueriesThatAreSlowNowAndThen(t *testing.T) {
	for name, each := range map[string]func(query int) time.Duration{
		"one in two": func(query int) time.Duration { return time.Duration(1+query%2*79) * 100 * time.Millisecond },
		"one in ten": func(query int) time.Duration {
			if query%10 == 0 {
				return 9 * time.Second
			}
			return 50 * time.Millisecond
		},
		"all after a while": func(query int) time.Duration {
			if query > 30 {
				return 8 * time.Second
			}
			return 100 * time.Millisecond
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, look := paced(t, each)
			for s.ahead < 15*time.Minute {
				look()
			}
			require.LessOrEqual(t, float64(s.spent-s.last)/float64(s.ahead), 0.0505, "with the rest after the last one still to come")
			require.Greater(t, s.spent, 20*time.Second)
		})
	}
}

func TestAQueryThatIsSlowAtFirstIsNoOutlier(t *testing.T) {
	s, look := paced(t, func(int) time.Duration { return 8 * time.Second })
	look()
	begun := s.ahead
	for len(s.asked(t)) == 1 {
		look()
	}
	require.Greater(t, s.ahead-begun, 2*time.Minute)
}
