// Package schemas reads XML documents into trees that know where everything
// stands, and checks them against the schema of resource-manager definitions.
//
// The schema is what rm.xsd and ext.xsd say. [Validate] interprets these files,
// which use a small part of XSD 1.0, so that there is one description of the
// format; a test refuses constructs that the interpreter does not know.
package schemas

import (
	_ "embed"
	"sync"
)

const (
	// CoreNamespace is the namespace of the elements of a definition.
	CoreNamespace = "http://eclipse.org/ptp/rm"
	// ExtensionNamespace is the namespace of what rmctl adds to the format.
	ExtensionNamespace = "urn:rmctl:definition:1"
)

// rmText is the schema of the format, version 1.2, as XSD 1.0.
//
//go:embed rm.xsd
var rmText string

// extensionsText is the schema of what rmctl adds to the format. It imports the
// file rm.xsd beside it.
//
//go:embed ext.xsd
var extensionsText string

// embedded compiles the two schemas once per process.
var embedded = sync.OnceValues(func() (*schemaSet, error) { return compile(rmText, extensionsText) })

// IsCore reports whether a namespace is one of those that definitions have been
// written in: the present one, those of two older generations, and none.
func IsCore(space string) bool {
	switch space {
	case CoreNamespace, "http://org.eclipse.ptp/rm", "org.eclipse.ptp", "":
		return true
	}
	return false
}
