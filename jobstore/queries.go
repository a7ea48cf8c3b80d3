package jobstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// findByID chooses by an id. The conditions on empty ids let both indexes be
// used, and keep an empty id from meaning every submission without one.
const findByID = "WHERE ((id = ?1 AND id <> '') OR (short_id = ?1 AND short_id <> ''))"

const newestFirst = " ORDER BY created DESC, sequence DESC"

// ByTag returns the job of a submission, complete. The error matches ErrNotFound
// without such a job. If only the submission cannot be read, the job comes with the error.
func (s *Store) ByTag(ctx context.Context, tag string) (job.Job, error) {
	j, err := queryJob(ctx, s.database, tag)
	if err == nil {
		err = addSubmission(ctx, s.database, &j)
	}
	return j, failed(err, "looking up a job")
}

// tagsPerQuery bounds the tags of one query.
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
	if count == 1 {
		return "tag = ?", arguments // a statement that a single job is looked up with, too
	}
	return "tag IN (?" + strings.Repeat(", ?", count-1) + ")", arguments
}

// ByTags returns the jobs of those submissions that are on record, by their tags,
// without Attributes, Arguments, Script and Request.
func (s *Store) ByTags(ctx context.Context, tags []string) (map[string]job.Job, error) {
	found := make(map[string]job.Job, len(tags))
	for some := range slices.Chunk(tags, tagsPerQuery) {
		condition, arguments := amongTags(some)
		jobs, err := queryJobs(ctx, s.lenient(s.database), "WHERE "+condition, arguments...)
		if err != nil {
			return nil, failed(err, "looking up %d jobs", len(tags))
		}
		for _, job := range jobs {
			found[job.Tag] = job
		}
	}
	return found, nil
}

// Find returns the jobs, complete and newest first, whose scheduler's id or short
// id is id, in one target or, when target is empty, in all. A scheduler that was
// reset reuses ids: of the jobs with one id in one target only the
// newest is returned, so that more than one result means an ambiguous id. The
// error matches ErrNotFound if there is no such job.
func (s *Store) Find(ctx context.Context, id, target string) ([]job.Job, error) {
	var jobs []job.Job
	err := s.find(ctx, id, target, eachJob, func(row *jobRow) { jobs = append(jobs, row.job) })
	for i := range jobs {
		if err == nil {
			err = addSubmission(ctx, s.database, &jobs[i])
		}
	}
	return jobs, findError(err, id, target)
}

// FindBrief returns the jobs that Find would, newest first and brief. The error
// matches ErrNotFound when no job is found.
func (s *Store) FindBrief(ctx context.Context, id, target string) ([]job.Job, error) {
	var jobs []job.Job
	err := s.find(ctx, id, target, eachBrief, func(row *jobRow) { jobs = append(jobs, row.job) })
	return jobs, findError(err, id, target)
}

// find gives the newest job of each target and id that is called id to a function.
func (s *Store) find(ctx context.Context, id, target string, each jobReader, do func(*jobRow)) error {
	condition, arguments := findByID, []any{id}
	if target != "" {
		condition, arguments = condition+" AND target = ?2", append(arguments, target)
	}
	found := map[[2]string]bool{}
	err := each(ctx, s.database, func(row *jobRow) error {
		isCalled := row.job.ID == id || row.job.ShortID == id // a damaged index leads to others
		if key := [2]string{row.job.Target, row.job.ID}; isCalled && !found[key] {
			found[key] = true
			do(row)
		}
		return nil
	}, condition+newestFirst, arguments...)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	return err
}

func findError(err error, id, target string) error {
	if target != "" {
		return failed(err, "looking up job %q of target %q", id, target)
	}
	return failed(err, "looking up job %q", id)
}

// List returns the jobs that a filter chooses, newest first, without Attributes,
// Arguments, Script and Request.
func (s *Store) List(ctx context.Context, filter Filter) ([]job.Job, error) {
	condition := "WHERE finished = 0"
	if filter.All {
		condition = "WHERE true"
	}
	jobs, err := s.list(ctx, filter.Target, filter.Limit, condition)
	return jobs, failed(err, "listing the jobs")
}

// list returns the jobs of a target, or of all, that a condition chooses, newest first.
func (s *Store) list(ctx context.Context, target string, limit int, condition string, arguments ...any) ([]job.Job, error) {
	if target != "" {
		condition += " AND target = ?"
		arguments = append(arguments, target)
	}
	if limit <= 0 {
		limit = -1 // which is no limit
	}
	jobs, err := queryJobs(ctx, s.lenient(s.database), condition+newestFirst+" LIMIT ?", append(arguments, limit)...)
	if isCorrupt(err) {
		var rows []jobRow
		rows, err = s.listReadable(ctx, eachJob, limit, condition, arguments...)
		jobs = jobsOf(rows)
	}
	return jobs, err
}

// Unseen returns the submissions, newest first, that were recorded since a time and
// are rejected by RejectUnseen, of one target or, when target is empty, of all;
// without Attributes, Arguments, Script and Request.
func (s *Store) Unseen(ctx context.Context, since time.Time, target string) ([]job.Job, error) {
	jobs, err := s.list(ctx, target, 0, "WHERE finished = 1 AND phase = ? AND missing = 1 AND created >= ?", string(job.PhaseRejected), stored.Time(since))
	return jobs, failed(err, "listing the submissions that their schedulers did not know")
}

// Unresolved returns the submissions, complete and newest first, whose outcome is
// not recorded, of one target or, when target is empty, of all. Those that are
// Intended may be on their way in another process at this moment: Created says
// since when.
func (s *Store) Unresolved(ctx context.Context, target string) ([]job.Job, error) {
	jobs, err := s.list(ctx, target, 0, "WHERE finished = 0 AND phase IN (?, ?)", string(job.PhaseIntended), string(job.PhaseUnknown))
	complete := jobs[:0]
	for _, j := range jobs {
		problem := addSubmission(ctx, s.database, &j)
		switch {
		case problem == nil:
			complete = append(complete, j)
		case isDamage(problem):
			s.damage.add(j.Tag, "submission "+j.Tag)
		default:
			err = cmp.Or(err, problem)
		}
	}
	return complete, failed(err, "listing the submissions without an outcome")
}
