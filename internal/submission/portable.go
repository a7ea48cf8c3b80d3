package submission

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/job"
)

// portable are the portable names that an assignment gives values to. What is
// given later counts more: source is the number of the one that a value is from.
type portable struct {
	values  map[string]portablename.Value
	source  map[string]int
	cleared map[string]int // names whose value was removed, by the source
}

// splitPortable takes the values of portable names out of one source. A value
// that an attribute of the definition takes under that very name, and that is not
// written as portable ones are, is left to it.
func (a *assignment) splitPortable(values []job.Assignment, source int) (own []job.Assignment, problems []error) {
	for _, value := range values {
		if portablename.Lookup(value.Name) == nil {
			own = append(own, value)
			continue
		}
		linked := len(a.resolver.Definition.PortableLinks(value.Name)) > 0
		hasOwn := a.env.Lookup(value.Name) != nil
		parsed, err := portablename.Parse(value.Name, value.Value)
		switch {
		case hasOwn && (!linked || value.Value != "" && err != nil):
			own = append(own, value)
			a.portable.forget(value.Name)
		case value.Value == "":
			a.portable.forget(value.Name)
			a.portable.cleared[value.Name] = source
			if hasOwn {
				own = append(own, value)
			}
		case err != nil:
			problems = append(problems, &ValueError{Attribute: value.Name, Reason: err.Error()})
		default:
			delete(a.portable.cleared, value.Name)
			a.portable.values[value.Name], a.portable.source[value.Name] = parsed, source
		}
	}
	return own, problems
}

func (p *portable) forget(name string) {
	delete(p.values, name)
	delete(p.source, name)
}

// applyPortable gives the linked attributes the values of portable names. Between a
// portable name and an attribute's own name the later source counts; in one source they
// must not contradict each other.
func (a *assignment) applyPortable(directory string) []error {
	request := portablename.Request{Values: a.portable.values, Directory: directory, IsGiven: func(name string) bool {
		found := a.env.Variable(name)
		return a.given[name] && found != nil && found.Value() != nil
	}}
	settings, notes, problems := portablename.Translate(a.resolver.Definition, request)
	for i, problem := range problems {
		var wrong *portablename.Error
		if errors.As(problem, &wrong) {
			problems[i] = &ValueError{Attribute: wrong.Name, Reason: wrong.Reason, Help: a.portableHelp(wrong.Name)}
		}
	}
	a.notes = notes
	set := map[string]*portableSetting{}
	for _, setting := range settings {
		one := &portableSetting{Setting: setting}
		for _, name := range setting.Names {
			one.source = max(one.source, a.portable.source[name])
		}
		if err := a.setPortable(one, set[setting.Link.Attribute], request.IsGiven); err != nil {
			problems = append(problems, err)
		} else if !one.outdone {
			set[setting.Link.Attribute] = one
		}
	}
	for name, one := range set {
		a.env.Variable(name).SetValue(one.converted)
		a.given[name] = true
	}
	a.clearPortable(set)
	return problems
}

// A portableSetting is a setting with the resulting value of the attribute.
type portableSetting struct {
	portablename.Setting
	source    int
	converted attribute.Value
	outdone   bool // by a later source
}

// setPortable converts a setting, and compares it with what else its attribute
// is to get.
func (a *assignment) setPortable(one, before *portableSetting, isGiven func(string) bool) error {
	link := one.Link
	refuse := func(format string, arguments ...any) error {
		return &ValueError{Attribute: link.Name, Reason: fmt.Sprintf(format, arguments...)}
	}
	found := a.env.Variable(link.Attribute)
	if found == nil {
		return refuse("definition %q links it to the undefined attribute %q", a.resolver.Definition.Name, link.Attribute)
	}
	for _, other := range link.Excludes {
		if isGiven(other) {
			return refuse("conflicts with the value of %q", other)
		}
	}
	converted, _, err := a.convert(found, one.Value)
	if err == nil {
		err = found.Check(checked(converted, one.Value), a.stat)
	}
	switch {
	case err != nil && link.Attribute == link.Name:
		return err
	case err != nil:
		return refuse("%v", err)
	}
	one.converted = converted
	var conflict string
	one.outdone, conflict = a.weigh(one, before, found.Value())
	if conflict != "" {
		return refuse("it sets %q to %q, %s", link.Attribute, attribute.Text(converted), conflict)
	}
	return nil
}

// weigh compares a setting with the value that its attribute was given by its own name,
// and with what another portable name made of it before: the later source counts. It
// returns whether that is not the setting's, or how two values of one source differ.
func (a *assignment) weigh(one, before *portableSetting, own attribute.Value) (isOutdone bool, conflict string) {
	link := one.Link
	ownSource, isOwn := a.ownSource[link.Attribute]
	if isOwn && link.Attribute != link.Name {
		switch {
		case ownSource > one.source:
			return true, ""
		case ownSource == one.source && !reflect.DeepEqual(own, one.converted):
			return false, fmt.Sprintf("which already has the value %q", attribute.Text(own))
		}
	}
	switch {
	case before == nil:
		return false, ""
	case before.source == one.source && !reflect.DeepEqual(before.converted, one.converted):
		return false, fmt.Sprintf("but %q sets it to %q", before.Link.Name, attribute.Text(before.converted))
	}
	return before.source > one.source, ""
}

// clearPortable takes the values away that the portable names had given which are
// without a value now.
func (a *assignment) clearPortable(set map[string]*portableSetting) {
	for name, source := range a.portable.cleared {
		for _, link := range a.resolver.Definition.PortableLinks(name) {
			found := a.env.Variable(link.Attribute)
			ownSource, isOwn := a.ownSource[link.Attribute]
			if found != nil && set[link.Attribute] == nil && (!isOwn || ownSource < source) {
				found.SetValue(nil)
				a.given[link.Attribute] = true
			}
		}
	}
}

func (a *assignment) portableHelp(name string) string {
	if len(a.resolver.Definition.PortableLinks(name)) > 0 {
		return ""
	}
	return fmt.Sprintf("run rmctl describe %s to list the attributes", a.resolver.definitionName())
}

// hiddenPortable returns the values of portable names that set attributes which a
// form does not show, so that it cannot hand them over, and these attributes.
func hiddenPortable(values []job.Assignment, definition *config.Definition) (kept []job.Assignment, hidden map[string]bool) {
	hidden = map[string]bool{}
	for _, value := range values {
		keeps := false
		for _, link := range definition.PortableLinks(value.Name) {
			if linked := definition.Attribute(link.Attribute); linked != nil && !linked.Visible() {
				hidden[link.Attribute], keeps = true, true
			}
		}
		if keeps {
			kept = append(kept, value)
		}
	}
	return kept, hidden
}
