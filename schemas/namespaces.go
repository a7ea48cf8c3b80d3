package schemas

import "fmt"

const (
	xmlNamespace  = "http://www.w3.org/XML/1998/namespace"
	xsiNamespace  = "http://www.w3.org/2001/XMLSchema-instance"
	xmlnsReserved = "http://www.w3.org/2000/xmlns/"
)

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
		return xmlNamespace, true
	}
	return "", prefix == ""
}

// declare returns the scope with one more declaration, refusing those that
// "Namespaces in XML 1.0" forbids.
func (s *namespaceScope) declare(prefix, uri string) (*namespaceScope, error) {
	switch {
	case prefix == "xmlns" || uri == xmlnsReserved:
		return nil, fmt.Errorf("the prefix %q may not be declared", "xmlns")
	case (prefix == "xml") != (uri == xmlNamespace):
		return nil, fmt.Errorf("the prefix %q and the namespace %s belong together", "xml", xmlNamespace)
	case prefix != "" && uri == "":
		return nil, fmt.Errorf("the prefix %q is declared without a namespace", prefix)
	}
	scope := &namespaceScope{outer: s, prefix: prefix, uri: uri, number: 1}
	if s != nil {
		scope.number += s.number
	}
	return scope, nil
}
