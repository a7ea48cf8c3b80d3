package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
)

// join runs the command of an x:join, or uses the records of an earlier run.
func (r *run) join(ctx context.Context, join *config.Join) (reader.Joined, error) {
	var joined reader.Joined
	err := r.runFor(ctx, join.Command, func(query reader.Query) (closer, error) {
		j, err := reader.NewJoinReader(join, query)
		if err != nil {
			return nil, err
		}
		return joinOutput{j, &joined}, nil
	})
	return joined, err
}

// A closer reads an output and concludes at its end.
type closer interface {
	Write(p []byte) (int, error)
	Close() error
}

type joinOutput struct {
	*reader.JoinReader
	joined *reader.Joined
}

// Close ends the output.
func (j joinOutput) Close() (err error) {
	*j.joined, err = j.JoinReader.Close()
	return err
}

type idsOutput struct {
	*reader.Reader
	ids *[]string
}

// Close ends the output.
func (i idsOutput) Close() error {
	answer, err := i.Reader.Close()
	if err != nil {
		return err
	}
	if answer.Damage != nil {
		return answer.Damage
	}
	for each := range answer.All() {
		*i.ids = append(*i.ids, each.ID)
	}
	return nil
}

// runFor runs a command that another one needs. The reader from open reads its output.
func (r *run) runFor(ctx context.Context, needed *config.Command, open func(reader.Query) (closer, error)) error {
	request := Request{
		Command: needed, Scope: r.Scope, Environment: r.Environment, Outcomes: r.Outcomes, Timeout: r.Timeout,
		Types: r.Types, Expressions: r.Expressions,
	}
	request.open = func() (closer, error) { return open(r.query()) }
	invocation, err := request.Resolve()
	if err != nil {
		return err
	}
	result, err := Run(ctx, r.connection, request, invocation)
	switch {
	case result.Outcome == config.NotFound:
		return nil // there is nothing to add
	case err == nil && (result.Outcome == config.Transient || result.Outcome == config.Doubtful || result.Outcome == config.Denied):
		return fmt.Errorf("%s: %s", needed.Name, strings.TrimSpace(result.Stderr+result.Stdout)) // its exit code is 0 nevertheless
	}
	return err
}

// runBatches runs a command once for each batch of the ids that another one prints, and joins
// the answers.
func runBatches(ctx context.Context, whole *run) error {
	batch := whole.Command.Batch
	if isForAll, err := whole.isForAll(batch); err != nil || isForAll {
		return errors.Join(err, whole.do(ctx))
	}
	ids, err := whole.batchIDs(ctx, batch)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(ids, max(batch.Size, 1)) {
		whole.Scope.Environment.SetVariable(idsAttribute, strings.Join(chunk, batch.Separator))
		request := whole.Request
		request.isOfBatch = true
		invocation, err := request.Resolve()
		if err != nil {
			return err
		}
		result, err := Run(ctx, whole.connection, request, invocation)
		whole.add(result)
		if err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		whole.result.ExitCode = 0
		whole.result.Answer = &reader.Answer{}
	}
	return nil
}

// isForAll reports whether the command runs once, without ids.
func (r *run) isForAll(batch *config.Batch) (bool, error) {
	if !batch.Attribute.Set {
		return false, nil
	}
	words, err := r.Scope.Words([]*config.Argument{{
		Position: batch.Position, Text: "batch", Resolve: true, Attribute: batch.Attribute, IsUndefinedIfMatches: batch.IsUndefinedIfMatches,
	}})
	return len(words) == 0, err
}

// batchIDs returns the ids that the command of a batch prints.
func (r *run) batchIDs(ctx context.Context, batch *config.Batch) (ids []string, err error) {
	err = r.runFor(ctx, batch.Command, func(query reader.Query) (closer, error) {
		query.IDs = nil // keep the ids as printed
		query.Job = ""
		compiled, err := reader.New(batch.Reader, query)
		if err != nil {
			return nil, err
		}
		return idsOutput{compiled, &ids}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the ids: %w", err)
	}
	return ids, nil
}

// add adds the result of one batch.
func (r *run) add(one *Result) {
	before := *r.result
	*r.result = *one
	r.result.Started = before.Started
	r.result.Listed.Rows += before.Listed.Rows
	r.result.Listed.Again += before.Listed.Again
	r.result.Listed.NotUnderstood += before.Listed.NotUnderstood
	if before.Answer != nil && one.Answer != nil {
		before.Answer.AddBatch(one.Answer)
		r.result.Answer = before.Answer
	}
}
