package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/tokenizer"
)

// MarkAttribute is the attribute with the mark of the query, which ends the columns of some
// tables. The caller of a command sets it to a random text.
const MarkAttribute = "query.mark"

// idsAttribute is the attribute with the ids of a batch.
const idsAttribute = "query.ids"

// jobPrefix begins the names of the attributes that get the facts about a job.
const jobPrefix = "job."

// A Reading is a reader's knowledge about the job of the command.
type Reading struct {
	IDs      *reader.IDs   // how ids are written; nil for any text
	Job      string        // the queried job; empty for all jobs
	Tag      string        // of the submission that is looked for; its job is the one with this identity
	Identity string        // of the job, if known
	Memory   reader.Memory // of the tasks of the job
	Now      time.Time     // for how long tasks are missing

	// Location is the time zone of times without one; nil for UTC.
	Location *time.Location
	Step     func(reader.Step)
}

// An outputReader feeds a reader, and concludes at the end of the output.
type outputReader struct {
	*reader.Reader
	run *run
}

// newOutputReader returns the reader of standard output.
func (r *run) newOutputReader(ctx context.Context) (*outputReader, error) {
	query := r.query()
	query.Join = func(join *config.Join) (reader.Joined, error) { return r.join(ctx, join) }
	compiled, err := reader.New(r.Command.Read, query)
	if err != nil {
		return nil, err
	}
	return &outputReader{compiled, r}, nil
}

// query returns the query that the output of the command answers.
func (r *run) query() reader.Query {
	q := reader.Query{
		Mark: r.Scope.Environment.Text(MarkAttribute), Attribute: r.attributeText, Step: r.Reading.Step, HasNone: r.hasNone, NoOrigins: r.Origins == "",
		Location: r.Reading.Location,
	}
	switch r.Command.Purpose() {
	case config.ListNodes, config.ListQueues, config.StartUpCommand, config.ShutDownCommand, config.ButtonAction, config.ProbeCommand:
		return q
	}
	q.IDs, q.Job, q.Identity, q.Memory, q.Now = r.Reading.IDs, r.Reading.Job, r.Reading.Identity, r.Reading.Memory, r.Reading.Now
	if q.IDs == nil {
		q.IDs = &reader.IDs{}
	}
	return q
}

// attributeText returns the text of an attribute, which expressions write @name.
func (r *run) attributeText(name string) (string, bool) {
	a := r.Scope.Environment.Lookup(name)
	if a == nil || a.Value() == nil {
		return "", false
	}
	text := attribute.Text(a.Value())
	if resolved, err := r.Scope.Environment.Resolve(text, r.Scope.Job); err == nil {
		text = resolved // such as a name, which defaults to that of the program
	}
	return text, true
}

// Close ends the output and delivers the answer.
func (o *outputReader) Close() error {
	if o.run.isFailedQuery() {
		return nil // a part of the output may be missing
	}
	answer, err := o.Reader.Close()
	if err != nil {
		return err
	}
	o.run.result.Answer = answer
	return o.run.conclude(answer)
}

// isFailedQuery reports whether the command was a query that failed.
func (r *run) isFailedQuery() bool {
	code := r.result.ExitCode
	isQuery := r.rows != nil || r.Command.Element.ActsOnJob() && !r.Command.Element.IsSubmit()
	return isQuery && code != 0 && !r.isExpected(code)
}

// conclude sets the attributes, or delivers the rows, of an answer.
func (r *run) conclude(answer *reader.Answer) error {
	env := r.Scope.Environment
	for _, each := range answer.Attributes {
		if len(each.Values) > 0 {
			env.SetVariable(each.Name, each.Values)
		}
	}
	switch {
	case r.rows != nil:
		return r.concludeListing(answer)
	case !r.Command.Element.ActsOnJob() || r.Scope.Job == "":
		return nil
	case r.Command.Element.IsSubmit():
		return r.concludeSubmission(answer)
	case r.isSearch():
		return r.concludeSearch(answer)
	case r.Command.Element.Controls():
		return r.confirm(answer)
	}
	r.concludeStatus(answer)
	return nil
}

// isSearch reports whether the command looks for the job of a submission.
func (r *run) isSearch() bool { return r.Reading.Tag != "" }

// concludeListing delivers a row for each element.
func (r *run) concludeListing(answer *reader.Answer) error {
	if answer.Damage != nil {
		r.found = config.Unreadable
		return fmt.Errorf("the output is unreadable, line %d: %w", answer.Damage.Line, answer.Damage)
	}
	for each := range answer.All() {
		if each.Unreadable != "" {
			continue // nothing is known of it, as if it were missing
		}
		facts, err := tokenizer.FactsIn(each.Names, each.Values)
		if err != nil {
			return err
		}
		r.rows.handOut(each.ID, facts, r.originOf(each))
	}
	r.rows.listed.NotUnderstood += answer.Rejections
	return nil
}

// originOf returns the line that the state of an element is read from, if the request asks for it.
func (r *run) originOf(e *reader.Element) *attribute.Origin {
	if r.Origins == "" {
		return nil
	}
	return &attribute.Origin{Stream: "stdout", Line: e.Origin.Line, Text: e.Origin.Text}
}

// concludeSubmission sets the id of the job. An answer with two ids has none.
func (r *run) concludeSubmission(answer *reader.Answer) error {
	submitted := slices.Collect(answer.All())
	if len(submitted) > 1 {
		return fmt.Errorf("it printed several ids, such as %.50q and %.50q", submitted[0].ID, submitted[1].ID)
	}
	if len(submitted) == 0 || submitted[0].Unreadable != "" {
		return nil
	}
	if j := r.Scope.Environment.Lookup(r.Scope.Job); j != nil {
		j.SetValue(string(job.Submitted))
	}
	r.setFacts(submitted[0])
	return r.setID(submitted[0])
}

// concludeSearch sets the id and the state of the job with the tag.
func (r *run) concludeSearch(answer *reader.Answer) error {
	if answer.Damage != nil {
		return fmt.Errorf("the output is unreadable, line %d: %w", answer.Damage.Line, answer.Damage)
	}
	var found *reader.Element
	for each := range answer.All() {
		// A user may submit the file of a script again later.
		if each.Fact("identity") == r.Reading.Tag && (found == nil || isEarlier(each, found)) {
			found = each
		}
	}
	if found == nil {
		return nil
	}
	if answer.Rejections > 0 && r.Command.Read.Sources[0].Separator == config.MarkSeparator {
		return fmt.Errorf("a row is damaged, line %d, which may be of the job: %s", answer.Rejected[0].Line, answer.Rejected[0].Why)
	}
	if err := r.setID(found); err != nil {
		return err
	}
	r.setState(found)
	return nil
}

// isEarlier reports whether a job was submitted before another one.
func isEarlier(a, b *reader.Element) bool {
	return cmp.Or(cmp.Compare(a.Fact("submitted"), b.Fact("submitted")), cmp.Compare(len(a.Job), len(b.Job)), cmp.Compare(a.Job, b.Job)) < 0
}

// confirm fails unless the output of a control command names its job: some exit 0 without
// having found it.
func (r *run) confirm(answer *reader.Answer) error {
	if r.find(answer) == nil {
		return fmt.Errorf("the output does not confirm it for job %s", r.Reading.Job)
	}
	return nil
}

// concludeStatus sets the state and the facts of the job.
func (r *run) concludeStatus(answer *reader.Answer) {
	found := r.find(answer)
	switch {
	case found == nil && (answer.Damage != nil || answer.Rejections > 0):
		r.found = config.Unreadable
	case found == nil && answer.Absence != nil && answer.Absence.Doubt != "":
		r.found = config.Incomplete
	case found == nil:
		return
	case found.Unreadable != "":
		r.found = config.Unreadable
	case found.State == "" && found.Incomplete != "":
		r.found = config.Incomplete
	}
	if found != nil {
		r.setState(found)
	}
}

// find returns the answer about the job of the command, or nil.
func (r *run) find(answer *reader.Answer) *reader.Element {
	if found := answer.Find(r.Reading.Job); found != nil {
		return found
	}
	job, _, _ := r.query().IDs.Split(r.Reading.Job)
	return answer.Find(job)
}

func (r *run) setID(e *reader.Element) error {
	named := r.Scope.Environment.Lookup(r.Scope.Job)
	if named == nil {
		return errors.New("the command has no job")
	}
	id := r.query().IDs.Clean(e.ID)
	if err := named.Set(attribute.FieldName, id); err != nil {
		return err
	}
	if e.Job != id {
		return named.Set(attribute.FieldDefault, e.Job)
	}
	return nil
}

// setFacts sets an attribute for each fact about the job.
func (r *run) setFacts(e *reader.Element) {
	for i, name := range e.Names {
		if value := e.Values[i]; value != "" && name != "state" {
			r.Scope.Environment.SetVariable(jobPrefix+name, value)
		}
	}
}

// setState sets the state of the job and the facts about it.
func (r *run) setState(e *reader.Element) {
	r.setFacts(e)
	j := r.Scope.Environment.Lookup(r.Scope.Job)
	if j == nil {
		return
	}
	if e.State != "" {
		j.SetValue(e.State)
	}
	if e.Job != e.ID {
		_ = j.Set(attribute.FieldDefault, e.Job) // a text field takes texts
	}
	if _, isKnown := job.ParseDetail(e.State); isKnown || e.Fact("native") != "" {
		j.Origin = r.originOf(e)
	}
}
