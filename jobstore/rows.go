package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/state"
)

// timeLayout sorts as text like the times themselves. All are kept in UTC.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func storedTime(moment time.Time) string {
	if moment.IsZero() {
		return ""
	}
	return moment.UTC().Format(timeLayout)
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	moment, err := time.Parse(timeLayout, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return moment, nil
}

// jobColumns are the columns of the table jobs in the order of jobRow, without
// the derived ones.
var jobColumns = strings.Fields(`tag target definition connection id short_id name queue owner directory
	phase interactive detail native reason exit_code signal nodes submitted started ended
	created observed source evidence stale stale_reason stale_since missing missing_since missing_count
	output_path error_path error successor submitter identity
	origin_stream origin_line origin_text irregular hosted undated`)

// jobRow is a job in the form in which the database has it.
type jobRow struct {
	number                   int64 // of the row; only read
	job                      job.Job
	phase, detail            string
	exitCode, signal         sql.NullInt64
	created, observed        string
	staleSince, missingSince string
}

// fields returns where each of jobColumns is, for both reading and writing.
func (r *jobRow) fields() []any {
	j := &r.job
	return []any{
		&j.Tag, &j.Target, &j.Definition, &j.Connection, &j.ID, &j.ShortID, &j.Name, &j.Queue, &j.Owner, &j.Directory,
		&r.phase, &j.Interactive, &r.detail, &j.Native, &j.Reason, &r.exitCode, &r.signal, &j.Nodes, &j.Submitted, &j.Started, &j.Ended,
		&r.created, &r.observed, &j.Source, &j.Evidence, &j.Stale, &j.StaleReason, &r.staleSince, &j.Missing, &r.missingSince, &j.MissingCount,
		&j.OutputPath, &j.ErrorPath, &j.Error, &j.Successor, &j.Submitter, &j.Identity,
		&j.Origin.Stream, &j.Origin.Line, &j.Origin.Text, &j.Irregular, &j.Hosted, &j.Undated,
	}
}

// values returns the job's values for jobColumns and then for finished.
func (r *jobRow) values() []any {
	j := &r.job
	r.phase, r.detail = string(j.Phase), string(j.Detail)
	r.exitCode, r.signal = storedInt(j.ExitCode), storedInt(j.Signal)
	r.created, r.observed = storedTime(j.Created), storedTime(j.Observed)
	r.staleSince, r.missingSince = storedTime(j.StaleSince), storedTime(j.MissingSince)
	values := r.fields()
	for i, field := range values {
		switch v := field.(type) {
		case *string:
			values[i] = *v
		case *bool:
			values[i] = *v
		case *int:
			values[i] = *v
		case *sql.NullInt64:
			values[i] = *v
		}
	}
	return append(values, j.IsOver())
}

// decode completes the job from what was read.
func (r *jobRow) decode() error {
	j := &r.job
	j.Phase, j.Detail = job.Phase(r.phase), state.Detail(r.detail)
	j.ExitCode, j.Signal = plainInt(r.exitCode), plainInt(r.signal)
	for _, moment := range []struct {
		text string
		time *time.Time
	}{{r.created, &j.Created}, {r.observed, &j.Observed}, {r.staleSince, &j.StaleSince}, {r.missingSince, &j.MissingSince}} {
		parsed, err := parseTime(moment.text)
		if err != nil {
			return fmt.Errorf("reading submission %s: %w", j.Tag, err)
		}
		*moment.time = parsed
	}
	return nil
}

func storedInt(number *int) sql.NullInt64 {
	if number == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: int64(*number), Valid: true}
}

func plainInt(number sql.NullInt64) *int {
	if !number.Valid {
		return nil
	}
	plain := int(number.Int64)
	return &plain
}

var (
	selectJobs = "SELECT sequence, " + strings.Replace(strings.Join(jobColumns, ", "), " observed,", " "+lastSeen+",", 1) + " FROM jobs"
	insertJob  = "INSERT INTO jobs (" + strings.Join(jobColumns, ", ") + ", finished) VALUES (" +
		strings.Repeat("?, ", len(jobColumns)) + "?)"
	updateJob = "UPDATE jobs SET " + strings.Join(jobColumns, " = ?, ") + " = ?, finished = ? WHERE tag = ?"
)

// lastSeen is when a job was observed, or when it was seen again as it was observed then.
const lastSeen = "coalesce((SELECT seen FROM sightings WHERE sightings.job = jobs.sequence AND sightings.observed = jobs.observed), jobs.observed)"

const insertSubmission = "INSERT INTO submissions (tag, attributes, arguments, script, request) VALUES (?, ?, ?, ?, ?)"

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
}

// queryJobs returns the jobs that the rest of a query chooses, without their
// submissions.
func queryJobs(ctx context.Context, source queryer, rest string, arguments ...any) (jobs []job.Job, err error) {
	err = eachJob(ctx, source, func(row *jobRow) error {
		jobs = append(jobs, row.job)
		return nil
	}, rest, arguments...)
	return jobs, err
}

// eachJob gives the jobs that the rest of a query chooses, without their
// submissions, to a function until that returns an error. The row is the same each time.
func eachJob(ctx context.Context, source queryer, do func(*jobRow) error, rest string, arguments ...any) (err error) {
	rows, err := source.QueryContext(ctx, selectJobs+" "+rest, arguments...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	var row jobRow
	fields := append([]any{&row.number}, row.fields()...)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		if err := row.decode(); err != nil {
			return err
		}
		if err := do(&row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryWhole returns the jobs that the rest of a query chooses, complete.
func queryWhole(ctx context.Context, source queryer, rest string, arguments ...any) ([]job.Job, error) {
	jobs, err := queryJobs(ctx, source, rest, arguments...)
	for i := range jobs {
		if err == nil {
			err = addSubmission(ctx, source, &jobs[i])
		}
	}
	return jobs, err
}

// queryJob returns the job of a tag, without its submission.
func queryJob(ctx context.Context, source queryer, tag string) (job.Job, error) {
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
func addSubmission(ctx context.Context, source queryer, job *job.Job) error {
	var attributes, arguments string
	row := source.QueryRowContext(ctx, "SELECT attributes, arguments, script, request FROM submissions WHERE tag = ?", job.Tag)
	if err := row.Scan(&attributes, &arguments, &job.Script, &job.Request); err != nil {
		return fmt.Errorf("reading the submission of %s: %w", job.Tag, err)
	}
	var err error
	if job.Attributes, err = decodeAttributes(attributes); err != nil {
		return fmt.Errorf("reading the submission of %s: %w", job.Tag, err)
	}
	if job.Arguments, err = decodeTexts(arguments); err != nil {
		return fmt.Errorf("reading the submission of %s: %w", job.Tag, err)
	}
	return nil
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
	if _, err := transaction.ExecContext(ctx, insertJob, row.values()...); err != nil {
		return err
	}
	_, err = transaction.ExecContext(ctx, insertSubmission, job.Tag, attributes, arguments, job.Script, job.Request)
	return err
}

// update replaces a job; its submission stays.
func update(ctx context.Context, transaction *sql.Tx, job job.Job) error {
	row := jobRow{job: job}
	_, err := transaction.ExecContext(ctx, updateJob, append(row.values(), job.Tag)...)
	return err
}
