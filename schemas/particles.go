package schemas

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

func isParticle(e *xmltree.Element) bool {
	switch e.Name {
	case "sequence", "choice", "group", "element", "any":
		return true
	}
	return false
}

// particle adds a node of a content model to an automaton; space is the target
// namespace of the schema that it stands in.
func (c *compiler) particle(a *automaton, e *xmltree.Element, space string) fragment {
	defer c.leave()
	if !c.enter(e) || len(a.states) > maxStates {
		return fragment{nullable: true}
	}
	least, most := c.number(e, "minOccurs", 1), unbounded
	if e.Value("maxOccurs") != "unbounded" {
		if most = c.number(e, "maxOccurs", 1); most == 0 || most < least {
			c.fail(e, "minOccurs and maxOccurs contradict each other")
		}
	}
	return a.repeat(func() fragment { return c.particleOnce(a, e, space) }, least, most)
}

func (c *compiler) particleOnce(a *automaton, e *xmltree.Element, space string) fragment {
	switch e.Name {
	case "element":
		return a.addPlace(automatonState{element: c.element(e, space)})
	case "any":
		return a.addPlace(automatonState{wildcard: c.wildcard(e)})
	case "group":
		return c.groupReference(a, e)
	case "choice":
		whole := fragment{}
		for _, part := range e.Children {
			f := c.particle(a, part, space)
			whole.first = append(whole.first, f.first...)
			whole.last = append(whole.last, f.last...)
			whole.nullable = whole.nullable || f.nullable
		}
		return whole
	}
	whole := fragment{nullable: true}
	for _, part := range e.Children {
		whole = a.concatenate(whole, c.particle(a, part, space))
	}
	return whole
}

func (c *compiler) groupReference(a *automaton, e *xmltree.Element) fragment {
	group, space := c.findGlobal(e, "ref", "group")
	if group == nil {
		c.fail(e, "a group has no reference")
		return fragment{}
	}
	at := slices.IndexFunc(group.Children, isParticle)
	if at < 0 {
		c.fail(group, "a group holds nothing")
		return fragment{}
	}
	return c.particle(a, group.Children[at], space)
}

// number returns a small number in an attribute of e, or what it is without one.
func (c *compiler) number(e *xmltree.Element, attribute string, otherwise int) int {
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

func (c *compiler) wildcard(e *xmltree.Element) *wildcard {
	namespace, process := e.Value("namespace"), e.Value("processContents")
	if namespace != "##any" && namespace != "##other" || process != "lax" && process != "skip" {
		c.fail(e, "the wildcard for %q, %q is not known", namespace, process)
	}
	return &wildcard{any: namespace == "##any", skip: process == "skip"}
}

// attributesOf adds the attributes that e declares, directly or through groups.
func (c *compiler) attributesOf(e *xmltree.Element, t *elementType) {
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

func (c *compiler) attribute(e *xmltree.Element) *attributeDeclaration {
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
func (c *compiler) readWithin(d *elementDeclaration, e *xmltree.Element) {
	for _, annotation := range e.Children {
		for _, information := range annotation.Children {
			if information.Name != "appinfo" {
				continue
			}
			for _, within := range information.Children {
				if within.Space != xmltree.ExtensionNamespace || within.Name != "within" {
					c.fail(within, "%q is not known", within.Name)
				}
				d.within = strings.Fields(within.Value("element"))
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
		for _, parent := range declaration.within {
			add(declaration.symbol, parent)
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
