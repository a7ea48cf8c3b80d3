// Package listing is what pages and the API share: the jobs that match a query, the counts
// of elements, and texts for states and times.
package listing

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// The sizes of pages of a table, the default first.
var PageSizes = []int{50, 100, 250}

// LongestFilter bounds the bytes of a filter.
const LongestFilter = 200

// A JobsQuery selects the jobs of a table and their order.
type JobsQuery struct {
	Manager    string // empty for all targets
	Queue      string
	User       string
	State      string // one of JobFilters, or empty for all
	Text       string // in the id, name, user, queue or reason
	Mine       bool
	Sort       string // one of JobSorts
	Descending bool
	Page, Size int  // the first page is 1
	All        bool // whether there is a column for each attribute that views show
}

// A jobFilter selects jobs by their state.
type jobFilter struct {
	Name, Label string
	States      []model.State
}

var JobFilters = []jobFilter{
	{"running", "running", []model.State{vocabulary.StateRunning, vocabulary.StateStarted}},
	{"waiting", "queued", []model.State{vocabulary.StatePending}},
	{"suspended", "suspended", []model.State{vocabulary.StateSuspended}},
	{"ended", "ended", []model.State{vocabulary.StateTerminated}},
	{"failed", "failed", []model.State{Failed, vocabulary.StateError}},
	{"unknown", "unknown", []model.State{vocabulary.StateUnknown, ""}},
}

func JobFilterOf(name string) (jobFilter, bool) {
	at := slices.IndexFunc(JobFilters, func(f jobFilter) bool { return f.Name == name })
	if at < 0 {
		return jobFilter{}, false
	}
	return JobFilters[at], true
}

// ReadJobsQuery reads a query from an address. It ignores invalid values.
func ReadJobsQuery(values url.Values) JobsQuery {
	q := JobsQuery{
		Manager: values.Get("rm"), Queue: values.Get("queue"), User: strings.TrimSpace(values.Get("user")),
		Text: strings.TrimSpace(values.Get("q")), Mine: values.Get("mine") == "1", All: values.Get("columns") == "all",
		Sort: "id", Descending: true, Page: PageNumber(values), Size: PageSizes[0],
	}
	for _, text := range []*string{&q.Manager, &q.Queue, &q.User, &q.Text} {
		*text = CutTo(*text, LongestFilter)
	}
	if _, known := JobFilterOf(values.Get("state")); known {
		q.State = values.Get("state")
	}
	sort, descending := strings.CutPrefix(values.Get("sort"), "-")
	if _, known := JobSorts[sort]; known {
		q.Sort, q.Descending = sort, descending
	}
	if size, err := strconv.Atoi(values.Get("size")); err == nil && slices.Contains(PageSizes, size) {
		q.Size = size
	}
	return q
}

// Values returns the parameters of the query, without defaults.
func (q JobsQuery) Values() url.Values {
	columns, sort := "", q.sorting()
	if sort == "-id" {
		sort = ""
	}
	if q.All {
		columns = "all"
	}
	return Query("rm", q.Manager, "queue", q.Queue, "user", q.User, "state", q.State, "q", q.Text, "mine", Flag(q.Mine), "columns", columns,
		"sort", sort, "page", Unless(1, q.Page), "size", Unless(PageSizes[0], q.Size))
}

func (q JobsQuery) sorting() string {
	if q.Descending {
		return "-" + q.Sort
	}
	return q.Sort
}

// Address returns the address of the table.
func (q JobsQuery) Address() string {
	return AddressOf("/jobs", q.Values())
}

// With returns the address of the first page of the query with a change.
func (q JobsQuery) With(change func(*JobsQuery)) string {
	q.Page = 1
	change(&q)
	return q.Address()
}

// selection returns a key of all queries for the same jobs in the same order.
func (q JobsQuery) selection() string {
	q.Page, q.Size, q.All = 1, PageSizes[0], false
	return "jobs\x00" + q.Values().Encode()
}
