package attribute

import (
	"maps"
	"slices"
)

// An Environment keeps attributes by name in two sets: the variables, which are
// the attributes of the definition and what the engine adds, and the
// discovered ones, which parsers construct. A discovered attribute never hides
// a variable of the same name.
//
// An Environment is not safe for concurrent use: its owner, a controller,
// serialises access.
type Environment struct {
	variables  map[string]*Attribute
	discovered map[string]*Attribute
}

// NewEnvironment returns an empty environment.
func NewEnvironment() *Environment {
	return &Environment{variables: map[string]*Attribute{}, discovered: map[string]*Attribute{}}
}

// Lookup returns the variable, else the discovered attribute, of that name, or nil.
func (e *Environment) Lookup(name string) *Attribute {
	if found := e.variables[name]; found != nil {
		return found
	}
	return e.discovered[name]
}

// Define stores a variable under key, which is usually its name; a job's
// attribute is stored under the id of its submission while it has no name.
func (e *Environment) Define(key string, attribute *Attribute) { e.variables[key] = attribute }

// Discover stores an attribute that a parser constructed under its name.
func (e *Environment) Discover(attribute *Attribute) { e.discovered[attribute.Name()] = attribute }

// ExpectDiscovered makes room for as many attributes as are about to be
// discovered: growing with each of a million takes twice as long.
func (e *Environment) ExpectDiscovered(count int) {
	if len(e.discovered) == 0 {
		e.discovered = make(map[string]*Attribute, count)
	}
}

// Remove forgets the variable of that name or otherwise the discovered attribute.
func (e *Environment) Remove(name string) {
	if _, ok := e.variables[name]; ok {
		delete(e.variables, name)
		return
	}
	delete(e.discovered, name)
}

// SetVariable gives a variable a value, defining it as invisible if it is new.
func (e *Environment) SetVariable(name string, value Value) {
	attribute := e.variables[name]
	if attribute == nil {
		attribute = New(name)
		attribute.fields[FieldVisible] = false
		e.variables[name] = attribute
	}
	attribute.SetValue(value)
}

// Text returns the text form of the value of the named attribute, "" without a value.
func (e *Environment) Text(name string) string {
	if found := e.Lookup(name); found != nil {
		return Text(found.Value())
	}
	return ""
}

// Variables returns the keys of all variables, sorted.
func (e *Environment) Variables() []string { return slices.Sorted(maps.Keys(e.variables)) }

// Discovered returns the names of all discovered attributes, sorted.
func (e *Environment) Discovered() []string { return slices.Sorted(maps.Keys(e.discovered)) }

// Variable returns the variable stored under key, or nil.
func (e *Environment) Variable(key string) *Attribute { return e.variables[key] }

// DiscoveredAttribute returns the discovered attribute of that name, or nil.
func (e *Environment) DiscoveredAttribute(name string) *Attribute { return e.discovered[name] }

// Clone returns an environment with copies of all attributes.
func (e *Environment) Clone() *Environment {
	copied := NewEnvironment()
	for key, attribute := range e.variables {
		copied.variables[key] = attribute.Clone()
	}
	for key, attribute := range e.discovered {
		copied.discovered[key] = attribute.Clone()
	}
	return copied
}
