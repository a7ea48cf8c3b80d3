// Package schemas checks XML documents against the schema of resource-manager
// definitions.
//
// The schema is what rm.xsd and ext.xsd say. [Validate] interprets these files,
// which use a small part of XSD 1.0, so that there is one description of the
// format; a test refuses constructs that the interpreter does not know.
package schemas

import (
	_ "embed"
	"sync"
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

// Texts returns the schema of the format and that of our extensions, which imports rm.xsd.
func Texts() (core, extensions string) { return rmText, extensionsText }

// embedded compiles the two schemas once per process.
var embedded = sync.OnceValues(func() (*schemaSet, error) { return compile(rmText, extensionsText) })
