package schemas

import (
	"fmt"
	"strconv"
	"strings"
)

// A compiler turns schema documents into a schemaSet. Types are compiled when
// they are first referred to; recursion ends at a type that is under way.
type compiler struct {
	set         *schemaSet
	globals     map[globalName]*Element
	types       map[globalName]*elementType
	simpleTypes map[globalName]*simpleType
	depth       int // of groups and simple types that refer to each other
}

type globalName struct{ kind, space, name string }

// maxReferences bounds how deep groups and simple types refer to each other,
// so that a circle among them ends with an error.
const maxReferences = 30

func compile(texts ...string) (*schemaSet, error) {
	c := &compiler{
		set: &schemaSet{elements: map[string]*elementDeclaration{}, attributes: map[string]*attributeDeclaration{},
			parents: map[string][]string{}},
		globals:     map[globalName]*Element{},
		types:       map[globalName]*elementType{},
		simpleTypes: map[globalName]*simpleType{},
	}
	var roots []*Element
	for _, text := range texts {
		root, err := Read([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("read a schema: %w", err)
		}
		if err := checkConstructs(root); err != nil {
			return nil, err
		}
		if err := c.index(root); err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	for _, root := range roots {
		if err := c.globalDeclarations(root); err != nil {
			return nil, err
		}
	}
	c.set.findParents()
	return c.set, nil
}

func (c *compiler) index(root *Element) error {
	space := value(root, "targetNamespace")
	if root.Name != "schema" || space != CoreNamespace && space != ExtensionNamespace {
		return schemaError(root, "the target namespace %q is not known", space)
	}
	if value(root, "elementFormDefault") != "qualified" || value(root, "attributeFormDefault") != "unqualified" {
		return schemaError(root, "elements must be qualified and attributes unqualified")
	}
	for _, e := range root.Children {
		name := value(e, "name")
		if e.Name == "annotation" || e.Name == "import" {
			continue
		}
		key := globalName{e.Name, space, name}
		if name == "" || c.globals[key] != nil {
			return schemaError(e, "the %s has no name or one that is taken: %q", e.Name, name)
		}
		c.globals[key] = e
	}
	return nil
}

func (c *compiler) globalDeclarations(root *Element) error {
	space := value(root, "targetNamespace")
	for _, e := range root.Children {
		switch e.Name {
		case "element":
			declaration, err := c.element(e, space)
			if err != nil {
				return err
			}
			c.set.elements[declaration.symbol] = declaration
		case "attribute":
			declaration, err := c.attribute(e)
			if err != nil {
				return err
			}
			c.set.attributes[symbolIn(space, declaration.name)] = declaration
		case "complexType", "simpleType":
			if _, err := c.namedType(e, space, value(e, "name")); err != nil {
				return err
			}
		}
	}
	return nil
}

// findGlobal returns what a qualified name in an attribute of e refers to.
func (c *compiler) findGlobal(e *Element, attribute string, kinds ...string) (*Element, string, error) {
	prefix, local, found := strings.Cut(value(e, attribute), ":")
	if !found {
		prefix, local = "", prefix
	}
	space, known := e.scope.lookup(prefix)
	if known {
		for _, kind := range kinds {
			if global := c.globals[globalName{kind, space, local}]; global != nil {
				return global, space, nil
			}
		}
		if space == xsdNamespace {
			return nil, local, nil
		}
	}
	return nil, "", schemaError(e, "%q refers to nothing: %q", attribute, value(e, attribute))
}

func (c *compiler) element(e *Element, space string) (*elementDeclaration, error) {
	name := value(e, "name")
	if name == "" {
		return nil, schemaError(e, "an element has no name")
	}
	declaration := &elementDeclaration{symbol: symbolIn(space, name)}
	if err := declaration.readWithin(e); err != nil {
		return nil, err
	}
	if !has(e, "type") {
		declaration.elementType = &elementType{name: "anyType", anything: true}
		return declaration, nil
	}
	global, space, err := c.findGlobal(e, "type", "complexType", "simpleType")
	if err != nil {
		return nil, err
	}
	declaration.elementType, err = c.namedType(global, space, space)
	if err != nil {
		return nil, schemaError(e, "%w", err)
	}
	return declaration, nil
}

// namedType compiles the type that a global element describes; without one it
// is the built-in type of the given name.
func (c *compiler) namedType(global *Element, space, builtIn string) (*elementType, error) {
	if global == nil || global.Name == "simpleType" {
		text, err := c.simpleType(global, space, builtIn)
		if err != nil {
			return nil, err
		}
		return &elementType{name: builtIn, text: text}, nil
	}
	key := globalName{"complexType", space, value(global, "name")}
	if compiled := c.types[key]; compiled != nil {
		return compiled, nil
	}
	compiled := &elementType{name: symbolIn(space, key.name), mixed: value(global, "mixed") == "true"}
	c.types[key] = compiled
	c.set.types = append(c.set.types, compiled)
	content := &particle{least: 1, most: 1}
	for _, child := range global.Children {
		if !isParticle(child) {
			continue
		}
		part, err := c.particle(child, space)
		if err != nil {
			return nil, err
		}
		content.parts = append(content.parts, part)
	}
	if len(content.parts) > 1 {
		return nil, schemaError(global, "a type has more than one content model")
	}
	if err := c.attributesOf(global, compiled); err != nil {
		return nil, err
	}
	automaton, err := newAutomaton(content)
	if err != nil {
		return nil, schemaError(global, "the type %q: %w", key.name, err)
	}
	compiled.content = automaton
	return compiled, nil
}

func (c *compiler) simpleType(global *Element, space, builtIn string) (*simpleType, error) {
	if global == nil {
		if t, ok := builtInType(builtIn); ok {
			return t, nil
		}
		return nil, fmt.Errorf("the built-in type %q is not known", builtIn)
	}
	key := globalName{"simpleType", space, value(global, "name")}
	if compiled := c.simpleTypes[key]; compiled != nil {
		return compiled, nil
	}
	if c.depth++; c.depth > maxReferences {
		return nil, schemaError(global, "the type %q refers to itself", key.name)
	}
	defer func() { c.depth-- }()
	compiled := &simpleType{expectation: documentation(global)}
	for _, child := range global.Children {
		switch child.Name {
		case "list":
			item, err := c.simpleTypeNamed(child, "itemType")
			if err != nil {
				return nil, err
			}
			compiled.item = item
		case "restriction":
			base, err := c.simpleTypeNamed(child, "base")
			if err != nil {
				return nil, err
			}
			compiled.base = base
			if err := compiled.readFacets(child); err != nil {
				return nil, err
			}
		}
	}
	if compiled.item == nil && compiled.base == nil {
		return nil, schemaError(global, "the type %q is neither a list nor a restriction", key.name)
	}
	c.simpleTypes[key] = compiled
	return compiled, nil
}

func (c *compiler) simpleTypeNamed(e *Element, attribute string) (*simpleType, error) {
	global, space, err := c.findGlobal(e, attribute, "simpleType")
	if err != nil {
		return nil, err
	}
	return c.simpleType(global, space, space)
}

func (t *simpleType) readFacets(restriction *Element) error {
	for _, facet := range restriction.Children {
		text := value(facet, "value")
		switch facet.Name {
		case "enumeration":
			t.enumeration = append(t.enumeration, text)
			continue
		case "pattern":
			pattern, err := compilePattern(text)
			if err != nil {
				return schemaError(facet, "%w", err)
			}
			t.patterns = append(t.patterns, pattern)
			continue
		}
		number, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return schemaError(facet, "%s: %w", facet.Name, err)
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
		return schemaError(restriction, "of lists only the length can be restricted")
	}
	return nil
}

func value(e *Element, name string) string {
	for _, attribute := range e.Attributes {
		if attribute.Space == "" && attribute.Name == name {
			return attribute.Value
		}
	}
	return ""
}

func has(e *Element, name string) bool {
	for _, attribute := range e.Attributes {
		if attribute.Space == "" && attribute.Name == name {
			return true
		}
	}
	return false
}

// documentation returns what the annotation of a construct says, on one line.
func documentation(e *Element) string {
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
