package editors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A compactWriter writes schemas in the compact syntax of RELAX NG, which says where each
// element of rmctl stands: XSD 1.0 cannot. As in a definition that extends another one,
// nothing has to be there.
//
// Names are written as the schemas write them: with the prefixes rm, x and xs.
type compactWriter struct {
	out     strings.Builder
	globals map[string]*xmltree.Element // by kind and name
	within  map[string][]string         // the patterns of x elements, by their parent elements
	pending []func()                    // patterns to write
	known   map[string]bool             // patterns that are written, or pending
	err     error                       // the first
}

// compact returns the schemas in the compact syntax.
func compact(schemas ...string) (string, error) {
	w := &compactWriter{globals: map[string]*xmltree.Element{}, within: map[string][]string{}, known: map[string]bool{}}
	var extensions, attributes []*xmltree.Element
	for _, text := range schemas {
		document, err := xmltree.Read("", []byte(text))
		if err != nil {
			return "", err
		}
		prefix := prefixOf(document.Root)
		for _, e := range document.Root.Children {
			w.globals[e.Name+" "+prefix+":"+e.Value("name")] = e
			switch {
			case prefix == "rm":
			case e.Name == "element":
				extensions = append(extensions, e)
			case e.Name == "attribute":
				attributes = append(attributes, e)
			}
		}
	}
	w.out.WriteString(`# For Emacs: nxml-mode. What has to be there, and how often, is checked by rmctl validate.
default namespace rm = "` + xmltree.CoreNamespace + `"
namespace x = "` + xmltree.ExtensionNamespace + `"
namespace local = ""

start = ` + w.element(w.globals["element rm:resource-manager-builder"], "rm") + `
any = mixed { (attribute * { text } | element * { any })* }
other.element = element * - (rm:* | x:* | local:*) { any }
other.attribute = attribute * - (local:* | rm:* | x:*) { text }
`)
	for _, e := range extensions {
		w.place(e)
	}
	w.define("x.attributes", w.attributes(attributes, "x"))
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		next()
	}
	return w.out.String(), w.err
}

func prefixOf(schema *xmltree.Element) string {
	if schema.Value("targetNamespace") == xmltree.ExtensionNamespace {
		return "x"
	}
	return "rm"
}

func (w *compactWriter) define(name, pattern string) { fmt.Fprintf(&w.out, "%s = %s\n", name, pattern) }

// place records the position of an element of rmctl.
func (w *compactWriter) place(e *xmltree.Element) {
	for part := range e.All() {
		if part.IsExtension("within") {
			for parent := range strings.FieldsSeq(part.Value("element")) {
				w.within[parent] = append(w.within[parent], w.element(e, "x"))
			}
		}
	}
}

// element returns the name of the pattern of an element, which is written later.
func (w *compactWriter) element(e *xmltree.Element, prefix string) string {
	name, kind := e.Value("name"), e.Value("type")
	written := name
	if prefix == "x" {
		written = "x:" + name
	}
	pattern := prefix + "." + name
	if kind != "" {
		pattern += "." + strings.ReplaceAll(kind, ":", ".")
	}
	if !w.known[pattern] {
		w.known[pattern] = true
		w.pending = append(w.pending, func() { w.define(pattern, "element "+written+" { "+w.content(kind, written)+" }") })
	}
	return pattern
}

// content returns the pattern of what an element of a type holds.
func (w *compactWriter) content(kind, parent string) string {
	complexType := w.globals["complexType "+kind]
	switch {
	case kind == "":
		return "any"
	case complexType == nil:
		return w.data(kind)
	}
	prefix, _, _ := strings.Cut(kind, ":")
	var parts []string
	if attributes := w.attributes(complexType.Children, prefix); attributes != "empty" {
		parts = append(parts, attributes)
	}
	for _, child := range complexType.Children {
		if particle := w.particle(child, prefix, parent); particle != "" {
			parts = append(parts, particle)
		}
	}
	switch {
	case complexType.Value("mixed") == "true":
		return "mixed { " + strings.Join(parts, ", ") + " }"
	case len(parts) == 0:
		return "empty"
	}
	return strings.Join(parts, ", ")
}

// particle returns the pattern of a part of a content model, empty for anything else.
func (w *compactWriter) particle(e *xmltree.Element, prefix, parent string) string {
	var pattern string
	switch e.Name {
	case "element":
		pattern = w.element(e, prefix)
		if most := e.Value("maxOccurs"); most == "" || most == "1" {
			return pattern + "?"
		}
	case "any":
		if e.Value("processContents") == "skip" {
			return "any"
		}
		pattern = "(" + strings.Join(append(slices.Clone(w.within[parent]), "other.element"), " | ") + ")"
	case "group":
		reference := e.Value("ref")
		group := w.global("group", reference)
		groupPrefix, _, _ := strings.Cut(reference, ":")
		return w.joined(group, ", ", groupPrefix, parent)
	case "sequence":
		return w.joined(e, ", ", prefix, parent)
	case "choice":
		pattern = w.joined(e, " | ", prefix, parent)
	default:
		return ""
	}
	return pattern + "*"
}

// joined returns the patterns of the particles in a part of a content model.
func (w *compactWriter) joined(e *xmltree.Element, separator, prefix, parent string) string {
	var parts []string
	for _, child := range e.Children {
		if part := w.particle(child, prefix, parent); part != "" {
			parts = append(parts, part)
		}
	}
	return "(" + strings.Join(parts, separator) + ")"
}

// attributes returns the pattern of the attributes among some declarations.
func (w *compactWriter) attributes(declarations []*xmltree.Element, prefix string) string {
	var parts []string
	for _, e := range declarations {
		switch e.Name {
		case "attribute":
			name := e.Value("name")
			if e.Parent.Name == "schema" {
				name = prefix + ":" + name
			}
			parts = append(parts, "attribute "+name+" { "+w.data(e.Value("type"))+" }?")
		case "attributeGroup":
			group := w.global("attributeGroup", e.Value("ref"))
			parts = append(parts, w.attributes(group.Children, prefix))
		case "anyAttribute":
			parts = append(parts, "x.attributes", "other.attribute*")
		}
	}
	if len(parts) == 0 {
		return "empty"
	}
	return strings.Join(parts, ", ")
}

// global returns what a reference refers to, an empty element with an error for nothing.
func (w *compactWriter) global(kind, name string) *xmltree.Element {
	if found := w.globals[kind+" "+name]; found != nil {
		return found
	}
	if w.err == nil {
		w.err = fmt.Errorf("%s %q is not declared", kind, name)
	}
	return &xmltree.Element{}
}

// data returns the pattern of the values of a type.
func (w *compactWriter) data(kind string) string {
	if builtIn, isBuiltIn := strings.CutPrefix(kind, "xs:"); isBuiltIn {
		if builtIn == "string" {
			return "text"
		}
		return "xsd:" + builtIn
	}
	for _, child := range w.global("simpleType", kind).Children {
		switch child.Name {
		case "list":
			return "list { (" + w.data(child.Value("itemType")) + ")* }"
		case "restriction":
			return w.restricted(child)
		}
	}
	return "text"
}

// restricted returns the pattern of a restriction: its values, its patterns, or a range of its
// base type.
func (w *compactWriter) restricted(restriction *xmltree.Element) string {
	var choices, facets []string
	base := w.data(restriction.Value("base"))
	for _, facet := range restriction.Children {
		value := inQuotes(facet.Value("value"))
		switch facet.Name {
		case "enumeration":
			choices = append(choices, value)
		case "pattern":
			choices = append(choices, "xsd:string { pattern = "+strings.ReplaceAll(value, "[-", `[\-`)+" }") // Emacs wants it so
		default:
			facets = append(facets, facet.Name+" = "+value)
		}
	}
	switch {
	case len(choices) > 0:
		return strings.Join(choices, " | ")
	case base == "text" && len(facets) > 0:
		return "xsd:string { " + strings.Join(facets, " ") + " }"
	case strings.HasPrefix(base, "xsd:") && !strings.Contains(base, "{") && len(facets) > 0:
		return base + " { " + strings.Join(facets, " ") + " }"
	}
	return base
}

// inQuotes returns a literal.
func inQuotes(text string) string {
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}
