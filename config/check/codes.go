package check

import (
	"slices"

	"github.com/rmctl/rmctl/config"
)

// A Code is a kind of problem that definitions can have.
type Code struct {
	Name     string // stable, in words joined by dashes
	Severity config.Severity
	Summary  string // one line, what is wrong
}

// Codes returns every kind of problem that [Load] reports, in the order of the
// documentation. docs/reference/diagnostics.md has a section for each.
func Codes() []Code {
	return slices.Concat(documentCodes, schemaCodes, extendsCodes, attributeCodes, referenceCodes, fileCodes, argumentCodes, launchTabCodes, parserCodes, readerCodes)
}

var documentCodes = []Code{
	{"xml-syntax", config.Error, "The file is not well-formed XML."},
	{"xml-encoding", config.Error, "The file is in an encoding that is not read, or not in the one that it names."},
	{"xml-doctype", config.Error, "The file has a document type declaration."},
	{"xml-limit", config.Error, "The file is larger or deeper than any definition."},
	{"wrong-root", config.Error, "The root element is not that of a definition."},
	{"too-many-problems", config.Warning, "There are more problems than are shown."},
}

var schemaCodes = []Code{
	{"unknown-element", config.Error, "The format has no element of this name."},
	{"misplaced-element", config.Warning, "The element is not allowed here, or not in this order."},
	{"repeated-element", config.Error, "The element stands more often than allowed."},
	{"missing-element", config.Error, "A required element is missing."},
	{"unknown-attribute", config.Error, "The element has no XML attribute of this name."},
	{"missing-attribute", config.Error, "A required XML attribute is missing."},
	{"invalid-value", config.Error, "A value is not of the type that is demanded here."},
	{"unexpected-text", config.Error, "Text stands where only elements may."},
	{"schema-error", config.Error, "The schema built into the program is damaged."},
}

// extendsCodes are the problems of definitions that extend others.
var extendsCodes = []Code{
	{"unknown-base", config.Error, "The definition that this one extends cannot be read."},
	{"base-cycle", config.Error, "Definitions extend one another in a circle."},
	{"too-many-bases", config.Error, "Too many definitions extend one another."},
	{"invalid-override", config.Error, "A change of the base is written in a way that has no meaning."},
	{"override-without-base", config.Error, "A definition changes a base and extends none."},
	{"override-without-place", config.Error, "An element does not say where among those of the base it belongs."},
	{"override-matches-nothing", config.Error, "A change is to something that the base does not have."},
	{"override-ambiguous", config.Error, "A change fits more than one element of the base."},
}

// parserCodes are the problems of commands, parsers and expressions.
var parserCodes = []Code{
	{"invalid-expression", config.Error, "A regular expression does not compile."},
	{"unknown-flag", config.Warning, "A flag of an expression or a command is unknown and ignored."},
	{"unknown-parser-type", config.Warning, "A parser names a type that rmctl does not have."},
	{"long-delimiter", config.Warning, "A delimiter has several characters, of which one counts."},
	{"runaway-expression", config.Warning, "A regular expression takes exponential time on some texts."},
	{"never-matches", config.Warning, "No segment can fit a regular expression."},
	{"only-flags", config.Warning, "A regular expression has flags and nothing else."},
	{"unreachable-match", config.Warning, "Matches before this one take every segment that fits it."},
	{"no-such-group", config.Error, "An entry takes a group that its expression does not have."},
	{"no-groups-here", config.Warning, "An entry takes a group where no segment is at hand."},
	{"missing-field", config.Error, "An action names no field."},
	{"unknown-field", config.Error, "Attributes have no field of this name."},
	{"malformed-test", config.Error, "A test has more or fewer parts than its operator takes."},
	{"nameless-target", config.Warning, "A target constructs attributes without a name."},
	{"no-job-id", config.Warning, "No parser of a submit command sets the id of the job."},
	{"job-id-from-banner", config.Warning, "Lines that are no answer of the scheduler are taken for the id of the job."},
	{"no-status-command", config.Warning, "Batch jobs are submitted, and no command reports their state."},
	{"no-job-state", config.Warning, "No parser of the status command sets a state."},
	{"lists-nothing", config.Warning, "No parser of a listing constructs attributes."},
	{"invalid-on-nodes", config.Error, "A command for the nodes of jobs cannot work."},
	{"invalid-mark", config.Error, "A mark of processes can never be found in an output."},
	{"unknown-state", config.Warning, "A parser sets an unknown job state."},
	{"invalid-portable-link", config.Error, "A link of a portable name leads nowhere, or cannot convert what it is for."},
	{"unmapped-native-state", config.Warning, "The scheduler has words for states that no test makes a state of."},
}
