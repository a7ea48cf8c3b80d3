package config

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A Merged is a definition put together with all that it extends. The names of its
// JSON are a contract.
type Merged struct {
	Files []string     `json:"files"` // the definition's own, and each base after the one that extends it
	Parts []mergedPart `json:"parts"` // its parts, in document order
	Gone  []gonePart   `json:"gone"`  // removed elements of bases, and those of replaced lists

	// XML is the definition as a document of its own, with comments that say where each
	// part comes from. It loads as the same definition; only the comments of the files
	// that it was made of, and hints for other programs where to find schemas, are not in it.
	XML string `json:"xml"`
}

// A mergedPart is a piece of a merged definition that stands in one file, or an
// element that was changed by another file.
type mergedPart struct {
	Path      string           `json:"path"` // such as control-data/attribute "queue"
	Position  string           `json:"position"`
	Sets      []string         `json:"sets,omitempty"` // of a changed element: the XML attributes that were given to it
	Overrides []mergedOverride `json:"overrides,omitempty"`
}

// An effect is the effect of an element of an extending definition on one of the base.
type effect string

const (
	changes  effect = "changes"  // it changed parts of the base's element
	replaces effect = "replaces" // the base's element is gone in favour of this one
	removes  effect = "removes"  // the base's element is gone
)

// A mergedOverride is an effect on an element of a base.
type mergedOverride struct {
	Effect   effect `json:"effect"`
	Position string `json:"position"` // of the base's element
}

// A gonePart is an element of a base that the merged definition has no more.
type gonePart struct {
	Element  string `json:"element"` // such as line "exec"
	Effect   effect `json:"effect"`
	Position string `json:"position"`
	By       string `json:"by"` // the position of the element that removed it
}

// Merge reads a definition and what it extends, and puts them together, without
// a look at what the result means; [Load] does both. Merged is nil when
// there are errors among the problems.
func Merge(file string, source []byte, base BaseReader) (*Merged, Diagnostics) {
	p := &documentPrinter{
		merged:    &Merged{Parts: []mergedPart{}, Gone: []gonePart{}},
		overrides: map[*xmltree.Element][]mergedOverride{}, parts: map[*xmltree.Element]mergedPart{},
	}
	l := &loader{base: base, strict: true, printer: p}
	root := l.readMerged(file, source)
	problems := l.problems.sorted(l.documents)
	if root == nil || problems.Err() != nil {
		return nil, problems
	}
	for _, one := range l.documents {
		p.merged.Files = append(p.merged.Files, one.File)
	}
	p.addParts(root, "", 0)
	p.document(root)
	p.merged.XML = p.text.String()
	return p.merged, problems
}

// override records that an element replaces one of the base, with the changes that the
// replaced one made to its own bases. A nil printer records nothing.
func (p *documentPrinter) override(effect effect, by, base *xmltree.Element) {
	if p == nil {
		return
	}
	earlier := p.overrides[base]
	delete(p.overrides, base)
	p.overrides[by] = append([]mergedOverride{{effect, base.Position().String()}}, earlier...)
}

// lose records an element of a base that has no replacement.
func (p *documentPrinter) lose(effect effect, by, base *xmltree.Element) {
	if p != nil {
		p.merged.Gone = append(p.merged.Gone, gonePart{called(base), effect, base.Position().String(), by.Position().String()})
	}
}

// addParts adds the parts: an element that was changed, or that only holds others,
// and then its children; of any other that element alone.
func (p *documentPrinter) addParts(e *xmltree.Element, path string, depth int) {
	isChanged := slices.ContainsFunc(p.overrides[e], func(one mergedOverride) bool { return one.Effect == changes })
	p.addPart(e, path, isChanged)
	name := e.QualifiedName()
	if depth > 0 && !isChanged && (depth > 1 || name != "control-data" && name != "monitor-data" && name != "site-data") {
		return
	}
	for _, child := range e.Children {
		below := called(child)
		if depth > 0 {
			below = path + "/" + below
		}
		p.addParts(child, below, depth+1)
	}
}

func (p *documentPrinter) addPart(e *xmltree.Element, path string, isChanged bool) {
	at := e.Position()
	part := mergedPart{Path: path, Position: at.String(), Overrides: p.overrides[e]}
	for _, attribute := range e.Attributes {
		if isChanged && attribute.Name != "name" && attribute.Position().File == at.File {
			part.Sets = append(part.Sets, attribute.QualifiedName())
		}
	}
	p.parts[e] = part
	p.merged.Parts = append(p.merged.Parts, part)
}

// called names an element in messages.
func called(e *xmltree.Element) string {
	if name := addressOf(e); name != "" {
		return fmt.Sprintf("%s %q", e.QualifiedName(), name)
	}
	return e.QualifiedName()
}
