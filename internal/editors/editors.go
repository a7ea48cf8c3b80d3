// Package editors writes what XML editors and validators need to check and complete definitions.
package editors

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/schemas"
)

// A File is one of the files, with slashes in its name.
type File struct{ Name, Text string }

// Files returns all files: the schemas of complete definitions, those for editors, which
// require no elements, since definitions may extend others, and the rules with which editors
// find them.
func Files() ([]File, error) {
	core, extensions := schemas.Texts()
	looseCore, looseExtensions := loosened(core), loosened(extensions)
	compacted, err := compact(core, extensions)
	if err != nil {
		return nil, err
	}
	return []File{
		{"rm.xsd", core},
		{"ext.xsd", extensions},
		{"definition.xsd", both},
		{"editing/rm.xsd", looseCore},
		{"editing/ext.xsd", looseExtensions},
		{"editing/definition.xsd", both},
		{"definition.rnc", compacted},
		{"catalog.xml", catalog},
		{"schemas.xml", locatingRules},
	}, nil
}

// both is the schema for programs that take one file.
const both = `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="` + xmltree.CoreNamespace + `" elementFormDefault="qualified">
	<xs:include schemaLocation="rm.xsd"/>
	<xs:import namespace="` + xmltree.ExtensionNamespace + `" schemaLocation="ext.xsd"/>
</xs:schema>
`

// catalog is the XML catalog by which VS Code and others find the schema of a namespace.
const catalog = `<?xml version="1.0" encoding="UTF-8"?>
<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
  <uri name="` + xmltree.CoreNamespace + `" uri="editing/definition.xsd"/>
  <uri name="` + xmltree.ExtensionNamespace + `" uri="editing/ext.xsd"/>
</catalog>
`

// locatingRules are the rules for nxml-mode of Emacs.
const locatingRules = `<?xml version="1.0" encoding="UTF-8"?>
<locatingRules xmlns="http://thaiopensource.com/ns/locating-rules/1.0">
  <namespace ns="` + xmltree.CoreNamespace + `" uri="definition.rnc"/>
</locatingRules>
`

var (
	least     = lazyregexp.New(` minOccurs="\d+"`)
	particles = lazyregexp.New(`(?m)^(\t\t+<xs:(?:element|group|any) [^>]*?)(/?>)`)
	choices   = lazyregexp.New(`(?m)^(\t\t\t+)<xs:choice\b[^>]*>`)
)

// loosened returns a schema without required elements, in which alternatives may stand next to
// each other. It relies on the indentation of the schemas: global declarations have one tab in
// front of them, and the only particle of a group two.
func loosened(schema string) string {
	schema = least.ReplaceAllString(strings.ReplaceAll(schema, ` use="required"`, ""), "")
	schema = particles.ReplaceAllString(schema, `$1 minOccurs="0"$2`)
	return choices.ReplaceAllString(schema, `$1<xs:choice minOccurs="0" maxOccurs="unbounded">`)
}

// Write writes all files to a directory, and overwrites those of an earlier release.
func Write(folder string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	for _, file := range files {
		place := filepath.Join(folder, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, []byte(file.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Settings returns what to put into the settings of editors, for files below an absolute
// folder.
func Settings(folder string) string {
	path := func(name string) string { return fmt.Sprintf("%q", filepath.ToSlash(filepath.Join(folder, name))) }
	return `VS Code with the extension "XML" by Red Hat, in settings.json:
  "xml.catalogs": [` + path("catalog.xml") + `]

Emacs (nxml-mode), in init.el:
  (with-eval-after-load 'rng-loc
    (add-to-list 'rng-schema-locating-files ` + path("schemas.xml") + `))

xmllint, for a whole definition, also one that extends another:
  rmctl describe --merged FILE | xmllint --noout --schema ` + path("definition.xsd") + ` -
`
}
