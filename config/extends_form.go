package config

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// removeControls removes widgets of removed or hidden attributes from the base's form.
func (f family) removeControls(attribute string) {
	for _, child := range f.parent.Children {
		if child.QualifiedName() == "launch-tab" && !f.isOwn(child) {
			removeControls(child, attribute)
		}
	}
}

// removeControls removes the controls of an attribute with the labels before
// them, and the groups that are empty without them. It reports whether it removed any.
func removeControls(container *xmltree.Element, attribute string) bool {
	removed := removeRow(container, attribute)
	var left []*xmltree.Element
	for _, child := range container.Children {
		within := removeControls(child, attribute)
		switch {
		case setsAttribute(child, attribute):
			if last := len(left) - 1; last >= 0 && child.Name != "exclude" && isLabel(left[last]) {
				left = left[:last]
			}
		case within && child.Name == "composite" && !showsSomething(child):
		default:
			left = append(left, child)
		}
	}
	removed = removed || len(left) < len(container.Children)
	container.Children = left
	return removed
}

// removeRow takes the row of an attribute out of the rows of an element (x:rows), and
// reports whether there was one.
func removeRow(e *xmltree.Element, attribute string) bool {
	rows := slices.IndexFunc(e.Attributes, func(a xmltree.Attribute) bool { return a.Name == "rows" && a.Space == xmltree.ExtensionNamespace })
	if rows < 0 {
		return false
	}
	names := strings.Fields(e.Attributes[rows].Value)
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == attribute })
	e.Attributes[rows].Value = strings.Join(left, " ")
	return len(left) < len(names)
}

func setsAttribute(e *xmltree.Element, attribute string) bool {
	switch e.Name {
	case "include", "exclude":
		return strings.TrimSpace(e.Text) == attribute
	case "widget", "browse", "button-group":
		return e.Value("attribute") == attribute || e.Value("saveValueTo") == attribute
	}
	return false
}

func isLabel(e *xmltree.Element) bool { return e.Name == "widget" && e.Value("type") == "label" }

// showsSomething reports whether a group has controls or rows.
func showsSomething(group *xmltree.Element) bool {
	rows, has := group.Lookup(xmltree.ExtensionNamespace, "rows")
	return has && rows.Value != "" || slices.ContainsFunc(group.Children, isControl)
}

func isControl(e *xmltree.Element) bool {
	return slices.Contains([]string{"composite", "tab-folder", "widget", "button-group", "browse", "action", "viewer"}, e.Name)
}
