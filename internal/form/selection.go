package form

import (
	"maps"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// A Selection says which attributes count in a submission from a page. It is made once,
// by the values that the form holds then: what it takes away shows, hides, enables and
// disables nothing any more.
type Selection struct {
	form    *Form
	given   map[string]bool
	out     map[string]bool     // visible attributes that do not count
	viewers []*launchtab.Viewer // that count, and are not given
}

// Select returns the selection of a submission whose values are in an environment: from
// the page that [Form.Page] finds by a title and by whether there is a script of the
// user's. What is in given counts wherever it is. The error is an *UnknownPageError.
func Select(definition *config.Definition, environment *attribute.Environment, title string, hasScript bool, given map[string]bool) (*Selection, error) {
	f := over(definition, environment)
	page, err := f.Page(title, hasScript)
	if err != nil {
		return nil, err
	}
	f.Given(given)
	return f.selection(page, given), nil
}

// selection returns the selection of a page. Without a page every attribute counts.
func (f *Form) selection(page *Page, given map[string]bool) *Selection {
	s := &Selection{form: f, given: given, out: map[string]bool{}}
	if page == nil {
		return s
	}
	live := f.Live(page)
	for _, defined := range f.definition.Attributes {
		name := defined.Name()
		if a := f.environment.Variable(name); a != nil && a.Visible() && !given[name] && !live[name] {
			s.out[name] = true
		}
	}
	for _, viewer := range f.viewers {
		if name := viewer.Name.Name; name != "" && live[name] && !given[name] {
			s.viewers = append(s.viewers, viewer)
		}
	}
	return s
}

// Clear takes the values of visible attributes of the definition that do not count.
// Invisible ones keep what they have.
func (s *Selection) Clear() {
	for name := range s.out {
		s.form.environment.Variable(name).SetValue(nil)
	}
}

// FollowLinks gives attributes with links their values, but for visible ones that are
// given or do not count, and viewers theirs. The error is an *attribute.LinkError.
func (s *Selection) FollowLinks() error {
	settled := maps.Clone(s.out)
	maps.Copy(settled, s.given)
	err := s.form.environment.ResolveLinks(settled, s.setViewers)
	s.setViewers("")
	return err
}

// setViewers gives the viewers of a name their values; all without a name.
func (s *Selection) setViewers(name string) {
	for _, viewer := range s.viewers {
		if name == "" || viewer.Name.Name == name {
			s.form.environment.SetVariable(viewer.Name.Name, s.form.viewerValue(viewer))
		}
	}
}

// Apply prepares the environment for a submission from the page, except for links:
// attributes that do not count lose their values, and viewers that count get theirs.
func (f *Form) Apply(page *Page, given map[string]bool) {
	s := f.selection(page, given)
	s.Clear()
	s.setViewers("")
}
