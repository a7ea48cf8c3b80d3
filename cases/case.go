// Package cases proves definitions by recorded commands.
//
// A [Case] is a folder: a command line that a scheduler was given, what it
// printed, and what a definition has to make of that. A [Flow] is a folder of
// several, with the steps of a user that make a controller run them one after
// the other. [Find] looks for both, [Runner.RunAll] tries them, and a [Result]
// says what came out otherwise than expected. Package casetest does all of it for go test.
//
// docs/prove/cases.md describes the files.
package cases

import (
	"github.com/rmctl/rmctl/internal/initial"
)

// The files of a case. Each of the outputs may be packed, with .gz after its name.
const (
	caseFile     = "case.toml"
	flowFile     = "flow.toml"
	stdoutFile   = "stdout"
	stderrFile   = "stderr"
	beforeFile   = "before.json"
	expectedFile = "expected.json"
	joinedFile   = "stdout-" // and the name of a join
)

// A Case is one command of a definition, what the scheduler answered, and what
// the definition has to make of the answer.
type Case struct {
	Folder      string   `toml:"-"`
	Description string   `toml:"description,omitempty"`
	Definition  string   `toml:"definition,omitempty"` // a shipped name, or a file relative to the folder
	Command     string   `toml:"command,omitempty"`    // a selector, such as get-job-status or fallback:NAME
	Job         string   `toml:"job,omitempty"`        // the id that the command was run for
	Arguments   []string `toml:"argv,omitempty"`       // the command line as it was run; see MatchArguments
	Exit        int      `toml:"exit"`
	Missing     bool     `toml:"missing,omitempty"` // there was no such program; the exit code does not count
	Seconds     float64  `toml:"seconds,omitempty"` // how long it took, for the reader
	// Mutants are states and ids that damaged forms of the output may give, as they are valid
	// answers by themselves, each with the reason.
	Mutants map[string]string `toml:"mutants,omitempty"`

	Stdout []byte `toml:"-"`
	Stderr []byte `toml:"-"`
	// Joined is what the commands printed that the command needs, by the names of
	// [config.Command.Needed]. One that is missing prints nothing.
	Joined map[string][]byte `toml:"-"`
	// Before holds attributes before the command, which take the place of the
	// definition's; nil where the definition's own are all.
	Before *initial.Environment `toml:"-"`
	// Expected is nil in a case without expectation, as those of a flow are.
	Expected *Expectation `toml:"-"`
}

// A readError names the file of a case that cannot be used.
type readError struct {
	Path string
	Err  error
}

func (e *readError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *readError) Unwrap() error { return e.Err }
