package schemas

import (
	"slices"
	"strconv"

	"github.com/rmctl/rmctl/internal/tree"
)

func isParticle(e *tree.Element) bool {
	switch e.Name {
	case "sequence", "choice", "group", "element", "any":
		return true
	}
	return false
}

// particle compiles a node of a content model; space is the target namespace
// of the schema that it stands in.
func (c *compiler) particle(e *tree.Element, space string) *particle {
	p := &particle{}
	defer c.leave()
	if !c.enter(e) {
		return p
	}
	c.readOccurrence(p, e)
	switch e.Name {
	case "element":
		p.element = c.element(e, space)
	case "any":
		p.wildcard = c.wildcard(e)
	case "group":
		p.parts = c.groupReference(e)
	default:
		p.choice = e.Name == "choice"
		for _, child := range e.Children {
			p.parts = append(p.parts, c.particle(child, space))
		}
	}
	return p
}

func (c *compiler) groupReference(e *tree.Element) []*particle {
	group, space := c.findGlobal(e, "ref", "group")
	if group == nil {
		c.fail(e, "a group has no reference")
		return nil
	}
	for _, child := range group.Children {
		if isParticle(child) {
			return []*particle{c.particle(child, space)}
		}
	}
	c.fail(group, "a group holds nothing")
	return nil
}

func (c *compiler) readOccurrence(p *particle, e *tree.Element) {
	p.least = c.number(e, "minOccurs", 1)
	if e.Value("maxOccurs") == "unbounded" {
		p.most = -1
	} else if p.most = c.number(e, "maxOccurs", 1); p.most == 0 || p.most < p.least {
		c.fail(e, "minOccurs and maxOccurs contradict each other")
	}
}

// number returns a small number in an attribute of e, or what it is without one.
func (c *compiler) number(e *tree.Element, attribute string, otherwise int) int {
	text := e.Value(attribute)
	if text == "" {
		return otherwise
	}
	number, err := strconv.ParseUint(text, 10, 6)
	if err != nil {
		c.fail(e, "%s: %w", attribute, err)
	}
	return int(number)
}

func (c *compiler) wildcard(e *tree.Element) *wildcard {
	namespace, process := e.Value("namespace"), e.Value("processContents")
	if namespace != "##any" && namespace != "##other" || process != "lax" && process != "skip" {
		c.fail(e, "the wildcard for %q, %q is not known", namespace, process)
	}
	return &wildcard{any: namespace == "##any", skip: process == "skip"}
}

// attributesOf adds the attributes that e declares, directly or through groups.
func (c *compiler) attributesOf(e *tree.Element, t *elementType) {
	defer c.leave()
	if !c.enter(e) {
		return
	}
	for _, child := range e.Children {
		switch child.Name {
		case "attribute":
			declaration := c.attribute(child)
			if t.attribute(declaration.name) != nil {
				c.fail(child, "the attribute %q is declared twice", declaration.name)
			}
			t.attributes = append(t.attributes, declaration)
		case "attributeGroup":
			if group, _ := c.findGlobal(child, "ref", "attributeGroup"); group != nil {
				c.attributesOf(group, t)
			} else {
				c.fail(child, "a group of attributes has no reference")
			}
		case "anyAttribute":
			t.foreign = c.wildcard(child)
		}
	}
}

func (c *compiler) attribute(e *tree.Element) *attributeDeclaration {
	use, otherwise := e.Value("use"), e.Value("default")
	declaration := &attributeDeclaration{name: e.Value("name"), required: use == "required", value: c.simpleTypeNamed(e, "type")}
	switch {
	case declaration.name == "":
		c.fail(e, "an attribute has no name")
	case use != "" && use != "optional" && use != "required":
		c.fail(e, "the use %q is not known", use)
	case otherwise != "" && !declaration.value.accepts(otherwise):
		c.fail(e, "the default of %q is not of its type", declaration.name)
	}
	return declaration
}

// readWithin reads where an extension stands, which wildcards cannot say.
func (c *compiler) readWithin(d *elementDeclaration, e *tree.Element) {
	for _, annotation := range e.Children {
		for _, information := range annotation.Children {
			if information.Name != "appinfo" {
				continue
			}
			for _, within := range information.Children {
				if within.Space != tree.ExtensionNamespace || within.Name != "within" {
					c.fail(within, "%q is not known", within.Name)
				}
				d.within = within.Value("element")
				d.atMost = c.number(within, "at-most", 0)
			}
		}
	}
}

// findParents collects for every element where it may stand, for messages.
func (s *schemaSet) findParents() {
	add := func(child, parent string) {
		if !slices.Contains(s.parents[child], parent) {
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
