package job

import (
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/state"
)

// Names of the facts that a definition's parsers find out about a job. Rows of
// x:list-jobs have them as they are, queries for one job with "job." before them.
const (
	FactState      = "state" // rows only; a query for one job has it as the job's value
	FactNative     = "native"
	FactReason     = "reason"
	FactExitCode   = "exitCode"
	FactSignal     = "signal"
	FactName       = "name"
	FactQueue      = "queue"
	FactOwner      = "owner" // rows only
	FactNodes      = "nodes"
	FactIdentity   = "identity"
	FactSubmitted  = "submitted"
	FactStarted    = "started"
	FactEnded      = "ended"
	FactOutputPath = "outputPath"
	FactErrorPath  = "errorPath"
)

// Observe returns what facts say about a job; fact returns one by its name, or an
// empty text. A state outside the vocabulary, or UNDETERMINED, is no state, and a
// code that is not a number is unknown.
func Observe(fact func(name string) string) Observation {
	seen := Observation{
		Native: fact(FactNative), Reason: fact(FactReason), ExitCode: number(fact(FactExitCode)), Signal: number(fact(FactSignal)),
		Name: fact(FactName), Queue: fact(FactQueue), Owner: fact(FactOwner), Nodes: fact(FactNodes), Identity: fact(FactIdentity),
		Submitted: fact(FactSubmitted), Started: fact(FactStarted), Ended: fact(FactEnded),
		OutputPath: fact(FactOutputPath), ErrorPath: fact(FactErrorPath),
	}
	if detail, known := state.Parse(fact(FactState)); known && detail != state.Undetermined {
		seen.Detail = detail
	}
	return seen
}

// Complete returns the observation with the facts of an earlier one of the same job
// that it does not mention. The evidence is that of the state.
func (o Observation) Complete(earlier Observation) Observation {
	if o.Detail == "" && earlier.Detail != "" {
		o.Detail, o.Observed, o.Source, o.Origin, o.Evidence = earlier.Detail, earlier.Observed, earlier.Source, earlier.Origin, earlier.Evidence
	}
	for _, fact := range []struct{ now, before *string }{
		{&o.Native, &earlier.Native}, {&o.Reason, &earlier.Reason},
		{&o.Name, &earlier.Name}, {&o.Queue, &earlier.Queue}, {&o.Owner, &earlier.Owner}, {&o.Nodes, &earlier.Nodes}, {&o.Identity, &earlier.Identity},
		{&o.Submitted, &earlier.Submitted}, {&o.Started, &earlier.Started}, {&o.Ended, &earlier.Ended},
		{&o.OutputPath, &earlier.OutputPath}, {&o.ErrorPath, &earlier.ErrorPath},
	} {
		if *fact.now == "" {
			*fact.now = *fact.before
		}
	}
	if o.ExitCode == nil {
		o.ExitCode = earlier.ExitCode
	}
	if o.Signal == nil {
		o.Signal = earlier.Signal
	}
	return o
}

// number returns a decimal text as a number, nil for any other text.
func number(text string) *int {
	if text == "" {
		return nil
	}
	parsed, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return nil
	}
	return &parsed
}
