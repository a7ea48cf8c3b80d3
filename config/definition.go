// Package config holds a definition as Go types with positions, and reads it from XML.
//
// [Read] reads a definition that was checked before; Load of package config/check also reports
// its problems. Texts keep their references, which are resolved when a command runs.
package config

import (
	"slices"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A Position is a place in a definition: File, Line and Column. Lines and columns
// count from 1, columns in bytes; the zero Position is nowhere.
type Position = xmltree.Position

// Optional is a text that may be absent: Text, and whether it is Set. An absent
// text is not an empty one.
type Optional = xmltree.Optional

// An Argument is a piece of text that may vanish: of a command line, an input, a line,
// an environment value. It vanishes when its Text, or the Attribute that decides, matches
// IsUndefinedIfMatches; without Resolve its text stays as written.
type Argument = xmltree.Argument

// A Definition describes one resource manager.
type Definition struct {
	Position
	Name         string
	Site         struct{ ConnectionName, ControlConnection string } // defaults for the connection
	Attributes   []*Attribute
	ManagedFiles []*ManagedFiles
	Script       *Script
	Commands     []*Command // those of control-data, then those of monitor-data, in document order
	Outcomes     []*Outcome
	Probes       []*Probe
	Portable     []*PortableLink
	IDs          *IDs                // x:ids; nil if ids may be any text
	Readers      []*Reader           // x:reader
	Environment  []*EnvironmentEntry // x:environment, of all commands
	Proofs       []Proof
	LaunchTab    *launchtab.Form
	Monitor      Monitor

	Files   []string // the names of its files in positions: its own, then each base
	Sources [][]byte // their texts, in UTF-8
}

// An Attribute is an attribute of the definition with its position.
type Attribute struct {
	Position
	*attribute.Attribute
	Option   Optional // x:option: of the submit command, written by x:options of a line
	IsQuoted bool     // x:quote: the value follows the option in double quotes
	Label    string   // x:label: its label in rows of the form
	Browse   string   // x:browse: rows of the form choose a "file" or a "directory"; empty for neither
}

// A CommandElement is the name of an element of command type.
type CommandElement string

// The elements of command type in control-data; those below SubmitBatchDebug
// act on a job or run without one.
const (
	StartUpCommand         CommandElement = "start-up-command"
	SubmitInteractive      CommandElement = "submit-interactive"
	SubmitInteractiveDebug CommandElement = "submit-interactive-debug"
	SubmitBatch            CommandElement = "submit-batch"
	SubmitBatchDebug       CommandElement = "submit-batch-debug"
	GetJobStatus           CommandElement = "get-job-status"
	TerminateJob           CommandElement = "terminate-job"
	SuspendJob             CommandElement = "suspend-job"
	ResumeJob              CommandElement = "resume-job"
	HoldJob                CommandElement = "hold-job"
	ReleaseJob             CommandElement = "release-job"
	ShutDownCommand        CommandElement = "shut-down-command"
	ButtonAction           CommandElement = "button-action"

	// Fallback (x:fallback) is another way of asking.
	Fallback CommandElement = "fallback"

	// FindJob (x:find-job) looks a submission up by its tag.
	FindJob CommandElement = "find-job"

	OnNodes CommandElement = "on-nodes" // starts a process on a node of a running job

	// ListJobs, ListNodes and ListQueues (x:list-jobs, …) are the queries of the
	// monitor. They stand in monitor-data.
	ListJobs   CommandElement = "list-jobs"
	ListNodes  CommandElement = "list-nodes"
	ListQueues CommandElement = "list-queues"

	// ListEnded (x:list-ended) lists jobs that have ended, for those that ListJobs lacks.
	ListEnded CommandElement = "list-ended"

	joinCommand  CommandElement = "join" // adds to the records of another command
	batchCommand CommandElement = "for"  // prints the ids that one runs for

	// ProbeCommand (x:probe) finds out whether something is there that jobs need.
	ProbeCommand CommandElement = "probe"
)

// A ListScope selects the jobs that ListJobs lists: the value of job.scope.
type ListScope string

// The jobs that a listing includes.
const (
	OwnJobs ListScope = "own" // this user's
	AllJobs ListScope = "all" // everybody's, as far as the scheduler shows them
)

var commandElements = []CommandElement{StartUpCommand, SubmitInteractive, SubmitInteractiveDebug, SubmitBatch, SubmitBatchDebug,
	GetJobStatus, TerminateJob, SuspendJob, ResumeJob, HoldJob, ReleaseJob, ShutDownCommand, ButtonAction}

// IsCore reports whether it is an element of the format itself, and not one of ours.
func (e CommandElement) IsCore() bool { return slices.Contains(commandElements, e) }

// ServesAnother reports whether another command needs the output of this one (x:join, x:for).
func (e CommandElement) ServesAnother() bool { return e == joinCommand || e == batchCommand }

// IsSubmit reports whether the command submits jobs.
func (e CommandElement) IsSubmit() bool {
	return e == SubmitBatch || e == SubmitBatchDebug || e.IsInteractive()
}

// Controls reports whether the command does something to a job, such as cancel it.
func (e CommandElement) Controls() bool {
	switch e {
	case TerminateJob, SuspendJob, ResumeJob, HoldJob, ReleaseJob:
		return true
	}
	return false
}

// ActsOnJob reports whether the command submits or concerns one job, which it can refer to.
func (e CommandElement) ActsOnJob() bool {
	switch e {
	case StartUpCommand, ShutDownCommand, ButtonAction, ProbeCommand, ListJobs, ListEnded, ListNodes, ListQueues, joinCommand, batchCommand:
		return false
	}
	return true
}

// IsInteractive reports whether the command submits jobs that stay attached.
func (e CommandElement) IsInteractive() bool {
	return e == SubmitInteractive || e == SubmitInteractiveDebug
}

// A Command is one command with its arguments and the readers of its output.
type Command struct {
	Position
	Element            CommandElement
	Name               string
	Directory          string
	Arguments          []*Argument
	Input              []*Argument
	InputFile          string // x:stdin: a file at the target that the command reads as standard input; empty for none
	Environment        []*EnvironmentEntry
	RedirectStderr     bool
	StreamBufferLimit  int // characters kept of the output; negative means all
	ReplaceEnvironment bool
	WaitForID          bool
	IgnoreExitStatus   bool
	KeepOpen           bool
	AllocatePTY        bool
	NeedsTerminal      bool // x:without-terminal: it does not run without one
	SpeaksOnErrors     bool // x:without-terminal: the parsed output is on standard error then
	ForwardX11         bool
	StdoutParser       *Parser
	StderrParser       *Parser
	RedirectParser     *Parser
	PreLaunch          []*SimpleCommand
	PostLaunch         []*SimpleCommand
	ProcessMarks       []*ProcessMark // x:process-mark, of submit-interactive only

	Read  *Reader // x:read: the reader of standard output; nil for parsers
	Batch *Batch  // x:for; nil for a command that runs once
	Exits []int   // x:exits: further exit codes that count as success

	Timeout   time.Duration // x:timeout, 0 for the engine's own limit
	Interval  time.Duration // x:interval, the shortest time between two runs; 0 for the engine's own
	Busy      float64       // x:busy, the share of the time that queries may keep the scheduler busy; 0 for the engine's own
	Fallbacks []*Command    // x:fallback
	Only      []Stage       // x:only: the command acts on jobs in these stages, and does something else to others; empty for any

	// Of an x:fallback only: the command that it replaces, and the outcomes after which it
	// runs; empty for all.
	FallbackOf CommandElement
	On         []OutcomeKind

	// Remembers is how long after a submission x:find-job finds its job for certain; 0 for ever.
	Remembers time.Duration

	// Of an x:on-nodes only. Without Arguments and Over the job runs where the target's commands run.
	Processes string  // NAME=VALUE or NAME, separated by blanks: variables of all processes of the job; references are unresolved
	Over      string  // "ssh" if rmctl makes the command itself
	JobIDs    Pattern // matches the ids of the jobs that it applies to; unset for all jobs
	FromNodes bool    // it works on the nodes of the job, too
	NoSignals bool    // it ends only at the end of its input
}

// An EnvironmentEntry sets a variable of a command's environment.
type EnvironmentEntry struct {
	Position
	Name      string
	Value     Optional
	Preserve  bool
	Arguments []*Argument
}

// A SimpleCommand runs before or after a command, or for the monitor.
type SimpleCommand struct {
	Position
	Name, Exec, Directory string
	RedirectStderr        bool
	IgnoreExitStatus      bool
	Wait                  bool
}

// A Parser is a tokenizer over one stream of a command.
type Parser struct {
	Position
	Element          string // stdout-parser, stderr-parser or redirect-parser
	Type             string // names a tokenizer that a program registered; empty for targets
	Delimiter        Optional
	IncludeDelimiter bool
	MaxMatchLength   int
	All              bool
	Save             int
	ApplyToAll       bool
	Targets          []*Target
	ExitOn           *Expression
	ExitAfter        *Expression
}

// A Target is the target of a parser's matches: an existing attribute, or attributes that it
// constructs.
type Target struct {
	Position
	Ref             Optional
	MatchAll        bool
	AllowOverwrites bool
	Matches         []*Match
	Tests           []*Test
	Else            []*Action
	HasElse         bool

	RefAt Position // of the text of Ref
}

// A Match is an expression with the actions that a matching segment causes.
// A Match without expression takes every segment.
type Match struct {
	Position
	MoveToTop  bool
	Expression *Expression
	Actions    []*Action
}

// An Expression is a regular expression in Java's syntax.
type Expression struct {
	Position // of the first character of the expression itself
	Text     string
	Flags    javaregex.Flags
	Split    bool
}

// An Operator is the comparison of a test.
type Operator string

// The operators of tests.
const (
	Equal          Operator = "EQ"
	Less           Operator = "LT"
	Greater        Operator = "GT"
	LessOrEqual    Operator = "LE"
	GreaterOrEqual Operator = "GE"
	And            Operator = "AND"
	Or             Operator = "OR"
	Not            Operator = "NOT"
)

// IsKnown reports whether it is one of the operators.
func (o Operator) IsKnown() bool {
	return slices.Contains([]Operator{Equal, Less, Greater, LessOrEqual, GreaterOrEqual, And, Or, Not}, o)
}

// A Test is evaluated on a target after the stream has ended.
type Test struct {
	Position
	Operator Operator
	Tests    []*Test
	Values   []string
	Actions  []*Action
	Else     []*Action
}

// An ActionKind is the kind of an action.
type ActionKind string

// The actions.
const (
	Set    ActionKind = "set"
	Add    ActionKind = "add"
	Append ActionKind = "append"
	Put    ActionKind = "put"
	Throw  ActionKind = "throw"
)

// An Action changes a field of a target, or ends the parser with an error.
type Action struct {
	Position
	Kind           ActionKind
	Field          Optional
	ForceNewObject bool
	Separator      string
	Message        string
	Entries        []*Entry
}

// An Entry gives the source of the value of an action and, for maps, of the key.
type Entry struct {
	Position
	Key        Optional
	KeyGroup   int
	KeyIndex   int
	Value      Optional
	ValueGroup int
	ValueIndex int

	ValueAt Position // of the text of Value
}

// An OutcomeKind classifies how a command failed.
type OutcomeKind string

// The outcomes.
const (
	Transient OutcomeKind = "transient" // nothing is known; asking again may help
	Doubtful  OutcomeKind = "doubtful"  // as Transient, but the command may have had its effect
	NotFound  OutcomeKind = "not-found" // the scheduler does not know the job
	Denied    OutcomeKind = "denied"    // the user may not do this
	Finished  OutcomeKind = "finished"  // the job has ended
	Succeeded OutcomeKind = "ok"        // no failure; only a condition for x:fallback

	// Done and Empty are successes, whatever the exit code.
	Done  OutcomeKind = "done"  // the command succeeded
	Empty OutcomeKind = "empty" // a query found no jobs; its output is a message

	// Incomplete and Unreadable are outcomes of readers.
	Incomplete OutcomeKind = "incomplete" // the output does not say how the job, or all of its tasks, ended
	Unreadable OutcomeKind = "unreadable" // the output about the job is damaged, or contradicts itself
)

// An Outcome (x:outcome) classifies failed commands by exit code and by an
// expression that is searched for in their standard error and output.
type Outcome struct {
	Position
	Kind       OutcomeKind
	ExitCodes  []int // empty for any but 0
	Expression *Expression
}

// A Probe (x:probe) is a command that finds out whether something is there that
// jobs need, such as a program, and in which version.
type Probe struct {
	*Command
	Version  *Expression // searched for in the output; its first group is the version. nil: the exit code decides
	AtLeast  string      // the oldest version that will do, numbers separated by dots; empty for any
	Required bool        // the definition is of no use without it
	Impact   string      // the impact if it is missing; may be empty
	Fix      string      // what to do about that; may be empty
}

// A Proof (x:proven) names software that a definition was tested with.
type Proof struct {
	By string // software, recordings or documentation
	Of string // product and releases
}

// Monitor holds the monitoring part of a definition.
type Monitor struct {
	Position
	SchedulerType  string
	RefreshSeconds int
}
