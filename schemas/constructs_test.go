package schemas

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

type construct struct{ attributes, children []string }

// constructs are those that the interpreter knows, with all that may stand in
// them. What is not here would be silently ignored, so the schemas must not use it.
var constructs = map[string]construct{
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

func TestSchemasHaveOnlyConstructsThatAreInterpreted(t *testing.T) {
	for _, source := range []string{rmText, extensionsText} {
		document, err := xmltree.Read("", []byte(source))
		require.NoError(t, err)
		requireConstructs(t, document.Root)
	}
}

func requireConstructs(t *testing.T, e *xmltree.Element) {
	known, ok := constructs[e.Name]
	require.True(t, ok && e.Space == xsdNamespace, "line %d: the construct %q is not known", e.Position().Line, e.Name)
	for _, attribute := range e.Attributes {
		require.True(t, attribute.Space == "" && slices.Contains(known.attributes, attribute.Name), "line %d: the attribute %q of %q is not known", e.Position().Line, attribute.Name, e.Name)
	}
	if e.Name == "appinfo" || e.Name == "documentation" {
		return
	}
	require.Empty(t, strings.TrimSpace(e.Text), "text stands in %q", e.Name)
	for _, child := range e.Children {
		require.Contains(t, known.children, child.Name, "line %d, inside %q", child.Position().Line, e.Name)
		requireConstructs(t, child)
	}
}
