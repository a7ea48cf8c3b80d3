package job

import (
	"strconv"
	"strings"
)

// Names of the facts that a definition's parsers find out about a job. Rows of
// x:list-jobs have them as they are, queries for one job with "job." before them.
const (
	factState      = "state" // rows only; a query for one job has it as the job's value
	factNative     = "native"
	factReason     = "reason"
	factExitCode   = "exitCode"
	factSignal     = "signal"
	factName       = "name"
	factQueue      = "queue"
	factOwner      = "owner" // rows only
	factNodes      = "nodes"
	factIdentity   = "identity"
	factSubmitted  = "submitted"
	factStarted    = "started"
	factEnded      = "ended"
	factOutputPath = "outputPath"
	factErrorPath  = "errorPath"
	factTasks      = "tasks"
)

// A namedText is a textual fact and its place in an observation.
type namedText struct {
	name string
	text *string
}

func (o *Observation) texts() [13]namedText {
	return [...]namedText{
		{factNative, &o.Native}, {factReason, &o.Reason},
		{factName, &o.Name}, {factQueue, &o.Queue}, {factOwner, &o.Owner}, {factNodes, &o.Nodes}, {factIdentity, &o.Identity},
		{factSubmitted, &o.Submitted}, {factStarted, &o.Started}, {factEnded, &o.Ended},
		{factOutputPath, &o.OutputPath}, {factErrorPath, &o.ErrorPath}, {factTasks, &o.Tasks},
	}
}

// Observe returns what facts say about a job; fact returns one by its name, or an
// empty text. A state outside the vocabulary, or UNDETERMINED, is no state, and a
// code that is not a number is unknown. A job that waits has no nodes: schedulers may name those
// that it will have, or had before.
func Observe(fact func(name string) string) Observation {
	seen := Observation{ExitCode: Number(fact(factExitCode)), Signal: Number(fact(factSignal))}
	for _, each := range seen.texts() {
		*each.text = fact(each.name)
	}
	if detail, known := ParseDetail(fact(factState)); known && detail != Undetermined {
		seen.Detail = detail
	}
	if seen.Detail.Primary() == Submitted {
		seen.Nodes = ""
	}
	return seen
}

// Fact returns a fact of the observation by its name; empty where it is unknown.
func (o *Observation) Fact(name string) string {
	switch name {
	case factState:
		return string(o.Detail)
	case factExitCode:
		return numeral(o.ExitCode)
	case factSignal:
		return numeral(o.Signal)
	}
	for _, each := range o.texts() {
		if each.name == name {
			return *each.text
		}
	}
	return ""
}

// Complete returns the observation with the facts of an earlier one of the same job
// that it does not mention. The evidence is that of the state.
func (o Observation) Complete(earlier Observation) Observation {
	if o.Detail == "" && earlier.Detail != "" {
		o.Detail, o.Observed, o.Source, o.Origin, o.Evidence = earlier.Detail, earlier.Observed, earlier.Source, earlier.Origin, earlier.Evidence
	}
	before := earlier.texts()
	for i, now := range o.texts() {
		if *now.text == "" {
			*now.text = *before[i].text
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

// Number returns a decimal text as a number, nil for any other text.
func Number(text string) *int {
	if text == "" {
		return nil
	}
	parsed, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return nil
	}
	return &parsed
}

// numeral is the reverse of Number.
func numeral(number *int) string {
	if number == nil {
		return ""
	}
	return strconv.Itoa(*number)
}
