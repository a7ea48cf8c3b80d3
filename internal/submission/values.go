package submission

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/job"
)

// A ValueError names an attribute that could not be given a value, and the reason.
type ValueError struct {
	Attribute string
	Reason    string
	Help      string
}

func (e *ValueError) Error() string {
	text := fmt.Sprintf("attribute %q: %s", e.Attribute, e.Reason)
	if e.Help != "" {
		text += "\n" + e.Help
	}
	return text
}

// assign gives attributes their values, in increasing order of precedence: those of the
// target, of options in the user's own script, of the caller, and of portable names. The error
// names all refused values.
func (r *Resolver) assign(env *attribute.Environment, s job.Submission, stat attribute.Stat) (*assignment, error) {
	a := &assignment{
		resolver: r, env: env, given: map[string]bool{}, ownSource: map[string]int{}, stat: stat,
		portable: portable{map[string]portablename.Value{}, map[string]int{}, map[string]int{}},
	}
	if stat != nil && s.Directory != "" {
		a.stat = func(name string) (fs.FileInfo, error) { return stat(Within(s.Directory, name)) }
	}
	var problems []error
	// A target sets paths of its host, which users need not know.
	a.invisible = true
	problems = append(problems, a.all(r.Defaults, 0)...)
	a.invisible = s.Invisible
	for _, option := range r.optionsOf(s.Script) {
		a.option(option)
	}
	problems = append(problems, a.all(s.Values, 1)...)
	problems = append(problems, a.applyPortable(r.workingDirectory(s))...)
	if s.Script != "" {
		a.noteOwnScript()
	}
	return a, errors.Join(problems...)
}

// workingDirectory returns the directory that a job runs in as a path from the
// root, empty where it is not known.
func (r *Resolver) workingDirectory(s job.Submission) string {
	directory, _ := directories(s)
	if directory = Within(r.Place.Home, directory); path.IsAbs(directory) {
		return directory
	}
	return ""
}

// Within makes the name of a file absolute: a job finds it from its directory.
func Within(directory, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(directory, name)
}

// assignment is the state of giving values to attributes.
type assignment struct {
	resolver  *Resolver
	env       *attribute.Environment
	given     map[string]bool
	stat      attribute.Stat
	invisible bool // invisible attributes may be set, too

	ownSource map[string]int // the number of the last source that gave a value by an attribute's own name
	portable  portable
	notes     []string // on portable names that have no effect
}

// all gives values from one source. A list starts again with each source.
func (a *assignment) all(values []job.Assignment, source int) []error {
	own, problems := a.splitPortable(values, source)
	again := map[string]bool{}
	for _, value := range own {
		if err := a.one(value, again[value.Name]); err != nil {
			problems = append(problems, err)
		}
		again[value.Name], a.given[value.Name], a.ownSource[value.Name] = true, true, source
	}
	return problems
}

func (a *assignment) one(value job.Assignment, again bool) error {
	found, err := a.settable(value.Name)
	if err != nil {
		return err
	}
	if found == nil {
		a.env.SetVariable(value.Name, value.Value)
		return nil
	}
	converted, kind, err := a.convert(found, value.Value)
	if err != nil {
		return err
	}
	if err := found.Check(checked(converted, value.Value), a.stat); err != nil {
		return err
	}
	found.SetValue(collected(found.Value(), converted, kind, again))
	return nil
}

// option gives the value of an option in a script, which the submit command reads. One that
// the attribute does not take is left to that command.
func (a *assignment) option(value job.Assignment) {
	if err := a.one(value, false); err != nil {
		a.resolver.Log.Info("ignoring an option of the script", "target", a.resolver.Target, "error", err)
		return
	}
	a.given[value.Name] = true
}

// settable returns the attribute of that name if the caller may set it, or nil
// for one that no definition has to have.
func (a *assignment) settable(name string) (*attribute.Attribute, error) {
	found := a.env.Lookup(name)
	refuse := func(reason, help string) error { return &ValueError{name, reason, help} }
	switch {
	case name == AttributeDirectory:
		return nil, refuse("set by rmctl", "use -d")
	case IsEngineAttribute(name):
		return nil, refuse("set by rmctl", "")
	case found == nil && isLaunchAttribute(name):
		return nil, nil
	case found == nil:
		return nil, refuse(subject(a.resolver.Definition)+" has no such attribute", a.resolver.similar(a.env, name))
	case found.ReadOnly():
		return nil, refuse("read-only", "")
	case found.Visible(), len(boundEditors(a.resolver.Definition, name)) > 0:
		return found, nil
	case found.Field(attribute.FieldLinkValueTo) != nil:
		return nil, refuse(fmt.Sprintf("takes the value of %q", found.Text(attribute.FieldLinkValueTo)), "")
	case !a.invisible && !isFixedValid(name):
		return nil, refuse("set by the definition only", "")
	}
	return found, nil
}

// convert returns the value from the first editor that accepts a text.
func (a *assignment) convert(found *attribute.Attribute, text string) (attribute.Value, form.Editor, error) {
	editors := boundEditors(a.resolver.Definition, found.Name())
	if len(editors) == 0 {
		editors = []editor{{kind: form.EditorOf(found)}}
	}
	var refused error
	for _, each := range editors {
		value, err := each.accept(found, text)
		if err == nil {
			return value, each.kind, nil
		}
		refused = cmp.Or(refused, err)
	}
	return nil, "", refused
}

// checked is the value that the validator checks: for a map the entry as given.
func checked(value attribute.Value, text string) attribute.Value {
	if _, isMap := value.(map[string]string); isMap {
		return text
	}
	return value
}

// collected adds an element or an entry to what an attribute holds; other values,
// and the empty one, take its place.
func collected(held, value attribute.Value, kind form.Editor, again bool) attribute.Value {
	if value == nil {
		return nil
	}
	switch kind {
	case form.ListEditor:
		list, _ := held.([]string)
		if !again {
			list = nil
		}
		return append(slices.Clone(list), attribute.Text(value))
	case form.MapEditor:
		entries := map[string]string{}
		if before, isMap := held.(map[string]string); isMap && again {
			maps.Copy(entries, before)
		}
		maps.Copy(entries, value.(map[string]string))
		return entries
	}
	return value
}
