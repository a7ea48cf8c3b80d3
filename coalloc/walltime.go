package coalloc

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/quantity"
	"github.com/rmctl/rmctl/job"
)

// wallTimeOf returns the wall time that a submission requests by its portable name; 0 if it requests none.
func wallTimeOf(s job.Submission) time.Duration {
	limit, _ := portablename.WallTime(valueIn(s, portableWallTime))
	return limit
}

func valueIn(s job.Submission, name string) (text string) {
	for _, value := range s.Values {
		if value.Name == name {
			text = value.Value
		}
	}
	return text
}

// wallTime returns the wall time of the part on its target; 0 if it is unknown.
func (s *submission) wallTime() time.Duration {
	if l := s.place.now(); l != nil {
		return wallTimeOn(l.controller.Definition, s.part.Submission, l.defaults)
	}
	return 0
}

// wallTimeOn returns the wall time that a submission requests of a definition, by the portable name or by an attribute
// of the definition, or that the target has as a default; 0 if it is unknown.
func wallTimeOn(d *config.Definition, s job.Submission, defaults map[string]string) time.Duration {
	isOwn := s.Assigns(portableWallTime)
	links := d.PortableLinks(portableWallTime)
	for _, link := range links {
		isOwn = isOwn || s.Assigns(link.Attribute)
	}
	value := func(name string) string {
		if isOwn {
			return valueIn(s, name)
		}
		return defaults[name]
	}
	if limit, isTime := portablename.WallTime(value(portableWallTime)); isTime {
		return limit
	}
	for _, link := range links {
		if limit := nativeWallTime(value(link.Attribute), link.As, d.Monitor.SchedulerType); limit > 0 {
			return limit
		}
	}
	return 0
}

// nativeWallTime reads a wall time as users of a scheduler write it, for an attribute with a unit or form.
func nativeWallTime(text, form, scheduler string) time.Duration {
	if limit, isTime := portablename.WallTime(text); isTime {
		return limit
	}
	unit, hasHours := "s", false // of a number alone; whether two numbers are hours and minutes
	switch {
	case form == "h:mm":
		unit, hasHours = "min", true
	case strings.EqualFold(scheduler, "OAR"):
		unit, hasHours = "h", true
	case form == "min", form != "s" && (strings.EqualFold(scheduler, "SLURM") || strings.EqualFold(scheduler, "COBALT")):
		unit = "min"
	}
	if hasHours && strings.Count(text, ":") == 1 {
		text += ":00"
	}
	length, _ := quantity.Seconds(text, unit)
	seconds, err := strconv.ParseInt(length, 10, 64)
	if err != nil || seconds > int64(longestLimit/time.Second) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
