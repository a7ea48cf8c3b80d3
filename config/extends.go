package config

import (
	"fmt"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A BaseReader finds the definition of an x:extends. The name is as written, from is the file
// of the extending definition. It returns the text and its name in positions, different for
// different definitions.
type BaseReader func(name, from string) (file string, source []byte, err error)

// maxBases is how many definitions may stand below one another: one that
// extends another that extends another and so on.
const maxBases = 16

// extendsAttribute is the attribute of the root, in the namespace of our
// extensions, that names the base.
const extendsAttribute = "extends"

// read parses a text into a tree. If the text is not a definition, it reports the problem and
// returns nil.
func (l *loader) read(file string, source []byte) *xmltree.Element {
	document, err := xmltree.Read(file, source)
	l.documents = append(l.documents, document)
	if err != nil {
		l.problems = append(l.problems, documentProblem(file, err))
		return nil
	}
	root := document.Root
	if root.Name == rootElement && !xmltree.IsCore(root.Space) {
		l.report(root.Position(), Error, "wrong-root",
			fmt.Sprintf("<%s> is in the namespace %q", root.Name, root.Space), fmt.Sprintf("write xmlns=%q", xmltree.CoreNamespace))
		return nil
	}
	if root.Name != rootElement || !xmltree.IsCore(root.Space) {
		l.report(root.Position(), Error, "wrong-root",
			fmt.Sprintf("the root element is <%s>", root.Name), fmt.Sprintf("a definition begins with <%s>", rootElement))
		return nil
	}
	return root
}

// readMerged reads a definition and its bases, and merges them.
func (l *loader) readMerged(file string, source []byte) *xmltree.Element {
	root := l.read(file, source)
	if root == nil {
		return nil
	}
	extends, ok := root.Lookup(xmltree.ExtensionNamespace, extendsAttribute)
	if !ok {
		if l.strict {
			l.reportMarkers(root, "override-without-base", "the definition extends none")
		}
		return root
	}
	base := l.readBase(extends, file)
	if base == nil {
		return nil
	}
	l.merge(base, root)
	return root
}

// readBase reads the definition that an x:extends names.
func (l *loader) readBase(extends xmltree.Attribute, from string) *xmltree.Element {
	at := extends.ValuePosition()
	name := extends.Value
	if len(l.documents) > maxBases {
		l.report(at, Error, "too-many-bases", fmt.Sprintf("more than %d definitions extend one another", maxBases), "")
		return nil
	}
	if l.base == nil {
		l.report(at, Error, "unknown-base", fmt.Sprintf("the definition extends %q, and definitions that extend others cannot be read here", name), "")
		return nil
	}
	file, source, err := l.base(name, from)
	if err != nil {
		l.report(at, Error, "unknown-base", fmt.Sprintf("the definition extends %q: %v", name, err), "")
		return nil
	}
	for i, earlier := range l.documents {
		if earlier.File != file || earlier.Text != string(source) {
			continue
		}
		what := fmt.Sprintf("the definition extends %q, which extends this one", name)
		if i == len(l.documents)-1 {
			what = "the definition extends itself"
		}
		l.report(at, Error, "base-cycle", what, "")
		return nil
	}
	return l.readMerged(file, source)
}
