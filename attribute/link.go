package attribute

import (
	"fmt"
	"slices"
	"strings"
)

// ResolveLinks gives every variable with a link the value of the attribute it
// links to, or its own default where that has no value or an empty one, or else
// the empty text. Links to linked attributes are followed first. A visible
// attribute whose key is in settled keeps what it has, such as the value that a user
// gave it. The function derive, which may be nil, is called with the name of each attribute
// that a link leads to, before its value is read.
//
// Of links in a circle the one that closes it counts as leading nowhere. All
// links are resolved nevertheless; the error names the first circle.
func (e *Environment) ResolveLinks(settled map[string]bool, derive func(name string)) error {
	r := linkResolver{environment: e, settled: settled, derive: derive, done: map[string]bool{}}
	for _, key := range e.Variables() {
		r.resolve(key)
	}
	if r.circle != nil {
		return fmt.Errorf("link-value-to forms a loop: %s", strings.Join(append(r.circle, r.circle[0]), " → "))
	}
	return nil
}

type linkResolver struct {
	environment *Environment
	settled     map[string]bool
	derive      func(name string)
	done        map[string]bool
	path        []string // keys of the links being followed
	circle      []string
}

func (r *linkResolver) resolve(key string) {
	a := r.environment.variables[key]
	if a == nil || r.done[key] || a.Field(FieldLinkValueTo) == nil || a.Visible() && r.settled[key] {
		return
	}
	linked := a.Text(FieldLinkValueTo)
	r.path = append(r.path, key)
	var value Value
	if at := slices.Index(r.path, linked); at < 0 {
		r.resolve(linked)
		if r.derive != nil {
			r.derive(linked)
		}
		if target := r.environment.Lookup(linked); target != nil {
			value = cloneValue(target.Value())
		}
	} else if r.circle == nil {
		r.circle = slices.Clone(r.path[at:])
	}
	r.path = r.path[:len(r.path)-1]
	if value == nil || value == "" {
		value = a.Field(FieldDefault)
	}
	if value == nil {
		value = ""
	}
	a.SetValue(value)
	r.done[key] = true
}
