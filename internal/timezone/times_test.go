package timezone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var tokyo = time.FixedZone("", 9*60*60)

func TestTimesWithoutAZoneAreInTheLocation(t *testing.T) {
	noon := time.Date(2026, 7, 3, 12, 0, 0, 0, tokyo)
	for text, want := range map[string]time.Time{
		"2026-07-03T12:00:00":       noon,
		"2026-07-03 12:00:00":       noon,
		"2026-07-03T12:00:00.5":     noon.Add(500 * time.Millisecond),
		"Fri Jul  3 12:00:00 2026":  noon,
		"07/03/2026 12:00:00":       noon,
		"2026-07-03T12:00:00Z":      noon.Add(9 * time.Hour),
		"2026-07-03T12:00:00-04:00": noon.Add(13 * time.Hour),
		"1783047600":                noon,
		"1783047600500":             noon.Add(500 * time.Millisecond),
		"1783047600000250":          noon.Add(250 * time.Microsecond),
	} {
		moment, isTime := ParseTime(text, tokyo)
		require.True(t, isTime, text)
		require.True(t, want.Equal(moment), "%s is %s", text, moment)
	}
	for _, text := range []string{"", "Unknown", "N/A", "0", "-5", "253402000000000001", "9999999999999999999", "0000-00-00T00:00:00", "2026-07-03T25:00:00", "2026-07-03"} {
		_, isTime := ParseTime(text, tokyo)
		require.False(t, isTime, text)
	}
}

func TestOnlyTimesWithoutAZoneGetOne(t *testing.T) {
	for text, want := range map[string]string{
		"2026-07-03T12:00:00":       "2026-07-03T12:00:00+09:00",
		"2026-07-03 12:00:00.25":    "2026-07-03T12:00:00.25+09:00",
		"Fri Jul  3 12:00:00 2026":  "2026-07-03T12:00:00+09:00",
		"07/03/2026 12:00:00":       "2026-07-03T12:00:00+09:00",
		"2026-07-03T12:00:00Z":      "2026-07-03T12:00:00Z",
		"2026-07-03T12:00:00-04:00": "2026-07-03T12:00:00-04:00",
		"1783047600":                "1783047600",
		"Unknown":                   "Unknown",
		"half past twelve, I think": "half past twelve, I think",
		"":                          "",
	} {
		require.Equal(t, want, WithZone(text, tokyo))
	}
}

func TestIsSameTime(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   string
		isSame bool
	}{
		"no time":                                     {"soon", "soon", true},
		"two that are no times":                       {"soon", "later", false},
		"with and without the zone":                   {"2026-07-03T12:00:00", "2026-07-03T12:00:00+09:00", true},
		"written in other ways":                       {"Fri Jul  3 12:00:00 2026", "2026-07-03T12:00:00+09:00", true},
		"of another zone":                             {"2026-07-03T03:00:00Z", "2026-07-03T12:00:00+09:00", true},
		"seconds, and a time":                         {"1783047600", "2026-07-03T12:00:00+09:00", true},
		"of before and after the clocks were changed": {"2026-07-03T12:00:00+02:00", "2026-07-03T12:00:00+01:00", true},
		"another second":                              {"2026-07-03T12:00:00", "2026-07-03T12:00:01+09:00", false},
		"another hour":                                {"2026-07-03T12:00:00Z", "2026-07-03T13:00:00Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.isSame, IsSameTime(c.a, c.b))
			require.Equal(t, c.isSame, IsSameTime(c.b, c.a))
		})
	}
}
