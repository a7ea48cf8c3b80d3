package listing

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A StateCount is the number of elements in a state.
type StateCount struct {
	Mark  Mark
	Count string
}

// JobMark returns the mark of a job.
func JobMark(job *model.Element) Mark {
	return MarkOfJob(SeenState(job), GivenText(job, vocabulary.AttributeJobDetail))
}

// MarkOfJob returns the mark of a job with a state and its detail.
func MarkOfJob(s model.State, text string) Mark {
	detail, known := job.ParseDetail(text)
	if known && detail == job.Failed && model.Ended(model.Job, s) {
		return MarkOfState(model.Job, groupFor(s, text))
	}
	m := MarkOfState(model.Job, s)
	if !known || model.JobState(&job.Observation{Detail: detail}) != s {
		return m
	}
	m.Word = strings.ToLower(detail.Word())
	if detail.OnHold() {
		m.Sign, m.Tone = signPause, "blue"
	}
	if detail == job.Canceled {
		m.Sign = signCross
	}
	return m
}

// AttributeProcesses is the attribute with the number of processes of a job.
const AttributeProcesses = "jobNumProcs"

// CutTo cuts a text to at most a number of bytes, between two characters.
func CutTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// PageNumber returns the page of a table in a query, 1 by default.
func PageNumber(query url.Values) int {
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil {
		return 1
	}
	return max(1, page)
}

// Only returns the named values of a query, for views that ignore the others.
func Only(query url.Values, names ...string) url.Values {
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, name, query.Get(name))
	}
	return Query(pairs...)
}

// A Choice is an option of a selection list.
type Choice struct {
	Value, Label string
	IsOn         bool
}

// A Pager leads through the pages of a table.
type Pager struct {
	From, To        int // of what is shown, To excluded
	Page, Pages     int
	First, Previous string // addresses, empty on the first page
	Next, Last      string // empty on the last page
}

// PageOf returns a page of a table with a number of rows, at most the last one.
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

// ElementKey returns a key of an element for forms and for the rows of a table. It has no
// white space, unlike ids.
func ElementKey(manager, id string) string {
	return url.Values{"rm": {manager}, "id": {id}}.Encode()
}

// ReadElementKey is the inverse of ElementKey.
func ReadElementKey(key string) (manager, id string, err error) {
	values, err := url.ParseQuery(key)
	if err != nil || values.Get("rm") == "" || values.Get("id") == "" {
		return "", "", fmt.Errorf("invalid job %q: choose one from the table", Cell(key))
	}
	return values.Get("rm"), values.Get("id"), nil
}

// ElementAddress returns the address of the page of an element.
func ElementAddress(page, manager, id string) string {
	return page + "?" + ElementKey(manager, id)
}

// A FilterLink leads to the table with another filter.
type FilterLink struct {
	Label   string
	Address string
	Count   string
	Mark    *Mark // nil for a choice that is no state
	IsOn    bool
}

// Query returns parameters made of pairs of a name and a text, without empty ones.
func Query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values
}

// AddressOf returns the address of a page with parameters.
func AddressOf(page string, values url.Values) string {
	return (&url.URL{Path: page, RawQuery: values.Encode()}).String()
}

// Unless returns a number for an address, empty for the default and for 0.
func Unless(usual, number int) string {
	if number == usual || number == 0 {
		return ""
	}
	return strconv.Itoa(number)
}

// Flag returns a switch for an address, empty if it is off.
func Flag(isOn bool) string {
	if isOn {
		return "1"
	}
	return ""
}

// Ranges returns links to different numbers of hours back; one is the current page.
func Ranges(shown int, address func(hours int) string) []FilterLink {
	var links []FilterLink
	for _, hours := range []int{1, 6, 24, 24 * 7} {
		label := Counted(hours, "hour")
		if hours > 24 {
			label = Counted(hours/24, "day")
		}
		links = append(links, FilterLink{Label: label, Address: address(hours), IsOn: hours == shown})
	}
	return links
}

// ReadHours returns the number of hours back in a query.
func ReadHours(values url.Values, usual int) int {
	hours, err := strconv.Atoi(values.Get("hours"))
	if err != nil || !slices.Contains([]int{1, 6, 24, 24 * 7}, hours) {
		return usual
	}
	return hours
}
