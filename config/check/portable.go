package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// checkPortable reports links to unknown attributes, or with invalid conversions.
func (c *checker) checkPortable() {
	next := 0
	for _, control := range c.root.Named("control-data") {
		for _, child := range control.Children {
			if e := child; e.IsExtension("portable") {
				c.checkPortableLink(e, c.definition.Portable[next])
				next++
			}
		}
	}
}

func (c *checker) checkPortableLink(e *xmltree.Element, link *config.PortableLink) {
	name := portablename.Lookup(link.Name)
	if name == nil {
		return // reported by the schema
	}
	c.checkPortableEffect(e, link)
	c.checkPortableOptions(e, link, name)
	c.checkPortableText(e, link, name)
	if link.Attribute != "" {
		c.checkPortableAttributes(e, "attribute", link.Attribute)
	}
	c.checkPortableAttributes(e, "excludes", link.Excludes...)
	for _, where := range []struct {
		attribute string
		names     []string
	}{{"with", link.With}, {"unless", link.Unless}} {
		c.checkPortableAttributes(e, where.attribute, slices.DeleteFunc(slices.Clone(where.names), isPortableCondition)...)
	}
}

func (c *checker) invalidPortableLink(e *xmltree.Element, attribute, format string, arguments ...any) {
	c.report(e.ValuePosition(attribute), config.Error, "invalid-portable-link", fmt.Sprintf(format, arguments...), "")
}

// checkPortableEffect reports a link without effect, or with two effects that exclude each other.
func (c *checker) checkPortableEffect(e *xmltree.Element, link *config.PortableLink) {
	switch {
	case link.Attribute == "" && link.Note == "" && link.Refused == "" && link.Most == 0:
		c.invalidPortableLink(e, "name", "the link of %q needs attribute, note, most or refused", link.Name)
	case link.Attribute != "" && link.Note != "":
		c.invalidPortableLink(e, "note", "a note says that %q has no effect, but it sets %q", link.Name, link.Attribute)
	case link.Refused != "" && (link.Attribute != "" || link.Note != "" || link.Most != 0):
		c.invalidPortableLink(e, "refused", "the link of %q has refused, which excludes attribute, note and most", link.Name)
	}
}

// checkPortableOptions reports a unit or another option that values of the name do not
// have.
func (c *checker) checkPortableOptions(e *xmltree.Element, link *config.PortableLink, name *portablename.Name) {
	isUnit := slices.ContainsFunc(portablename.Names(), func(other portablename.Name) bool { return slices.Contains(other.Units(), link.As) })
	if isUnit && !slices.Contains(name.Units(), link.As) {
		c.invalidPortableLink(e, "as", "%q cannot be converted to %q%s", link.Name, link.As, oneOf(name.Units()))
	}
	for _, option := range []string{"most", "per", "times", "words", "when", "separator"} {
		if e.Optional(option).Set && !name.Takes(option) {
			c.invalidPortableLink(e, option, "%q has no meaning for %q", option, link.Name)
		}
	}
}

// isPortableCondition reports whether a word of with or unless is a portable name,
// or NAME=COUNT for a count. Other words must be attributes.
func isPortableCondition(word string) bool {
	text, count, hasCount := strings.Cut(word, "=")
	name := portablename.Lookup(text)
	if name == nil || !hasCount {
		return name != nil
	}
	number, err := strconv.ParseInt(count, 10, 64)
	return name.Takes("most") && err == nil && number > 0
}

func oneOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return "; it is one of " + strings.Join(texts, ", ")
}

// checkPortableText reports parts in the text of a link that its name lacks.
func (c *checker) checkPortableText(e *xmltree.Element, link *config.PortableLink, name *portablename.Name) {
	text := link.Text
	if !e.Optional("text").Set {
		if link.Attribute != "" && !slices.Contains(name.Parts(), "{}") {
			c.report(e.ValuePosition("name"), config.Error, "invalid-portable-link",
				fmt.Sprintf("the link of %q does not say which part %q gets", link.Name, link.Attribute), `text="`+name.Parts()[0]+`"`)
		}
		return
	}
	for _, part := range []string{"{}", "{ranges}", "{limit}", "{events}", "{address}"} {
		if at := strings.Index(text, part); at >= 0 && !slices.Contains(name.Parts(), part) {
			c.report(e.ValueWithin("text", at), config.Error, "invalid-portable-link",
				fmt.Sprintf("%q has no part %s%s", link.Name, part, oneOf(name.Parts())), "")
		}
	}
}

// checkPortableAttributes reports names in a link that no attribute has.
func (c *checker) checkPortableAttributes(e *xmltree.Element, where string, names ...string) {
	for _, name := range names {
		c.use(name, usedElsewhere)
		if _, defined := c.names.defined[name]; !defined {
			at := strings.Index(e.Value(where), name)
			c.reportName(e.ValueWithin(where, max(at, 0)), config.Error, "invalid-portable-link",
				fmt.Sprintf("the definition has no attribute %q to link %q to", name, e.Value("name")), name, c.names.candidates)
		}
	}
}
