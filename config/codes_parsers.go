package config

// parserCodes are the problems of commands, parsers and expressions.
var parserCodes = []Code{
	{"invalid-expression", Error, "A regular expression does not compile."},
	{"runaway-expression", Warning, "A regular expression takes exponential time on some texts."},
	{"never-matches", Warning, "No segment can fit a regular expression."},
	{"only-flags", Warning, "A regular expression has flags and nothing else."},
	{"unreachable-match", Warning, "Matches before this one take every segment that fits it."},
	{"no-such-group", Error, "An entry takes a group that its expression does not have."},
	{"no-groups-here", Warning, "An entry takes a group where no segment is at hand."},
	{"missing-field", Error, "An action names no field."},
	{"unknown-field", Error, "Attributes have no field of this name."},
	{"malformed-test", Error, "A test has more or fewer parts than its operator takes."},
	{"nameless-target", Warning, "A target constructs attributes without a name."},
	{"no-job-id", Warning, "No parser of a submit command sets the id of the job."},
	{"job-id-from-banner", Warning, "Lines that are no answer of the scheduler are taken for the id of the job."},
	{"no-status-command", Warning, "Batch jobs are submitted, and nothing tells what becomes of them."},
	{"no-job-state", Warning, "No parser of the status command sets a state."},
	{"lists-nothing", Warning, "No parser of a listing constructs attributes."},
	{"invalid-mark", Error, "A mark of processes can never be found in an output."},
	{"unknown-state", Warning, "A text is set as the state of a job, and is none."},
	{"invalid-portable-link", Error, "A link of a portable name leads nowhere, or cannot convert what it is for."},
	{"unmapped-native-state", Warning, "The scheduler has words for states that no test makes a state of."},
}
