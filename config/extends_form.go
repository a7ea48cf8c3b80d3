package config

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/tree"
)

// removeControls takes what sets an attribute that is gone or hidden out of the
// base's form.
func (f family) removeControls(attribute string) {
	for _, child := range f.parent.Children {
		if child.QualifiedName() == "launch-tab" && !f.isOwn(child) {
			removeControls(child, attribute)
		}
	}
}

// removeControls removes the controls of an attribute with the labels before
// them, and the groups that are empty without them. It reports whether it removed any.
func removeControls(container *tree.Element, attribute string) bool {
	var left []*tree.Element
	for _, child := range container.Children {
		within := removeControls(child, attribute)
		switch {
		case setsAttribute(child, attribute):
			if last := len(left) - 1; last >= 0 && child.Name != "exclude" && isLabel(left[last]) {
				left = left[:last]
			}
		case within && child.Name == "composite" && !slices.ContainsFunc(child.Children, isControl):
		default:
			left = append(left, child)
		}
	}
	removed := len(left) < len(container.Children)
	container.Children = left
	return removed
}

func setsAttribute(e *tree.Element, attribute string) bool {
	switch e.Name {
	case "include", "exclude":
		return strings.TrimSpace(e.Text) == attribute
	case "widget", "browse", "button-group":
		return e.Value("attribute") == attribute || e.Value("saveValueTo") == attribute
	}
	return false
}

func isLabel(e *tree.Element) bool { return e.Name == "widget" && e.Value("type") == "label" }

func isControl(e *tree.Element) bool {
	return slices.Contains([]string{"composite", "tab-folder", "widget", "button-group", "browse", "action", "viewer"}, e.Name)
}
