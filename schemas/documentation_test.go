package schemas

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Editors show what the schemas say of elements and attributes: each of them
// says something, or its type does.
func TestEveryElementAndAttributeIsDocumented(t *testing.T) {
	for name, source := range map[string]string{"rm.xsd": rmText, "ext.xsd": extensionsText} {
		root, _, err := Read([]byte(source))
		require.NoError(t, err)
		documentedTypes := map[string]bool{}
		for _, child := range root.Children {
			if child.Name == "complexType" || child.Name == "simpleType" {
				documentedTypes[valueOf(child, "name")] = isDocumented(child)
			}
		}
		var walk func(*Element)
		walk = func(e *Element) {
			declared := valueOf(e, "name")
			if (e.Name == "element" || e.Name == "attribute") && declared != "" {
				_, local, _ := splitName(valueOf(e, "type"))
				require.True(t, isDocumented(e) || documentedTypes[local], "%s:%d: %s has no documentation", name, e.Line, declared)
			}
			for _, child := range e.Children {
				walk(child)
			}
		}
		walk(root)
	}
}

func valueOf(e *Element, name string) string {
	for _, attribute := range e.Attributes {
		if attribute.Name == name {
			return attribute.Value
		}
	}
	return ""
}

func isDocumented(e *Element) bool {
	for _, child := range e.Children {
		if child.Name == "annotation" {
			for _, inner := range child.Children {
				if inner.Name == "documentation" && !isBlank(inner.Text) {
					return true
				}
			}
		}
	}
	return false
}
