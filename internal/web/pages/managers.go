package pages

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// A managerRow is a target as the first page shows it.
type managerRow struct {
	ID, Name    string
	Address     string
	State       model.State
	Mark        listing.Mark
	Facts       []fact // what is to be known of it beside the following
	Since       listing.Moment
	Cause       string         // of the states ERROR and SUSPENDED
	Retry       listing.Moment // when it is tried again by itself; zero if it is not
	Note        *listing.Note  // what is wrong with its pictures
	Problems    []string       // what was wrong with its listings
	IsShown     bool           // whether there is a picture of what it manages
	IsOld       bool           // whether that is not kept up to date
	Jobs        []listing.StateCount
	JobsAddress string
	Mine        string
	MineAddress string
	Nodes       []listing.StateCount
	Machines    string // address
	Queues      string // how many there are
	QueuesAt    string // address
	CanStart    bool
	CanStop     bool
	CanRefresh  bool
	CanEdit     bool   // also whether it can be removed
	Edit        string // addresses
	Remove      string
	Launch      string // empty where nothing can be submitted
	Listings    []listingRow
}

// A listingRow says when elements of a kind were seen last.
type listingRow struct {
	What string
	At   listing.Moment
}

// shownApart are attributes of targets that the first page shows in a way
// of its own.
var shownApart = []string{vocabulary.AttributeRMState, views.AttributeCause, vocabulary.AttributeStale, vocabulary.AttributeProblems, views.AttributeSince, vocabulary.AttributeListedJobs, vocabulary.AttributeListedNodes, vocabulary.AttributeListedQueues}

// managerRowOf returns how the first page shows a target.
func managerRowOf(l *listing.Ledger, s *model.Snapshot, m *model.Manager) managerRow {
	e := m.Element()
	state := listing.SeenState(e)
	isWatched := state == vocabulary.StateStarted || state == vocabulary.StateSuspended
	row := managerRow{
		ID: e.ID(), Name: listing.Cell(e.Name()), State: state, Mark: listing.MarkOf(e), Since: listing.MomentOf(e, views.AttributeSince), Facts: managerFacts(e),
		Address:    machinesQuery{}.with(func(q *machinesQuery) { q.Manager = e.ID() }),
		CanRefresh: isWatched, Edit: managerAddress("/managers/edit", e.ID()), Remove: managerAddress("/managers/remove", e.ID()),
		CanStart: state == vocabulary.StateStopped || state == vocabulary.StateError, CanStop: state != vocabulary.StateStopped && state != vocabulary.StateStopping, CanEdit: state == vocabulary.StateStopped,
	}
	if isWatched {
		row.Launch = launchAddressOf(e.ID(), "")
	}
	if state == vocabulary.StateError || state == vocabulary.StateSuspended {
		row.Cause = listing.Fact(listing.GivenText(e, views.AttributeCause))
	}
	hasChildren := m.Len(model.Job)+m.Len(model.Node)+m.Len(model.Queue) > 0
	row.IsShown = state != vocabulary.StateStopped && (hasChildren || listing.MomentOf(e, vocabulary.AttributeListedJobs).IsKnown())
	if !row.IsShown {
		return row
	}
	row.IsOld = state != vocabulary.StateStarted
	if !row.IsOld {
		if n, isNeeded := listing.NoteOf(e, model.Job); isNeeded {
			row.Note, row.IsOld = &n, true
		}
	}
	countInto(l, &row, s, m)
	if problems, isGiven := listing.GivenOf(e, vocabulary.AttributeProblems); isGiven {
		for _, problem := range problems.Array() {
			row.Problems = append(row.Problems, listing.Fact(problem))
		}
	}
	row.Listings = listingRows(e)
	return row
}

// managerFacts returns the attributes of a target that have no place of
// their own on the first page.
func managerFacts(e *model.Element) []fact {
	var facts []fact
	for definition, value := range e.Attributes() {
		text := value.Text()
		if value.Type() == model.Array {
			text = strings.Join(value.Array(), ", ")
		}
		if definition.Display && definition.ID != vocabulary.AttributeName && text != "" && !slices.Contains(shownApart, definition.ID) {
			facts = append(facts, fact{Name: listing.Printable(definition.Label(), 60), Description: definition.Description, Value: listing.Cell(text)})
		}
	}
	return facts
}

// listingRows returns when jobs, nodes and queues were last seen, as far as they were.
func listingRows(e *model.Element) []listingRow {
	var rows []listingRow
	for _, each := range []struct {
		what      string
		attribute string
	}{{"jobs", vocabulary.AttributeListedJobs}, {"nodes", vocabulary.AttributeListedNodes}, {"queues", vocabulary.AttributeListedQueues}} {
		if at := listing.MomentOf(e, each.attribute); at.IsKnown() {
			rows = append(rows, listingRow{each.what, at})
		}
	}
	return rows
}

// countInto puts the numbers of what a target has into its row.
func countInto(l *listing.Ledger, row *managerRow, s *model.Snapshot, m *model.Manager) {
	id := m.Element().ID()
	census := l.Census(s, m)
	row.Jobs = listing.CountsOf(model.Job, census.Jobs.ByState)
	usual := listing.ReadJobsQuery(nil)
	row.JobsAddress = usual.With(func(q *listing.JobsQuery) { q.Manager = id })
	row.Mine, row.MineAddress = listing.Thousands(census.Jobs.Mine), usual.With(func(q *listing.JobsQuery) { q.Manager, q.Mine = id, true })
	row.Nodes, row.Machines = census.AnyNode.Counts(), row.Address
	if n := m.Len(model.Queue); n > 0 {
		row.Queues, row.QueuesAt = listing.Counted(n, "queue"), queuesAddress(id, 1)
	}
}
