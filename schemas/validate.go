package schemas

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

type validation struct {
	set   *schemaSet
	file  string // of the root
	found []Violation
}

func (v *validation) root(e *xmltree.Element) {
	symbol, relevant := symbolOf(e)
	declaration := v.set.elements[symbol]
	if relevant && declaration != nil && declaration.within == nil {
		v.element(e, declaration)
		return
	}
	if !relevant && v.set.elements[e.Name] != nil {
		v.report(e.Position(), unknownElement, "", "%s is in the namespace %s, not in %s",
			wording.Quote(e.Name), wording.Quote(e.Space), wording.Quote(xmltree.CoreNamespace))
		return
	}
	var roots []string
	for name, candidate := range v.set.elements {
		if candidate.within == nil {
			roots = append(roots, name)
		}
	}
	suggestion := ""
	if relevant {
		suggestion = wording.Nearest(e.Name, roots)
	}
	v.report(e.Position(), unknownElement, suggestion, "%s is not the root of a definition; %s is",
		wording.Quote(symbol), oneOf(roots))
	if suggestion != "" {
		v.element(e, v.set.elements[suggestion])
	}
}

// symbolOf returns the symbol of an element; those of foreign namespaces are
// not relevant.
func symbolOf(e *xmltree.Element) (symbol string, relevant bool) {
	return symbolIn(e.Space, e.Name), e.Space == xmltree.ExtensionNamespace || xmltree.IsCore(e.Space)
}

// element checks an element whose own place is settled.
func (v *validation) element(e *xmltree.Element, d *elementDeclaration) {
	if v.full() || d.anything {
		return
	}
	v.attributes(e, d)
	if d.text != nil {
		v.textOnly(e, d)
		return
	}
	if at, ok := e.VisibleText(); ok && !d.mixed {
		v.report(at, unexpectedText, "", "text is not allowed in %s: %s",
			wording.Quote(d.symbol), wording.Quote(strings.Trim(e.Text, blanks)))
	}
	v.children(e, d)
}

func (v *validation) textOnly(e *xmltree.Element, d *elementDeclaration) {
	for _, child := range e.Children {
		if symbol, relevant := symbolOf(child); relevant {
			v.misfit(child, symbol, d, wording.Quote(d.symbol)+" contains text and no elements")
		}
	}
	if len(e.Children) == 0 && !d.text.accepts(e.Text) {
		v.report(e.TextWithin(0), invalidValue, wording.Nearest(e.Text, d.text.choices()), "%s must be %s, not %s",
			wording.Quote(d.symbol), d.text.expects(), wording.Quote(e.Text))
		v.foundThere(e.Text)
	}
}

// children checks which children an element has, and then each of them.
func (v *validation) children(e *xmltree.Element, d *elementDeclaration) {
	children := make([]*xmltree.Element, 0, len(e.Children))
	symbols := make([]string, 0, len(e.Children))
	for _, child := range e.Children {
		symbol, relevant := symbolOf(child)
		if !relevant {
			continue
		}
		if present, ok := legacyElements[spelling{d.name, symbol}]; ok {
			symbol = present
		}
		children = append(children, child)
		symbols = append(symbols, symbol)
	}
	places, ok := d.content.accept(symbols)
	if !ok {
		v.repaired(&misfits{validation: v, parent: e, declaration: d, children: children, symbols: symbols})
		return
	}
	counts := map[string]int{}
	for i, child := range children {
		v.placed(child, symbols[i], d, places[i], counts)
	}
}

// placed goes on into a child that stands where it may. counts has how often
// each extension was met in the same parent.
func (v *validation) placed(child *xmltree.Element, symbol string, parent *elementDeclaration, place int, counts map[string]int) {
	state := &parent.content.states[place]
	if state.element != nil {
		v.element(child, state.element)
		return
	}
	if state.wildcard.skip {
		return
	}
	declaration := v.set.elements[symbol]
	switch {
	case declaration == nil:
		v.unknownExtension(child, symbol, parent)
		return
	case !slices.Contains(declaration.within, parent.symbol):
		v.misfit(child, symbol, parent, "")
	default:
		counts[symbol]++
		if declaration.atMost > 0 && counts[symbol] > declaration.atMost {
			v.report(child.Position(), repeatedElement, "", "%s is allowed in %s only %s",
				wording.Quote(symbol), wording.Quote(parent.symbol), times(declaration.atMost))
		}
	}
	v.element(child, declaration)
}

func (v *validation) unknownExtension(child *xmltree.Element, symbol string, parent *elementDeclaration) {
	var here []string
	for name, declaration := range v.set.elements {
		if slices.Contains(declaration.within, parent.symbol) {
			here = append(here, name)
		}
	}
	suggestion := wording.Nearest(symbol, here)
	v.report(child.Position(), unknownElement, suggestion, "%s is not an element of the extensions %s",
		wording.Quote(symbol), xmltree.ExtensionNamespace)
	if suggestion != "" {
		v.element(child, v.set.elements[suggestion])
	}
}

// attributes checks the attributes of an element.
func (v *validation) attributes(e *xmltree.Element, d *elementDeclaration) {
	if d.foreign != nil && d.foreign.skip {
		return
	}
	present := make([]string, 0, 8)
	for _, attribute := range e.Attributes {
		switch {
		case attribute.Space == "":
			present = append(present, v.attribute(attribute, d))
		case attribute.Space == xmltree.ExtensionNamespace:
			v.extensionAttribute(attribute, d)
		case xmltree.IsCore(attribute.Space):
			v.report(attribute.Position(), unknownAttribute, attribute.Name,
				"attributes of PTP have no prefix: %s", wording.Quote(attribute.Name))
			present = append(present, attribute.Name)
		}
	}
	for _, declaration := range d.elementType.attributes {
		if declaration.required && !slices.Contains(present, declaration.name) {
			v.report(e.Position(), missingAttribute, "", "%s requires the attribute %s",
				wording.Quote(d.symbol), wording.Quote(declaration.name))
		}
	}
}

// attribute checks one attribute and returns the name that it goes by, or was
// most likely meant to have, so that it is not missed as well.
func (v *validation) attribute(attribute xmltree.Attribute, d *elementDeclaration) string {
	name := attribute.Name
	if present, ok := legacyAttributes[spelling{d.name, name}]; ok {
		if present == "" {
			return name
		}
		name = present
	}
	declaration := d.attribute(name)
	if declaration == nil {
		var names []string
		for _, known := range d.elementType.attributes {
			names = append(names, known.name)
		}
		suggestion := wording.Nearest(name, names)
		if len(names) == 0 {
			v.report(attribute.Position(), unknownAttribute, "", "%s has no attributes, not %s",
				wording.Quote(d.symbol), wording.Quote(name))
		} else {
			v.report(attribute.Position(), unknownAttribute, suggestion, "%s has no attribute %s; it has %s",
				wording.Quote(d.symbol), wording.Quote(name), strings.Join(names, ", "))
			v.foundThere(name)
		}
		return suggestion
	}
	legacy, ok := legacyValues[spelling{d.name, name}]
	if !declaration.value.accepts(attribute.Value) && (!ok || legacy != attribute.Value) {
		v.invalidValue(attribute, name, declaration.value)
	}
	return name
}

func (v *validation) extensionAttribute(attribute xmltree.Attribute, d *elementDeclaration) {
	symbol := extensionSymbol(attribute.Name)
	declaration := v.set.attributes[symbol]
	switch {
	case declaration == nil:
		var names []string
		if d.foreign != nil {
			for name := range v.set.attributes {
				names = append(names, name)
			}
		}
		v.report(attribute.Position(), unknownAttribute, wording.Nearest(symbol, names),
			"%s is not an attribute of the extensions %s", wording.Quote(symbol), xmltree.ExtensionNamespace)
	case d.foreign == nil:
		v.report(attribute.Position(), unknownAttribute, "", "%s cannot have the attribute %s",
			wording.Quote(d.symbol), wording.Quote(symbol))
	case !declaration.value.accepts(attribute.Value):
		v.invalidValue(attribute, symbol, declaration.value)
	}
}

func (v *validation) invalidValue(attribute xmltree.Attribute, name string, expected *simpleType) {
	suggestion := wording.Nearest(strings.Trim(attribute.Value, blanks), expected.choices())
	if expected.primitive() == "boolean" && suggestion == "" {
		switch strings.ToLower(attribute.Value) {
		case "yes", "on":
			suggestion = "true"
		case "no", "off":
			suggestion = "false"
		}
	}
	v.report(attribute.ValuePosition(), invalidValue, suggestion, "%s must be %s, not %s",
		wording.Quote(name), expected.expects(), wording.Quote(attribute.Value))
	v.foundThere(attribute.Value)
}
