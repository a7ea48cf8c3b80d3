// Package rms holds the definitions that are shipped with rmctl.
//
// Each is one XML file beside this one, embedded, and known by its file name
// without the extension.
package rms

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed *.xml
var definitions embed.FS

const extension = ".xml"

// NamesFile reports whether a text names a definition by a path, not by the name of a
// shipped one.
func NamesFile(definition string) bool {
	return strings.ContainsAny(definition, `/\`) || strings.HasSuffix(definition, extension)
}

// Names returns the names of the shipped definitions, sorted.
func Names() []string {
	files, err := definitions.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can always be read
	}
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), extension))
	}
	slices.Sort(names)
	return names
}

// Source returns the text of the shipped definition of that name, and false
// when there is none. The caller may change the text.
func Source(name string) ([]byte, bool) {
	if path.Base(name) != name {
		return nil, false
	}
	source, err := definitions.ReadFile(name + extension)
	if err != nil {
		return nil, false
	}
	return source, true
}
