package rsl

// Canonicalize replaces the names of all relations of a specification by their canonical form.
func Canonicalize(spec Spec) {
	switch s := spec.(type) {
	case *Relation:
		s.Name = CanonicalName(s.Name)
	case *Boolean:
		for _, child := range s.Specs {
			Canonicalize(child)
		}
	}
}

// Clone returns a copy of a specification that shares nothing with it.
func Clone(spec Spec) Spec {
	switch s := spec.(type) {
	case *Relation:
		copied := *s
		copied.Values = cloneValues(s.Values)
		return &copied
	case *Boolean:
		copied := *s
		copied.Specs = make([]Spec, len(s.Specs))
		for i, child := range s.Specs {
			copied.Specs[i] = Clone(child)
		}
		return &copied
	}
	return nil
}

func cloneValues(values []Value) []Value {
	copied := make([]Value, len(values))
	for i, value := range values {
		copied[i] = cloneValue(value)
	}
	return copied
}

func cloneValue(value Value) Value {
	switch v := value.(type) {
	case *Literal:
		copied := *v
		return &copied
	case *Sequence:
		return &Sequence{v.Position, cloneValues(v.Values)}
	case *Reference:
		return &Reference{v.Position, v.Name, cloneValue(v.Default)}
	case *Concatenation:
		return &Concatenation{v.Position, cloneValues(v.Parts)}
	}
	return nil
}

// Literals returns texts as values.
func Literals(texts ...string) []Value {
	values := make([]Value, len(texts))
	for i, text := range texts {
		values[i] = &Literal{Text: text}
	}
	return values
}

// Relation returns the first relation directly below a boolean that has a name, in whatever
// spelling; nil if there is no such relation.
func (b *Boolean) Relation(name string) *Relation {
	canonical := CanonicalName(name)
	for _, child := range b.Specs {
		if relation, isRelation := child.(*Relation); isRelation && CanonicalName(relation.Name) == canonical {
			return relation
		}
	}
	return nil
}

// Set sets the values of an attribute in its first relation, and removes its other relations; without any it
// adds one at the end.
func (b *Boolean) Set(name string, values ...Value) {
	relation := b.Relation(name)
	if relation == nil {
		b.Append(&Relation{Name: name, Operator: Equal, Values: values})
		return
	}
	relation.Operator, relation.Values = Equal, values
	b.remove(name, relation)
}

// Remove removes all relations that have a name directly below a boolean, and reports whether
// there were any.
func (b *Boolean) Remove(name string) bool { return b.remove(name, nil) }

func (b *Boolean) remove(name string, except *Relation) bool {
	canonical := CanonicalName(name)
	var kept []Spec
	for _, child := range b.Specs {
		relation, isRelation := child.(*Relation)
		if !isRelation || relation == except || CanonicalName(relation.Name) != canonical {
			kept = append(kept, child)
		}
	}
	removed := len(kept) < len(b.Specs)
	b.Specs = kept
	return removed
}

// Append adds specifications at the end of a boolean.
func (b *Boolean) Append(specs ...Spec) { b.Specs = append(b.Specs, specs...) }
