// Package cases tests definitions with recorded commands.
//
// A [Case] is a folder with a command line, its output, and what a definition must make of
// it. A [Flow] is a folder of several commands, with the steps of a user that lead to them.
// [Find] finds both, [Runner.RunAll] runs them, and a [Result] lists the differences.
// Package casetest does this in go test.
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

// A Case is one command of a definition, the scheduler's answer, and what the definition
// must make of it.
type Case struct {
	Folder      string   `toml:"-"`
	Description string   `toml:"description,omitempty"`
	Definition  string   `toml:"definition,omitempty"` // a shipped name, or a file relative to the folder
	Command     string   `toml:"command,omitempty"`    // a selector, such as get-job-status or fallback:NAME
	Job         string   `toml:"job,omitempty"`        // the id that the command was run for
	Arguments   []string `toml:"argv,omitempty"`       // the command line as it was run; see MatchArguments
	Exit        int      `toml:"exit"`
	Missing     bool     `toml:"missing,omitempty"` // the program was missing; Exit does not count
	Seconds     float64  `toml:"seconds,omitempty"` // for information
	// Mutants are states and ids that damaged output may give, since they are valid
	// answers, each with the reason.
	Mutants map[string]string `toml:"mutants,omitempty"`

	Stdout []byte `toml:"-"`
	Stderr []byte `toml:"-"`
	// Joined is the output of the commands that the command needs, by the names of
	// [config.Command.Needed]. A missing one prints nothing.
	Joined map[string][]byte `toml:"-"`
	// Before contains attributes before the command, instead of those of the definition;
	// nil for only the definition's.
	Before *initial.Environment `toml:"-"`
	// Expected is nil without an expectation, as in flows.
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
