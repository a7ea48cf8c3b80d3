package config

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/schemas"
)

// A BaseReader finds the definition that an x:extends names. The name is as
// written, from is the file of the definition that extends it. It returns the
// text and what to call it in positions, different for different definitions.
type BaseReader func(name, from string) (file string, source []byte, err error)

// MaxBases is how many definitions may stand below one another: one that
// extends another that extends another and so on.
const MaxBases = 16

// extendsAttribute is the attribute of the root, in the namespace of our
// extensions, that names the base.
const extendsAttribute = "extends"

// A document is one of the texts that a definition is made of: its own or that
// of a base.
type document struct {
	file        string
	source      []byte // in UTF-8, as far as its encoding could be read
	linesBefore int    // of the documents read earlier
}

// documents numbers the lines of all texts of a definition as if they stood
// below one another. A tree merged from several of them thus needs no more than
// a line in each of its elements to tell where that came from.
type documents []document

// position returns where a line and column of that numbering are.
func (d documents) position(line, column int) Position {
	i := len(d) - 1
	for i > 0 && line <= d[i].linesBefore {
		i--
	}
	return Position{File: d[i].file, Line: line - d[i].linesBefore, Column: column}
}

// files returns what the texts are called in positions.
func (d documents) files() []string {
	files := make([]string, 0, len(d))
	for _, one := range d {
		files = append(files, one.file)
	}
	return files
}

// lineName returns what messages call a line of that numbering.
func (d documents) lineName(line int) string {
	at := d.position(line, 0)
	if at.File == d[0].file {
		return fmt.Sprintf("line %d", at.Line)
	}
	return fmt.Sprintf("line %d of %s", at.Line, at.File)
}

// index returns which of the texts a file has, the first of that name.
func (d documents) index(file string) int {
	return slices.IndexFunc(d, func(one document) bool { return one.file == file })
}

// read reads a text into a tree with positions in the common numbering. What
// keeps it from being read as a definition is reported, and the tree nil.
func (l *loader) read(file string, source []byte) *schemas.Element {
	text, err := schemas.Decode(source)
	if err == nil {
		source = []byte(text.UTF8)
	}
	next := document{file: file, source: source}
	if n := len(l.documents); n > 0 {
		last := l.documents[n-1]
		next.linesBefore = last.linesBefore + bytes.Count(last.source, []byte("\n")) + 1
	}
	l.documents = append(l.documents, next)
	var root *schemas.Element
	if err == nil {
		root, err = text.Read()
	}
	if err != nil {
		l.problems = append(l.problems, documentProblem(file, err))
		return nil
	}
	if next.linesBefore > 0 {
		root.ShiftLines(next.linesBefore)
	}
	if root.Name != RootElement || !schemas.IsCore(root.Space) {
		l.report(l.place(root.Line, root.Column), Error, "wrong-root",
			fmt.Sprintf("the root element is <%s>", root.Name), fmt.Sprintf("a definition begins with <%s>", RootElement))
		return nil
	}
	return root
}

// place returns the position of a line and column of the tree.
func (l *loader) place(line, column int) Position { return l.documents.position(line, column) }

// readMerged reads a definition and what it extends, and puts them together.
func (l *loader) readMerged(file string, source []byte) *schemas.Element {
	root := l.read(file, source)
	if root == nil {
		return nil
	}
	extends, ok := element{root, l}.lookup(schemas.ExtensionNamespace, extendsAttribute)
	if !ok {
		if l.check {
			l.reportMarkers(root, "override-without-base", "the definition extends none")
			dropMarkers(root)
		}
		return root
	}
	base := l.readBase(extends, file)
	if base == nil {
		return nil
	}
	(&merging{loader: l}).merge(base, root)
	return root
}

// readBase reads the definition that an x:extends names.
func (l *loader) readBase(extends schemas.Attribute, from string) *schemas.Element {
	at := l.place(extends.ValueLine, extends.ValueColumn)
	name := extends.Value
	if len(l.documents) > MaxBases {
		l.report(at, Error, "too-many-bases", fmt.Sprintf("more than %d definitions extend one another", MaxBases), "")
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
		if earlier.file != file || !bytes.Equal(earlier.source, source) {
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

// Options say how a definition is loaded.
type Options struct {
	// Base finds what the definition extends. Without it a definition that
	// extends another cannot be loaded.
	Base BaseReader
	// Unchecked leaves out the checks, and the time that they take, for
	// definitions that were checked before.
	Unchecked bool
}

// LoadWith reads a definition, and those that it extends, as [Load] does. Where
// several files make up the definition, problems are sorted by file, its own
// first.
func LoadWith(file string, source []byte, options Options) (*Definition, Diagnostics) {
	return load(&loader{file: file, base: options.Base, check: !options.Unchecked}, source)
}

// Source returns the text of the definition's own file, in UTF-8, without what it
// extends.
func (d *Definition) Source() []byte { return d.documents[0].source }

// Files returns what the files are called in positions that the definition is
// made of: its own, and each base after the one that extends it.
func (d *Definition) Files() []string { return d.documents.files() }

// Sources returns the texts that the definition is made of: its own and those of
// its bases, each before the one that it extends.
func (d *Definition) Sources() [][]byte {
	sources := make([][]byte, 0, len(d.documents))
	for _, one := range d.documents {
		sources = append(sources, one.source)
	}
	return sources
}
