package pages

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// jobsChoices are what the filter of the page of jobs offers.
type jobsChoices struct {
	Query      listing.JobsQuery
	Hidden     []hiddenField    // what is sent along unchanged
	Managers   []listing.Choice // empty where there is one only
	Queues     []listing.Choice
	Users      []string
	Sizes      []listing.FilterLink
	Operations []operationButton
	Columns    listing.FilterLink // to the table with more columns, or with fewer
	IsFiltered bool
}

// A hiddenField is what a form sends unseen.
type hiddenField struct{ Name, Value string }

// mostChoices bounds the options of a selection list.
const mostChoices = 500

// jobsChoices returns what the filter offers.
func jobsChoicesOf(l *listing.Ledger, s *model.Snapshot, q listing.JobsQuery) jobsChoices {
	c := jobsChoices{Query: q, IsFiltered: q.Manager+q.Queue+q.User+q.Text+q.State != "" || q.Mine, Hidden: hiddenFields(q), Columns: columnsLink(q)}
	for m := range s.Managers() {
		id := m.Element().ID()
		c.Managers = append(c.Managers, listing.Choice{Value: id, Label: listing.Cell(m.Element().Name()), IsOn: id == q.Manager})
	}
	if len(c.Managers) == 1 {
		c.Managers = nil
	}
	queues, users := queuesAndUsers(l, s, q.Manager)
	if q.Queue != "" {
		queues[q.Queue] = true
	}
	for _, queue := range slices.Sorted(maps.Keys(queues)) {
		c.Queues = append(c.Queues, listing.Choice{Value: queue, Label: listing.Cell(queue), IsOn: queue == q.Queue})
	}
	c.Users = slices.Sorted(maps.Keys(users))
	c.Users = c.Users[:min(len(c.Users), mostChoices)]
	for _, size := range listing.PageSizes {
		c.Sizes = append(c.Sizes, listing.FilterLink{Label: strconv.Itoa(size), Address: q.With(func(q *listing.JobsQuery) { q.Size = size }), IsOn: q.Size == size})
	}
	for _, each := range jobOperations {
		c.Operations = append(c.Operations, operationButton{Name: string(each.operation), Label: each.label})
	}
	return c
}

// hiddenFields returns the parameters that the form keeps but does not show, by name.
func hiddenFields(q listing.JobsQuery) []hiddenField {
	var hidden []hiddenField
	for name, values := range q.Values() {
		if !slices.Contains([]string{"q", "user", "queue", "rm", "page", "mine"}, name) {
			hidden = append(hidden, hiddenField{name, strings.Join(values, "")})
		}
	}
	sorting.Stable(hidden, func(a, b hiddenField) int { return strings.Compare(a.Name, b.Name) })
	return hidden
}

// columnsLink returns the link to the table with all columns, or back.
func columnsLink(q listing.JobsQuery) listing.FilterLink {
	if q.All {
		return listing.FilterLink{Label: "Fewer columns", Address: q.With(func(q *listing.JobsQuery) { q.All = false })}
	}
	return listing.FilterLink{Label: "More columns", Address: q.With(func(q *listing.JobsQuery) { q.All = true })}
}

// queuesAndUsers returns the queues and the users of a target, or of all
// if manager is empty.
func queuesAndUsers(l *listing.Ledger, s *model.Snapshot, manager string) (queues, users map[string]bool) {
	queues, users = map[string]bool{}, map[string]bool{}
	for m := range s.Managers() {
		if manager != "" && manager != m.Element().ID() {
			continue
		}
		for queue := range m.All(model.Queue) {
			if len(queues) < mostChoices {
				queues[queue.ID()] = true
			}
		}
		for _, user := range l.Census(s, m).Users {
			if listing.IsPlain(user) { // the list fills in what it shows
				users[user] = true
			}
		}
	}
	return queues, users
}
