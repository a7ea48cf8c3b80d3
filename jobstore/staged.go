package jobstore

import (
	"context"
	"database/sql"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// A Staged file is one that a submission writes, or a folder that it makes for one.
type Staged struct {
	Path  string // at the place where the job is submitted
	Stays bool   // it is kept; only what is left of an interrupted write is to be removed
}

// A Leftover is a submission whose staged files may still be there.
type Leftover struct {
	Job    job.Job  // without what was submitted
	Staged []Staged // in the order in which they are to be removed
}

// stage records a file of a submission.
func stage(ctx context.Context, transaction *sql.Tx, tag string, file Staged) error {
	_, err := transaction.ExecContext(ctx, "INSERT OR IGNORE INTO staged (tag, path, stays, sum) VALUES (?, ?, ?, ?)",
		tag, file.Path, file.Stays, stored.Sum("staged", &tag, &file.Path, &file.Stays))
	return err
}

// Leftovers returns the submissions of a target whose staged files are not known
// to be removed, oldest first. Some may be under way at this moment.
func (s *Store) Leftovers(ctx context.Context, target string) ([]Leftover, error) {
	// Usually there are no leftovers, and this query is much faster than the next.
	var are bool
	if err := s.database.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM staged)").Scan(&are); err != nil || !are {
		return nil, failed(err, "listing the files of submissions to target %q", target)
	}
	jobs, err := queryJobs(ctx, s.lenient(s.database), "WHERE tag IN (SELECT tag FROM staged) AND target = ? ORDER BY created, sequence", target)
	leftovers := make([]Leftover, len(jobs))
	for i, job := range jobs {
		if err == nil {
			leftovers[i].Job = job
			leftovers[i].Staged, err = s.stagedBy(ctx, job.Tag)
		}
	}
	return leftovers, failed(err, "listing the files of submissions to target %q", target)
}

func (s *Store) stagedBy(ctx context.Context, tag string) (staged []Staged, err error) {
	var file Staged
	var sum int64
	err = stored.Each(ctx, s.database, []any{&file.Path, &file.Stays, &sum}, func() error {
		staged = append(staged, file)
		return stored.Verify(sum, "staged", &tag, &file.Path, &file.Stays)
	}, "SELECT path, stays, sum FROM staged WHERE tag = ? ORDER BY length(path) DESC, path", tag) // a folder comes after the file in it, as its path is the shorter one
	return staged, err
}

// Unstaged records that the staged files of a submission are removed.
func (s *Store) Unstaged(ctx context.Context, tag string) error {
	err := s.execute(ctx, "DELETE FROM staged WHERE tag = ?", tag)
	return failed(err, "recording that the files of submission %s are removed", tag)
}
