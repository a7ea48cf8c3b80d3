package timezone_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/timezone"
)

func TestTheZoneNameIsUsedIfItIsKnown(t *testing.T) {
	winter, summer := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		name, offset string
		now          time.Time
		want         string
	}{
		"by the variable":                    {"Asia/Tokyo", "+0900", winter, "Asia/Tokyo"},
		"by the variable, marked as a name":  {":Asia/Tokyo", "+0900", winter, "Asia/Tokyo"},
		"by the link":                        {"../usr/share/zoneinfo/Europe/Berlin", "+0200", summer, "Europe/Berlin"},
		"by a link to other rules":           {"/usr/share/zoneinfo/posix/Europe/Berlin", "+0100", winter, "Europe/Berlin"},
		"a name that means something else":   {"Europe/Berlin", "+0200", winter, "+0200"},
		"a name that is not known here":      {"Atlantis/Capital", "-0330", winter, "-0330"},
		"no name":                            {"", "+0545", winter, "+0545"},
		"the name of what is here":           {"Local", "+0900", winter, "+0900"},
		"a path out of the folder of zones":  {"zoneinfo/../../../etc/passwd", "+0900", winter, "+0900"},
		"a name without end":                 {strings.Repeat("a/", 1000), "+0900", winter, "+0900"},
		"a date that does not know the form": {"Asia/Tokyo", "%z", winter, ""},
		"no offset that there can be":        {"Asia/Tokyo", "+9900", winter, ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, timezone.Name(c.name, c.offset, c.now)) })
	}
}

func TestZonesOfTheVariableTZ(t *testing.T) {
	at := time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"Asia/Tokyo": "+0900", ":Europe/Berlin": "+0200", "/usr/share/zoneinfo/America/New_York": "-0400",
		"+0530": "+0530", "-0330": "-0330", "UTC": "+0000", "UTC0": "+0000", "JST-9": "+0900", "<-03>3": "-0300", "ABC3:30": "-0330",
	} {
		zone, isKnown := timezone.Load(text)
		require.True(t, isKnown, text)
		require.Equal(t, want, at.In(zone).Format("-0700"), text)
	}
	for _, text := range []string{"", "Local", "nowhere", "ABC99", "+99", "ABC3DEF,M3.2.0,M11.1.0", "../../etc/passwd"} {
		_, isKnown := timezone.Load(text)
		require.False(t, isKnown, text)
	}
}
