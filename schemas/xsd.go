package schemas

import "github.com/rmctl/rmctl/internal/xmltree"

const xsdNamespace = "http://www.w3.org/2001/XMLSchema"

// A schemaSet is what some schema documents declare, compiled.
type schemaSet struct {
	elements   map[string]*elementDeclaration   // global ones by symbol
	attributes map[string]*attributeDeclaration // global ones by symbol
	types      []*elementType
	parents    map[string][]string // symbol → elements that it may stand in
}

// A symbol names an element of whatever namespace of its kind: "arg" is core, "x:outcome" an extension.
func extensionSymbol(name string) string { return "x:" + name }

func symbolIn(space, name string) string {
	if space == xmltree.ExtensionNamespace {
		return extensionSymbol(name)
	}
	return name
}

type elementDeclaration struct {
	symbol string
	*elementType

	within []string // for extensions: the elements that this one may stand in
	atMost int      // for extensions: how often, 0 for any number
}

// An elementType is what an element may hold: a text, anything, or children.
type elementType struct {
	name       string
	text       *simpleType // not nil: a text and no attributes
	anything   bool
	mixed      bool
	content    *automaton
	attributes []*attributeDeclaration
	foreign    *wildcard // attributes of other namespaces, nil for none
}

func (t *elementType) attribute(name string) *attributeDeclaration {
	for _, declaration := range t.attributes {
		if declaration.name == name {
			return declaration
		}
	}
	return nil
}

type attributeDeclaration struct {
	name     string
	required bool
	value    *simpleType
}

type wildcard struct {
	any  bool // ##any rather than ##other
	skip bool // what stands there is not checked
}

func (w *wildcard) matches(symbol string) bool {
	return w.any || len(symbol) > 2 && symbol[:2] == extensionSymbol("")
}
