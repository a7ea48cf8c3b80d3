package pages

import (
	"cmp"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/usage"
	"github.com/rmctl/rmctl/model"
)

// A queueRow is a queue in the table of queues.
type queueRow struct {
	Key           string
	Manager, Name string
	Mark          listing.Mark
	Native        string
	IsDefault     bool
	TimeLimit     string
	Nodes         string
	Running       string
	Waiting       string
	Mine          string
	Jobs          string // addresses of tables of its jobs
	JobsRunning   string
	JobsWaiting   string
	MyJobs        string
	Timeline      string
	Share         int // of its jobs that run, in per cent; -1 where it has none
}

// queuesTable is what the page of queues shows.
type queuesTable struct {
	Rows  []queueRow
	Notes []listing.Note
	Pager listing.Pager
}

// queuesPerPage is the size of a page of the table of queues.
const queuesPerPage = 100

func queuesAddress(manager string, page int) string {
	return listing.AddressOf("/queues", listing.Query("rm", manager, "page", listing.Unless(1, page)))
}

// drawQueues returns what the page of queues shows, of one target or of all where
// its id is empty.
func drawQueues(l *listing.Ledger, s *model.Snapshot, manager string, page int) queuesTable {
	t := queuesTable{Notes: listing.NotesOf(s, manager, model.Queue)}
	var queues []listedQueue
	managers := 0
	for m := range s.Managers() {
		if manager != "" && m.Element().ID() != manager {
			continue
		}
		managers++
		for queue := range m.All(model.Queue) {
			queues = append(queues, listedQueue{m, queue})
		}
	}
	t.Pager = listing.PageOf(len(queues), page, queuesPerPage, func(page int) string { return queuesAddress(manager, page) })
	for _, each := range queues[t.Pager.From:t.Pager.To] {
		row := queueRowOf(l, s, each.manager, each.queue)
		if managers == 1 {
			row.Manager = ""
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

type listedQueue struct {
	manager *model.Manager
	queue   *model.Element
}

// queueRowOf returns how a table shows a queue. Numbers are those of its
// scheduler if there are any, otherwise those of the known jobs.
func queueRowOf(l *listing.Ledger, s *model.Snapshot, m *model.Manager, queue *model.Element) queueRow {
	manager := m.Element().ID()
	text := func(attribute string) string { return listing.Cell(listing.GivenText(queue, attribute)) }
	jobs := l.Census(s, m).Queues[queue.ID()]
	if jobs == nil {
		jobs = &listing.Tally{}
	}
	usual := listing.ReadJobsQuery(nil)
	usual.Manager, usual.Queue = manager, queue.ID()
	state := func(state string) string { return usual.With(func(q *listing.JobsQuery) { q.State = state }) }
	isDefault, _ := listing.GivenOf(queue, vocabulary.AttributeQueueDefault)
	running, waiting := jobs.ByState[vocabulary.StateRunning]+jobs.ByState[vocabulary.StateStarted], jobs.ByState[vocabulary.StatePending]
	row := queueRow{
		Key: listing.ElementKey(manager, queue.ID()), Manager: listing.Cell(m.Element().Name()), Name: listing.Cell(queue.Name()),
		Mark: listing.MarkOf(queue), Native: text(vocabulary.AttributeQueueStatus), IsDefault: isDefault.Boolean(), TimeLimit: text(vocabulary.AttributeQueueTimeLimit),
		Nodes: text(vocabulary.AttributeQueueNodes), Running: cmp.Or(text(vocabulary.AttributeQueueRunning), listing.Thousands(running)), Waiting: cmp.Or(text(vocabulary.AttributeQueueWaiting), listing.Thousands(waiting)),
		Mine: listing.Thousands(jobs.Mine), Jobs: state(""), JobsRunning: state("running"), JobsWaiting: state("waiting"),
		MyJobs: usual.With(func(q *listing.JobsQuery) { q.Mine = true }), Timeline: usage.TimelineQuery{Manager: manager, Queue: queue.ID()}.Address(), Share: -1,
	}
	if running+waiting > 0 {
		row.Share = 100 * running / (running + waiting)
	}
	return row
}
