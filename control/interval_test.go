package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

func TestADefinitionMakesTheLeastIntervalNoShorter(t *testing.T) {
	for name, c := range map[string]struct {
		attributes      string
		least, expected time.Duration
	}{
		"a shorter one":          {`x:interval="100ms"`, 20 * time.Second, 20 * time.Second},
		"a longer one":           {`x:interval="30s"`, 20 * time.Second, 30 * time.Second},
		"none":                   {``, 20 * time.Second, 20 * time.Second},
		"none, and a short one":  {``, time.Second, 5 * time.Second},
		"one of its own, freely": {`x:interval="100ms"`, 0, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, cluster(t, c.attributes), func(o *control.Options) {
				o.LeastInterval, o.Jitter = c.least, func() float64 { return 0 }
			})
			s.stopClock()
			require.Equal(t, c.expected, s.Interval())
			view := newView(s, false)
			s.write(t, "jobs", "7 RUNNING then me\n")
			begun := view.lists(t)
			due, err := view.Due(t.Context(), config.ListJobs)
			require.NoError(t, err)
			require.False(t, due.Before(begun.Add(c.expected)), "a view lists again after %s", due.Sub(begun))
		})
	}
}

func TestTheLeastIntervalLimitsTheQueryForOwnJobs(t *testing.T) {
	s := newSite(t, cluster(t, `x:interval="100ms"`), func(o *control.Options) {
		o.LeastInterval, o.Jitter = 20*time.Second, func() float64 { return 0 }
	})
	s.stopClock()
	jobs := []job.Job{s.submits(t, job.Submission{Executable: "x"}), s.submits(t, job.Submission{Executable: "x"})}
	s.shows(t, jobs, job.Running, job.Running)
	s.ahead += time.Minute
	s.updates(t, jobs, false)
	s.ahead += 19 * time.Second
	s.updates(t, jobs, false)
	require.Equal(t, []string{"list"}, s.asked(t))
	s.ahead += 2 * time.Second
	s.updates(t, jobs, false)
	require.Equal(t, []string{"list", "list"}, s.asked(t))
}
