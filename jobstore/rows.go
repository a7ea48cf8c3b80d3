package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
	sum    int64    // of the columns that are read; only read
	whole  int64    // checksum of what the job is a part of; only read
	shown  sighting // when a listing has shown the job again as it was observed; only read
}

// A selection is the columns that are read together. Each has a checksum of its own, so that
// those who read fewer columns can verify what they read.
type selection int

const (
	brief  selection = iota // what decides whether a job is waited for
	listed                  // what listings show
	full                    // all but the derived columns and those of whole
	whole                   // what the job is a part of; read with listed and full
)

var selections = []selection{brief, listed, full, whole}

// sumColumn is the column of the checksum.
func (s selection) sumColumn() string {
	return [...]string{"brief_sum", "listed_sum", "full_sum", "whole_sum"}[s]
}

// sum returns the checksum of the values of the selection.
func (s selection) sum(values []any) int64 { return stored.Sum(s.sumColumn(), values...) }

// columns returns the columns of a selection.
func (r *jobRow) columns(of selection) []column {
	j := &r.job
	if of == whole {
		return []column{{"tag", &j.Tag}, {"ensemble", &j.Ensemble}, {"part", &j.Part}}
	}
	columns := append(make([]column, 0, 48),
		column{"tag", &j.Tag}, column{"target", &j.Target}, column{"id", &j.ID}, column{"phase", (*string)(&j.Phase)}, column{"interactive", &j.Interactive},
		column{"detail", (*string)(&j.Detail)}, column{"native", &j.Native}, column{"source", &j.Source},
		column{"stale", &j.Stale}, column{"missing", &j.Missing}, column{"successor", &j.Successor}, column{"short_id", &j.ShortID})
	if of != listed {
		columns = append(columns, column{"missing_count", &j.MissingCount}, column{"missing_since", stored.At(&j.MissingSince)})
	}
	if of != brief {
		columns = append(columns,
			column{"name", &j.Name}, column{"queue", &j.Queue}, column{"reason", &j.Reason}, column{"exit_code", &j.ExitCode}, column{"signal", &j.Signal},
			column{"nodes", &j.Nodes}, column{"started", &j.Started}, column{"ended", &j.Ended}, column{"created", stored.At(&j.Created)}, column{"observed", stored.At(&j.Observed)},
			column{"stale_reason", &j.StaleReason}, column{"error", &j.Error}, column{"irregular", &j.Irregular}, column{"undated", &j.Undated})
	}
	if of == full {
		columns = append(columns,
			column{"definition", &j.Definition}, column{"connection", &j.Connection}, column{"owner", &j.Owner}, column{"directory", &j.Directory},
			column{"submitted", &j.Submitted}, column{"evidence", &j.Evidence}, column{"stale_since", stored.At(&j.StaleSince)},
			column{"output_path", &j.OutputPath}, column{"error_path", &j.ErrorPath}, column{"submitter", &j.Submitter}, column{"identity", &j.Identity},
			column{"origin_stream", &j.Origin.Stream}, column{"origin_line", &j.Origin.Line}, column{"origin_text", &j.Origin.Text},
			column{"tasks", &j.Tasks}, column{"hosted", &j.Hosted}, column{"canceled", stored.At(&j.CancelAccepted)})
	}
	return columns
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

// rowNames returns the names of all columns: the derived ones come last.
func rowNames() []string {
	row := &jobRow{}
	names := append(columnNames(append(row.columns(full), row.columns(whole)[1:]...)), "finished")
	for _, each := range selections {
		names = append(names, each.sumColumn())
	}
	return names
}

// values returns the values of all columns.
func (r *jobRow) values() []any {
	values := append(columnValues(append(r.columns(full), r.columns(whole)[1:]...)), r.job.IsOver())
	for _, each := range selections {
		values = append(values, each.sum(columnValues(r.columns(each))))
	}
	return values
}

// The statements of the table jobs, composed at first use.
var (
	selectBrief  = sync.OnceValue(brief.statement)
	selectListed = sync.OnceValue(listed.statement)
	selectJobs   = sync.OnceValue(full.statement)
	insertJob    = sync.OnceValue(func() string { return insertInto("jobs", rowNames()) })
	updateJob    = sync.OnceValue(func() string {
		return "UPDATE jobs SET " + strings.Join(rowNames(), " = ?, ") + " = ? WHERE tag = ?"
	})
)

// statement returns the statement that reads the columns of the selection.
func (s selection) statement() string {
	names := append(columnNames((&jobRow{}).columns(s)), s.sumColumn())
	if s == brief {
		return "SELECT sequence, " + strings.Join(names, ", ") + " FROM jobs "
	}
	names[slices.Index(names, "observed")] = "jobs.observed"
	return "SELECT sequence, " + strings.Join(names, ", ") + ", ensemble, part, whole_sum, seen || ' ' || sum FROM jobs " +
		"LEFT JOIN sightings ON sightings.job = jobs.sequence AND sightings.observed = jobs.observed "
}

// A sighting is when a listing has shown a job again.
type sighting struct{ seen time.Time }

// Scan implements sql.Scanner for the time and the checksum of a row of the table sightings; nil
// is no sighting.
func (s *sighting) Scan(value any) error {
	s.seen = time.Time{}
	if value == nil {
		return nil
	}
	text, _ := value.(string)
	seen, sum, _ := strings.Cut(text, " ")
	number, err := strconv.ParseInt(sum, 10, 64)
	if err == nil {
		err = stored.At(&s.seen).Scan(seen)
	}
	if err == nil {
		err = stored.Verify(number, "sightings", stored.At(&s.seen))
	}
	return stored.AsDamage(err)
}

// submissionRow is a row of the table submissions.
type submissionRow struct{ tag, attributes, arguments, script, request string }

func (r *submissionRow) values() []any {
	return []any{&r.tag, &r.attributes, &r.arguments, &r.script, &r.request}
}

func (r *submissionRow) sum() int64 { return stored.Sum("submissions", r.values()...) }

// insertSubmission keeps a submission that is on record already: a rebuilt store may have lost
// its job.
const insertSubmission = "INSERT OR IGNORE INTO submissions (tag, attributes, arguments, script, request, sum) VALUES (?, ?, ?, ?, ?, ?)"

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
	return (&jobRow{}).each(ctx, source, full, do, selectJobs()+rest, arguments...)
}

// eachBrief is eachJob for the brief columns; the other fields are empty.
func eachBrief(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error {
	return (&jobRow{}).each(ctx, source, brief, do, selectBrief()+rest, arguments...)
}

// eachListed is eachJob for the columns that listings show.
func eachListed(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error {
	return (&jobRow{}).each(ctx, source, listed, do, selectListed()+rest, arguments...)
}

// jobReader is eachJob, eachBrief or eachListed.
type jobReader func(ctx context.Context, source stored.Queryer, do func(*jobRow) error, rest string, arguments ...any) error

// each reads the rows that a statement selects, one after the other, into this one. A [lenient]
// source leaves out rows that cannot be read.
func (r *jobRow) each(ctx context.Context, source stored.Queryer, columns selection, do func(*jobRow) error, statement string, arguments ...any) error {
	values := columnValues(r.columns(columns))
	fields := append(append([]any{&r.number}, values...), &r.sum)
	wholeValues := columnValues(r.columns(whole))
	if columns == brief {
		r.whole = stored.Unsummed
	} else {
		fields = append(fields, wholeValues[1], wholeValues[2], &r.whole, &r.shown)
	}
	unreadable := func(err error) error { return r.unreadable(source, err) }
	return stored.EachReadable(ctx, source, fields, func() error {
		if r.sum != stored.Unsummed && r.sum != columns.sum(values) || r.whole != stored.Unsummed && r.whole != whole.sum(wholeValues) {
			return unreadable(stored.ErrChecksum)
		}
		if !r.shown.seen.IsZero() {
			r.job.Observed = r.shown.seen
		}
		err := do(r)
		r.job.Tag = "" // the next one's may be unreadable
		return err
	}, unreadable, statement, arguments...)
}

// unreadable returns the error for a row that cannot be read; nil if the source leaves it out.
func (r *jobRow) unreadable(source stored.Queryer, err error) error {
	tag := r.job.Tag
	r.job.Tag = ""
	if reader, isLenient := source.(*lenient); isLenient {
		reader.skipped++
		reader.damage.addRow(r.number, tag)
		return nil
	}
	return fmt.Errorf("reading job number %d (submission %q): %w", r.number, stored.Bounded(tag), err)
}

// queryJob returns the job of a tag, without its submission.
func queryJob(ctx context.Context, source stored.Queryer, tag string) (job.Job, error) {
	jobs, err := queryJobs(ctx, source, "WHERE tag = ?", tag)
	jobs = slices.DeleteFunc(jobs, func(j job.Job) bool { return j.Tag != tag }) // a damaged index leads to others
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
	var submission submissionRow
	var sum int64
	err := fmt.Errorf("%w: it is missing", stored.ErrDamaged)
	readErr := stored.Each(ctx, source, append(submission.values(), &sum), func() error {
		if err = stored.Verify(sum, "submissions", submission.values()...); err == nil {
			err = submission.decode(job)
		}
		return err
	}, "SELECT tag, attributes, arguments, script, request, sum FROM submissions WHERE tag = ?", job.Tag)
	if readErr != nil {
		err = readErr
	}
	return failed(err, "reading the submission of %s", job.Tag)
}

// decode sets what a job submits.
func (r *submissionRow) decode(job *job.Job) (err error) {
	job.Script, job.Request = r.script, r.request
	if job.Attributes, err = decodeAttributes(r.attributes); err == nil {
		job.Arguments, err = decodeTexts(r.arguments)
	}
	return err
}

// insert adds a job and its submission.
func insert(ctx context.Context, transaction *sql.Tx, job job.Job) error {
	row := jobRow{job: job}
	if _, err := transaction.ExecContext(ctx, insertJob(), row.values()...); err != nil {
		return err
	}
	submission, err := submissionOf(job)
	if err == nil {
		_, err = transaction.ExecContext(ctx, insertSubmission, append(submission.values(), submission.sum())...)
	}
	return err
}

// submissionOf returns the row of what a job submits.
func submissionOf(job job.Job) (row submissionRow, err error) {
	row = submissionRow{tag: job.Tag, script: job.Script, request: job.Request}
	if row.attributes, err = encodeAttributes(job.Attributes); err == nil {
		row.arguments, err = encodeTexts(job.Arguments)
	}
	return row, err
}

// update replaces a job; its submission stays.
func update(ctx context.Context, transaction *sql.Tx, job job.Job) error {
	row := jobRow{job: job}
	_, err := transaction.ExecContext(ctx, updateJob(), append(row.values(), job.Tag)...)
	return err
}
