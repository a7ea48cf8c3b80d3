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

// zoneOf returns the time zone of a command's output: the one in which the definition runs it,
// otherwise that of the host.
func (c *session) zoneOf(which *config.Command) timezone.Zone {
	if own, isOwn := c.ownZone(which); isOwn {
		return timezone.Zone{Location: own}
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
		return nil, false // running the command returns the error
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

// zoneOfPlace is the time zone of commands for which the definition sets none.
func zoneOfPlace(place remote.Info) timezone.Zone {
	if place.Zone == "" {
		return timezone.Zone{}
	}
	return timezone.Zone{Location: place.Location()}
}

// zoneOfJobs is the zone of the listing of jobs.
func zoneOfJobs(c *session) timezone.Zone {
	if list := c.definition.Command(config.ListJobs); list != nil {
		return c.zoneOf(list)
	}
	return c.placeZone()
}

// Location returns the time zone of the times in rows of x:list-jobs that have none.
func (c *Controller) Location() *time.Location { return c.jobsZone().OrLocal() }
