// Package timezone reads the time zones of hosts, and parses the times that schedulers print.
package timezone

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// longestZone bounds names of time zones, in bytes.
const longestZone = 64

// Name returns the name of a machine's time zone, as [Load] takes it. name is the value of TZ or the
// target of the link /etc/localtime on the machine, and offset the output of "date +%z". If the name is
// unknown here or has another offset, Name returns the offset, or nothing without one.
func Name(name, offset string, now time.Time) string {
	fixed, isOffset := zoneOfOffset(offset)
	if !isOffset {
		return ""
	}
	name = zoneFile(name)
	named, isKnown := namedZone(name)
	if !isKnown || offsetAt(named, now) != offsetAt(fixed, now) {
		return offset
	}
	return name
}

// Load returns the time zone of a value of the variable TZ, or of an offset such as +0900. It reports
// false for unknown zones and for explicit rules of daylight-saving time.
func Load(text string) (*time.Location, bool) {
	if zone, isOffset := zoneOfOffset(text); isOffset {
		return zone, true
	}
	if zone, isNamed := namedZone(zoneFile(text)); isNamed {
		return zone, true
	}
	return zoneOfPOSIX(text)
}

func offsetAt(zone *time.Location, at time.Time) int {
	_, seconds := at.In(zone).Zone()
	return seconds
}

// zoneFile returns the zone name for a path of a zone file or a name after a colon.
func zoneFile(text string) string {
	text = strings.TrimPrefix(text, ":")
	if _, name, isFile := strings.Cut(text, "zoneinfo/"); isFile {
		return strings.TrimPrefix(name, "posix/")
	}
	return text
}

// namedZone returns the zone of a name such as Asia/Tokyo.
func namedZone(name string) (*time.Location, bool) {
	if name == "" || name == "Local" || len(name) > longestZone { // Go treats these as UTC and as the local zone
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

var offsetForm = lazyregexp.New(`^([+-])(\d\d)([0-5]\d)$`)

// zoneOfOffset returns the zone for an offset from UTC in the format of "date +%z".
func zoneOfOffset(text string) (*time.Location, bool) {
	parts := offsetForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, false
	}
	return fixedZone(parts[1] == "-", parts[2], parts[3])
}

// posixForm matches a POSIX TZ value without daylight-saving time: a name and the offset to add to get
// UTC.
var posixForm = lazyregexp.New(`^(?:[A-Za-z]{3,10}|<[A-Za-z0-9+-]{3,10}>)([+-]?)(\d{1,2})(?::([0-5]\d))?$`)

func zoneOfPOSIX(text string) (*time.Location, bool) {
	parts := posixForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, false
	}
	return fixedZone(parts[1] != "-", parts[2], parts[3])
}

// mostHours is the largest offset from UTC in POSIX.
const mostHours = 24

func fixedZone(isBehind bool, hours, minutes string) (*time.Location, bool) {
	h, _ := strconv.Atoi(hours)   // of digits
	m, _ := strconv.Atoi(minutes) // of digits, or 0 of none
	if h > mostHours {
		return nil, false
	}
	seconds := h*3600 + m*60
	if isBehind {
		seconds = -seconds
	}
	return time.FixedZone("", seconds), true
}
