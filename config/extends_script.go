package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

const environmentPlace = "insertEnvironmentAfter"

// keepEnvironmentPlace recomputes the line after which the variables of a job go, since lines
// were added or removed: the base's line or its replacement, and lines added right behind it.
// If that line was removed, it is the one before. A number in the extending definition counts
// the merged lines and stays.
func (f family) keepEnvironmentPlace(base *xmltree.Element) {
	script := f.parent
	at := slices.IndexFunc(script.Attributes, func(a xmltree.Attribute) bool { return a.Space == "" && a.Name == environmentPlace })
	if at < 0 || !slices.Contains(base.Attributes, script.Attributes[at]) {
		return
	}
	after, err := strconv.Atoi(strings.TrimSpace(script.Attributes[at].Value))
	before := linesOf(base)
	if err != nil || after < 0 || after >= len(before) {
		return
	}
	lines := linesOf(script)
	for ; after >= 0; after-- {
		place := slices.IndexFunc(lines, func(line *xmltree.Element) bool {
			return line == before[after] || f.standFor[line] == before[after]
		})
		if place < 0 {
			continue
		}
		for place+1 < len(lines) && f.isNew(lines[place+1]) {
			place++
		}
		script.Attributes[at].Value = strconv.Itoa(place)
		return
	}
	script.Attributes[at].Value = "0" // not -1, which would lose the variables
}

func linesOf(script *xmltree.Element) []*xmltree.Element {
	var lines []*xmltree.Element
	for _, child := range script.Children {
		if child.QualifiedName() == "line" {
			lines = append(lines, child)
		}
	}
	return lines
}
