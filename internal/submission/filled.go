package submission

import (
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
)

func (r *Resolver) FormOver(env *attribute.Environment, s job.Submission, stat attribute.Stat) (*form.Form, *form.Page, error) {
	standing, err := r.AssignDefaults(env)
	if err != nil {
		return nil, nil, err
	}
	filled := form.New(r.Definition, env)
	filled.Standing(standing)
	page, err := filled.Page(s.Tab, s.Script != "")
	if err != nil {
		return nil, nil, err
	}
	if page == nil {
		page = filled.Whole()
	}
	given, err := r.assign(env, s, stat)
	if err != nil {
		return nil, nil, err
	}
	filled.Given(given.given)
	ShowLaunch(filled, s)
	return filled, page, nil
}

// ShowLaunch makes the fields of a form show the program to run.
func ShowLaunch(filled *form.Form, s job.Submission) {
	filled.Launch(func(env *attribute.Environment) { SetLaunch(env, s) })
}

// Filled returns a submission with the values that a form submits from a page. It keeps
// earlier values of portable names that set attributes outside the form.
func Filled(s job.Submission, filled *form.Form, page *form.Page) job.Submission {
	kept, hidden := hiddenPortable(s.Values, filled.Definition())
	s.Tab, s.Values = "", kept
	if !page.Whole {
		s.Tab = page.Title
	}
	values := filled.Values(page)
	s.Values = append(s.Values, slices.DeleteFunc(values, func(value job.Assignment) bool { return hidden[value.Name] })...)
	return s
}
