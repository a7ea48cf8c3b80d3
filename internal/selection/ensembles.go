package selection

import (
	"context"

	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/jobstore"
)

// Memberships returns the ensembles and parts that jobs belong to, by the tags of those that do.
func Memberships(ctx context.Context, store *jobstore.Store, jobs []Handle) (map[string]journal.Membership, error) {
	tags := make([]string, len(jobs))
	for i, job := range jobs {
		tags[i] = job.Tag
	}
	return store.Journal().Memberships(ctx, tags)
}
