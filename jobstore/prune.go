package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/internal/stored"
)

// Prune removes the jobs, with their histories, that are over and were recorded before a
// time and not observed since; of one target or, if target is empty, of all. It returns
// how many these were, and removes ensembles that have no job left. It keeps submissions whose outcome is unknown.
func (s *Store) Prune(ctx context.Context, before time.Time, target string) (int, error) {
	const chosen = "FROM jobs WHERE finished = 1 AND created < ?1 AND observed < ?1 AND (target = ?2 OR ?2 = '')"
	var count int64
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		for _, table := range []string{"events", "submissions", "staged", "processes", "tracked"} {
			if _, err := transaction.ExecContext(ctx, "DELETE FROM "+table+" WHERE tag IN (SELECT tag "+chosen+")", stored.Time(before), target); err != nil {
				return err
			}
		}
		if _, err := transaction.ExecContext(ctx, "DELETE FROM sightings WHERE job IN (SELECT sequence "+chosen+")", stored.Time(before), target); err != nil {
			return err
		}
		result, err := transaction.ExecContext(ctx, "DELETE "+chosen, stored.Time(before), target)
		if err == nil {
			count, err = result.RowsAffected()
		}
		if err == nil {
			err = journal.Prune(ctx, transaction, before)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("removing jobs from before %s: %w", before.Format(time.DateTime), err)
	}
	return int(count), nil
}
