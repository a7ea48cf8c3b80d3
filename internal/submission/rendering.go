package submission

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A Rendering shows what a submission would do, without doing it.
type Rendering struct {
	Script   string // empty where the definition has none
	Files    []StagedFile
	Commands []*command.Invocation // all of the definition, in document order, and its probes; some may have nothing to run
}

func (r *Resolver) RenderOver(env *attribute.Environment, s job.Submission) (*Rendering, error) {
	JobAttribute(env, attribute.JobPlaceholder, attribute.JobPlaceholder, attribute.JobPlaceholder)
	if err := r.ResolveValues(env, s, nil); err != nil {
		return nil, err
	}
	scope := command.Scope{Environment: env}
	files, err := r.StagedFiles(s, scope, "UUID", func() string { return "UUID" })
	if err != nil {
		return nil, err
	}
	rendering := &Rendering{Files: files, Script: env.Text(AttributeScript)}
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
