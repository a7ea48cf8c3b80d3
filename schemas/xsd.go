package schemas

import "sync"

import "fmt"

const xsdNamespace = "http://www.w3.org/2001/XMLSchema"

// A schemaSet is what some schema documents declare, compiled.
type schemaSet struct {
	elements   map[string]*elementDeclaration   // global ones by symbol
	attributes map[string]*attributeDeclaration // global ones by symbol
	types      []*elementType
	parents    map[string][]string // symbol → elements that it may stand in
}

// A symbol names an element regardless of which namespace of its kind it is
// in: "arg" is core, "x:outcome" an extension.
func extensionSymbol(name string) string { return "x:" + name }

func symbolIn(space, name string) string {
	if space == ExtensionNamespace {
		return extensionSymbol(name)
	}
	return name
}

type elementDeclaration struct {
	symbol string
	*elementType

	within string // for extensions: the element that this one stands in
	atMost int    // for extensions: how often, 0 for any number
}

// An elementType tells what an element may hold: a text, anything, or children.
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

// A particle is a node of a content model.
type particle struct {
	least, most int // most < 0: unbounded
	element     *elementDeclaration
	wildcard    *wildcard
	choice      bool // of parts, rather than their sequence
	parts       []*particle
}

type construct struct{ attributes, children []string }

// constructs are those that the interpreter knows, with all that may stand in
// them. What is not here would be silently ignored, so it is refused.
var constructs = sync.OnceValue(func() map[string]construct {
	return map[string]construct{
		"schema": {[]string{"targetNamespace", "elementFormDefault", "attributeFormDefault", "version"},
			[]string{"annotation", "import", "element", "attribute", "complexType", "simpleType", "group", "attributeGroup"}},
		"import":         {[]string{"namespace", "schemaLocation"}, nil},
		"annotation":     {nil, []string{"documentation", "appinfo"}},
		"documentation":  {},
		"appinfo":        {},
		"element":        {[]string{"name", "type", "minOccurs", "maxOccurs"}, []string{"annotation"}},
		"attribute":      {[]string{"name", "type", "use", "default"}, []string{"annotation"}},
		"complexType":    {[]string{"name", "mixed"}, []string{"annotation", "sequence", "choice", "group", "attribute", "attributeGroup", "anyAttribute"}},
		"sequence":       {[]string{"minOccurs", "maxOccurs"}, []string{"element", "group", "choice", "sequence", "any"}},
		"choice":         {[]string{"minOccurs", "maxOccurs"}, []string{"element", "group", "choice", "sequence", "any"}},
		"group":          {[]string{"name", "ref", "minOccurs", "maxOccurs"}, []string{"annotation", "sequence", "choice"}},
		"attributeGroup": {[]string{"name", "ref"}, []string{"annotation", "attribute", "attributeGroup", "anyAttribute"}},
		"any":            {[]string{"namespace", "processContents", "minOccurs", "maxOccurs"}, nil},
		"anyAttribute":   {[]string{"namespace", "processContents"}, nil},
		"simpleType":     {[]string{"name"}, []string{"annotation", "restriction", "list"}},
		"restriction":    {[]string{"base"}, []string{"enumeration", "pattern", "minInclusive", "maxInclusive", "minLength"}},
		"list":           {[]string{"itemType"}, nil},
		"enumeration":    {[]string{"value"}, []string{"annotation"}},
		"pattern":        {[]string{"value"}, []string{"annotation"}},
		"minInclusive":   {[]string{"value"}, []string{"annotation"}},
		"maxInclusive":   {[]string{"value"}, []string{"annotation"}},
		"minLength":      {[]string{"value"}, []string{"annotation"}},
	}
})

// checkConstructs refuses what the interpreter does not know.
func checkConstructs(e *Element) error {
	known, ok := constructs()[e.Name]
	if !ok || e.Space != xsdNamespace {
		return schemaError(e, "the construct %q is not known", e.Name)
	}
	for _, attribute := range e.Attributes {
		if attribute.Space != "" || !contains(known.attributes, attribute.Name) {
			return schemaError(e, "the attribute %q of %q is not known", attribute.Name, e.Name)
		}
	}
	if e.Name == "appinfo" || e.Name == "documentation" {
		return nil
	}
	if e.inkLine > 0 {
		return schemaError(e, "text stands in %q", e.Name)
	}
	for _, child := range e.Children {
		if child.Space == xsdNamespace && !contains(known.children, child.Name) {
			return schemaError(child, "the construct %q inside %q is not known", child.Name, e.Name)
		}
		if err := checkConstructs(child); err != nil {
			return err
		}
	}
	return nil
}

func schemaError(e *Element, format string, arguments ...any) error {
	return fmt.Errorf("schema, line %d: %w", e.Line, fmt.Errorf(format, arguments...))
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
