package check

import "github.com/rmctl/rmctl/config"

// parserCodes are the problems of commands, parsers and expressions.
var parserCodes = []Code{
	{"invalid-expression", config.Error, "A regular expression does not compile."},
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
	{"no-status-command", config.Warning, "Batch jobs are submitted, and nothing tells what becomes of them."},
	{"no-job-state", config.Warning, "No parser of the status command sets a state."},
	{"lists-nothing", config.Warning, "No parser of a listing constructs attributes."},
	{"invalid-mark", config.Error, "A mark of processes can never be found in an output."},
	{"unknown-state", config.Warning, "A text is set as the state of a job, and is none."},
	{"invalid-portable-link", config.Error, "A link of a portable name leads nowhere, or cannot convert what it is for."},
	{"unmapped-native-state", config.Warning, "The scheduler has words for states that no test makes a state of."},
}
