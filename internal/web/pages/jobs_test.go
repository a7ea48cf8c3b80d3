package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

// idsOf returns the ids of the jobs that an address chooses.
func idsOf(t *testing.T, m *model.Model, address string) []string {
	t.Helper()
	query, err := url.ParseQuery(address)
	require.NoError(t, err)
	var ids []string
	for _, row := range drawJobs(listing.NewLedger(""), m.Snapshot(), listing.ReadJobsQuery(query)).Rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func TestJobsAreChosenAndSorted(t *testing.T) {
	m := model.New()
	put := func(u *model.Update, id, queue string, pairs ...string) {
		u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: queue, ID: id, Attributes: webtest.Attributes(pairs...)})
	}
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "long"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "short"})
		put(u, "9", "long", "name", "beta", "jobState", "RUNNING", "userId", "ada", "jobNumProcs", "16")
		put(u, "10", "short", "name", "Alpha", "jobState", "PENDING", "userId", "grace", "jobNumProcs", "4", "jobStatusMessage", "Priority")
		put(u, "11", "short", "name", "gamma", "jobState", "ERROR", "userId", "emmy", "launchedByPTP", "true")
		put(u, "12", "long", "name", "delta", "userId", "emmy")
	})
	require.Equal(t, []string{"12", "11", "10", "9"}, idsOf(t, m, ""), "the newest first, numbers by their value")
	require.Equal(t, []string{"9", "10", "11", "12"}, idsOf(t, m, "sort=id"))
	require.Equal(t, []string{"10", "9", "12", "11"}, idsOf(t, m, "sort=name"), "in any case")
	require.Equal(t, []string{"9", "10", "11", "12"}, idsOf(t, m, "sort=-procs"), "those without a number last")
	require.Equal(t, []string{"10", "9", "11", "12"}, idsOf(t, m, "sort=procs"), "in both directions")
	require.Equal(t, []string{"11", "9", "10", "12"}, idsOf(t, m, "sort=state"), "what needs a look first")
	require.Equal(t, []string{"9"}, idsOf(t, m, "state=running"))
	require.Equal(t, []string{"12"}, idsOf(t, m, "state=unknown"), "a missing state is not one of the others")
	require.Equal(t, []string{"11", "10"}, idsOf(t, m, "queue=short"))
	require.Equal(t, []string{"9"}, idsOf(t, m, "user=ada"))
	require.Equal(t, []string{"12", "11"}, idsOf(t, m, "mine=1"), "also those that the same user submitted in another way")
	require.Equal(t, []string{"10"}, idsOf(t, m, "q=PRIOR"))
	require.Equal(t, []string{"10"}, idsOf(t, m, "q=alpha&sort=user"))
	require.Empty(t, idsOf(t, m, "rm=other"))
	require.Equal(t, []string{"12", "11", "10", "9"}, idsOf(t, m, "state=%00&sort=nothing&page=-3&size=7"), "what is not known counts as not said")
}

func TestJobsComeInPages(t *testing.T) {
	m := webtest.Demonstration(t, 120, 10, webtest.Noon)
	table := func(page int) jobsTable {
		return drawJobs(listing.NewLedger(""), m.Snapshot(), listing.ReadJobsQuery(url.Values{"page": {fmt.Sprint(page)}}))
	}
	require.Len(t, table(1).Rows, 50)
	require.Empty(t, table(1).Pager.Previous)
	require.Equal(t, "/jobs?page=3", table(2).Pager.Next)
	last := table(99)
	require.Len(t, last.Rows, 20, "behind the last page comes the last page")
	require.Equal(t, "101 to 120 of 120 jobs", last.Summary)
	require.Equal(t, "4000000", last.Rows[19].ID)
}

func TestTheCountsOfFiltersAreOfAllPages(t *testing.T) {
	table := drawJobs(listing.NewLedger(""), webtest.Demonstration(t, 1000, 10, webtest.Noon).Snapshot(), listing.ReadJobsQuery(url.Values{"state": {"running"}}))
	counts := map[string]string{}
	for _, filter := range table.Filters {
		counts[filter.Label] = filter.Count
	}
	require.Equal(t, "1000", counts["all"])
	require.Equal(t, "200", counts["running"])
}

func TestAnAddressOfJobsSaysOnlyWhatIsUnusual(t *testing.T) {
	require.Equal(t, "/jobs", listing.ReadJobsQuery(nil).Address())
	for _, address := range []string{"columns=all&mine=1&page=3&q=%3Cb%3E&queue=a+b&rm=x&size=100&sort=name&state=failed&user=u", "sort=-started"} {
		query, err := url.ParseQuery(address)
		require.NoError(t, err)
		require.Equal(t, "/jobs?"+address, listing.ReadJobsQuery(query).Address())
	}
}

func TestFurtherColumnsAreTheAttributesThatAppear(t *testing.T) {
	m := webtest.Demonstration(t, 80, 10, webtest.Noon)
	table := drawJobs(listing.NewLedger(""), m.Snapshot(), listing.ReadJobsQuery(url.Values{"columns": {"all"}}))
	require.Len(t, table.Columns, len(jobColumns)+len(table.Rows[0].More))
	require.Contains(t, table.Columns, column{Label: "Working Directory"})
}

func TestJobsShowTheirProcessesByState(t *testing.T) {
	table := drawJobs(listing.NewLedger(""), webtest.Demonstration(t, 80, 10, webtest.Noon).Snapshot(), listing.ReadJobsQuery(url.Values{"q": {"4000070"}}))
	require.Equal(t, []listing.StateCount{{Mark: listing.MarkOfState(model.Process, vocabulary.StateRunning), Count: "4"}}, table.Rows[0].Processes)
}

func TestCPUsReplaceUnknownProcesses(t *testing.T) {
	m := model.New()
	m.Update(func(u *model.Update) {
		require.NoError(t, u.Define(model.Definition{ID: vocabulary.AttributeJobCPUs, Type: model.Integer, Default: []string{"0"}}))
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: "1", Attributes: webtest.Attributes("jobState", "RUNNING", vocabulary.AttributeJobStatus, "Running", vocabulary.AttributeJobCPUs, "64")})
	})
	row := drawJobs(listing.NewLedger(""), m.Snapshot(), listing.ReadJobsQuery(nil)).Rows[0]
	require.Equal(t, "64 CPUs", row.Procs)
	require.Empty(t, row.Native, "the scheduler's word says the same")
}

func TestJobsOfAnOldPictureAreInDoubt(t *testing.T) {
	m := webtest.Demonstration(t, 10, 10, webtest.Noon)
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Manager: "workshop", Kind: model.Job, Parent: "all", ID: "1", Attributes: webtest.Attributes("jobState", "RUNNING")})
	})
	table := drawJobs(listing.NewLedger(""), m.Snapshot(), listing.ReadJobsQuery(url.Values{"state": {"running"}, "sort": {"id"}}))
	require.Contains(t, table.Rows[len(table.Rows)-1].Doubt, "cannot be queried")
	require.Empty(t, table.Rows[0].Doubt)
}

func TestNotesSayHowOldAPictureIs(t *testing.T) {
	m := webtest.Demonstration(t, 10, 10, webtest.Noon)
	notes := listing.NotesOf(m.Snapshot(), "", model.Job)
	require.Len(t, notes, 1, "what is stopped is no news beside others")
	require.Equal(t, "workshop", notes[0].Manager)
	require.Contains(t, notes[0].Text, "; its jobs were last listed")
	require.Contains(t, notes[0].Cause, "no answer within 10 s")
	require.Equal(t, webtest.Noon.Add(-7*time.Minute), notes[0].At.At.UTC())
	require.Len(t, listing.NotesOf(m.Snapshot(), "local", model.Job), 1)
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster", Attributes: webtest.Attributes("rmStale", "squeue: it took too long")})
	})
	note := listing.NotesOf(m.Snapshot(), "cluster", model.Job)
	require.Len(t, note, 1)
	require.Equal(t, "squeue: it took too long", note[0].Cause)
}

func TestTheFirstPageShowsOnesOwnJobsThatHaveNotEndedFirst(t *testing.T) {
	m := model.New()
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		for id, pairs := range map[string][]string{"old": {"jobState", "RUNNING", "launchedByPTP", "true"}, "new": {"jobState", "TERMINATED", "launchedByPTP", "true"}, "other": {"jobState", "RUNNING", "userId", "eve"}} {
			u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: id, Attributes: webtest.Attributes(pairs...)})
		}
	})
	p := &Pages{Options: Options{Ledger: listing.NewLedger("ada")}}
	shown := string(h.Render(p.ownJobs(m.Snapshot())))
	require.Less(t, strings.Index(shown, ">old<"), strings.Index(shown, ">new<"))
	require.NotContains(t, shown, "other")
	require.Contains(t, h.Render(p.ownJobs(model.New().Snapshot())), "No jobs yet")
}
