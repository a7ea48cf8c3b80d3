// Package check finds the problems of definitions.
//
// [Load] reads a definition and reports every problem of it in one go; [Codes] lists
// the kinds of problems. Definitions that were checked before are read without by
// Read of package config.
package check

import (
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/tree"
)

// inspectionEffort limits the proofs about the expressions of one definition to
// some ten milliseconds, and to a second where expressions run away. Definitions in
// use take a hundredth of it.
const inspectionEffort = 200_000

// Load reads a definition, and those that it extends, and checks it. File names it in
// positions; without a base reader a definition that extends another cannot be loaded.
// All problems are reported, sorted by file, its own first, and by position; when there
// are errors among them the definition must not be used, and it is nil when the document
// could not be read at all.
func Load(file string, source []byte, base config.BaseReader) (*config.Definition, config.Diagnostics) {
	return config.Load(file, source, base, func(d *config.Definition, root *tree.Element) config.Diagnostics {
		return problemsOf(d, root, inspectionEffort)
	})
}
