package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/remote"
)

// A farConnection is a connection to a host in another time zone.
type farConnection struct {
	remote.Connection
	zone string
}

func (f farConnection) Info() remote.Info {
	info := f.Connection.Info()
	info.Zone = f.zone
	return info
}

// clocked is a definition whose jobs have the submission time in the file "time", and whose
// commands have children.
func clocked(t *testing.T, children string) *config.Definition {
	return define(t, `<attribute name="job.submitted" visible="false"/>`+
		running("submit-batch", "echo job 9", `waitForId="true"`, jobIDParser)+
		running("get-job-status", `echo RUNNING; echo "at $(cat time)"`, "", children+`<stdout-parser delim="\n">
			<target ref="@jobId"><match><expression>([A-Z]+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
			<target ref="job.submitted"><match><expression>at (.*)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
		</stdout-parser>`),
		`<monitor-data schedulerType="TEST">`+running("x:list-jobs", `echo "9 2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2 RUNNING $(cat time)"`, "", children+`<stdout-parser delim="\n">
			<target><match><expression>(\d+) (\S+) (\S+) (.+)</expression><set field="name"><entry valueGroup="1"/></set>
				<put field="value"><entry key="identity" valueGroup="2"/><entry key="state" valueGroup="3"/><entry key="submitted" valueGroup="4"/></put></match></target></stdout-parser>`)+
			`</monitor-data>`)
}

func TestTimesAreReadInTheZoneOfTheTarget(t *testing.T) {
	const zoneOfDefinition = `<environment name="TZ" value="America/New_York"/>`
	for name, c := range map[string]struct{ children, zone, reported, want string }{
		"the place is in a zone with a name":    {"", "Asia/Tokyo", "2026-03-04T17:00:00", "2026-03-04T17:00:00+09:00"},
		"the place is so far from UTC":          {"", "-0330", "Wed Mar  4 17:00:00 2026", "2026-03-04T17:00:00-03:30"},
		"it was summer":                         {"", "Europe/Berlin", "2025-07-04T17:00:00", "2025-07-04T17:00:00+02:00"},
		"it was winter":                         {"", "Europe/Berlin", "2026-03-04T17:00:00", "2026-03-04T17:00:00+01:00"},
		"the definition has a zone of its own":  {zoneOfDefinition, "Asia/Tokyo", "2026-03-04T17:00:00", "2026-03-04T17:00:00-05:00"},
		"so it has on this machine":             {zoneOfDefinition, "", "2026-03-04T17:00:00", "2026-03-04T17:00:00-05:00"},
		"the scheduler prints the zone":         {"", "Asia/Tokyo", "2026-03-04T17:00:00+01:00", "2026-03-04T17:00:00+01:00"},
		"the place is in the zone that is here": {"", "", "2026-03-04T17:00:00", "2026-03-04T17:00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, clocked(t, c.children), func(o *control.Options) { o.Connection = farConnection{o.Connection, c.zone} })
			s.ahead = time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
			s.write(t, "time", c.reported)
			var rows elements.RowSet
			_, err := s.Rows(t.Context(), config.ListJobs, config.AllJobs, rows.Add)
			require.NoError(t, err)
			require.Equal(t, c.want, elements.JobsOf(s.Controller, rows.Rows())[0].Submitted)

			adopted, err := s.Rediscover(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, adopted[0].Submitted)
			want, isTime := timezone.ParseTime(c.want, time.Local)
			require.True(t, isTime)
			require.True(t, want.Equal(adopted[0].SubmittedAt()), "%s", adopted[0].SubmittedAt())
			shown, isTime := timezone.ParseTime(c.reported, s.Location())
			require.True(t, isTime)
			require.True(t, want.Equal(shown))

			asked, err := s.Look(t.Context(), "9")
			require.NoError(t, err)
			require.Equal(t, c.want, asked.Submitted)
		})
	}
}
