package control

import (
	"context"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/listing"
)

// newListing returns a listing that begins now and has no rows yet.
func (c *session) newListing(list *config.Command) *listing.Listing {
	return listing.New(list.Name, c.zoneOf(list), c.now())
}

// listJobs lists all jobs of this user with one command, or some jobs if the definition uses
// ids. Jobs that the listing lacks may still exist.
func (c *session) listJobs(ctx context.Context, list *config.Command, ids string) (*listing.Listing, error) {
	return c.listWith(ctx, listRequest{command: list, scope: config.OwnJobs, ids: ids, origins: originsOf(list)})
}

// listWith lists jobs with one command.
func (c *session) listWith(ctx context.Context, request listRequest) (*listing.Listing, error) {
	listed := c.newListing(request.command)
	_, err := c.rows(ctx, request, func(row command.Row) error {
		listed.Add(row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return listed, nil
}
