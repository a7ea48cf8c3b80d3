package jobstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/job"
)

// findByID chooses by an id. The conditions on empty ids let both indexes be
// used, and keep an empty id from meaning every submission without one.
const findByID = "WHERE ((id = ?1 AND id <> '') OR (short_id = ?1 AND short_id <> ''))"

const newestFirst = " ORDER BY created DESC, sequence DESC"

// ByTag returns the job of a submission, complete. The error matches ErrNotFound
// when there is none.
func (s *Store) ByTag(ctx context.Context, tag string) (job.Job, error) {
	j, err := queryJob(ctx, s.database, tag)
	if err == nil {
		err = addSubmission(ctx, s.database, &j)
	}
	if err != nil {
		return job.Job{}, fmt.Errorf("looking up a job: %w", explained(err))
	}
	return j, nil
}

// tagsPerQuery bounds how many tags stand in one query.
const tagsPerQuery = 512

// amongTags returns a condition that chooses the jobs of some tags, and its
// arguments. There are few such texts, so that statements can be kept: the last
// tag is repeated until there are as many as a power of two.
func amongTags(tags []string) (condition string, arguments []any) {
	count := 1
	for count < len(tags) {
		count *= 2
	}
	arguments = make([]any, count)
	for i := range arguments {
		arguments[i] = tags[min(i, len(tags)-1)]
	}
	return "tag IN (?" + strings.Repeat(", ?", count-1) + ")", arguments
}

// ByTags returns the jobs of those submissions that are on record, by their tags,
// without Attributes, Arguments, Script and Request.
func (s *Store) ByTags(ctx context.Context, tags []string) (map[string]job.Job, error) {
	found := make(map[string]job.Job, len(tags))
	for some := range slices.Chunk(tags, tagsPerQuery) {
		condition, arguments := amongTags(some)
		jobs, err := queryJobs(ctx, s.database, "WHERE "+condition, arguments...)
		if err != nil {
			return nil, fmt.Errorf("looking up %d jobs: %w", len(tags), explained(err))
		}
		for _, job := range jobs {
			found[job.Tag] = job
		}
	}
	return found, nil
}

// Find returns the jobs, complete and newest first, whose scheduler's id or short
// id is id, in one target or, when target is empty, in all. A scheduler that was
// reset gives its ids again: of the jobs with one id in one target only the
// newest is returned, so that more than one result means an ambiguous id. The
// error matches ErrNotFound when there is none.
func (s *Store) Find(ctx context.Context, id, target string) ([]job.Job, error) {
	condition, arguments := findBy(id, target)
	candidates, err := queryJobs(ctx, s.database, condition, arguments...)
	found := newestOf{}
	var jobs []job.Job
	for _, job := range candidates {
		if err != nil || !found.isFirst(job.Target, job.ID) {
			continue
		}
		err = addSubmission(ctx, s.database, &job)
		jobs = append(jobs, job)
	}
	if err == nil && len(jobs) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, findError(id, target, err)
	}
	return jobs, nil
}

// findBy returns what chooses the jobs that are called id, newest first, and its arguments.
func findBy(id, target string) (rest string, arguments []any) {
	if target == "" {
		return findByID + newestFirst, []any{id}
	}
	return findByID + " AND target = ?2" + newestFirst, []any{id, target}
}

// newestOf tells the newest job of each target and id from older ones, which come later.
type newestOf map[[2]string]bool

func (n newestOf) isFirst(target, id string) bool {
	key := [2]string{target, id}
	known := n[key]
	n[key] = true
	return !known
}

func findError(id, target string, err error) error {
	if target != "" {
		return fmt.Errorf("looking up job %q of target %q: %w", id, target, explained(err))
	}
	return fmt.Errorf("looking up job %q: %w", id, explained(err))
}

// List returns the jobs that a filter chooses, newest first, without Attributes,
// Arguments, Script and Request.
func (s *Store) List(ctx context.Context, filter Filter) ([]job.Job, error) {
	condition := "WHERE true"
	var arguments []any
	if !filter.All {
		condition += " AND finished = 0"
	}
	if filter.Target != "" {
		condition += " AND target = ?"
		arguments = append(arguments, filter.Target)
	}
	limit := -1 // which is no limit
	if filter.Limit > 0 {
		limit = filter.Limit
	}
	jobs, err := queryJobs(ctx, s.database, condition+newestFirst+" LIMIT ?", append(arguments, limit)...)
	if err != nil {
		return nil, fmt.Errorf("listing the jobs: %w", explained(err))
	}
	return jobs, nil
}

// Unseen returns the submissions, newest first, that were recorded since a time and
// are rejected by RejectUnseen, of one target or, when target is empty, of all;
// without Attributes, Arguments, Script and Request.
func (s *Store) Unseen(ctx context.Context, since time.Time, target string) ([]job.Job, error) {
	condition := "WHERE finished = 1 AND phase = ? AND missing = 1 AND created >= ?"
	arguments := []any{string(job.PhaseRejected), storedTime(since)}
	if target != "" {
		condition += " AND target = ?"
		arguments = append(arguments, target)
	}
	jobs, err := queryJobs(ctx, s.database, condition+newestFirst, arguments...)
	if err != nil {
		return nil, fmt.Errorf("listing the submissions that their schedulers did not know: %w", explained(err))
	}
	return jobs, nil
}

// Unresolved returns the submissions, complete and newest first, whose outcome is
// not recorded, of one target or, when target is empty, of all. Those that are
// Intended may be on their way in another process at this moment: Created tells
// since when.
func (s *Store) Unresolved(ctx context.Context, target string) ([]job.Job, error) {
	condition := "WHERE finished = 0 AND phase IN (?, ?)"
	arguments := []any{string(job.PhaseIntended), string(job.PhaseUnknown)}
	if target != "" {
		condition += " AND target = ?"
		arguments = append(arguments, target)
	}
	jobs, err := queryWhole(ctx, s.database, condition+newestFirst, arguments...)
	if err != nil {
		return nil, fmt.Errorf("listing the submissions without an outcome: %w", explained(err))
	}
	return jobs, nil
}
