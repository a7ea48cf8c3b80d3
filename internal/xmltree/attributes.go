package xmltree

import "strings"

// A writtenAttribute is an attribute whose prefix still stands for a namespace:
// the declaration may follow in the same tag.
type writtenAttribute struct {
	Attribute
	prefix string
}

// declares returns which prefix an attribute declares, the empty one for the
// default namespace.
func (a *writtenAttribute) declares() (prefix string, ok bool) {
	if a.prefix == "xmlns" {
		return a.Name, true
	}
	return "", a.prefix == "" && a.Name == "xmlns"
}

func (a *writtenAttribute) nameAsWritten() string {
	if a.prefix == "" {
		return a.Name
	}
	return a.prefix + ":" + a.Name
}

// addAttributes gives an element the attributes in r.written: first the
// namespace declarations among them, which hold for the tag itself too.
func (r *documentReader) addAttributes(e *Element) error {
	declarations := 0
	for i := range r.written {
		a := &r.written[i]
		prefix, ok := a.declares()
		if !ok {
			continue
		}
		scope, err := e.scope.declare(prefix, strings.Trim(a.Value, blanks))
		if err != nil {
			return r.syntaxError(a.offset, "%s", err)
		}
		if scope.number > maxDeclarations {
			return r.document.failure(a.offset, "xml-limit", "too many namespaces are declared")
		}
		e.scope = scope
		declarations++
	}
	if err := r.resolvePrefixes(e.scope); err != nil {
		return err
	}
	if len(r.written) == declarations {
		return nil
	}
	e.Attributes = r.attributes.allocate(len(r.written) - declarations)[:0]
	for i := range r.written {
		if r.written[i].Space != xmlnsReserved {
			e.Attributes = append(e.Attributes, r.written[i].Attribute)
		}
	}
	return nil
}

// resolvePrefixes finds the namespaces of the attributes in r.written. Those that
// are declarations get the one that nothing else can be in.
func (r *documentReader) resolvePrefixes(scope *namespaceScope) error {
	for i := range r.written {
		a := &r.written[i]
		if _, ok := a.declares(); ok {
			a.Space = xmlnsReserved
		} else if a.prefix != "" {
			space, known := scope.lookup(a.prefix)
			if !known {
				return r.undeclaredPrefix(a.offset, a.nameAsWritten())
			}
			a.Space = space
		}
		for _, earlier := range r.written[:i] {
			if earlier.Name == a.Name && earlier.Space == a.Space {
				return r.syntaxError(a.offset, "duplicate attribute %q in one tag", a.Name)
			}
		}
	}
	return nil
}
