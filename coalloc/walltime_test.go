package coalloc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// F21: rmctl knows the wall time of a part however its user writes it.
func TestWallTimesAreReadInTheFormsOfTheirSchedulers(t *testing.T) {
	linked := func(scheduler, form string) *config.Definition {
		d := &config.Definition{Portable: []*config.PortableLink{{Name: portableWallTime, Attribute: "time", As: form}}}
		d.Monitor.SchedulerType = scheduler
		return d
	}
	slurm, pbs, lsf, oar, local := linked("SLURM", "h:mm:ss"), linked("PBS", "h:mm:ss"), linked("LSF", "h:mm"), linked("OAR", "h:mm:ss"), linked("RMCTL_LOCAL", "s")
	value := func(name, text string) []job.Assignment { return []job.Assignment{{Name: name, Value: text}} }
	for _, try := range []struct {
		name     string
		on       *config.Definition
		values   []job.Assignment
		defaults map[string]string
		want     time.Duration
	}{
		{"units", slurm, value(portableWallTime, "1h30m"), nil, 90 * time.Minute},
		{"days", slurm, value(portableWallTime, "2d"), nil, 48 * time.Hour},
		{"a clock", slurm, value(portableWallTime, "1:30:00"), nil, 90 * time.Minute},
		{"a clock with days", slurm, value(portableWallTime, "2-12:00:00"), nil, 60 * time.Hour},
		{"minutes of Slurm", slurm, value("time", "90"), nil, 90 * time.Minute},
		{"minutes and seconds of Slurm", slurm, value("time", "90:30"), nil, 90*time.Minute + 30*time.Second},
		{"days of Slurm", slurm, value("time", "1-00:00:00"), nil, 24 * time.Hour},
		{"seconds of PBS", pbs, value("time", "90"), nil, 90 * time.Second},
		{"minutes of LSF", lsf, value("time", "90"), nil, 90 * time.Minute},
		{"hours and minutes of LSF", lsf, value("time", "1:30"), nil, 90 * time.Minute},
		{"hours of OAR", oar, value("time", "2"), nil, 2 * time.Hour},
		{"seconds", local, value("time", "90"), nil, 90 * time.Second},
		{"the default of the target", slurm, nil, map[string]string{"time": "30"}, 30 * time.Minute},
		{"the portable default of the target", pbs, nil, map[string]string{portableWallTime: "5m"}, 5 * time.Minute},
		{"a value over the default", slurm, value("time", "90"), map[string]string{portableWallTime: "5m"}, 90 * time.Minute},
		{"a word", slurm, value("time", "UNLIMITED"), nil, 0},
		{"more than any job has", slurm, value("time", "99999999999999999999"), nil, 0},
		{"nothing", slurm, nil, nil, 0},
	} {
		t.Run(try.name, func(t *testing.T) {
			require.Equal(t, try.want, wallTimeOn(try.on, job.Submission{Values: try.values}, try.defaults))
		})
	}
}
