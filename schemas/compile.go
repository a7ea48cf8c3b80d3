package schemas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A compiler turns schema documents into a schemaSet. Types are compiled when
// they are first referred to; recursion ends at a type that is under way.
type compiler struct {
	set         *schemaSet
	globals     map[globalName]*xmltree.Element
	types       map[globalName]*elementType
	simpleTypes map[globalName]*simpleType
	depth       int   // of groups and simple types that refer to each other
	err         error // the first
}

type globalName struct{ kind, space, name string }

// maxReferences bounds how deep groups and simple types refer to each other,
// so that a circle among them ends with an error.
const maxReferences = 30

// compile compiles schema documents made of the constructs that a test lists.
func compile(texts ...string) (*schemaSet, error) {
	c := &compiler{
		set: &schemaSet{elements: map[string]*elementDeclaration{}, attributes: map[string]*attributeDeclaration{},
			parents: map[string][]string{}},
		globals:     map[globalName]*xmltree.Element{},
		types:       map[globalName]*elementType{},
		simpleTypes: map[globalName]*simpleType{},
	}
	var roots []*xmltree.Element
	for _, text := range texts {
		document, err := xmltree.Read("", []byte(text))
		if err != nil {
			return nil, fmt.Errorf("read a schema: %w", err)
		}
		c.index(document.Root)
		roots = append(roots, document.Root)
	}
	for _, root := range roots {
		c.globalDeclarations(root)
	}
	if c.err != nil {
		return nil, c.err
	}
	c.set.findParents()
	return c.set, nil
}

// fail notes an error at a construct of a schema.
func (c *compiler) fail(e *xmltree.Element, format string, arguments ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("schema, line %d: %w", e.Position().Line, fmt.Errorf(format, arguments...))
	}
}

// enter begins a construct that others refer to, and reports whether to go on. The
// caller leaves it in any case.
func (c *compiler) enter(e *xmltree.Element) bool {
	if c.depth++; c.depth > maxReferences {
		c.fail(e, "%q refers to itself", e.Name)
	}
	return c.err == nil
}

func (c *compiler) leave() { c.depth-- }

func (c *compiler) index(root *xmltree.Element) {
	space := root.Value("targetNamespace")
	if root.Name != "schema" || space != xmltree.CoreNamespace && space != xmltree.ExtensionNamespace {
		c.fail(root, "the target namespace %q is not known", space)
	}
	if root.Value("elementFormDefault") != "qualified" || root.Value("attributeFormDefault") != "unqualified" {
		c.fail(root, "elements must be qualified and attributes unqualified")
	}
	for _, e := range root.Children {
		name := e.Value("name")
		if e.Name == "annotation" || e.Name == "import" {
			continue
		}
		key := globalName{e.Name, space, name}
		if name == "" || c.globals[key] != nil {
			c.fail(e, "the %s has no name or one that is taken: %q", e.Name, name)
		}
		c.globals[key] = e
	}
}

func (c *compiler) globalDeclarations(root *xmltree.Element) {
	space := root.Value("targetNamespace")
	for _, e := range root.Children {
		switch e.Name {
		case "element":
			declaration := c.element(e, space)
			c.set.elements[declaration.symbol] = declaration
		case "attribute":
			declaration := c.attribute(e)
			c.set.attributes[symbolIn(space, declaration.name)] = declaration
		case "complexType", "simpleType":
			c.globalType(e, space)
		}
	}
}

// findGlobal returns what a qualified name in an attribute of e refers to, with its
// namespace; for a name of XSD itself it returns nil and that name.
func (c *compiler) findGlobal(e *xmltree.Element, attribute string, kinds ...string) (*xmltree.Element, string) {
	prefix, local, found := strings.Cut(e.Value(attribute), ":")
	if !found {
		prefix, local = "", prefix
	}
	space, known := e.Namespace(prefix)
	if known {
		for _, kind := range kinds {
			if global := c.globals[globalName{kind, space, local}]; global != nil {
				return global, space
			}
		}
		if space == xsdNamespace {
			return nil, local
		}
	}
	c.fail(e, "%q refers to nothing: %q", attribute, e.Value(attribute))
	return nil, ""
}

func (c *compiler) element(e *xmltree.Element, space string) *elementDeclaration {
	name := e.Value("name")
	if name == "" {
		c.fail(e, "an element has no name")
	}
	declaration := &elementDeclaration{symbol: symbolIn(space, name)}
	c.readWithin(declaration, e)
	if e.Value("type") == "" {
		declaration.elementType = &elementType{name: "anyType", anything: true}
		return declaration
	}
	global, space := c.findGlobal(e, "type", "complexType", "simpleType")
	if global == nil {
		declaration.elementType = &elementType{text: c.builtInType(e, space)}
	} else {
		declaration.elementType = c.globalType(global, space)
	}
	return declaration
}

func (c *compiler) globalType(global *xmltree.Element, space string) *elementType {
	if global.Name == "simpleType" {
		return &elementType{text: c.simpleType(global, space)}
	}
	key := globalName{"complexType", space, global.Value("name")}
	if compiled := c.types[key]; compiled != nil {
		return compiled
	}
	compiled := &elementType{name: symbolIn(space, key.name), mixed: global.Value("mixed") == "true"}
	c.types[key] = compiled
	c.set.types = append(c.set.types, compiled)
	models := slices.DeleteFunc(slices.Clone(global.Children), func(child *xmltree.Element) bool { return !isParticle(child) })
	content, whole := &automaton{states: make([]automatonState, 1)}, fragment{nullable: true}
	switch {
	case len(models) > 1:
		c.fail(global, "a type has more than one content model")
	case len(models) == 1:
		whole = c.particle(content, models[0], space)
	}
	c.attributesOf(global, compiled)
	if err := content.finish(whole); err != nil {
		c.fail(global, "the type %q: %w", key.name, err)
	}
	compiled.content = content
	return compiled
}

func (c *compiler) builtInType(e *xmltree.Element, name string) *simpleType {
	expectation, known := builtInTypes[name]
	if !known {
		c.fail(e, "the built-in type %q is not known", name)
	}
	return &simpleType{builtIn: name, expectation: expectation}
}

func (c *compiler) simpleType(global *xmltree.Element, space string) *simpleType {
	key := globalName{"simpleType", space, global.Value("name")}
	if compiled := c.simpleTypes[key]; compiled != nil {
		return compiled
	}
	compiled := &simpleType{expectation: documentation(global)}
	defer c.leave()
	if !c.enter(global) {
		return compiled
	}
	for _, child := range global.Children {
		switch child.Name {
		case "list":
			compiled.item = c.simpleTypeNamed(child, "itemType")
		case "restriction":
			compiled.base = c.simpleTypeNamed(child, "base")
			c.readFacets(compiled, child)
		}
	}
	if compiled.item == nil && compiled.base == nil {
		c.fail(global, "the type %q is neither a list nor a restriction", key.name)
	}
	c.simpleTypes[key] = compiled
	return compiled
}

func (c *compiler) simpleTypeNamed(e *xmltree.Element, attribute string) *simpleType {
	global, space := c.findGlobal(e, attribute, "simpleType")
	if global == nil {
		return c.builtInType(e, space)
	}
	return c.simpleType(global, space)
}

func (c *compiler) readFacets(t *simpleType, restriction *xmltree.Element) {
	for _, facet := range restriction.Children {
		text := facet.Value("value")
		switch facet.Name {
		case "enumeration":
			t.enumeration = append(t.enumeration, text)
			continue
		case "pattern":
			pattern, err := compilePattern(text)
			if err != nil {
				c.fail(facet, "%w", err)
			}
			t.patterns = append(t.patterns, pattern)
			continue
		}
		number, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			c.fail(facet, "%s: %w", facet.Name, err)
		}
		switch facet.Name {
		case "minInclusive":
			t.least = &number
		case "maxInclusive":
			t.most = &number
		case "minLength":
			t.minLength = int(number)
		}
	}
	if t.isList() && (len(t.enumeration) > 0 || len(t.patterns) > 0 || t.least != nil || t.most != nil) {
		c.fail(restriction, "of lists only the length can be restricted")
	}
}

// documentation returns what the annotation of a construct says, on one line.
func documentation(e *xmltree.Element) string {
	for _, child := range e.Children {
		if child.Name != "annotation" {
			continue
		}
		for _, text := range child.Children {
			if text.Name == "documentation" {
				return strings.Join(strings.Fields(text.Text), " ")
			}
		}
	}
	return ""
}
