package reader

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/job"
)

// An Answer is what an output says.
type Answer struct {
	Attributes []AttributeValues
	Rejected   []Rejection  // the first unusable records
	Rejections int          // number of unusable records
	Damage     *DamageError // why the whole output is unusable; nil if it is usable
	Absence    *Absence     // what the job's absence means; nil if the definition does not say

	parts []*collection // one per batch
}

// All returns the jobs, nodes or queues in the order of the output. Each is built on demand, since a
// listing may have 100,000 of them.
func (a *Answer) All() iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for _, part := range a.parts {
			for i := range part.entries {
				if element := part.element(&part.entries[i]); element != nil && !yield(element) {
					return
				}
			}
		}
	}
}

// AddBatch adds the answer for other ids.
func (a *Answer) AddBatch(later *Answer) {
	a.parts = append(a.parts, later.parts...)
	a.Rejections += later.Rejections
	a.Rejected = append(a.Rejected, later.Rejected...)
}

// AttributeValues are the values in an output for an attribute of the definition.
type AttributeValues struct {
	Name   string
	Values []string
}

// An Element is a job, a node or a queue.
type Element struct {
	ID     string   // as printed; for several tasks the id of their job
	Job    string   // the job of the id; the id for nodes and queues
	Alias  string   // another id of the same job
	State  string   // empty if the output has none
	Names  []string // of the facts, sorted; shared by many elements
	Values []string
	Origin Origin
	Row    *config.StateRow // of the state; nil if no row matches

	Unreadable string // why its records are unusable
	Incomplete string // why its end, or its state, is not trusted
	Memory     Memory // of its tasks; empty for a job without
}

// Fact returns a fact by its name; empty if it is absent.
func (e *Element) Fact(name string) string {
	if at, has := slices.BinarySearch(e.Names, name); has {
		return e.Values[at]
	}
	return ""
}

// A Rejection is an unusable record.
type Rejection struct {
	Line int
	ID   string // empty if it is unknown
	Why  string
}

// Find returns the element of a job, nil if the output lacks it.
func (a *Answer) Find(job string) *Element {
	for each := range a.All() {
		if each.Job == job || each.ID == job || each.Alias != "" && each.Alias == job {
			return each
		}
	}
	return nil
}

// mostRejections bounds the rejections that are kept.
const mostRejections = 100

// A collection holds the contents of records by job, node or queue.
type collection struct {
	definition *config.Reader
	query      *Query
	facts      *factTable
	entries    []entry
	at         map[string]int // index of an entry by its job
	buffer     []byte
	size       int
	rejected   []Rejection
	rejections int
	damage     *DamageError
	absence    *Absence // of jobs and tasks missing for long; may be nil
}

// An entry holds the contents of the records of one job, node or queue.
type entry struct {
	job        string
	said       []kept
	unreadable string // why it is not trusted
}

func newCollection(definition *config.Reader, query *Query) *collection {
	return &collection{definition: definition, query: query, at: map[string]int{}}
}

// entry returns the entry of a job, and adds it if it is new.
func (c *collection) entry(job string) *entry {
	at, has := c.at[job]
	if !has {
		job = strings.Clone(job) // a part of the output would keep all of it in memory
		at = len(c.entries)
		c.entries = append(c.entries, entry{job: job})
		c.at[job] = at
	}
	return &c.entries[at]
}

// add adds the contents of a record.
func (c *collection) add(said *saying) error {
	const ofSaying = 200 // bytes in addition to its text
	var packed kept
	packed, c.buffer = keep(said, c.buffer)
	if c.size += ofSaying + len(packed.text); c.size > mostKept {
		return errTooMuch
	}
	entry := c.entry(said.job)
	entry.said = append(entry.said, packed)
	return nil
}

// reject adds an unusable record and marks its job as unreadable.
func (c *collection) reject(step Step) error {
	c.rejections++
	if len(c.rejected) < mostRejections {
		c.rejected = append(c.rejected, Rejection{step.Record.Line, step.ID, step.Rejected})
	}
	id := step.ID
	if c.query.IDs != nil {
		id, _, _ = c.query.split(id) // empty for an invalid id
	}
	wanted, _ := c.query.wanted()
	if id == "" && c.isOfWanted() {
		id = wanted
	}
	if id == "" && c.definition.Sources[0].TotalLine.IsSet() && c.damage == nil {
		// The output counts this record, but its job is unknown.
		c.damage = &DamageError{Line: step.Record.Line, What: "unusable record: " + step.Rejected}
	}
	if id == "" || wanted != "" && id != wanted {
		return nil
	}
	entry := c.entry(id)
	if entry.unreadable != "" {
		return nil
	}
	if c.size += len(id) + len(step.Rejected); c.size > mostKept {
		return errTooMuch
	}
	entry.unreadable = step.Rejected
	return nil
}

// isOfWanted reports whether a record without an id may belong to the queried job: if only rows of that
// job are printed, without banners between them, or if the last record counts and this may be the last.
func (c *collection) isOfWanted() bool {
	source := c.definition.Sources[0]
	return source.Separator == config.MarkSeparator || source.Heading.IsSet() || c.definition.RepeatsLast
}

// element builds the element of one job, node or queue. It returns nil if all records are of an older one
// with the same id.
func (c *collection) element(entry *entry) *Element {
	element := &Element{ID: entry.job, Job: entry.job, Names: c.facts.names, Values: c.facts.noValues, Unreadable: entry.unreadable}
	if c.damage != nil {
		element.Unreadable = c.damage.What
	}
	if element.Unreadable != "" {
		return element
	}
	said := make([]*saying, len(entry.said))
	for i, each := range entry.said {
		said[i] = each.saying()
	}
	if said = c.ofOneSubmission(said); len(said) == 0 {
		return nil
	}
	if said, element.Unreadable = c.distinct(said); element.Unreadable == "" {
		element.Unreadable = c.contradiction(said)
	}
	if element.Unreadable != "" {
		return element
	}
	c.describe(element, said)
	return element
}

// describe determines the state of an element and adds its facts.
func (c *collection) describe(element *Element, said []*saying) {
	whole := slices.IndexFunc(said, func(each *saying) bool { return each.task == "" })
	if whole >= 0 {
		element.ID = said[whole].id
	}
	element.Alias = said[0].alias
	var open ranges.Set // tasks that have not ended, from a source trusted only for ends
	if c.definition.EndsOnly {
		if said, open = onlyEnds(said); len(said) == 0 {
			element.Incomplete = "the output does not say that it has ended"
			return
		}
	}
	parts := c.besideOthers(c.parts(said))
	decides := deciding(parts)
	element.Values, element.Origin = c.facts.merge(parts, decides), decides.origin
	detail := decides.state.detail()
	_, task := c.query.wanted()
	if c.query.IDs != nil && task == "" && (len(parts) > 1 || parts[0].task != "" || parts[0].count > 1) {
		detail = c.remember(element, parts, detail)
	}
	if _, task := c.query.wanted(); task == "" && detail.Ended() && element.Incomplete == "" {
		element.Incomplete = lacking(said)
	}
	if left := open.Without(element.Memory.ended()); len(left) > 0 && element.Incomplete == "" {
		element.Incomplete = fmt.Sprintf("the end of task %s is unknown", left)
	}
	c.setState(element, decides, detail)
}

// remember adds the tasks of this answer to the remembered ones and returns the state of the job. The job
// has ended only if every task has.
func (c *collection) remember(element *Element, said []*saying, detail job.Detail) job.Detail {
	element.Memory = c.remembered(said)
	now := map[job.Detail]ranges.Set{}
	count, isPart := 0, false
	for _, each := range said {
		now[each.state.detail()] = append(now[each.state.detail()], each.numbers...)
		count, isPart = max(count, each.count), isPart || each.isPart
	}
	for state, numbers := range now {
		element.Memory.learn(numbers.Merged(), state)
	}
	defer func() { c.set(element, factTasks, element.Memory.String()) }()
	if said[0].numbers.Count() == 1 && max(count, element.Memory.all().Count()) > 1 {
		c.set(element, factOutput, "") // other tasks have other files
		c.set(element, factError, "")
	}
	if !detail.Ended() {
		element.Memory.Missed = time.Time{}
		return detail
	}
	detail, element.Incomplete = element.Memory.Conclude(detail)
	switch known := element.Memory.all().Count(); {
	case isPart && element.Incomplete == "":
		element.Incomplete = "more of its tasks may still be reported"
	case isPart:
	case element.Incomplete == "" && known >= count:
		element.Memory.Missed = time.Time{}
	default:
		if element.Incomplete == "" {
			element.Incomplete = fmt.Sprintf("only %d of %d tasks are known", known, count)
		}
		if concluded, isOver := c.concludeMissing(element, detail); isOver {
			detail, element.Incomplete = concluded, ""
		}
	}
	return detail
}

// remembered returns the memory of the job's tasks.
func (c *collection) remembered(said []*saying) Memory {
	return c.query.Memory.about(c.fact(said[0], factIdentity), c.fact(said[0], factSubmitted))
}

// besideOthers gives tasks the state that applies next to other tasks.
func (c *collection) besideOthers(said []*saying) []*saying {
	if !slices.ContainsFunc(said, (*saying).isMinor) {
		return said
	}
	var minor ranges.Set
	others := slices.DeleteFunc(slices.Clone(said), (*saying).isMinor)
	for _, each := range said {
		if each.isMinor() {
			minor = minor.Union(each.numbers)
		}
	}
	if len(others) == 0 && len(c.remembered(said).all().Without(minor)) == 0 {
		return said
	}
	for _, each := range said {
		if each.isMinor() {
			row := *each.state.row
			row.Is = row.Beside
			each.state.row = &row
		}
	}
	return said
}

// setState sets the state and the facts that are valid in it.
func (c *collection) setState(element *Element, decides *saying, detail job.Detail) {
	state := decides.state
	native := cmp.Or(element.Fact(factNative), clean(state.word)) // a fact may replace the word
	c.set(element, factNative, "")
	switch {
	case element.Incomplete != "":
		c.set(element, factStarted, "")
		c.dropEnd(element, job.Undetermined)
		return
	case state.row != nil && state.row.Ask && c.query.Job == "":
		c.dropEnd(element, detail)
		return
	}
	element.Row = state.row
	c.set(element, factNative, native)
	if state.row == nil {
		if state.word != "" {
			c.set(element, factStarted, "") // in an unknown state it may be a forecast
		}
		if c.query.IDs != nil {
			c.dropEnd(element, job.Undetermined)
		}
		return
	}
	element.State = state.row.Is
	if detail != state.detail() {
		element.State = string(detail)
	}
	if state.row.Reason != "" {
		c.set(element, factReason, state.row.Reason)
	}
	c.set(element, factState, element.State)
	if c.query.IDs != nil {
		c.dropEnd(element, detail)
	}
}

// dropEnd removes the facts that are invalid in a state: schedulers print forecasts of starts and ends,
// and exit codes of running jobs.
func (c *collection) dropEnd(element *Element, detail job.Detail) {
	if detail.Primary() == job.Submitted {
		c.set(element, factStarted, "")
	}
	if !detail.Ended() {
		c.set(element, factEnded, "")
		c.set(element, factExitCode, "")
		c.set(element, factSignal, "")
	}
	if detail != job.Completed && element.Fact(factExitCode) == "0" {
		c.set(element, factExitCode, "")
	}
}

func (c *collection) set(element *Element, name, value string) {
	if at, has := c.facts.at[name]; has {
		element.Values[at] = value
	}
}

func (c *collection) fact(said *saying, name string) string {
	if at, has := c.facts.at[name]; has {
		return said.values[at]
	}
	return ""
}
