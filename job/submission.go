package job

import (
	"cmp"
	"slices"
)

// A Submission is what a user wants to run.
type Submission struct {
	Executable  string
	Arguments   []string
	Values      []Assignment
	Environment Environment
	Directory   string // where the program runs; empty for the connection's own
	Script      string // a local file to submit instead of the definition's script
	Tab         string // the title of the form's tab in use; empty for the default
	Debug       bool   // whether to use the definition's command for debugging
	Track       bool   // whether rmctl-node runs each process of the program and tracks it
	RankFrom    string // with Track, the variable with the rank of a process; empty for the launcher's
	Tag         string // a new UUID that identifies the submission; empty to have one generated
	Ensemble    string // id of the ensemble that the job is a part of; empty for other jobs
	Part        string // label of the part

	Terminal  bool // an interactive job has a terminal if its definition wants one
	Hosted    bool // this process runs the job for another one, and continues after its end
	Invisible bool // Values may set invisible attributes, replacing what commands find out

	Wrapper []string // words before the program; rmctl adds its own for Track
}

// An Assignment gives an attribute a value as a user writes it; the empty text
// takes the value away. Several for one attribute make up a list or map where the
// attribute holds one; otherwise the last counts.
type Assignment struct {
	Name, Value string
}

// A Variable is one variable of a process's environment.
type Variable struct {
	Name, Value string
}

// An Environment holds the user's settings of a job's environment.
type Environment struct {
	Variables []Variable // the last of a name counts
	Replace   bool       // nothing but Variables, the definition's settings ignored
}

// Over lays the submission over another one: its values and variables replace those of the
// same name. A program or a script replaces the program, arguments and script as a whole.
func (s Submission) Over(other Submission) Submission {
	values := slices.DeleteFunc(slices.Clone(other.Values), func(below Assignment) bool { return s.Assigns(below.Name) })
	s.Values = append(values, s.Values...)
	variables := slices.DeleteFunc(slices.Clone(other.Environment.Variables), func(below Variable) bool {
		return slices.ContainsFunc(s.Environment.Variables, func(own Variable) bool { return own.Name == below.Name })
	})
	s.Environment.Variables = append(variables, s.Environment.Variables...)
	if s.Executable == "" && s.Script == "" {
		s.Executable, s.Arguments, s.Script = other.Executable, other.Arguments, other.Script
	}
	s.Directory = cmp.Or(s.Directory, other.Directory)
	s.Tab = cmp.Or(s.Tab, other.Tab)
	s.Debug, s.Track = s.Debug || other.Debug, s.Track || other.Track
	s.RankFrom = cmp.Or(s.RankFrom, other.RankFrom)
	return s
}

// Assigns reports whether the submission gives an attribute a value.
func (s Submission) Assigns(name string) bool {
	return slices.ContainsFunc(s.Values, func(value Assignment) bool { return value.Name == name })
}

// Flags returns the submission as words for rmctl submit, run and render: flags,
// then -- and the program with its arguments.
func (s Submission) Flags() []string {
	var words []string
	option := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	option("--tab", s.Tab)
	for _, value := range s.Values {
		words = append(words, "-s", value.Name+"="+value.Value)
	}
	for _, variable := range s.Environment.Variables {
		words = append(words, "-e", variable.Name+"="+variable.Value)
	}
	option("-d", s.Directory)
	option("--script", s.Script)
	if s.Debug {
		words = append(words, "--debug")
	}
	if s.Executable != "" {
		words = append(append(words, "--", s.Executable), s.Arguments...)
	}
	return words
}
