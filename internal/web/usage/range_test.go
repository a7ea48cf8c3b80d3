package usage

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlotsShowARangeOfTime(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	read := func(from, to string) (time.Time, time.Time) {
		return ReadUtilisationQuery(url.Values{"hours": {"6"}, "from": {from}, "to": {to}}).span(now)
	}
	unix := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	from, to := read(unix(now.Add(-3*time.Hour)), now.Add(-time.Hour).Local().Format(TimeLayout))
	require.Equal(t, 3*time.Hour, now.Sub(from))
	require.Equal(t, time.Hour, now.Sub(to))
	for _, wrong := range [][2]string{{"", ""}, {"x", unix(now)}, {unix(now), unix(now.Add(time.Second))}, {unix(now), unix(now.Add(-time.Hour))}, {"-5", unix(now)}, {"99999999999999999999", unix(now)}} {
		from, to = read(wrong[0], wrong[1])
		require.Equal(t, []time.Time{now.Add(-6 * time.Hour), now}, []time.Time{from, to}, wrong)
	}
}

func TestAPlotHasItsSamplesForScripts(t *testing.T) {
	at := time.Unix(1000, 0)
	samples := []sample{{At: at, HasJobs: true, Running: 3, Waiting: 4}, {At: at.Add(10 * time.Second), HasJobs: true, Running: 5}}
	plots := plotsOf(samples, 10*time.Second, at, at.Add(time.Minute))
	require.Equal(t, "1000:3:4:0 1010:5:0:0", plots[0].Samples)
	require.Equal(t, []int64{1000, 1060}, []int64{plots[0].From, plots[0].To})
}
