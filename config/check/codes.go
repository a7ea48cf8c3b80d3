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
	{"xml-encoding", config.Error, "The file has an unsupported encoding, or another one than it declares."},
	{"xml-doctype", config.Error, "The file has a document type declaration."},
	{"xml-limit", config.Error, "The file exceeds the limits on size or depth."},
	{"wrong-root", config.Error, "The root element or its namespace is wrong."},
	{"too-many-problems", config.Warning, "The definition has more problems than rmctl shows."},
}

var schemaCodes = []Code{
	{"unknown-element", config.Error, "The format has no element of this name."},
	{"misplaced-element", config.Warning, "The element is not allowed here, or not in this order."},
	{"repeated-element", config.Error, "The element occurs too often."},
	{"missing-element", config.Error, "A required element is missing."},
	{"unknown-attribute", config.Error, "The element has no XML attribute of this name."},
	{"missing-attribute", config.Error, "A required XML attribute is missing."},
	{"invalid-value", config.Error, "A value has the wrong type."},
	{"unexpected-text", config.Error, "Text occurs where only elements are allowed."},
	{"schema-error", config.Error, "The built-in schema is damaged."},
}

// extendsCodes are the problems of definitions that extend others.
var extendsCodes = []Code{
	{"unknown-base", config.Error, "The extended definition cannot be read."},
	{"base-cycle", config.Error, "Definitions extend each other in a cycle."},
	{"too-many-bases", config.Error, "Too many definitions extend each other."},
	{"invalid-override", config.Error, "A marker that changes the base is invalid."},
	{"override-without-base", config.Error, "A definition changes a base but does not extend one."},
	{"override-without-place", config.Error, "An element does not say where it goes in the base."},
	{"override-matches-nothing", config.Error, "A change refers to an element that the base lacks."},
	{"override-ambiguous", config.Error, "A change matches more than one element of the base."},
}

// parserCodes are the problems of commands, parsers and expressions.
var parserCodes = []Code{
	{"invalid-expression", config.Error, "A regular expression does not compile."},
	{"unknown-flag", config.Warning, "A flag of an expression or a command is unknown and ignored."},
	{"unknown-parser-type", config.Warning, "A parser names a type that rmctl does not have."},
	{"long-delimiter", config.Warning, "Only one character of a delimiter counts."},
	{"runaway-expression", config.Warning, "A regular expression takes exponential time on some texts."},
	{"never-matches", config.Warning, "A regular expression never matches a segment."},
	{"only-flags", config.Warning, "A regular expression has only flags."},
	{"unreachable-match", config.Warning, "Earlier matches take every segment that fits this one."},
	{"no-such-group", config.Error, "An entry uses a group that its expression lacks."},
	{"no-groups-here", config.Warning, "An entry uses a group where there is no segment."},
	{"missing-field", config.Error, "An action names no field."},
	{"unknown-field", config.Error, "Attributes have no field of this name."},
	{"malformed-test", config.Error, "A test has too few or too many parts for its operator."},
	{"nameless-target", config.Warning, "A target constructs attributes without a name."},
	{"no-job-id", config.Warning, "No parser of a submit command sets the job id."},
	{"job-id-from-banner", config.Warning, "Login banners can be mistaken for the job id."},
	{"no-status-command", config.Warning, "The definition submits batch jobs but has no status command."},
	{"no-job-state", config.Warning, "No parser of the status command sets a state."},
	{"lists-nothing", config.Warning, "No parser of a listing constructs attributes."},
	{"invalid-on-nodes", config.Error, "An x:on-nodes command cannot work."},
	{"invalid-mark", config.Error, "A process mark can never be found in the output."},
	{"unknown-state", config.Warning, "A parser sets an unknown job state."},
	{"invalid-portable-link", config.Error, "An x:portable link is invalid or has no effect."},
	{"unmapped-native-state", config.Warning, "No test maps some of the scheduler's words to a state."},
}
