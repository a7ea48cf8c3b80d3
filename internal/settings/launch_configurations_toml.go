package settings

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/document"
)

// Keys of a saved submission in addition to those of a submission.
const (
	launchTarget     = "target"
	launchDefinition = "definition"
	launchCopy       = "copy"
	launchDebugger   = "debugger"
	launchStop       = "debug_stop"
	launchMode       = "debug_mode"
)

// TOML returns the text of the saved submission's file. A value that is not UTF-8, which
// TOML cannot contain, or that ReadLaunchConfiguration refuses, is an error.
func (l *LaunchConfiguration) TOML() ([]byte, error) {
	text, err := document.EncodeTOML(l.settings())
	if err != nil {
		return nil, fmt.Errorf("saving submission %q: %w", l.Name, err)
	}
	if _, err := ReadLaunchConfiguration(l.Name, l.Name+launchSuffix, text); err != nil {
		return nil, fmt.Errorf("saving submission %q: %w", l.Name, each(err, withoutPlace))
	}
	return text, nil
}

// MarshalJSON returns the saved submission for rmctl config and the API.
func (l *LaunchConfiguration) MarshalJSON() ([]byte, error) {
	settings := append([]document.Setting{{Key: "name", Value: l.Name}, {Key: "file", Value: l.File}}, l.settings()...)
	return document.EncodeJSON(append(settings, document.Setting{Key: "error", Value: l.Problem}))
}

func (l *LaunchConfiguration) settings() []document.Setting {
	own := []document.Setting{
		{Key: launchTarget, Value: l.Target}, {Key: launchDefinition, Value: l.Definition},
		{Key: launchCopy, Value: l.Copy}, {Key: launchDebugger, Value: l.Debugger}, {Key: launchStop, Value: l.Stop}, {Key: launchMode, Value: l.Mode},
	}
	return append(own, document.Settings(l.Submission, l.source)...)
}

// withoutPlace removes the file, which does not exist yet, from an error.
func withoutPlace(err error) error {
	if wrong, isWrong := errors.AsType[*ConfigurationError](err); isWrong {
		return errors.New(wrong.Reason)
	}
	return err
}

// each changes a single error, or each of several joined errors.
func each(err error, change func(error) error) error {
	joined, areSeveral := err.(interface{ Unwrap() []error })
	if !areSeveral {
		return change(err)
	}
	var changed []error
	for _, one := range joined.Unwrap() {
		changed = append(changed, each(one, change))
	}
	return errors.Join(changed...)
}

// ReadLaunchConfiguration parses the text of a saved submission; file is the name for
// errors, which are one or several joined *ConfigurationError.
func ReadLaunchConfiguration(name, file string, text []byte) (*LaunchConfiguration, error) {
	if len(text) > maxLaunchBytes {
		return nil, &ConfigurationError{File: file, Reason: fmt.Sprintf("larger than %d bytes", maxLaunchBytes)}
	}
	source, err := document.ParseTOML(text)
	if err != nil {
		return nil, each(err, inFile(file))
	}
	l := &LaunchConfiguration{Name: name, File: file, source: source}
	l.Target, l.Definition = source.Text(launchTarget), source.Text(launchDefinition)
	l.Submission = source.Submission()
	l.Debugging = Debugging{Copy: source.Text(launchCopy), Debugger: source.Text(launchDebugger), Stop: source.Text(launchStop), Mode: source.Text(launchMode)}
	if l.Target != "" && l.Definition != "" {
		source.Refuse(launchDefinition, "target and definition exclude each other")
	}
	if !slices.Contains([]string{"", "main", "entry", "no"}, l.Stop) {
		source.Refuse(launchStop, "use main, entry or no")
	}
	if !slices.Contains([]string{"", "run", "attach"}, l.Mode) {
		source.Refuse(launchMode, "use run or attach")
	}
	if len(l.Arguments) > 0 && l.Executable == "" {
		source.Refuse("arguments", "arguments require an executable")
	}
	if err := source.Err(); err != nil {
		return nil, each(err, inFile(file))
	}
	return l, nil
}

// inFile returns a function that adds the file to an error.
func inFile(file string) func(error) error {
	return func(err error) error {
		if mistake, hasPlace := errors.AsType[*document.Error](err); hasPlace {
			return &ConfigurationError{File: file, Line: mistake.Line, Column: mistake.Column, Reason: mistake.Reason, Err: err}
		}
		return &ConfigurationError{File: file, Reason: err.Error(), Err: err}
	}
}
