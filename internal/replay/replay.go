// Package replay feeds captured output through one parser of a definition.
package replay

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/initial"
)

// Selector returns the selector of the command from --command or from the initial
// environment, with the parser for --stream.
func Selector(command, stream string, before initial.Environment) (string, error) {
	selector := cmp.Or(command, before.Selector)
	if selector == "" {
		return "", errors.New("--command is missing: name the command that printed the input, such as get-job-status")
	}
	if stream != "" {
		selector, _, _ = strings.Cut(selector, "/")
		selector += "/" + stream + "-parser"
	}
	return selector, nil
}

// Environment returns the attributes before the run, and what @jobId stands for. Settings
// have the form name=value. An empty job means that of the initial environment; with
// definesJob, a command that acts on a job gets an attribute for it.
func Environment(definition *config.Definition, which *config.Command, job string, settings []string, before initial.Environment, definesJob bool) (*attribute.Environment, string, error) {
	env := attribute.NewEnvironment()
	if before.UseDefinition {
		defineWithDefaults(env, definition)
		if definition.HasReaders() {
			env.SetVariable(command.MarkAttribute, "@mark")
		}
	}
	before.Define(env)
	job = cmp.Or(job, before.Job)
	if definesJob && which.Element.ActsOnJob() {
		if err := defineJob(env, which, job); err != nil {
			return nil, "", err
		}
	}
	if err := setValues(env, settings); err != nil {
		return nil, "", err
	}
	return env, job, nil
}

// defineWithDefaults defines the attributes of a definition, with defaults for those
// without a value.
func defineWithDefaults(env *attribute.Environment, definition *config.Definition) {
	for _, defined := range definition.Attributes {
		a := defined.Clone()
		if a.Value() == nil {
			a.SetValue(a.Field(attribute.FieldDefault))
		}
		env.Define(a.Name(), a)
	}
}

// defineJob defines the attribute of the job that a command acts on, unless it exists.
func defineJob(env *attribute.Environment, which *config.Command, job string) error {
	key := cmp.Or(job, attribute.JobPlaceholder)
	if env.Lookup(key) != nil {
		return nil
	}
	env.SetVariable(key, nil)
	if which.Element.IsSubmit() || job == "" {
		return nil
	}
	return env.Variable(key).Set(attribute.FieldName, job)
}

// setValues sets attributes from settings of the form name=value.
func setValues(env *attribute.Environment, settings []string) error {
	for _, setting := range settings {
		name, value, found := strings.Cut(setting, "=")
		if !found || name == "" {
			return fmt.Errorf("-s %q: write name=value", setting)
		}
		if env.Lookup(name) == nil {
			return &control.ValueError{Attribute: name, Reason: "there is no such attribute"}
		}
		env.Lookup(name).SetValue(value)
	}
	return nil
}

// Input opens a file, unpacking it if its name ends in .gz, or standard input.
func Input(stdin io.Reader, arguments []string) (io.ReadCloser, error) {
	if len(arguments) == 0 || arguments[0] == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(arguments[0])
	if err != nil {
		return nil, fmt.Errorf("reading the captured output: %w", err)
	}
	if !strings.HasSuffix(arguments[0], ".gz") {
		return file, nil
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("unpacking %s: %w", arguments[0], err), file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{unpacked, file}, nil
}
