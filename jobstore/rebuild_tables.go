package jobstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/internal/salvage"
	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// A copiedTable is a table of a damaged store, with one row of it.
type copiedTable struct {
	name        string
	onlyReached bool // its rows count only where the old store looks for them
	places      []place

	// isWhole reports whether the row is as it was written. Rows without a checksum are, if they
	// could have been.
	isWhole func() bool
	// insert adds the row to the new store under a number, 0 for the next one, and reports
	// whether it was not there before.
	insert func(ctx context.Context, transaction *sql.Tx, number int64) (bool, error)
}

// A place is a column of a copied table, in the order of its rows.
type place struct {
	pointer any // nil for one that is not copied
	missing any // the value where a row has none, as the column was added later
}

// copiedTables returns the tables in the order in which they are copied.
func copiedTables(ctx context.Context, source stored.Queryer) ([]*copiedTable, error) {
	tables := []*copiedTable{}
	all := []func() (*copiedTable, []column){jobsTable, submissionsTable, eventsTable, stagedTable, processesTable, sightingsTable}
	for _, each := range journal.Tables() {
		all = append(all, func() (*copiedTable, []column) { return journalTable(each) })
	}
	for _, table := range all {
		made, columns := table()
		pointers := map[string]any{}
		for _, each := range columns {
			pointers[each.name] = each.value
		}
		var name, missing string
		err := stored.Each(ctx, source, []any{&name, &missing}, func() error {
			at := place{pointer: pointers[name]}
			if number, err := strconv.ParseInt(missing, 10, 64); err == nil {
				at.missing = number
			} else if missing != "" {
				at.missing = strings.Trim(missing, "'")
			}
			made.places = append(made.places, at)
			return nil
		}, "SELECT name, coalesce(dflt_value, '') FROM pragma_table_info(?)", made.name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, made)
	}
	return tables, nil
}

// read reads a row, and reports whether it is one of the table and as it was written.
func (t *copiedTable) read(row salvage.Row) bool {
	if len(row.Values) > len(t.places) {
		return false
	}
	for i, at := range t.places {
		value := at.missing
		if i < len(row.Values) {
			value = row.Values[i]
		} else if value == nil {
			return false
		}
		if at.pointer != nil && !set(at.pointer, value) {
			return false
		}
	}
	return t.isWhole()
}

// set sets the value of a pointer, and reports whether it has that type.
func set(pointer, value any) (isSet bool) {
	number, isNumber := value.(int64)
	switch p := pointer.(type) {
	case *string:
		*p, isSet = value.(string)
	case *int:
		*p, isSet = int(number), isNumber
	case *int64:
		*p, isSet = number, isNumber
	case *time.Duration:
		*p, isSet = time.Duration(number), isNumber
	case *bool:
		*p, isSet = number == 1, isNumber && number>>1 == 0
	case **int:
		*p, isSet = nil, value == nil
		if isNumber {
			converted := int(number)
			*p, isSet = &converted, true
		}
	case stored.Moment:
		isSet = p.Scan(value) == nil
	}
	return isSet
}

// sums are the checksums of a row, as they were read.
type sums []int64

// are reports whether a row has the checksums, or none and could have been written.
func (s sums) are(isLikely func() bool, expected ...int64) bool {
	if slices.Equal([]int64(s), expected) {
		return true
	}
	return !slices.ContainsFunc(s, func(sum int64) bool { return sum != stored.Unsummed }) && isLikely()
}

func jobsTable() (*copiedTable, []column) {
	row, read := &jobRow{}, make(sums, len(selections))
	columns := append(row.columns(full), row.columns(whole)[1:]...)
	for i, each := range selections {
		columns = append(columns, column{each.sumColumn(), &read[i]})
	}
	isKnown := func(ctx context.Context, transaction *sql.Tx, _ int64) (isKnown bool, err error) {
		return isKnown, transaction.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM jobs WHERE tag = ?)", row.job.Tag).Scan(&isKnown)
	}
	statement := insertNumbered("jobs", rowNames())
	return &copiedTable{name: "jobs",
		isWhole: func() bool {
			expected := make([]int64, len(selections))
			for i, each := range selections {
				expected[i] = each.sum(columnValues(row.columns(each)))
			}
			return read[:whole].are(func() bool { return row.job.Tag != "" && isPhase(row.job.Phase) }, expected[:whole]...) &&
				read[whole:].are(func() bool { return true }, expected[whole])
		},
		insert: func(ctx context.Context, transaction *sql.Tx, number int64) (bool, error) {
			isNew, err := insertOnce(ctx, transaction, statement, number, row.values(), isKnown)
			if err == nil && !isNew {
				err = updateIfNewer(ctx, transaction, row.job)
			}
			return isNew, err
		},
	}, columns
}

func isPhase(phase job.Phase) bool { return phase == job.PhaseIntended || eventOfPhase(phase) != "" }

// updateIfNewer replaces a job if the copied state is older.
func updateIfNewer(ctx context.Context, transaction *sql.Tx, j job.Job) error {
	known, err := queryJob(ctx, transaction, j.Tag)
	if err == nil && (j.Observed.After(known.Observed) || j.IsOver() && !known.IsOver()) {
		err = update(ctx, transaction, j)
	}
	return err
}

func submissionsTable() (*copiedTable, []column) {
	row, read := &submissionRow{}, make(sums, 1)
	return &copiedTable{name: "submissions",
			isWhole: func() bool {
				return read.are(func() bool { return row.tag != "" && row.decode(&job.Job{}) == nil }, row.sum())
			},
			insert: func(ctx context.Context, transaction *sql.Tx, _ int64) (bool, error) {
				return changed(transaction.ExecContext(ctx, insertSubmission, append(row.values(), row.sum())...))
			},
		}, []column{
			{"tag", &row.tag}, {"attributes", &row.attributes}, {"arguments", &row.arguments}, {"script", &row.script}, {"request", &row.request}, {"sum", &read[0]},
		}
}

func eventsTable() (*copiedTable, []column) {
	event, read := &job.Event{}, make(sums, 1)
	columns := eventColumns(event)
	values := columnValues(columns)
	isKnown := func(ctx context.Context, transaction *sql.Tx, number int64) (isKnown bool, err error) {
		return isKnown, transaction.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM events WHERE sequence = ? AND tag = ? AND sum = ?)",
			number, event.Tag, stored.Sum("events", values...)).Scan(&isKnown)
	}
	statement := insertNumbered("events", append(columnNames(columns), "sum"))
	return &copiedTable{name: "events",
		isWhole: func() bool {
			return read.are(func() bool { return event.Tag != "" && event.Kind != "" }, stored.Sum("events", values...))
		},
		insert: func(ctx context.Context, transaction *sql.Tx, number int64) (bool, error) {
			return insertOnce(ctx, transaction, statement, number, append(slices.Clone(values), stored.Sum("events", values...)), isKnown)
		},
	}, append(columns, column{"sum", &read[0]})
}

// stagedTable has files to be removed: where it may be out of date, it is not believed.
func stagedTable() (*copiedTable, []column) {
	var tag string
	file, read := &Staged{}, make(sums, 1)
	columns := []column{{"tag", &tag}, {"path", &file.Path}, {"stays", &file.Stays}}
	return &copiedTable{name: "staged", onlyReached: true,
		isWhole: func() bool {
			return read.are(func() bool { return tag != "" }, stored.Sum("staged", columnValues(columns)...))
		},
		insert: func(ctx context.Context, transaction *sql.Tx, _ int64) (bool, error) {
			return true, stage(ctx, transaction, tag, *file)
		},
	}, append(columns, column{"sum", &read[0]})
}

func processesTable() (*copiedTable, []column) {
	var tag string
	process, read, added := &job.Process{}, make(sums, 2), make(sums, 2)
	columns := processColumns(&tag, process)
	values := columnValues(columns)
	expected := func() []int64 { return []int64{stored.Sum("processes", values...), sumOfOutput(process)} }
	return &copiedTable{name: "processes", onlyReached: true,
			isWhole: func() bool {
				return read.are(func() bool { return tag != "" }, expected()...) &&
					added.are(func() bool { return process.ErrorOutput == "" }, sumOfErrors(process), sumOfEnds(process))
			},
			insert: func(ctx context.Context, transaction *sql.Tx, _ int64) (bool, error) {
				return true, insertProcess(ctx, transaction, tag, process)
			},
		}, append(append(columns, outputColumns(process)...),
			column{"sum", &read[0]}, column{"output_sum", &read[1]}, column{"error_sum", &added[0]}, column{"ends_sum", &added[1]})
}

func sightingsTable() (*copiedTable, []column) {
	var observed string
	shown, read := &sighting{}, make(sums, 1)
	sum := func() int64 { return stored.Sum("sightings", stored.At(&shown.seen)) }
	return &copiedTable{name: "sightings", onlyReached: true,
		isWhole: func() bool { return read.are(func() bool { return true }, sum()) },
		insert: func(ctx context.Context, transaction *sql.Tx, number int64) (bool, error) {
			return changed(transaction.ExecContext(ctx, "INSERT OR IGNORE INTO sightings (job, observed, seen, sum) VALUES (?, ?, ?, ?)",
				number, observed, stored.At(&shown.seen), sum()))
		},
	}, []column{{"observed", &observed}, {"seen", stored.At(&shown.seen)}, {"sum", &read[0]}}
}

// journalTable has ensembles: where they may be out of date, they are not believed.
func journalTable(table journal.Table) (*copiedTable, []column) {
	columns := make([]column, len(table.Columns))
	for i, each := range table.Columns {
		columns[i] = column{each.Name, each.Value}
	}
	return &copiedTable{name: table.Name, onlyReached: true, isWhole: table.IsWhole,
		insert: func(ctx context.Context, transaction *sql.Tx, _ int64) (bool, error) {
			return table.Insert(ctx, transaction)
		},
	}, columns
}

// insertNumbered returns the statement that inserts a row with a number and some columns, unless
// there is one that excludes it. The number 0 stands for the next one.
func insertNumbered(table string, names []string) string {
	statement := insertInto(table, append([]string{"sequence"}, names...))
	return strings.Replace(strings.Replace(statement, "INSERT", "INSERT OR IGNORE", 1), "(?,", "(nullif(?, 0),", 1)
}

// insertOnce inserts a row, and reports whether it was not there before. If only its number was
// there, which may be damaged, it gets another one.
func insertOnce(ctx context.Context, transaction *sql.Tx, statement string, number int64, values []any, isKnown func(context.Context, *sql.Tx, int64) (bool, error)) (bool, error) {
	isNew, err := changed(transaction.ExecContext(ctx, statement, append([]any{number}, values...)...))
	if err != nil || isNew {
		return isNew, err
	}
	if known, err := isKnown(ctx, transaction, number); known || err != nil {
		return false, err
	}
	return changed(transaction.ExecContext(ctx, statement, append([]any{0}, values...)...))
}

// changed reports whether a statement changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	count, err := result.RowsAffected()
	return count > 0, err
}
