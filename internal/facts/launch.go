package facts

import (
	"fmt"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
)

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
