package form

import (
	"maps"
	"reflect"
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/job"
)

// Standing names the attributes that every submission has a value for, such as
// those that a target sets. They are in the environment that the form
// was made over.
func (f *Form) Standing(names map[string]bool) { f.standing = names }

// Values returns the values that a submission from the page needs so that it hands
// over what was filled in: those that it would not have by itself. Several
// values for one attribute make up a list; an empty one takes the value away.
func (f *Form) Values(page *Page) []job.Assignment {
	wanted := f.outcome(page)
	needed := map[string]attribute.Value{}
	// These values may show other controls, whose values are needed only if they are
	// not what they would be anyway.
	for range 3 {
		got := f.replayed(page, needed)
		settled := true
		for name, value := range wanted {
			if same(got[name], value) {
				continue
			}
			if before, already := needed[name]; already && same(before, value) {
				continue
			}
			needed[name], settled = value, false
		}
		if settled {
			break
		}
	}
	var values []job.Assignment
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		for _, text := range f.texted(name, needed[name]) {
			values = append(values, job.Assignment{Name: name, Value: text})
		}
	}
	return values
}

// same treats no value and the empty text alike: a command is
// given the same for both.
func same(a, b attribute.Value) bool {
	if attribute.Text(a) == "" && attribute.Text(b) == "" {
		return true
	}
	return reflect.DeepEqual(a, b)
}

// outcome returns the values that the form hands over from a page, as attributes
// have them, of rows that are not checked none.
func (f *Form) outcome(page *Page) map[string]attribute.Value {
	filled := f.clone()
	counts := filled.counts(page)
	given := map[string]bool{}
	for name := range f.given {
		// What was given from outside counts where no control decides on it.
		_, hasControl := counts[name]
		given[name] = !hasControl
	}
	filled.Apply(page, given)
	return filled.values(counts)
}

// replayed returns the values that a submission from the page would have if it were
// given these.
func (f *Form) replayed(page *Page, needed map[string]attribute.Value) map[string]attribute.Value {
	fresh := New(f.definition, f.initial.Clone())
	given := maps.Clone(f.standing)
	if given == nil {
		given = map[string]bool{}
	}
	for name, value := range needed {
		given[name] = true
		if a := fresh.environment.Lookup(name); a != nil {
			a.SetValue(value)
		}
	}
	fresh.Given(given)
	there := fresh.counterpart(f, page)
	counts := fresh.counts(there)
	fresh.Apply(there, given)
	return fresh.values(counts)
}

// counterpart returns the page of this form that is a page of another one of
// the same definition.
func (f *Form) counterpart(other *Form, page *Page) *Page {
	if at := slices.Index(other.pages, page); at >= 0 {
		return f.pages[at]
	}
	return f.Whole()
}

// values returns the value of each attribute. An attribute that was found by a
// parser and has a control has one if that counts.
func (f *Form) values(counts map[string]bool) map[string]attribute.Value {
	values := map[string]attribute.Value{}
	for _, defined := range f.definition.Attributes {
		values[defined.Name()] = f.environment.Lookup(defined.Name()).Value()
	}
	for _, name := range f.environment.Discovered() {
		isCounted, hasControl := counts[name]
		if _, predefined := values[name]; predefined || !hasControl {
			continue
		}
		if values[name] = nil; isCounted {
			values[name] = f.environment.Lookup(name).Value()
		}
	}
	return values
}

// texted returns a value as texts that a submission accepts for it.
func (f *Form) texted(name string, value attribute.Value) []string {
	a := f.environment.Lookup(name)
	if list, ok := value.([]string); ok && len(list) > 0 {
		return list
	}
	text := attribute.Text(value)
	if value == nil || a == nil {
		return []string{text}
	}
	// What a switch stores is read before what switches are usually given, so a
	// translation into these words stands as it is.
	if on, off, translated := translation(a); translated && (text == on || text == off) && on != "false" && off != "true" {
		return []string{attribute.Text(text == on)}
	}
	if a.Field(attribute.FieldChoice) != nil && text != "" {
		return []string{shownOf(a, text)}
	}
	return []string{text}
}

// clone returns a form with the same things filled in, over an environment of
// its own.
func (f *Form) clone() *Form {
	copied := *f
	copied.environment = f.environment.Clone()
	return &copied
}

// Renew puts the form over an environment that commands have changed since,
// such as that of an action. What was filled in stays, but for the attributes
// that commands gave another value and for those to forget.
func (f *Form) Renew(environment *attribute.Environment, forget ...string) {
	before := f.initial
	filled := f.environment
	f.initial, f.environment = environment.Clone(), environment
	for _, name := range append(environment.Variables(), environment.Discovered()...) {
		now, was, typed := environment.Lookup(name), before.Lookup(name), filled.Lookup(name)
		if was == nil || typed == nil || slices.Contains(forget, name) {
			continue
		}
		if same(now.Value(), was.Value()) && !same(typed.Value(), was.Value()) {
			now.SetValue(typed.Value())
		}
	}
	for _, name := range forget {
		a, was := environment.Lookup(name), before.Lookup(name)
		if a != nil && (was == nil || same(a.Value(), was.Value())) {
			a.SetValue(nil)
		}
	}
}
