package listing

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/state"
)

// A stateCount is how many elements are in a state.
type StateCount struct {
	Mark  Mark
	Count string
}

// jobWords are the words for what a job does, where they tell more than its state.
var JobWords = map[state.Detail]string{
	state.Submitted:           "submitted",
	state.SystemOnHold:        "held by the system",
	state.UserOnHold:          "held by the user",
	state.UserSystemOnHold:    "held by user and system",
	state.SystemSuspended:     "suspended by the system",
	state.UserSuspended:       "suspended by the user",
	state.UserSystemSuspended: "suspended by user and system",
	state.Canceled:            "cancelled",
}

// jobMark returns how a job's state is shown.
func JobMark(job *model.Element) Mark {
	return MarkOfJob(SeenState(job), GivenText(job, monitor.AttributeJobDetail))
}

// markOfJob returns how a job is shown by its state, and by that in more words.
func MarkOfJob(s model.State, text string) Mark {
	m := MarkOfState(model.Job, s)
	detail, known := state.Parse(text)
	if !known || model.JobState(detail) != s {
		return m
	}
	if word := JobWords[detail]; word != "" {
		m.Word = word
	}
	if detail.OnHold() {
		m.Sign, m.Tone = signPause, "blue"
	}
	if detail == state.Canceled {
		m.Sign = signCross
	}
	return m
}

// attributeProcesses is how many processes a job has.
const AttributeProcesses = "jobNumProcs"

// cutTo cuts a text to a number of bytes, between two characters.
func CutTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

func PageNumber(query url.Values) int {
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil {
		return 1
	}
	return page
}

// only returns the named values of a query, for views that are the same for all others.
func Only(query url.Values, names ...string) url.Values {
	kept := url.Values{}
	for _, name := range names {
		if text := query.Get(name); text != "" {
			kept.Set(name, text)
		}
	}
	return kept
}

// A choice is an option of a selection list.
type Choice struct {
	Value, Label string
	IsOn         bool
}

// A pager leads through the pages of a table.
type Pager struct {
	From, To        int // of what is shown, To excluded
	Page, Pages     int
	First, Previous string // addresses, empty on the first page
	Next, Last      string // empty on the last page
}

// pageOf returns a page of a table of so many rows, the last one where there are not so many
// pages.
func PageOf(rows, page, size int, address func(page int) string) Pager {
	p := Pager{Pages: max(1, (rows+size-1)/size)}
	p.Page = min(max(1, page), p.Pages)
	p.From = (p.Page - 1) * size
	p.To = min(rows, p.From+size)
	if p.Page > 1 {
		p.First, p.Previous = address(1), address(p.Page-1)
	}
	if p.Page < p.Pages {
		p.Next, p.Last = address(p.Page+1), address(p.Pages)
	}
	return p
}

// String says which page it is.
func (p Pager) String() string {
	return "page " + strconv.Itoa(p.Page) + " of " + Thousands(p.Pages)
}

// elementKey returns a text that names an element of a resource manager, for
// forms and for the rows of a table. It has no white space, which ids may have.
func ElementKey(manager, id string) string {
	return url.Values{"rm": {manager}, "id": {id}}.Encode()
}

// readElementKey is the inverse of elementKey.
func ReadElementKey(key string) (manager, id string, err error) {
	values, err := url.ParseQuery(key)
	if err != nil || values.Get("rm") == "" || values.Get("id") == "" {
		return "", "", fmt.Errorf("%q names no job: choose one from the table", Printable(key, LongestCell))
	}
	return values.Get("rm"), values.Get("id"), nil
}

// elementAddress returns the address of the page of an element.
func ElementAddress(page, manager, id string) string {
	return page + "?" + ElementKey(manager, id)
}

// A filterLink leads to the table with another filter.
type FilterLink struct {
	Label   string
	Address string
	Count   string
	Mark    *Mark // nil for a choice that is no state
	IsOn    bool
}
