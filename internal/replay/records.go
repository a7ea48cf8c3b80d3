package replay

import (
	"fmt"
	"io"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
)

// A Record is what a reader made of a record. Its JSON is a contract.
type Record struct {
	Line     int    `json:"line,omitempty"` // at which it begins
	ID       string `json:"id,omitempty"`
	Fields   []Pair `json:"fields,omitempty"`
	Word     string `json:"word,omitempty"`  // of the scheduler for the state
	State    string `json:"state,omitempty"` // empty if no row fits
	Row      string `json:"row,omitempty"`   // position of the row
	Facts    []Fact `json:"facts,omitempty"`
	Foreign  bool   `json:"foreign,omitempty"`  // of another job than the wanted one
	Rejected string `json:"rejected,omitempty"` // why it is ignored
}

// A Pair is a field, or a fact, and its value.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Fact is a fact of a record.
type Fact struct {
	Name    string `json:"name"`
	Value   string `json:"value,omitempty"`
	Dropped string `json:"dropped,omitempty"` // why a value does not count
	At      string `json:"at"`                // position in the definition
}

// An Element is a job, a node or a queue in an output.
type Element struct {
	ID         string `json:"id"`
	Facts      []Pair `json:"facts,omitempty"`
	Unreadable string `json:"unreadable,omitempty"`
	Incomplete string `json:"incomplete,omitempty"`
}

// Records reads captured output with the reader of a command. It calls each with every
// record, and returns the results. Joins have no records.
func Records(definition *config.Definition, which *config.Command, env *attribute.Environment, job string, input io.Reader, each func(Record) error) (*reader.Answer, error) {
	query := reader.Query{Mark: env.Text(command.MarkAttribute), Attribute: func(name string) (string, bool) {
		a := env.Lookup(name)
		if a == nil || a.Value() == nil {
			return "", false
		}
		return attribute.Text(a.Value()), true
	}}
	if which.Element != config.ListNodes && which.Element != config.ListQueues {
		var err error
		if query.IDs, err = reader.NewIDs(definition.IDs); err != nil {
			return nil, err
		}
		query.Job = job
	}
	var failure error
	query.Step = func(step reader.Step) {
		if failure == nil {
			failure = each(RecordOf(step))
		}
	}
	r, err := reader.New(which.Read, query)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(r, input); err != nil {
		return nil, fmt.Errorf("reading the captured output: %w", err)
	}
	answer, err := r.Close()
	if failure != nil {
		return nil, failure
	}
	return answer, err
}

// RecordOf returns what a reader made of a record.
func RecordOf(step reader.Step) Record {
	record := Record{Line: step.Record.Line, ID: step.ID, Word: step.Word, Foreign: step.Foreign, Rejected: step.Rejected}
	for _, field := range step.Record.Root.Children {
		record.Fields = append(record.Fields, Pair{field.Name, field.Value()})
	}
	if step.Row != nil {
		record.State, record.Row = step.Row.Is, step.Row.Position.String()
	}
	for _, fact := range step.Facts {
		if fact.Value != "" || fact.Dropped != "" {
			record.Facts = append(record.Facts, Fact{fact.Fact.Name + fact.Fact.Attribute, fact.Value, fact.Dropped, fact.Fact.Position.String()})
		}
	}
	return record
}

// ElementsOf returns what an answer says about jobs, nodes or queues.
func ElementsOf(answer *reader.Answer) []Element {
	elements := []Element{}
	for each := range answer.All() {
		element := Element{ID: each.ID, Unreadable: each.Unreadable, Incomplete: each.Incomplete}
		for i, name := range each.Names {
			if each.Values[i] != "" {
				element.Facts = append(element.Facts, Pair{name, each.Values[i]})
			}
		}
		elements = append(elements, element)
	}
	return elements
}
