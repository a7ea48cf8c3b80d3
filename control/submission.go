package control

import "github.com/rmctl/rmctl/internal/submission"

// What resolving a submission gives, and the errors of it.
type (
	// A ValueError names an attribute that could not be given a value, and why.
	ValueError = submission.ValueError
	// A VariableNameError names a variable of a job's environment whose name no shell takes.
	VariableNameError = submission.VariableNameError
	// An UnsupportedError says what a definition lacks.
	UnsupportedError = submission.UnsupportedError
)
