package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// rowOf returns how a table shows a job.
func rowOf(listed listing.ListedJob, own listing.Owner) jobRow {
	job, manager := listed.Job, listed.Manager.Element().ID()
	text := func(attribute string) string { return listing.Cell(listing.GivenText(job, attribute)) }
	row := jobRow{
		Key:     listing.ElementKey(manager, job.ID()),
		Address: listing.ElementAddress("/job", manager, job.ID()),
		Manager: listing.Cell(manager), ID: listing.Cell(job.ID()), Name: listing.Cell(job.Name()),
		Mark: listing.JobMark(job), Native: text(vocabulary.AttributeJobStatus), User: text(vocabulary.AttributeJobUser), Queue: listing.Cell(job.Parent()),
		Procs: text(listing.AttributeProcesses), Nodes: text(vocabulary.AttributeJobNodes), Reason: text(vocabulary.AttributeJobMessage), Exit: text(vocabulary.AttributeJobExitCode), Doubt: text(vocabulary.AttributeJobDoubt),
		Mine: own.Has(job), Ended: model.Ended(model.Job, listing.SeenState(job)),
		Submitted: listing.MomentOf(job, vocabulary.AttributeJobSubmitted), Started: listing.MomentOf(job, vocabulary.AttributeJobStarted), Finished: listing.MomentOf(job, vocabulary.AttributeJobEnded),
	}
	if row.Procs == "" {
		if cpus, isGiven := listing.GivenOf(job, vocabulary.AttributeJobCPUs); isGiven {
			row.Procs = listing.Counted(int(cpus.Integer()), "CPU")
		}
	}
	if strings.EqualFold(row.Native, row.Mark.Word) {
		row.Native = "" // it says nothing more
	}
	row.Processes = countProcesses(listed.Manager, job.ID())
	return row
}

// countProcesses counts the processes of a job by state, in the order in which the
// states come.
func countProcesses(m *model.Manager, job string) []listing.StateCount {
	counts := map[model.State]int{}
	counted := 0
	for process := range m.Children(model.Process, job) {
		if counted++; counted > mostCounted {
			break
		}
		counts[listing.SeenState(process)]++
	}
	return listing.CountsOf(model.Process, counts)
}

// A column is one of the columns of a table of jobs.
type column struct {
	Label   string
	Address string // of the table sorted by it; empty where it cannot be
	Order   string // as aria-sort has it; empty where the table is sorted by another one
	Class   string
}

var jobColumns = []struct{ label, sort, class string }{
	{"State", "state", "state"}, {"Job", "id", "id"}, {"Name", "name", "name"}, {"User", "user", "user"}, {"Queue", "queue", "queue"}, {"Procs", "procs", "number"},
	{"Nodes", "", "nodes"}, {"Submitted", "submitted", "time"}, {"Started", "started", "time"}, {"Ended", "ended", "time"}, {"Reason", "", "reason"},
}

// jobsTable is what the page of jobs shows.
type jobsTable struct {
	Columns []column
	Rows    []jobRow
	Pager   listing.Pager
	Filters []listing.FilterLink
	Notes   []listing.Note
	Summary string
}

// drawJobs returns what the page of jobs shows.
func drawJobs(l *listing.Ledger, s *model.Snapshot, q listing.JobsQuery) jobsTable {
	chosen := l.Choose(s, q)
	managers := 0
	for range s.Managers() {
		managers++
	}
	t := jobsTable{Pager: listing.PageOf(len(chosen.Jobs), q.Page, q.Size, func(page int) string {
		return q.With(func(q *listing.JobsQuery) { q.Page = page })
	})}
	shown := chosen.Jobs[t.Pager.From:t.Pager.To]
	more := furtherColumns(q, shown)
	old := map[*model.Manager]string{}
	for m := range s.Managers() {
		if n, isNeeded := listing.NoteOf(m.Element(), model.Job); isNeeded {
			old[m] = n.Manager + " " + n.Text
		}
	}
	for _, each := range shown {
		row := rowOf(each, l.Owner(s, each.Manager))
		row.Doubt = cmp.Or(row.Doubt, old[each.Manager])
		if q.Manager != "" || managers < 2 {
			row.Manager = ""
		}
		for _, definition := range more {
			text := listing.GivenText(each.Job, definition.ID)
			row.More = append(row.More, listing.Cell(text))
		}
		t.Rows = append(t.Rows, row)
	}
	for _, c := range jobColumns {
		t.Columns = append(t.Columns, columnOf(q, c.label, c.sort, c.class))
	}
	for _, definition := range more {
		t.Columns = append(t.Columns, column{Label: listing.Printable(definition.Label(), 40)})
	}
	t.Filters = filtersOf(q, chosen)
	t.Notes = listing.NotesOf(s, q.Manager, model.Job)
	t.Summary = summaryOf(q, len(chosen.Jobs), t.Pager)
	return t
}

// columnOf returns the head of a column.
func columnOf(q listing.JobsQuery, label, sort, class string) column {
	c := column{Label: label, Class: class}
	if sort == "" {
		return c
	}
	descending := sort == "submitted" || sort == "started" || sort == "ended" || sort == "procs" || sort == "id"
	if q.Sort == sort {
		c.Order = "ascending"
		if q.Descending {
			c.Order = "descending"
		}
		descending = !q.Descending
	}
	c.Address = q.With(func(q *listing.JobsQuery) { q.Sort, q.Descending = sort, descending })
	return c
}

// filtersOf returns links to the jobs of each state, with how many these are.
func filtersOf(q listing.JobsQuery, c *listing.Chosen) []listing.FilterLink {
	links := []listing.FilterLink{{Label: "all", Address: q.With(func(q *listing.JobsQuery) { q.State = "" }), Count: listing.Thousands(c.All), IsOn: q.State == ""}}
	for _, filter := range listing.JobFilters {
		count := 0
		for _, each := range filter.States {
			count += c.ByState[each]
		}
		if count == 0 && q.State != filter.Name && filter.Name != "running" && filter.Name != "waiting" {
			continue
		}
		m := listing.MarkOfState(model.Job, filter.States[0])
		links = append(links, listing.FilterLink{Label: filter.Label, Address: q.With(func(q *listing.JobsQuery) { q.State = filter.Name }),
			Count: listing.Thousands(count), Mark: &m, IsOn: q.State == filter.Name})
	}
	return links
}

// summaryOf says in words what the table shows.
func summaryOf(q listing.JobsQuery, all int, p listing.Pager) string {
	if all == 0 {
		return "No jobs"
	}
	return fmt.Sprintf("%s to %s of %s", listing.Thousands(p.From+1), listing.Thousands(p.To), listing.Counted(all, "job"))
}

// usualColumns are the attributes that the table shows by itself, or that say what it
// shows already.
var usualColumns = []string{vocabulary.AttributeID, vocabulary.AttributeName, vocabulary.AttributeJobState, vocabulary.AttributeJobStatus, vocabulary.AttributeJobMessage, vocabulary.AttributeJobLaunched, vocabulary.AttributeJobDetail, vocabulary.AttributeJobUser,
	vocabulary.AttributeJobQueue, listing.AttributeProcesses, vocabulary.AttributeJobNodes, vocabulary.AttributeJobSubmitted, vocabulary.AttributeJobStarted, vocabulary.AttributeJobEnded}

// mostColumns bounds the further columns of a table.
const mostColumns = 40

// furtherColumns returns the attributes that some of the jobs have, views show
// unasked, and the table does not show yet, as they appear.
func furtherColumns(q listing.JobsQuery, jobs []listing.ListedJob) []*model.Definition {
	if !q.All {
		return nil
	}
	var more []*model.Definition
	for _, each := range jobs {
		for definition := range each.Job.Attributes() {
			if definition.Display && !slices.Contains(usualColumns, definition.ID) && !slices.Contains(more, definition) && len(more) < mostColumns {
				more = append(more, definition)
			}
		}
	}
	return more
}

// A jobRow is a job as a table shows it.
type jobRow struct {
	Key     string // unique in the table; what a form calls the job by
	Address string
	Manager string
	ID      string
	Name    string
	Mark    listing.Mark
	Native  string
	User    string
	Queue   string
	Procs   string
	Nodes   string
	Reason  string
	Exit    string
	Doubt   string // why the state may be another by now; empty where nobody doubts it
	Mine    bool
	Ended   bool

	Submitted, Started, Finished listing.Moment

	Processes []listing.StateCount // of the job, by their state
	More      []string             // by the further columns of the table
}

// mostCounted bounds how many processes of a job are counted for a row.
const mostCounted = 4096
