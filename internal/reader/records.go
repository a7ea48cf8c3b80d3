package reader

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/xpath"
)

func asDamage(err error) (*DamageError, bool) {
	var damage *DamageError
	return damage, errors.As(err, &damage)
}

// whole returns an error if a record lacks a field that every complete record has: it is truncated.
func (r *Reader) whole(record *Record) error {
	for _, need := range r.definition.Needs {
		has := false
		for name := range strings.SplitSeq(need, "|") {
			has = has || record.Has(name)
		}
		if !has {
			return fmt.Errorf("the record is truncated: the field %s is missing", need)
		}
	}
	return nil
}

// idOfDamaged returns the id of a damaged record, empty if it is unknown.
func (r *Reader) idOfDamaged(record *Record) string {
	if r.id == nil || record.Root == nil {
		return ""
	}
	id, err := r.id.text(r.evaluation(record))
	if err != nil || len(id) > longestID {
		return ""
	}
	return id
}

// longestID is the longest id of a job, a node or a queue, in bytes. It is that of package model.
const longestID = 1024

// assign determines the job and the task of a record.
func (r *Reader) assign(said *saying, on *evaluation) error {
	var isID bool
	if said.job, said.task, isID = r.query.split(said.id); !isID {
		return fmt.Errorf("invalid job id %.100q", said.id)
	}
	alias, err := r.alias.text(on)
	if err != nil {
		return err
	}
	if alias != "" {
		if said.alias, _, isID = r.query.IDs.Split(alias); !isID {
			return fmt.Errorf("invalid job id %.100q", alias)
		}
	}
	return nil
}

// isForeign reports whether a record belongs to a job other than the queried one.
func (r *Reader) isForeign(said *saying) bool {
	if r.query.Job == "" {
		return false
	}
	wanted, _ := r.query.wanted()
	return said.job != wanted && said.alias != wanted
}

// isForeignID reports whether an id belongs to another job, given that the records of the queried job
// have no other ids.
func (r *Reader) isForeignID(id string) bool {
	if r.query.Job == "" || r.query.IDs == nil || r.alias != nil || id == "" {
		return false
	}
	job, _, isID := r.query.IDs.Split(id)
	wanted, _ := r.query.wanted()
	return isID && job != wanted
}

// isOtherTask reports whether a record belongs to a task other than the queried one.
func (r *Reader) isOtherTask(said *saying) bool {
	_, task := r.query.wanted()
	if task == "" || said.task == task {
		return false
	}
	wanted, isTask := ranges.Parse(task)
	return !isTask || len(wanted.Without(said.numbers)) > 0
}

// split returns the job and the task of the id of a record.
func (q *Query) split(id string) (job, task string, isID bool) {
	if q.Job == "" {
		return q.IDs.splitListed(id)
	}
	return q.IDs.Split(id)
}

// wanted returns the queried job and task.
func (q *Query) wanted() (job, task string) {
	if q.Job == "" || q.IDs == nil {
		return q.Job, ""
	}
	if job, task, isID := q.IDs.Split(q.Job); isID {
		return job, task
	}
	return q.Job, ""
}

// An attributeFact collects the values of an attribute of the definition.
type attributeFact struct {
	*fact
	values []string
}

// setAttributes collects the attribute values of a record.
func (r *Reader) setAttributes(on *evaluation, step *Step) error {
	for _, each := range r.attributes {
		if holds, err := each.when.isTrue(on); err != nil || !holds {
			return err
		}
		texts, err := each.textsOf(on)
		if err != nil {
			return err
		}
		for _, text := range texts {
			value, _, dropped, err := each.value([]string{text}, on)
			if err != nil {
				return err
			}
			step.Facts = append(step.Facts, FactStep{Fact: each.Fact, Value: value, Dropped: dropped})
			if value != "" && len(each.values) < mostItems {
				each.values = append(each.values, value)
			}
		}
	}
	return nil
}

// originOf returns the line of the output with the state: the first line of the record, or the line of
// the field that contains the state. The mark after columns is shown as a bar.
func (r *Reader) originOf(record *Record) Origin {
	line := record.Line
	if r.states != nil && r.states.word != nil {
		if name, isPlain := r.states.word.compiled.FieldName(); isPlain {
			if field := record.Root.Child(name); field != nil && field.Line > line {
				line = field.Line
			}
		}
	}
	text := record.Raw
	for range line - record.Line {
		_, after, found := strings.Cut(text, "\n")
		if !found {
			break
		}
		text = after
	}
	text, _, _ = strings.Cut(text, "\n")
	if r.query.Mark != "" {
		text = strings.ReplaceAll(text, r.query.Mark, "|") // the mark is unreadable
	}
	return Origin{Line: line, Text: strings.ToValidUTF8(text[:min(len(text), longestOrigin)], "")}
}

// longestOrigin bounds the text of an origin, in bytes.
const longestOrigin = 512

// An Origin is the line of the output from which a state was read.
type Origin struct {
	Line int // from 1; 0 if unknown
	Text string
}

// A grouping combines records with the same value into one.
type grouping struct {
	by     *expression
	groups map[string]*Record
	order  []*Record
	size   int
}

func newGrouping(by config.XPath) *grouping {
	if !by.IsSet() {
		return nil
	}
	return &grouping{by: newExpression(by), groups: map[string]*Record{}}
}

// add adds a record to its group. The group has the fields of its first record; each record is a child
// named row.
func (g *grouping) add(on *evaluation) error {
	value, err := g.by.text(on)
	if err != nil {
		return err
	}
	if g.size += sizeOf(on.record); g.size > mostKept {
		return errTooMuch
	}
	group := g.groups[value]
	if group == nil {
		first := *on.record
		first.Root = &xpath.Node{Name: on.record.Root.Name}
		for _, field := range on.record.Root.Children {
			child := *field
			child.Parent = first.Root
			first.Root.Children = append(first.Root.Children, &child)
		}
		group = &first
		g.groups[value] = group
		g.order = append(g.order, group)
	}
	row := on.record.Root
	row.Name, row.Parent = "row", group.Root
	group.Root.Children = append(group.Root.Children, row)
	return nil
}

// each calls use with each group.
func (g *grouping) each(use func(*Record) error) error {
	if g == nil {
		return nil
	}
	for _, group := range g.order {
		if err := use(group); err != nil {
			return err
		}
	}
	return nil
}

// mostKept bounds the memory for the records of an output, in bytes.
const mostKept = 256 << 20

var errTooMuch = fmt.Errorf("the output of the command needs more than %d MiB of memory", mostKept>>20)

// sizeOf estimates the memory of a record.
func sizeOf(record *Record) int {
	const ofField = 160
	return len(record.Raw) + ofField*len(record.Root.Children)
}
