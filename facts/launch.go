package facts

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
)

// A LaunchConfiguration is a submission that is kept under a name. One that cannot
// be read has an error.
type LaunchConfiguration struct {
	Name        string                     `json:"name"`
	File        string                     `json:"file,omitempty"`
	Target      string                     `json:"target,omitempty"`
	Definition  string                     `json:"definition,omitempty"`
	Tab         string                     `json:"tab,omitempty"`
	Executable  string                     `json:"executable,omitempty"`
	Arguments   []string                   `json:"arguments,omitempty"`
	Directory   string                     `json:"directory,omitempty"`
	Script      string                     `json:"script,omitempty"`
	Debug       bool                       `json:"debug,omitempty"`
	Attributes  map[string]attribute.Value `json:"attributes,omitempty"`
	Environment map[string]string          `json:"environment,omitempty"`
	Error       string                     `json:"error,omitempty"`
}

// OfLaunchConfiguration returns a launch configuration, or the error of reading it.
func OfLaunchConfiguration(name string, l *control.LaunchConfiguration, err error) LaunchConfiguration {
	if err != nil {
		return LaunchConfiguration{Name: name, Error: err.Error()}
	}
	return LaunchConfiguration{
		Name: name, File: l.File, Target: l.Target, Definition: l.Definition, Tab: l.Tab, Executable: l.Executable, Arguments: l.Arguments,
		Directory: l.Directory, Script: l.Script, Debug: l.Debug, Attributes: l.Attributes, Environment: l.Environment,
	}
}

// Text returns the value of an attribute in JSON as -s of rmctl submit takes it.
// Numbers are to be decoded as json.Number.
func Text(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool, json.Number:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("it is neither a text nor a number nor true or false")
}

// Texts is Text for a value that may be a list of such; an empty list takes the
// attribute's value away, as an empty text does.
func Texts(value any) ([]string, error) {
	list, isList := value.([]any)
	if !isList {
		text, err := Text(value)
		return []string{text}, err
	}
	if len(list) == 0 {
		return []string{""}, nil
	}
	texts := make([]string, 0, len(list))
	for _, each := range list {
		text, err := Text(each)
		if err != nil {
			return nil, fmt.Errorf("in the list: %w", err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// A Rendering is what a submission would put in place and run.
type Rendering struct {
	Script   string    `json:"script"`
	Files    []File    `json:"files"`
	Commands []Command `json:"commands"`
}

// A Command is a command of a definition with what it would run.
type Command struct {
	Element            string            `json:"element"`
	Name               string            `json:"name"`
	Arguments          []string          `json:"arguments"`
	Directory          string            `json:"directory,omitempty"`
	Environment        map[string]string `json:"environment,omitempty"`
	ReplaceEnvironment bool              `json:"replaceEnvironment,omitempty"`
	Keep               []string          `json:"keep,omitempty"`
	Input              *string           `json:"input,omitempty"`
	PreLaunch          [][]string        `json:"preLaunch,omitempty"`
	PostLaunch         [][]string        `json:"postLaunch,omitempty"`
}

// Submits reports whether the command is one that submits jobs.
func (c Command) Submits() bool { return config.CommandElement(c.Element).IsSubmit() }

// A File is one that a submission puts in place; its mode is octal.
type File struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode"`
}

// OfRendering returns a rendering.
func OfRendering(rendering *control.Rendering) Rendering {
	r := Rendering{Script: rendering.Script, Files: []File{}, Commands: []Command{}}
	for _, file := range rendering.Files {
		r.Files = append(r.Files, File{file.Name, file.Path, file.Content, fmt.Sprintf("%04o", file.Mode)})
	}
	for _, invocation := range rendering.Commands {
		r.Commands = append(r.Commands, ofInvocation(invocation))
	}
	return r
}

func ofInvocation(i *command.Invocation) Command {
	r := Command{
		Element: string(i.Command.Element), Name: i.Command.Name, Arguments: append([]string{}, i.Arguments...), Directory: i.Directory,
		ReplaceEnvironment: i.ReplaceEnvironment, Keep: i.Keep,
	}
	for _, variable := range i.Environment {
		if r.Environment == nil {
			r.Environment = map[string]string{}
		}
		r.Environment[variable.Name] = variable.Value
	}
	if i.HasInput {
		r.Input = &i.Input
	}
	for _, simple := range i.PreLaunch {
		r.PreLaunch = append(r.PreLaunch, append([]string{}, simple.Arguments...))
	}
	for _, simple := range i.PostLaunch {
		r.PostLaunch = append(r.PostLaunch, append([]string{}, simple.Arguments...))
	}
	return r
}
