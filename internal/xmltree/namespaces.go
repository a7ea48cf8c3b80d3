package xmltree

import "fmt"

const (
	// CoreNamespace is the namespace of the elements of a definition.
	CoreNamespace = "http://eclipse.org/ptp/rm"
	// ExtensionNamespace is the namespace of rmctl's extensions to the format.
	ExtensionNamespace = "urn:rmctl:definition:1"
	// XMLNamespace is the namespace of the prefix xml.
	XMLNamespace = "http://www.w3.org/XML/1998/namespace"

	xmlnsReserved = "http://www.w3.org/2000/xmlns/"
)

// IsCore reports whether a namespace is one of those used by definitions: the current one, those of two
// older generations, and none.
func IsCore(space string) bool {
	switch space {
	case CoreNamespace, "http://org.eclipse.ptp/rm", "org.eclipse.ptp", "":
		return true
	}
	return false
}

// A namespaceScope is one declaration with those around it; the innermost wins.
type namespaceScope struct {
	outer  *namespaceScope
	prefix string // empty for the default namespace
	uri    string
	number int // of declarations from here outwards
}

// lookup returns the namespace of a prefix. The empty prefix is always known.
func (s *namespaceScope) lookup(prefix string) (uri string, known bool) {
	for ; s != nil; s = s.outer {
		if s.prefix == prefix {
			return s.uri, true
		}
	}
	if prefix == "xml" {
		return XMLNamespace, true
	}
	return "", prefix == ""
}

// declare returns the scope with one more declaration, refusing those that
// "Namespaces in XML 1.0" forbids.
func (s *namespaceScope) declare(prefix, uri string) (*namespaceScope, error) {
	switch {
	case prefix == "xmlns" || uri == xmlnsReserved:
		return nil, fmt.Errorf("the prefix %q may not be declared", "xmlns")
	case (prefix == "xml") != (uri == XMLNamespace):
		return nil, fmt.Errorf("the prefix %q and the namespace %s belong together", "xml", XMLNamespace)
	case prefix != "" && uri == "":
		return nil, fmt.Errorf("the prefix %q is declared without a namespace", prefix)
	}
	scope := &namespaceScope{outer: s, prefix: prefix, uri: uri, number: 1}
	if s != nil {
		scope.number += s.number
	}
	return scope, nil
}
