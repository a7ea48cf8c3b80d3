package control

import (
	"slices"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// A zone is the time zone that a command writes times of, nil where that is the one
// of this machine.
type zone struct{ location *time.Location }

// orLocal returns the location of the zone.
func (z zone) orLocal() *time.Location {
	if z.location == nil {
		return time.Local
	}
	return z.location
}

// complete adds the zone to the times of an observation, unless it is the zone of this
// machine.
func (z zone) complete(seen *job.Observation) {
	if z.location == nil {
		return
	}
	for _, moment := range []*string{&seen.Submitted, &seen.Started, &seen.Ended} {
		*moment = timezone.WithZone(*moment, z.location)
	}
}

// zoneOf returns the zone of a command's times: that which the definition runs it in,
// else that of the place.
func (c *session) zoneOf(which *config.Command) zone {
	if own, isOwn := c.ownZone(which); isOwn {
		return zone{own}
	}
	return c.placeZone()
}

const timeZoneVariable = "TZ"

// ownZone returns the zone that a definition has a command run in, if it does.
func (c *session) ownZone(which *config.Command) (own *time.Location, isOwn bool) {
	if !slices.ContainsFunc(which.Environment, func(entry *config.EnvironmentEntry) bool { return entry.Name == timeZoneVariable }) {
		return nil, false
	}
	anyJob, err := c.resolver.ScopeOfAnyJob()
	if err != nil {
		return nil, false // running the command says why
	}
	invocation, err := command.Resolve(which, anyJob, job.Environment{})
	if err != nil {
		return nil, false
	}
	for _, variable := range invocation.Environment {
		if variable.Name == timeZoneVariable {
			own, isOwn = timezone.Load(variable.Value)
		}
	}
	return own, isOwn
}

// zoneOfPlace is the zone of commands that the definition has run in none of their own.
func zoneOfPlace(place remote.Info) zone {
	if place.Zone == "" {
		return zone{}
	}
	return zone{place.Location()}
}

// zoneOfJobs is the zone of the listing of jobs.
func zoneOfJobs(c *session) zone {
	if list := c.definition.Command(config.ListJobs); list != nil {
		return c.zoneOf(list)
	}
	return c.placeZone()
}

// Location returns the time zone of the times in rows of x:list-jobs that have none.
func (c *Controller) Location() *time.Location {
	if listed := c.jobsZone(); listed.location != nil {
		return listed.location
	}
	return time.Local
}
