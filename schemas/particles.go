package schemas

import (
	"slices"
	"strconv"
)

func isParticle(e *Element) bool {
	switch e.Name {
	case "sequence", "choice", "group", "element", "any":
		return true
	}
	return false
}

// particle compiles a node of a content model; space is the target namespace
// of the schema that it stands in.
func (c *compiler) particle(e *Element, space string) (*particle, error) {
	if c.depth++; c.depth > maxReferences {
		return nil, schemaError(e, "a group refers to itself")
	}
	defer func() { c.depth-- }()
	p := &particle{}
	if err := p.readOccurrence(e); err != nil {
		return nil, err
	}
	var err error
	switch e.Name {
	case "element":
		p.element, err = c.element(e, space)
	case "any":
		p.wildcard, err = readWildcard(e)
	case "group":
		var part *particle
		part, err = c.groupReference(e)
		p.parts = []*particle{part}
	default:
		p.choice = e.Name == "choice"
		for _, child := range e.Children {
			part, err := c.particle(child, space)
			if err != nil {
				return nil, err
			}
			p.parts = append(p.parts, part)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (c *compiler) groupReference(e *Element) (*particle, error) {
	group, space, err := c.findGlobal(e, "ref", "group")
	if err != nil {
		return nil, err
	}
	if group == nil {
		return nil, schemaError(e, "a group has no reference")
	}
	for _, child := range group.Children {
		if isParticle(child) {
			return c.particle(child, space)
		}
	}
	return nil, schemaError(group, "a group holds nothing")
}

func (p *particle) readOccurrence(e *Element) error {
	p.least, p.most = 1, 1
	if has(e, "minOccurs") {
		least, err := strconv.ParseUint(value(e, "minOccurs"), 10, 8)
		if err != nil {
			return schemaError(e, "minOccurs: %w", err)
		}
		p.least = int(least)
	}
	switch most := value(e, "maxOccurs"); {
	case most == "unbounded":
		p.most = -1
	case has(e, "maxOccurs"):
		number, err := strconv.ParseUint(most, 10, 6)
		if err != nil {
			return schemaError(e, "maxOccurs: %w", err)
		}
		p.most = int(number)
	}
	if p.most == 0 || p.most > 0 && p.most < p.least {
		return schemaError(e, "minOccurs and maxOccurs contradict each other")
	}
	return nil
}

func readWildcard(e *Element) (*wildcard, error) {
	namespace, process := value(e, "namespace"), value(e, "processContents")
	if namespace != "##any" && namespace != "##other" || process != "lax" && process != "skip" {
		return nil, schemaError(e, "the wildcard for %q, %q is not known", namespace, process)
	}
	return &wildcard{any: namespace == "##any", skip: process == "skip"}, nil
}

// attributesOf adds the attributes that e declares, directly or through groups.
func (c *compiler) attributesOf(e *Element, t *elementType) error {
	if c.depth++; c.depth > maxReferences {
		return schemaError(e, "a group of attributes refers to itself")
	}
	defer func() { c.depth-- }()
	for _, child := range e.Children {
		switch child.Name {
		case "attribute":
			declaration, err := c.attribute(child)
			if err != nil {
				return err
			}
			if t.attribute(declaration.name) != nil {
				return schemaError(child, "the attribute %q is declared twice", declaration.name)
			}
			t.attributes = append(t.attributes, declaration)
		case "attributeGroup":
			group, _, err := c.findGlobal(child, "ref", "attributeGroup")
			if err != nil {
				return err
			}
			if group == nil {
				return schemaError(child, "a group of attributes has no reference")
			}
			if err := c.attributesOf(group, t); err != nil {
				return err
			}
		case "anyAttribute":
			foreign, err := readWildcard(child)
			if err != nil {
				return err
			}
			t.foreign = foreign
		}
	}
	return nil
}

func (c *compiler) attribute(e *Element) (*attributeDeclaration, error) {
	declaration := &attributeDeclaration{name: value(e, "name")}
	if declaration.name == "" {
		return nil, schemaError(e, "an attribute has no name")
	}
	switch use := value(e, "use"); use {
	case "required":
		declaration.required = true
	case "", "optional":
	default:
		return nil, schemaError(e, "the use %q is not known", use)
	}
	text, err := c.simpleTypeNamed(e, "type")
	if err != nil {
		return nil, schemaError(e, "the attribute %q: %w", declaration.name, err)
	}
	declaration.value = text
	if has(e, "default") && !text.accepts(value(e, "default")) {
		return nil, schemaError(e, "the default of %q is not of its type", declaration.name)
	}
	return declaration, nil
}

// readWithin reads where an extension stands, which wildcards cannot say.
func (d *elementDeclaration) readWithin(e *Element) error {
	for _, annotation := range e.Children {
		for _, information := range annotation.Children {
			if information.Name != "appinfo" {
				continue
			}
			for _, within := range information.Children {
				if within.Space != ExtensionNamespace || within.Name != "within" {
					return schemaError(within, "%q is not known", within.Name)
				}
				d.within = value(within, "element")
				if !has(within, "at-most") {
					continue
				}
				number, err := strconv.ParseUint(value(within, "at-most"), 10, 8)
				if err != nil {
					return schemaError(within, "at-most: %w", err)
				}
				d.atMost = int(number)
			}
		}
	}
	return nil
}

// findParents collects for every element where it may stand, for messages.
func (s *schemaSet) findParents() {
	add := func(child, parent string) {
		if !contains(s.parents[child], parent) {
			s.parents[child] = append(s.parents[child], parent)
		}
	}
	declarations := []*elementDeclaration{}
	for _, declaration := range s.elements {
		declarations = append(declarations, declaration)
		if declaration.within != "" {
			add(declaration.symbol, declaration.within)
		}
	}
	for _, t := range s.types {
		declarations = append(declarations, t.content.declarations()...)
	}
	for _, parent := range declarations {
		if parent.content == nil {
			continue
		}
		for _, child := range parent.content.declarations() {
			add(child.symbol, parent.symbol)
		}
	}
	for _, parents := range s.parents {
		slices.Sort(parents)
	}
}
