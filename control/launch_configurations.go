package control

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/form"
	"github.com/rmctl/rmctl/job"
)

// A LaunchConfiguration is a submission kept under a name, or a part of one:
// what it leaves out is said when it is used. Empty fields are left out.
type LaunchConfiguration struct {
	Name string // see CheckLaunchConfigurationName
	File string // where it was read from; empty for one that was not

	// At most one of these is set.
	Target     string // the name of a target
	Definition string // a shipped name or a file, in the configuration folder where its path is relative

	Tab        string // the title of the form's tab whose controls count
	Executable string
	Arguments  []string // only with an executable
	Directory  string   // where the program runs
	Script     string   // a local file to submit instead of the definition's script
	Debug      bool     // whether to use the command for debugging

	// Attributes are values for attributes of the definition: each a string, a
	// bool, an int or a []string. An empty list takes the value away.
	Attributes map[string]attribute.Value
	// Environment are variables of the job's environment.
	Environment map[string]string

	attributes map[string]attributePlaces // in File
	settings   map[string]place           // of everything else in File
}

// A place is a line and a column of a file, both from 1.
type place struct{ line, column int }

// attributePlaces are where an attribute is named and where its value begins.
type attributePlaces struct{ name, value place }

// MaximumLaunchConfigurationName is the greatest length of a name in bytes. With
// what is put around it, such a name fits into the name of a file.
const MaximumLaunchConfigurationName = 100

// A LaunchConfigurationNameError tells why a text cannot name a launch configuration.
type LaunchConfigurationNameError struct{ Name, Reason string }

func (e *LaunchConfigurationNameError) Error() string {
	return fmt.Sprintf("%.200q cannot name a launch configuration: %s", e.Name, e.Reason)
}

// CheckLaunchConfigurationName tells whether a text can name a launch
// configuration: up to MaximumLaunchConfigurationName bytes of letters, digits
// and the characters ._+@- of which the first is none of ".", "-". The error is a
// *LaunchConfigurationNameError.
func CheckLaunchConfigurationName(name string) error {
	refuse := func(reason string) error { return &LaunchConfigurationNameError{name, reason} }
	switch {
	case name == "":
		return refuse("it is empty")
	case len(name) > MaximumLaunchConfigurationName:
		return refuse(fmt.Sprintf("it has %d bytes; the most are %d", len(name), MaximumLaunchConfigurationName))
	case !utf8.ValidString(name):
		return refuse("it is not UTF-8")
	case name[0] == '.' || name[0] == '-':
		return refuse(fmt.Sprintf("it begins with %q", name[0]))
	}
	for _, r := range name {
		// Marks are what letters of some scripts, and decomposed ones, are made of.
		if !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune("._+@-", r) {
			return refuse(fmt.Sprintf("%q may not stand in it; letters, digits and ._+@- may", r))
		}
	}
	return nil
}

// SetValues gives attributes their values. Several for one attribute make a
// list. It replaces what the attributes had before.
func (l *LaunchConfiguration) SetValues(values []job.Assignment) {
	lists := map[string][]string{}
	for _, value := range values {
		lists[value.Name] = append(lists[value.Name], value.Value)
	}
	for name, list := range lists {
		if l.Attributes == nil {
			l.Attributes = map[string]attribute.Value{}
		}
		l.Attributes[name] = list
		if len(list) == 1 {
			l.Attributes[name] = list[0]
		}
		delete(l.attributes, name)
	}
}

// SetVariables gives variables of the environment their values.
func (l *LaunchConfiguration) SetVariables(variables []job.Variable) {
	for _, variable := range variables {
		if l.Environment == nil {
			l.Environment = map[string]string{}
		}
		l.Environment[variable.Name] = variable.Value
	}
}

// Values returns the values of the attributes as a submission takes them, in
// the order of the names.
func (l *LaunchConfiguration) Values() []job.Assignment {
	var values []job.Assignment
	for _, name := range slices.Sorted(maps.Keys(l.Attributes)) {
		list, isList := l.Attributes[name].([]string)
		switch {
		case !isList:
			values = append(values, job.Assignment{Name: name, Value: attribute.Text(l.Attributes[name])})
		case len(list) == 0:
			values = append(values, job.Assignment{Name: name})
		}
		for _, item := range list {
			values = append(values, job.Assignment{Name: name, Value: item})
		}
	}
	return values
}

// Variables returns the environment in the order of the names.
func (l *LaunchConfiguration) Variables() []job.Variable {
	var variables []job.Variable
	for _, name := range slices.Sorted(maps.Keys(l.Environment)) {
		variables = append(variables, job.Variable{Name: name, Value: l.Environment[name]})
	}
	return variables
}

// Override lays another submission over the launch configuration: what that
// says replaces what the launch configuration says, attribute by attribute and
// variable by variable. A program or a script replaces what is run as a whole.
func (l *LaunchConfiguration) Override(s job.Submission) job.Submission {
	values := slices.DeleteFunc(l.Values(), func(saved job.Assignment) bool { return isAssigned(s.Values, saved.Name) })
	s.Values = append(values, s.Values...)
	variables := slices.DeleteFunc(l.Variables(), func(saved job.Variable) bool {
		return slices.ContainsFunc(s.Environment.Variables, func(given job.Variable) bool { return given.Name == saved.Name })
	})
	s.Environment.Variables = append(variables, s.Environment.Variables...)
	if s.Executable == "" && s.Script == "" {
		s.Executable, s.Arguments, s.Script = l.Executable, l.Arguments, l.Script
	}
	s.Directory = cmp.Or(s.Directory, l.Directory)
	s.Tab = cmp.Or(s.Tab, l.Tab)
	s.Debug = s.Debug || l.Debug
	return s
}

func isAssigned(values []job.Assignment, name string) bool {
	return slices.ContainsFunc(values, func(value job.Assignment) bool { return value.Name == name })
}

// Update puts a submission into the launch configuration: what that says
// replaces what the launch configuration says, as Override tells.
func (l *LaunchConfiguration) Update(s job.Submission) {
	l.SetValues(s.Values)
	l.SetVariables(s.Environment.Variables)
	if s.Executable != "" || s.Script != "" {
		l.Executable, l.Arguments, l.Script = s.Executable, s.Arguments, s.Script
	}
	l.Directory = cmp.Or(s.Directory, l.Directory)
	l.Tab = cmp.Or(s.Tab, l.Tab)
	l.Debug = l.Debug || s.Debug
}

// Submission returns what the launch configuration submits.
func (l *LaunchConfiguration) Submission() job.Submission { return l.Override(job.Submission{}) }

// Locate puts the place in the launch configuration's file before each error of
// err that refuses a value of it. What given says does not come from the launch
// configuration; see Override. Such errors become *ConfigurationError, which wrap
// them; others stay as they are.
func (l *LaunchConfiguration) Locate(err error, given job.Submission) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		located := make([]error, 0, len(joined.Unwrap()))
		for _, one := range joined.Unwrap() {
			located = append(located, l.Locate(one, given))
		}
		return errors.Join(located...)
	}
	var value *ValueError
	var invalid *attribute.InvalidError
	var tab *form.UnknownPageError
	var name string
	var at place
	switch {
	case errors.As(err, &tab):
		if given.Tab == "" {
			at = l.settings["tab"]
		}
	case errors.As(err, &value):
		name = value.Attribute
		at = l.attributes[name].name
	case errors.As(err, &invalid):
		name = invalid.Attribute
		at = l.attributes[name].value
	}
	if at.line == 0 || isAssigned(given.Values, name) {
		return err
	}
	return &ConfigurationError{File: l.File, Line: at.line, Column: at.column, Reason: err.Error(), Err: err}
}

// LocateSetting puts the place of a setting, such as "target", in the launch
// configuration's file before an error that concerns it. Without a file the error
// stays as it is.
func (l *LaunchConfiguration) LocateSetting(setting string, err error) error {
	if err == nil || l.File == "" {
		return err
	}
	at := l.settings[setting]
	return &ConfigurationError{File: l.File, Line: at.line, Column: at.column, Reason: err.Error(), Err: err}
}

// CheckValues tries the values of a launch configuration on the controller's
// definition, as far as that goes without running anything. Errors are
// *ConfigurationError where the launch configuration was read from a file, else
// *ValueError and *attribute.InvalidError, several joined.
func (c *Controller) CheckValues(l *LaunchConfiguration) error {
	return l.Locate(c.check(l.Submission()), job.Submission{})
}

// An UnknownLaunchConfigurationError names a launch configuration that does not exist.
type UnknownLaunchConfigurationError struct {
	Name  string
	Known []string
}

func (e *UnknownLaunchConfigurationError) Error() string {
	text := fmt.Sprintf("there is no launch configuration %q", e.Name)
	if near := config.Similar(e.Name, e.Known); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", text, near)
	}
	if len(e.Known) == 0 {
		return text + "; rmctl config save makes one"
	}
	const most = 20
	list := strings.Join(e.Known[:min(len(e.Known), most)], ", ")
	if len(e.Known) > most {
		list += ", …"
	}
	return text + "; there are " + list
}

// requestOf records what was asked for as a launch configuration, in the form of
// its file. What that cannot hold is not recorded.
func (c *Controller) requestOf(s job.Submission) string {
	l := LaunchConfiguration{Name: "request", Target: c.target}
	l.Update(s)
	text, err := l.TOML()
	if err != nil {
		c.log.Debug("a submission cannot be saved as a launch configuration", "error", err)
		return ""
	}
	return string(text)
}

// LaunchConfigurationOf returns what was asked for when a job was submitted, as
// a launch configuration of a name. The job must be complete, as Store.ByTag
// returns it. The error tells that this was not recorded.
func LaunchConfigurationOf(job job.Job, name string) (*LaunchConfiguration, error) {
	if job.Request == "" {
		return nil, fmt.Errorf("what was asked for when job %q was submitted is not recorded", job.ID)
	}
	l, err := ReadLaunchConfiguration(name, "", []byte(job.Request))
	if err != nil {
		return nil, fmt.Errorf("reading what was asked for when job %q was submitted: %w", job.ID, err)
	}
	l.attributes, l.settings = nil, nil
	return l, nil
}
