// Package rms holds the definitions that are shipped with rmctl.
//
// Each is one XML file beside this one, embedded, and known by its file name
// without the extension. A program of one stands beside it.
package rms

import (
	"bytes"
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed *.xml *.sh
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
		if name, isDefinition := strings.CutSuffix(file.Name(), extension); isDefinition {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Source returns the text of the shipped definition of that name, or false
// for an unknown name. The caller may change the text.
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

// Beside returns a file that is shipped with a definition, and false where the definition, a
// file with a text, is no shipped one or has no such file.
func Beside(definition string, text []byte, name string) ([]byte, bool) {
	shipped, isShipped := Source(strings.TrimSuffix(path.Base(definition), extension))
	if !isShipped || !bytes.Equal(shipped, text) || path.Base(name) != name {
		return nil, false
	}
	beside, err := definitions.ReadFile(name)
	return beside, err == nil
}
