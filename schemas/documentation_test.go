package schemas

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// Editors show what the schemas say of elements and attributes: each of them
// says something, or its type does.
func TestEveryElementAndAttributeIsDocumented(t *testing.T) {
	for name, source := range map[string]string{"rm.xsd": rmText, "ext.xsd": extensionsText} {
		document, err := xmltree.Read("", []byte(source))
		require.NoError(t, err)
		documentedTypes := map[string]bool{}
		for _, child := range document.Root.Children {
			if child.Name == "complexType" || child.Name == "simpleType" {
				documentedTypes[child.Value("name")] = isDocumented(child)
			}
		}
		var walk func(*xmltree.Element)
		walk = func(e *xmltree.Element) {
			declared := e.Value("name")
			if (e.Name == "element" || e.Name == "attribute") && declared != "" {
				_, local, _ := strings.Cut(e.Value("type"), ":")
				require.True(t, isDocumented(e) || documentedTypes[local], "%s:%d: %s has no documentation", name, e.Position().Line, declared)
			}
			for _, child := range e.Children {
				walk(child)
			}
		}
		walk(document.Root)
	}
}

func isDocumented(e *xmltree.Element) bool {
	for _, child := range e.Children {
		if child.Name == "annotation" {
			for _, inner := range child.Children {
				if inner.Name == "documentation" && strings.TrimSpace(inner.Text) != "" {
					return true
				}
			}
		}
	}
	return false
}
