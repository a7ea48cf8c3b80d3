// Package rendering shows what a submission would run.
package rendering

import (
	"fmt"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// A Rendering shows what a submission would do, without doing it.
type Rendering struct {
	Script   string // empty where the definition has none
	Files    []submission.StagedFile
	Commands []*command.Invocation // all of the definition, in document order, and its probes; some may have nothing to run
}

// Over resolves all commands with the values of an environment.
func Over(r *submission.Resolver, env *attribute.Environment, s job.Submission) (*Rendering, error) {
	submission.JobAttribute(env, attribute.JobPlaceholder, attribute.JobPlaceholder, attribute.JobPlaceholder)
	if err := r.ResolveValues(env, s, nil); err != nil {
		return nil, err
	}
	scope := config.Scope{Environment: env}
	files, err := r.StagedFiles(s, scope, "UUID", func() string { return "UUID" })
	if err != nil {
		return nil, err
	}
	rendering := &Rendering{Files: files, Script: env.Text(submission.AttributeScript)}
	submit, err := r.SubmitCommand(s.Debug)
	if err != nil && s.Debug {
		return nil, err
	}
	for _, each := range r.Definition.Commands {
		if each.Element.IsSubmit() && each != submit {
			continue
		}
		launch := job.Environment{}
		if each.Element.IsSubmit() || each.Element == config.ButtonAction {
			launch = s.Environment
		}
		for _, one := range append([]*config.Command{each}, each.Fallbacks...) {
			invocation, err := command.Preview(one, scope, launch)
			if err != nil {
				return nil, err
			}
			rendering.Commands = append(rendering.Commands, invocation)
		}
	}
	for _, probe := range r.Definition.Probes {
		invocation, err := command.Preview(probe.Command, scope, job.Environment{})
		if err != nil {
			return nil, err
		}
		rendering.Commands = append(rendering.Commands, invocation)
	}
	return rendering, nil
}

// A renderingDocument is a rendering in JSON. The names are a contract with scripts.
type renderingDocument struct {
	Script   string            `json:"script"`
	Files    []fileDocument    `json:"files"`
	Commands []commandDocument `json:"commands"`
}

// A commandDocument is a rendered command of a definition.
type commandDocument struct {
	Element            string            `json:"element"`
	Name               string            `json:"name"`
	Arguments          []string          `json:"arguments"`
	Directory          string            `json:"directory,omitempty"`
	Environment        map[string]string `json:"environment,omitempty"`
	ReplaceEnvironment bool              `json:"replaceEnvironment,omitempty"`
	Keep               []string          `json:"keep,omitempty"`
	Input              *string           `json:"input,omitempty"`
	InputFile          string            `json:"inputFile,omitempty"`
	PreLaunch          [][]string        `json:"preLaunch,omitempty"`
	PostLaunch         [][]string        `json:"postLaunch,omitempty"`
}

// A fileDocument is a file that a submission stages; its mode is octal.
type fileDocument struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode"`
}

// Document returns the rendering for JSON.
func (rendering *Rendering) Document() renderingDocument {
	r := renderingDocument{Script: rendering.Script, Files: []fileDocument{}, Commands: []commandDocument{}}
	for _, file := range rendering.Files {
		r.Files = append(r.Files, fileDocument{file.Name, file.Path, file.Content, fmt.Sprintf("%04o", file.Mode)})
	}
	for _, invocation := range rendering.Commands {
		r.Commands = append(r.Commands, documentOf(invocation))
	}
	return r
}

func documentOf(i *command.Invocation) commandDocument {
	r := commandDocument{
		Element: string(i.Command.Element), Name: i.Command.Name, Arguments: append([]string{}, i.Arguments...), Directory: i.Directory,
		ReplaceEnvironment: i.ReplaceEnvironment, Keep: i.Keep, InputFile: i.InputFile,
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
