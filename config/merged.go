package config

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/tree"
	"github.com/rmctl/rmctl/schemas"
)

// A Merged is a definition put together with all that it extends.
type Merged struct {
	root      *schemas.Element
	documents tree.Documents
	origins   *origins
}

// Merge reads a definition and what it extends, and puts them together, without
// a look at what the result means; [Load] does both. Merged is nil when
// there are errors among the problems.
func Merge(file string, source []byte, base BaseReader) (*Merged, Diagnostics) {
	l := &loader{file: file, base: base, strict: true, origins: &origins{overrides: map[*schemas.Element][]override{}}}
	root := l.readMerged(file, source)
	problems := l.problems.sorted(l.source.Documents)
	if root == nil || problems.HasErrors() {
		return nil, problems
	}
	return &Merged{root: root, documents: l.source.Documents, origins: l.origins}, problems
}

// Files returns the files that the definition is made of: its own, and each base
// after the one that extends it.
func (m *Merged) Files() []string { return m.documents.Files() }

// An Effect is what an element of an extending definition does to one of the base.
type Effect string

// The effects.
const (
	changes  Effect = "changes"  // the base's element was given what this one mentions
	replaces Effect = "replaces" // the base's element is gone in favour of this one
	removes  Effect = "removes"  // the base's element is gone
)

// An Override is one effect on an element of a base.
type Override struct {
	Effect   Effect
	Position // of the base's element
}

// A Part is a piece of a merged definition that stands in one file, or an
// element that was changed by another file.
type Part struct {
	Position
	Path      string // such as control-data/attribute "queue"
	Depth     int    // of the element below the root, which has 0
	Overrides []Override
	Sets      []string // of a changed element: the XML attributes that were given to it
}

// A Lost is an element of a base that the merged definition has no more.
type Lost struct {
	Override
	Path string   // such as line "#SBATCH --mem="
	By   Position // of what made it go
}

// Parts returns what the definition consists of, in the order of the document.
func (m *Merged) Parts() []Part {
	var parts []Part
	m.walk(m.root, "", 0, func(e *schemas.Element, path string, depth int) {
		parts = append(parts, m.part(e, path, depth))
	})
	return parts
}

// walk visits the parts: an element that was changed, or that only holds
// others, and then its children; of any other that element alone.
func (m *Merged) walk(e *schemas.Element, path string, depth int, visit func(e *schemas.Element, path string, depth int)) {
	visit(e, path, depth)
	if !m.isMadeOfParts(e, depth) {
		return
	}
	for _, child := range e.Children {
		below := called(child)
		if depth > 0 {
			below = path + "/" + below
		}
		m.walk(child, below, depth+1, visit)
	}
}

func (m *Merged) isMadeOfParts(e *schemas.Element, depth int) bool {
	name := tree.PartName(e)
	return depth == 0 || depth == 1 && (name == "control-data" || name == "monitor-data" || name == "site-data") || m.isChanged(e)
}

func (m *Merged) isChanged(e *schemas.Element) bool {
	return slices.ContainsFunc(m.origins.overrides[e], func(one override) bool { return one.effect == changes })
}

func (m *Merged) part(e *schemas.Element, path string, depth int) Part {
	part := Part{Position: m.positionOf(e), Path: path, Depth: depth}
	for _, one := range m.origins.overrides[e] {
		part.Overrides = append(part.Overrides, Override{one.effect, m.positionOf(one.of)})
	}
	if !m.isChanged(e) {
		return part
	}
	for _, attribute := range e.Attributes {
		if attribute.Name != "name" && m.documents.Position(attribute.Line, attribute.Column).File == part.File {
			part.Sets = append(part.Sets, tree.AttributeName(attribute))
		}
	}
	return part
}

// Lost returns the elements of bases that were removed, and those whose list was
// given anew.
func (m *Merged) Lost() []Lost {
	var all []Lost
	for _, one := range m.origins.gone {
		all = append(all, Lost{Override{one.effect, m.positionOf(one.of)}, called(one.of), m.positionOf(one.by)})
	}
	return all
}

func (m *Merged) positionOf(e *schemas.Element) Position {
	return m.documents.Position(e.Line, e.Column)
}

// called names an element in messages.
func called(e *schemas.Element) string {
	if name := addressOf(e); name != "" {
		return fmt.Sprintf("%s %q", tree.PartName(e), name)
	}
	return tree.PartName(e)
}
