// Package reader reads the output of commands as the readers of a definition describe: a source turns
// output into records, tables turn the scheduler's words into states, and expressions turn fields into
// facts. DESIGN.md has the stages and invariants.
package reader

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// A Query says what to read from an output.
type Query struct {
	Mark string // between the columns of tables with the separator mark
	// Attribute returns the text of an attribute of the definition, written @name in expressions. It may
	// be nil.
	Attribute func(name string) (value string, exists bool)

	IDs      *IDs      // format of ids; nil for records of nodes, queues and settings
	Job      string    // id of the queried job; empty for all jobs
	Identity string    // of that job's records, or the time of its submission; empty if unknown
	Memory   Memory    // of that job's tasks
	Now      time.Time // to measure how long tasks are missing; may be zero

	// Location is the time zone of times without one, and of facts truncated to the second; nil for UTC.
	Location *time.Location

	// Join returns the records of an x:join. It is called once for each join, when a record needs it. An
	// error fails the query unless the join is optional.
	Join func(*config.Join) (Joined, error)
	Step func(Step) // called for each record; may be nil
	// HasNone says that the command reported that there are no records. That message is not part of the
	// output.
	HasNone bool
	// NoOrigins omits the line from which each state was read, to save time in long listings.
	NoOrigins bool
}

// A Step describes how a record was read.
type Step struct {
	Record   *Record
	ID       string
	Word     string           // of the scheduler for the state
	Row      *config.StateRow // nil if no row of the table matches
	Facts    []FactStep
	Rejected string // why the record is unusable; empty if it is usable
	Foreign  bool   // it belongs to another job
}

// A Reader reads one output. Write the output to it, then call Close for the answer.
type Reader struct {
	definition *config.Reader
	query      Query
	source     source
	groups     *grouping // nil if records are not grouped
	where      *expression
	id, alias  *expression
	tasks      taskExpressions
	states     *stateTable
	facts      *factTable
	attributes []*attributeFact
	joins      []*joinExpressions
	failure    error // of a join, which ends the query
	hasOutput  bool
	last       *Record       // without an id
	lastFields []*xpath.Node // of the last record with an id, without joined records
	hasTasks   bool          // some record belongs to a task
	answer     *collection
}

// New returns a reader for one output. It fails if an expression of the definition does not compile.
func New(definition *config.Reader, query Query) (*Reader, error) {
	if query.Attribute == nil {
		query.Attribute = func(string) (string, bool) { return "", false }
	}
	r := &Reader{definition: definition, query: query, answer: newCollection(definition, &query)}
	if err := r.compile(); err != nil {
		return nil, fmt.Errorf("reader %q: %w", definition.Name, err)
	}
	return r, nil
}

func (r *Reader) compile() (err error) {
	d := r.definition
	if len(d.Sources) == 0 {
		return fmt.Errorf("%s: the reader has no source", d.Position)
	}
	first := d.Sources[0]
	r.where, r.groups = newExpression(first.Where), newGrouping(first.Group)
	r.id, r.alias = idExpressions(d)
	r.tasks = newTaskExpressions(d.Tasks)
	if r.states, err = newStateTable(d.States); err != nil {
		return err
	}
	if r.facts, err = newFactTable(d.Facts, d.Tasks != nil || r.query.IDs.hasTasks()); err != nil {
		return err
	}
	r.answer.facts = r.facts
	for _, defined := range d.Joins {
		r.joins = append(r.joins, &joinExpressions{Join: defined, when: newExpression(defined.When), with: newExpression(defined.With)})
	}
	for _, defined := range d.Facts {
		if defined.Attribute == "" {
			continue
		}
		each, err := newFact(defined)
		if err != nil {
			return err
		}
		r.attributes = append(r.attributes, &attributeFact{fact: each})
	}
	r.source, err = newSource(d, r.query.Mark, r.receive)
	return err
}

// idExpressions returns the expressions of the id and of its alias. A source with a column
// id needs no x:id.
func idExpressions(d *config.Reader) (id, alias *expression) {
	if d.ID.IsSet() {
		return newExpression(d.ID), newExpression(d.Alias)
	}
	for _, source := range d.Sources {
		if slices.Contains(source.Columns, "id") {
			return newExpression(config.XPath{Position: source.Position, Text: "id"}), nil
		}
	}
	return nil, nil
}

// newSource returns the source of a reader.
func newSource(d *config.Reader, mark string, hand func(*Record) error) (source, error) {
	if fields := d.Sources[0].Expand; len(fields) > 0 {
		each := hand
		hand = func(record *Record) error { return expand(record, fields, each) }
	}
	switch d.Sources[0].Kind {
	case config.JSON, config.XML:
		return newStructuredSource(d.Sources[0], d.None, hand)
	}
	text, err := newTextSource(d.Sources, d.None, mark, hand)
	if table, isTable := text.(*table); isTable {
		table.needs = d.Needs
	}
	return text, err
}

// Write reads a part of the output. An error ends the reading: the answer would need too
// much memory.
func (r *Reader) Write(p []byte) (int, error) {
	r.hasOutput = r.hasOutput || len(p) > 0
	return r.source.Write(p)
}

// Close ends the output and returns the answer. It fails if the answer would need too much memory. Damage
// of the output is part of the answer.
func (r *Reader) Close() (*Answer, error) {
	err := r.source.Close()
	if damage, isDamaged := asDamage(err); isDamaged {
		r.answer.damage = damage
	} else if err != nil {
		return nil, err
	}
	if r.isSilent() && r.definition.Sources[0].End.IsSet() {
		r.answer.damage = &DamageError{Line: 1, What: silence}
	}
	if err := r.groups.each(r.read); err != nil {
		return nil, err
	}
	answer := &Answer{Rejected: r.answer.rejected, Rejections: r.answer.rejections, Damage: r.answer.damage, parts: []*collection{r.answer}}
	err = nil // damage is in the answer
	for _, each := range r.attributes {
		answer.Attributes = append(answer.Attributes, AttributeValues{each.Attribute, each.values})
	}
	if r.hasTasks && r.definition.Absent != nil && r.definition.Absent.Is != "" {
		if r.answer.absence, err = r.absence(); err != nil { // of a task
			return nil, err
		}
	}
	if r.query.Job == "" || answer.Find(r.query.Job) == nil {
		answer.Absence, err = r.absence()
	}
	return answer, err
}

// isSilent reports whether the command printed nothing, not even that there are no records.
func (r *Reader) isSilent() bool { return !r.hasOutput && !r.query.HasNone }

const silence = "nothing was printed"

// receive gets a record from the source.
func (r *Reader) receive(record *Record) error {
	if record.Damage == "" {
		on := r.evaluation(record)
		counts, err := r.where.isTrue(on)
		if err != nil {
			record.Damage = err.Error()
		} else if !counts {
			return nil
		}
		if r.groups != nil && record.Damage == "" {
			return r.groups.add(on)
		}
	}
	return r.read(record)
}

// read reads the job, state and facts of a record.
func (r *Reader) read(record *Record) error {
	step := Step{Record: record}
	fields := record.Root.Children
	said, err := r.said(record, &step)
	if r.failure != nil {
		return r.failure
	}
	if err == nil && step.ID != "" {
		r.lastFields = fields
	}
	if err != nil {
		step.Rejected = err.Error()
	}
	if r.query.Step != nil {
		r.query.Step(step)
	}
	if step.Rejected != "" {
		return r.answer.reject(step)
	}
	if step.Foreign || said == nil {
		return nil
	}
	r.hasTasks = r.hasTasks || said.task != ""
	return r.answer.add(said)
}

// said returns the contents of a record, nil if it is not about a job, a node or a queue. The error is
// the reason to reject the record.
func (r *Reader) said(record *Record, step *Step) (*saying, error) {
	if record.Damage != "" {
		step.ID = r.idOfDamaged(record)
		return nil, errors.New(record.Damage)
	}
	if err := r.whole(record); err != nil {
		step.ID = r.idOfDamaged(record)
		return nil, err
	}
	on := r.evaluation(record)
	id, err := r.idOf(on)
	if err != nil {
		return nil, err
	}
	step.ID = id
	if step.Foreign = r.isForeignID(id); step.Foreign {
		return nil, nil // run no joins for it
	}
	if err := r.join(on, id); err != nil {
		return nil, err
	}
	if err := r.setAttributes(on, step); err != nil {
		return nil, err
	}
	if r.id == nil || r.isLineWithoutID(record) {
		r.last = record
		return nil, nil
	}
	said := &saying{id: id, job: id, line: record.Line}
	if r.query.IDs != nil {
		if err := r.assign(said, on); err != nil {
			return nil, err
		}
	} else if id == "" {
		return nil, errors.New("the record has no id")
	}
	if step.Foreign = r.isForeign(said); step.Foreign {
		return nil, nil
	}
	if err := r.describe(said, on, step); err != nil {
		return nil, err
	}
	if step.Foreign = r.isOtherTask(said); step.Foreign {
		return nil, nil
	}
	return said, nil
}

// idOf returns the id of a record.
func (r *Reader) idOf(on *evaluation) (string, error) {
	id, err := r.id.text(on)
	if err == nil && len(id) > longestID {
		err = fmt.Errorf("the id has %d bytes, more than %d", len(id), longestID)
	}
	return id, err
}

// isLineWithoutID reports whether a line was matched by an expression without an id column, while other
// expressions have one. Such a line is not about a job.
func (r *Reader) isLineWithoutID(record *Record) bool {
	name, isPlain := r.id.compiled.FieldName()
	return isPlain && len(r.definition.Sources) > 1 && record.Root.Child(name) == nil
}

// describe adds the state and the facts of a record.
func (r *Reader) describe(said *saying, on *evaluation, step *Step) (err error) {
	if said.state, err = r.states.stateOf(on, r.query.Job == ""); err != nil {
		return err
	}
	step.Word, step.Row = said.state.word, said.state.row
	said.values, err = r.facts.evaluate(on, r.factSteps(step))
	if err != nil {
		return err
	}
	if !r.query.NoOrigins {
		said.origin = r.originOf(on.record)
	}
	return r.tasks.add(said, on)
}

// factSteps returns the function that records the evaluation of facts, nil without tracing.
func (r *Reader) factSteps(step *Step) func(FactStep) {
	if r.query.Step == nil {
		return func(FactStep) {}
	}
	return func(fact FactStep) { step.Facts = append(step.Facts, fact) }
}

func (r *Reader) evaluation(record *Record) *evaluation {
	return &evaluation{record: record, attribute: r.query.Attribute, location: r.query.Location}
}
