package jobstore

import (
	"context"
	"math"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// Jobs are listed in parts. The first is short, so that it is shown at once. No read is open while
// a part is shown: a pager would let the log grow, and block all writers on a network file
// system.
const (
	firstPart   = 256
	furtherPart = 1024
)

// beforeAll is later than any time on record.
const beforeAll = "~"

// EachListed gives the jobs that a filter chooses, newest first, to a function until that
// returns an error. They have what [job.Job.Document] and remarks on them need: neither the
// submission, nor evidence, nor what decides whether a job is waited for. The job is the
// function's for the call only.
func (s *Store) EachListed(ctx context.Context, filter Filter, do func(*job.Job) error) error {
	condition := "WHERE (created, sequence) < (?, ?)"
	if !filter.All {
		condition += " AND finished = 0"
	}
	var chosen []any
	for _, each := range []struct{ column, value string }{{"target", filter.Target}, {"ensemble", filter.Ensemble}} {
		if each.value != "" {
			condition, chosen = condition+" AND "+each.column+" = ?", append(chosen, each.value)
		}
	}
	left := filter.Limit
	if left <= 0 {
		left = math.MaxInt
	}
	created, sequence := beforeAll, int64(0) // of the job before the next part
	var part []jobRow
	for most := firstPart; left > 0; most = furtherPart {
		most = min(most, left)
		arguments := append([]any{created, sequence}, chosen...)
		part = part[:0]
		source := s.lenient(s.database)
		err := eachListed(ctx, source, func(row *jobRow) error {
			part = append(part, *row)
			return nil
		}, condition+newestFirst+" LIMIT ?", append(arguments, most)...)
		isLast := len(part)+source.skipped < most
		if isCorrupt(err) || len(part) == 0 && !isLast {
			isLast = true
			part, err = s.listReadable(ctx, eachListed, left, condition, arguments...)
		}
		if err != nil {
			return failed(err, "listing the jobs")
		}
		for i := range part {
			created, sequence = stored.Time(part[i].job.Created), part[i].number
			if err := do(&part[i].job); err != nil {
				return err
			}
		}
		if isLast {
			return nil
		}
		left -= most
	}
	return nil
}
