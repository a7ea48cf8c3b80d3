package settings

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/document"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/job"
)

// A LaunchConfiguration is a saved submission, or a part of one.
type LaunchConfiguration struct {
	Name    string // see CheckLaunchConfigurationName
	File    string // that it was read from; may be empty
	Problem string // why it cannot be read

	// At most one of these is set.
	Target     string // the name of a target
	Definition string // a shipped name or a file, in the configuration folder where its path is relative

	job.Submission // without tag
	Debugging

	source *document.Table // the document that it was read from; may be nil
}

// Debugging holds the debug settings of a saved submission.
type Debugging struct {
	Copy     string // file of this machine to copy to the path of the executable
	Debugger string // gdb, lldb, dlv, or the path of one on the target
	Stop     string // where the program stops first: main, entry or no
	Mode     string // run: debuggers start the program; attach: they attach to it once it runs
}

// Over lays settings over others: those that are set count.
func (d Debugging) Over(other Debugging) Debugging {
	return Debugging{
		Copy: cmp.Or(d.Copy, other.Copy), Debugger: cmp.Or(d.Debugger, other.Debugger), Stop: cmp.Or(d.Stop, other.Stop), Mode: cmp.Or(d.Mode, other.Mode),
	}
}

// maxLaunchConfigurationName bounds the length of a name in bytes, so that it fits into the
// name of a file.
const maxLaunchConfigurationName = 100

// A LaunchConfigurationNameError is an invalid name of a saved submission.
type LaunchConfigurationNameError struct{ Name, Reason string }

func (e *LaunchConfigurationNameError) Error() string {
	return fmt.Sprintf("invalid name %.200q of a saved submission: %s", e.Name, e.Reason)
}

// CheckLaunchConfigurationName checks that a text can name a saved submission: it
// has at most maxLaunchConfigurationName bytes, consists of letters, digits and
// ._+@- and begins neither with "." nor with "-". The error is a
// *LaunchConfigurationNameError.
func CheckLaunchConfigurationName(name string) error {
	refuse := func(reason string) error { return &LaunchConfigurationNameError{name, reason} }
	switch {
	case name == "":
		return refuse("empty")
	case len(name) > maxLaunchConfigurationName:
		return refuse(fmt.Sprintf("%d bytes, at most %d are allowed", len(name), maxLaunchConfigurationName))
	case !utf8.ValidString(name):
		return refuse("not UTF-8")
	case name[0] == '.' || name[0] == '-':
		return refuse(fmt.Sprintf("begins with %q", name[0]))
	}
	for _, r := range name {
		// Some scripts, and decomposed letters, have marks.
		if !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune("._+@-", r) {
			return refuse(fmt.Sprintf("contains %q; use letters, digits and ._+@-", r))
		}
	}
	return nil
}

// Locate wraps each error of err about a value of the saved submission in a
// *ConfigurationError with the position in its file. Other errors, such as those of values
// that override the file, stay unchanged; see [job.Submission.Over].
func (l *LaunchConfiguration) Locate(err error, above job.Submission) error {
	return each(err, func(one error) error { return l.locate(one, above) })
}

func (l *LaunchConfiguration) locate(err error, above job.Submission) error {
	value, isValue := errors.AsType[*submission.ValueError](err)
	invalid, isInvalid := errors.AsType[*attribute.InvalidError](err)
	_, isTab := errors.AsType[*form.UnknownPageError](err)
	var name string
	var at document.Place
	switch {
	case isTab:
		if above.Tab == "" {
			at = l.source.Place("tab")
		}
	case isValue:
		name = value.Attribute
		at, _ = l.places(name)
	case isInvalid:
		name = invalid.Attribute
		_, at = l.places(name)
	}
	if at.Line == 0 || above.Assigns(name) {
		return err
	}
	return &ConfigurationError{File: l.File, Line: at.Line, Column: at.Column, Reason: err.Error(), Err: err}
}

// places returns where File names an attribute and where its value begins.
func (l *LaunchConfiguration) places(name string) (key, value document.Place) {
	var values []string
	for _, assigned := range l.Values {
		if assigned.Name == name {
			values = append(values, assigned.Value)
		}
	}
	return l.source.Attribute(name, values)
}

// LocateSetting wraps an error about a setting, such as "target", in a *ConfigurationError
// with the place in the saved submission's file. Without a file it returns the error.
func (l *LaunchConfiguration) LocateSetting(setting string, err error) error {
	if err == nil || l.File == "" {
		return err
	}
	at := l.source.Place(setting)
	return &ConfigurationError{File: l.File, Line: at.Line, Column: at.Column, Reason: err.Error(), Err: err}
}

// An UnknownLaunchConfigurationError is a name without a saved submission.
type UnknownLaunchConfigurationError struct {
	Name  string
	Known []string
}

func (e *UnknownLaunchConfigurationError) Error() string {
	text := fmt.Sprintf("unknown saved submission %q", e.Name)
	if near := wording.Nearest(e.Name, e.Known); near != "" {
		return fmt.Sprintf("%s\ndid you mean %q?", text, near)
	}
	if len(e.Known) == 0 {
		return text + "\nrun rmctl config save to create one"
	}
	const most = 20
	list := strings.Join(e.Known[:min(len(e.Known), most)], ", ")
	if len(e.Known) > most {
		list += ", …"
	}
	return text + "\nchoose one of " + list
}

// LaunchConfigurationOf returns the submission of a job as a saved submission. The job
// must be complete, as Store.ByTag returns it. It is an error if the submission was not
// recorded.
func LaunchConfigurationOf(job job.Job, name string) (*LaunchConfiguration, error) {
	if job.Request == "" {
		return nil, fmt.Errorf("the submission of job %q is not on record", job.ID)
	}
	l, err := ReadLaunchConfiguration(name, "", []byte(job.Request))
	if err != nil {
		return nil, fmt.Errorf("reading the submission of job %q: %w", job.ID, err)
	}
	l.source = nil
	return l, nil
}
