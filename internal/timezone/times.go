package timezone

import (
	"strconv"
	"time"
)

// zonelessLayouts are the layouts of schedulers' times without a zone.
var zonelessLayouts = []string{
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	time.ANSIC,
	"01/02/2006 15:04:05",
}

const plainLayout = "2006-01-02T15:04:05"

// longestTime bounds times in these layouts, in bytes.
const longestTime = 64

// maxSeconds is in the year 9999, the last year of RFC 3339.
const maxSeconds = 253_402_000_000

// ParseTime reads a scheduler's text of a time. Numbers are seconds since 1970, large ones milliseconds
// or microseconds. Times without a zone are in the location. It reports false for any other text.
func ParseTime(text string, location *time.Location) (time.Time, bool) {
	if len(text) > longestTime {
		return time.Time{}, false
	}
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		moment, isTime := sinceEpoch(number)
		return moment.In(location), isTime
	}
	if len(text) > len(plainLayout) {
		if moment, err := time.ParseInLocation(time.RFC3339Nano, text, location); err == nil && moment.Year() > 0 {
			return moment, true
		}
	}
	return parseZoneless(text, location)
}

// sinceEpoch returns the time of a number of seconds, milliseconds or microseconds since
// 1970. Its size says which.
func sinceEpoch(number int64) (time.Time, bool) {
	const each = 1000
	switch {
	case number <= 0:
	case number <= maxSeconds:
		return time.Unix(number, 0), true
	case number <= maxSeconds*each:
		return time.UnixMilli(number), true
	case number <= maxSeconds*each*each:
		return time.UnixMicro(number), true
	}
	return time.Time{}, false
}

// parseZoneless reads a text of a time in one of the zoneless layouts.
func parseZoneless(text string, location *time.Location) (time.Time, bool) {
	for _, layout := range zonelessLayouts {
		if moment, err := time.ParseInLocation(layout, text, location); err == nil && moment.Year() > 0 {
			return moment, true
		}
	}
	return time.Time{}, false
}

// WithZone converts a scheduler's time without a zone to RFC 3339, with the zone of the location. It
// returns any other text unchanged.
func WithZone(text string, location *time.Location) string {
	if len(text) > longestTime || len(text) < len(plainLayout) {
		return text
	}
	if moment, isZoneless := parseZoneless(text, location); isZoneless {
		return moment.Format(time.RFC3339Nano)
	}
	return text
}

// IsSameTime reports whether two times of schedulers may be the same. It ignores the zones of two equal
// local times, since one of the zones may be unknown or guessed.
func IsSameTime(a, b string) bool {
	if a == b {
		return true
	}
	one, isOne := ParseTime(a, time.UTC)
	other, isOther := ParseTime(b, time.UTC)
	return isOne && isOther && (one.Equal(other) || shown(one).Equal(shown(other)))
}

// shown returns the local time of a moment, as if it were UTC.
func shown(moment time.Time) time.Time {
	_, seconds := moment.Zone()
	return moment.Add(time.Duration(seconds) * time.Second)
}
