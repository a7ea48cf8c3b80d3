package config

// parserCodes are the problems of commands, parsers and expressions.
var parserCodes = []Code{
	{"invalid-expression", Error, "A regular expression does not compile."},
	{"no-such-group", Error, "An entry takes a group that its expression does not have."},
	{"missing-field", Error, "An action names no field."},
	{"unknown-field", Error, "Attributes have no field of this name."},
}
