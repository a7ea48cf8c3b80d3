package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/stored"
)

// A Column is a column of a row, with a pointer to its value.
type Column struct {
	Name  string
	Value any
}

// A row is a row of a table of the journal. It has the columns of its key, its document if
// there is one, and other columns.
type row struct {
	table     string
	key       int // how many columns are its key; the document follows
	hasText   bool
	columns   []Column
	sum, text int64 // checksums: of all but the document, and of the document; only read
}

// summed returns the values that the checksum is of.
func (r *row) summed() []any {
	var values []any
	for i, each := range r.columns {
		if !r.hasText || i != r.key {
			values = append(values, each.Value)
		}
	}
	return values
}

// sums returns the columns of the checksums, as they have to be.
func (r *row) sums() []Column {
	sum := stored.Sum(r.table, r.summed()...)
	sums := []Column{{"sum", &sum}}
	if r.hasText {
		text := stored.Sum(r.table+" document", r.columns[r.key].Value)
		sums = append(sums, Column{"document_sum", &text})
	}
	return sums
}

// read returns all columns, to scan them and the checksums.
func (r *row) read() []Column {
	all := append(slices.Clone(r.columns), Column{"sum", &r.sum})
	if r.hasText {
		all = append(all, Column{"document_sum", &r.text})
	}
	return all
}

// verify returns an error if the row is damaged.
func (r *row) verify() error {
	if r.sum != stored.Sum(r.table, r.summed()...) || r.hasText && r.text != stored.Sum(r.table+" document", r.columns[r.key].Value) {
		return fmt.Errorf("%s: %w", r.table, stored.ErrChecksum)
	}
	return nil
}

func names(columns []Column) string {
	all := make([]string, len(columns))
	for i, each := range columns {
		all[i] = each.Name
	}
	return strings.Join(all, ", ")
}

func values(columns []Column) []any {
	all := make([]any, len(columns))
	for i, each := range columns {
		all[i] = value(each.Value)
	}
	return all
}

// value returns what a pointer has, as the database takes it.
func value(pointer any) any {
	if duration, isDuration := pointer.(*time.Duration); isDuration {
		return int64(*duration)
	}
	return pointer
}

// insert inserts the row, and reports whether it is new.
func (r *row) insert(ctx context.Context, transaction *sql.Tx) (bool, error) {
	columns := append(slices.Clone(r.columns), r.sums()...)
	return changes(transaction.ExecContext(ctx, "INSERT OR IGNORE INTO "+r.table+" ("+names(columns)+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")", values(columns)...))
}

// update updates the row but for its document, and reports whether there was one.
func (r *row) update(ctx context.Context, transaction *sql.Tx) (bool, error) {
	first := r.key
	if r.hasText {
		first++
	}
	columns := append(slices.Clone(r.columns[first:]), r.sums()[0])
	assignments := strings.ReplaceAll(names(columns), ",", " = ?,") + " = ?"
	condition := strings.ReplaceAll(names(r.columns[:r.key]), ",", " = ? AND") + " = ?"
	return changes(transaction.ExecContext(ctx, "UPDATE "+r.table+" SET "+assignments+" WHERE "+condition, append(values(columns), values(r.columns[:r.key])...)...))
}

func changes(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	count, err := result.RowsAffected()
	return count > 0, err
}

// each reads rows into a row and calls a function after each, with an error for one that is damaged.
func (r *row) each(ctx context.Context, source stored.Queryer, do func(error) error, condition string, arguments ...any) error {
	columns := r.read()
	fields := make([]any, len(columns))
	for i, each := range columns {
		fields[i] = each.Value
	}
	return stored.EachReadable(ctx, source, fields, func() error { return do(r.verify()) }, do,
		"SELECT "+names(columns)+" FROM "+r.table+" "+condition, arguments...)
}

// ensembleRow is the row of an ensemble.
type ensembleRow struct {
	row
	ensemble barrier.Ensemble
	sets     string
}

func newEnsembleRow(ensemble barrier.Ensemble) *ensembleRow {
	e := &ensembleRow{ensemble: ensemble, sets: encode(ensemble.Sets)}
	v := &e.ensemble
	v.Reason = stored.Bounded(v.Reason)
	e.row = row{table: "ensembles", key: 1, hasText: true, columns: []Column{
		{"id", &v.ID}, {"document", &v.Document}, {"name", &v.Name}, {"at", &v.At}, {"hold_first", &v.HoldFirst}, {"commit_limit", &v.CommitLimit}, {"sets", &e.sets},
		{"state", (*string)(&v.State)}, {"outcome", (*string)(&v.Outcome)}, {"reason", &v.Reason}, {"committed", &v.Committed}, {"commit_now", &v.CommitNow},
		{"holds_released", &v.HoldsReleased}, {"serials", &v.Serials}, {"notices", &v.Notices}, {"extended", &v.Extended},
		{"created", stored.At(&v.Created)}, {"started", stored.At(&v.Started)}, {"released", stored.At(&v.Released)}, {"ended", stored.At(&v.Ended)},
	}}
	return e
}

// value returns the ensemble that was read.
func (e *ensembleRow) value() (barrier.Ensemble, error) {
	read := e.ensemble
	return read, decode(e.sets, &read.Sets)
}

// partRow is the row of a part.
type partRow struct {
	row
	ensemble string
	part     barrier.Part
}

func newPartRow(ensemble string, part barrier.Part) *partRow {
	p := &partRow{ensemble: ensemble, part: part}
	v := &p.part
	v.Reason, v.Present = stored.Bounded(v.Reason), 0
	p.row = row{table: "ensemble_parts", key: 2, hasText: true, columns: []Column{
		{"ensemble", &p.ensemble}, {"serial", &v.Serial}, {"document", &v.Document}, {"place", &v.Index}, {"label", &v.Label}, {"target", &v.Target}, {"tag", &v.Tag},
		{"kind", (*string)(&v.Kind)}, {"gate", (*string)(&v.Gate)}, {"count", &v.Count}, {"start_limit", &v.StartLimit}, {"check_in_limit", &v.CheckInLimit}, {"wall_time", &v.WallTime},
		{"state", (*string)(&v.State)}, {"reason", &v.Reason}, {"job", &v.JobID}, {"incarnation", &v.Incarnation}, {"attempted", &v.Attempted}, {"held", &v.Held}, {"unconfirmed", &v.Unconfirmed},
		{"exit_code", &v.ExitCode}, {"signal", &v.Signal}, {"extended", &v.Extended},
		{"submitted", stored.At(&v.Submitted)}, {"active", stored.At(&v.Active)}, {"arrived", stored.At(&v.Arrived)},
		{"released", stored.At(&v.Released)}, {"ended", stored.At(&v.Ended)}, {"canceled", stored.At(&v.Canceled)},
	}}
	return p
}

// releaseRow is the row of a release.
type releaseRow struct {
	row
	ensemble  string
	roster    barrier.Roster
	instances string
	at        time.Time
}

func newReleaseRow(ensemble string, roster barrier.Roster, at time.Time) *releaseRow {
	r := &releaseRow{ensemble: ensemble, roster: roster, instances: encode(roster.Instances), at: at}
	r.row = row{table: "ensemble_releases", key: 3, columns: []Column{
		{"ensemble", &r.ensemble}, {"serial", &r.roster.Serial}, {"incarnation", &r.roster.Incarnation}, {"instances", &r.instances}, {"at", stored.At(&r.at)},
	}}
	return r
}

func (r *releaseRow) value() (barrier.Roster, error) {
	read := r.roster
	read.Instances = nil
	return read, decode(r.instances, &read.Instances)
}

// noticeRow is the row of an event.
type noticeRow struct {
	row
	ensemble string
	notice   barrier.Notice
}

func newNoticeRow(ensemble string, notice barrier.Notice) *noticeRow {
	n := &noticeRow{ensemble: ensemble, notice: notice}
	v := &n.notice
	v.Text = stored.Bounded(v.Text)
	n.row = row{table: "ensemble_events", key: 2, columns: []Column{
		{"ensemble", &n.ensemble}, {"sequence", &v.Sequence}, {"at", stored.At(&v.Time)}, {"kind", (*string)(&v.Kind)}, {"label", &v.Label}, {"state", &v.State}, {"text", &v.Text},
	}}
	return n
}

// exchangeRow is the row of an exchange.
type exchangeRow struct {
	row
	ensemble string
	exchange Exchange
}

func newExchangeRow(ensemble string, exchange Exchange) *exchangeRow {
	e := &exchangeRow{ensemble: ensemble, exchange: exchange}
	e.row = row{table: "ensemble_exchanges", key: 2, columns: []Column{
		{"ensemble", &e.ensemble}, {"name", &e.exchange.Name}, {"result", &e.exchange.Result},
	}}
	return e
}

// encode returns a list as JSON; an empty text for none.
func encode[E any](list []E) string {
	if len(list) == 0 {
		return ""
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		panic(err) // lists of texts and numbers have an encoding
	}
	return string(encoded)
}

func decode[E any](text string, list *[]E) error {
	*list = nil
	if text == "" {
		return nil
	}
	return stored.AsDamage(json.Unmarshal([]byte(text), list))
}
