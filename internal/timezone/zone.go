package timezone

import "time"

// A Zone is the time zone of the times in a command's output. Its location is nil for the zone of this
// machine.
type Zone struct{ Location *time.Location }

// OrLocal returns the location of the zone.
func (z Zone) OrLocal() *time.Location {
	if z.Location == nil {
		return time.Local
	}
	return z.Location
}

// Complete adds the zone to times without one, unless it is the zone of this machine.
func (z Zone) Complete(moments ...*string) {
	if z.Location == nil {
		return
	}
	for _, moment := range moments {
		*moment = WithZone(*moment, z.Location)
	}
}
