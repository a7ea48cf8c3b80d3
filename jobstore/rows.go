package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// A column is one of a table, and where a row of the table has its value, for both
// reading and writing.
type column struct {
	name  string
	value any // a pointer; to a string where it can be one, which database/sql converts fastest
}

// jobRow is a row of the table jobs.
type jobRow struct {
	number int64 // of the row; only read
	job    job.Job
}

// columns returns all columns but the derived ones.
func (r *jobRow) columns() []column {
	j := &r.job
	return append(r.briefColumns(),
		column{"definition", &j.Definition}, column{"connection", &j.Connection}, column{"short_id", &j.ShortID}, column{"name", &j.Name},
		column{"queue", &j.Queue}, column{"owner", &j.Owner}, column{"directory", &j.Directory},
		column{"reason", &j.Reason}, column{"exit_code", &j.ExitCode}, column{"signal", &j.Signal}, column{"nodes", &j.Nodes},
		column{"submitted", &j.Submitted}, column{"started", &j.Started}, column{"ended", &j.Ended},
		column{"created", stored.At(&j.Created)}, column{"observed", stored.At(&j.Observed)}, column{"evidence", &j.Evidence},
		column{"stale_reason", &j.StaleReason}, column{"stale_since", stored.At(&j.StaleSince)},
		column{"output_path", &j.OutputPath}, column{"error_path", &j.ErrorPath}, column{"error", &j.Error},
		column{"submitter", &j.Submitter}, column{"identity", &j.Identity},
		column{"origin_stream", &j.Origin.Stream}, column{"origin_line", &j.Origin.Line}, column{"origin_text", &j.Origin.Text},
		column{"irregular", &j.Irregular}, column{"tasks", &j.Tasks}, column{"hosted", &j.Hosted}, column{"undated", &j.Undated},
		column{"canceled", stored.At(&j.CancelAccepted)},
	)
}

// briefColumns returns those columns that decide whether a job is waited for.
func (r *jobRow) briefColumns() []column {
	j := &r.job
	return []column{
		{"tag", &j.Tag}, {"target", &j.Target}, {"id", &j.ID}, {"phase", (*string)(&j.Phase)}, {"interactive", &j.Interactive},
		{"detail", (*string)(&j.Detail)}, {"native", &j.Native}, {"source", &j.Source},
		{"stale", &j.Stale}, {"missing", &j.Missing}, {"missing_count", &j.MissingCount}, {"missing_since", stored.At(&j.MissingSince)}, {"successor", &j.Successor},
	}
}

// listedColumns returns those columns that listings show.
func (r *jobRow) listedColumns() []column {
	j := &r.job
	return []column{
		{"tag", &j.Tag}, {"target", &j.Target}, {"id", &j.ID}, {"phase", (*string)(&j.Phase)}, {"interactive", &j.Interactive},
		{"detail", (*string)(&j.Detail)}, {"native", &j.Native}, {"source", &j.Source}, {"stale", &j.Stale}, {"missing", &j.Missing}, {"successor", &j.Successor},
		{"name", &j.Name}, {"queue", &j.Queue}, {"reason", &j.Reason}, {"exit_code", &j.ExitCode}, {"signal", &j.Signal},
		{"nodes", &j.Nodes}, {"started", &j.Started}, {"ended", &j.Ended}, {"created", stored.At(&j.Created)}, {"observed", stored.At(&j.Observed)},
		{"stale_reason", &j.StaleReason}, {"error", &j.Error}, {"irregular", &j.Irregular}, {"undated", &j.Undated},
	}
}

func columnNames(columns []column) []string {
	names := make([]string, len(columns))
	for i, each := range columns {
		names[i] = each.name
	}
	return names
}

func columnValues(columns []column) []any {
	values := make([]any, len(columns))
	for i, each := range columns {
		values[i] = each.value
	}
	return values
}

// insertInto returns the statement that inserts a row with some columns into a table.
func insertInto(table string, names []string) string {
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
}

// values returns the job's values for its columns and then for finished.
func (r *jobRow) values() []any { return append(columnValues(r.columns()), r.job.IsOver()) }

// The statements of the table jobs, composed at first use.
var (
	jobColumns   = sync.OnceValue(func() []string { return columnNames((&jobRow{}).columns()) })
	selectJobs   = sync.OnceValue(func() string { return selectSeen(jobColumns()) })
	selectListed = sync.OnceValue(func() string { return selectSeen(columnNames((&jobRow{}).listedColumns())) })
	// selectBrief reads little of jobs, for those who look at thousands.
	selectBrief = sync.OnceValue(func() string {
		return "SELECT sequence, " + strings.Join(columnNames((&jobRow{}).briefColumns()), ", ") + " FROM jobs "
	})
	insertJob = sync.OnceValue(func() string { return insertInto("jobs", append(slices.Clone(jobColumns()), "finished")) })
	updateJob = sync.OnceValue(func() string {
		return "UPDATE jobs SET " + strings.Join(jobColumns(), " = ?, ") + " = ?, finished = ? WHERE tag = ?"
	})
)

// lastSeen is when a job was observed, or when it was seen again as it was observed then.
const lastSeen = "coalesce((SELECT seen FROM sightings WHERE sightings.job = jobs.sequence AND sightings.observed = jobs.observed), jobs.observed)"

// selectSeen returns the statement that reads columns, of which one is when a job was observed.
func selectSeen(names []string) string {
	return "SELECT sequence, " + strings.Replace(strings.Join(names, ", "), " observed,", " "+lastSeen+",", 1) + " FROM jobs "
}

const insertSubmission = "INSERT INTO submissions (tag, attributes, arguments, script, request) VALUES (?, ?, ?, ?, ?)"

// queryJobs returns the jobs that the rest of a query chooses, without their
// submissions.
func queryJobs(ctx context.Context, source stored.Queryer, rest string, arguments ...any) (jobs []job.Job, err error) {
	err = eachJob(ctx, source, func(row *jobRow) error {
		jobs = append(jobs, row.job)
		return nil
	}, rest, arguments...)
	return jobs, err
}

// eachJob gives the jobs that the rest of a query chooses, without their
// submissions, to a function until that returns an error. The row is the same each time.
func eachJob(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error {
	var row jobRow
	return row.each(ctx, source, row.columns(), do, selectJobs()+rest, arguments...)
}

// eachBrief is eachJob for the brief columns; the other fields are empty.
func eachBrief(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error {
	var row jobRow
	return row.each(ctx, source, row.briefColumns(), do, selectBrief()+rest, arguments...)
}

// eachListed is eachJob for the columns that listings show.
func eachListed(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error {
	var row jobRow
	return row.each(ctx, source, row.listedColumns(), do, selectListed()+rest, arguments...)
}

// jobReader is eachJob or eachBrief.
type jobReader func(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error

// each reads the rows that a statement selects, one after the other, into this one.
func (r *jobRow) each(ctx context.Context, source stored.Queryer, columns []column, do func(*jobRow) error, statement string, arguments ...any) error {
	fields := append([]any{&r.number}, columnValues(columns)...)
	err := stored.Each(ctx, source, fields, func() error { return do(r) }, statement, arguments...)
	if errors.Is(err, stored.ErrDamaged) {
		err = fmt.Errorf("reading submission %s: %w", r.job.Tag, err)
	}
	return err
}

// queryJob returns the job of a tag, without its submission.
func queryJob(ctx context.Context, source stored.Queryer, tag string) (job.Job, error) {
	jobs, err := queryJobs(ctx, source, "WHERE tag = ?", tag)
	if err != nil {
		return job.Job{}, err
	}
	if len(jobs) == 0 {
		return job.Job{}, fmt.Errorf("submission %q: %w", tag, ErrNotFound)
	}
	return jobs[0], nil
}

// addSubmission adds what the submission of a job was.
func addSubmission(ctx context.Context, source stored.Queryer, job *job.Job) error {
	var attributes, arguments string
	row := source.QueryRowContext(ctx, "SELECT attributes, arguments, script, request FROM submissions WHERE tag = ?", job.Tag)
	err := row.Scan(&attributes, &arguments, &job.Script, &job.Request)
	if err == nil {
		job.Attributes, err = decodeAttributes(attributes)
	}
	if err == nil {
		job.Arguments, err = decodeTexts(arguments)
	}
	return failed(err, "reading the submission of %s", job.Tag)
}

// insert adds a job and its submission.
func insert(ctx context.Context, transaction *sql.Tx, job job.Job) error {
	attributes, err := encodeAttributes(job.Attributes)
	if err != nil {
		return err
	}
	arguments, err := encodeTexts(job.Arguments)
	if err != nil {
		return err
	}
	row := jobRow{job: job}
	if _, err := transaction.ExecContext(ctx, insertJob(), row.values()...); err != nil {
		return err
	}
	_, err = transaction.ExecContext(ctx, insertSubmission, job.Tag, attributes, arguments, job.Script, job.Request)
	return err
}

// update replaces a job; its submission stays.
func update(ctx context.Context, transaction *sql.Tx, job job.Job) error {
	row := jobRow{job: job}
	_, err := transaction.ExecContext(ctx, updateJob(), append(row.values(), job.Tag)...)
	return err
}
