package pages

import (
	"testing"

	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/internal/web/webtest"
)

// BenchmarkRows draws 10,000 rows of the table of jobs.
func BenchmarkRows(b *testing.B) {
	query := listing.ReadJobsQuery(nil)
	query.Size = 10_000
	table := drawJobs(listing.NewLedger(""), webtest.Demonstration(b, query.Size, 10, webtest.Noon).Snapshot(), query)
	b.ReportAllocs()
	for b.Loop() {
		live.Rows("jobs", table.Rows, func(r jobRow) string { return r.Key }, jobRow.tableRow)
	}
}
