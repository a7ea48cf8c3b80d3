package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// markers are the attributes with which an element of an extending definition changes the
// base.
type markers struct {
	remove, replace   bool
	at, before, after *xmltree.Attribute
}

var markerNames = []string{"remove", "replace", "at", "before", "after"}

func isMarker(a xmltree.Attribute) bool {
	return a.Space == xmltree.ExtensionNamespace && slices.Contains(markerNames, a.Name)
}

// takeMarkers removes the markers from an element and returns them. What makes
// no sense is reported, and ok false.
func (l *loader) takeMarkers(e *xmltree.Element) (found markers, ok bool) {
	if !slices.ContainsFunc(e.Attributes, isMarker) {
		return markers{}, true
	}
	ok = true
	var kept []xmltree.Attribute
	for _, attribute := range e.Attributes {
		switch {
		case !isMarker(attribute):
			kept = append(kept, attribute)
		case !l.addMarker(&found, attribute):
			ok = false
		}
	}
	e.Attributes = kept
	return found, l.checkMarkers(e, found) && ok
}

// addMarker adds a marker. It reports false, and a problem, if the marker must name a place
// and is empty.
func (l *loader) addMarker(found *markers, attribute xmltree.Attribute) bool {
	switch attribute.Name {
	case "remove":
		found.remove = l.isTrue(attribute)
		return true
	case "replace":
		found.replace = l.isTrue(attribute)
		return true
	case "at":
		found.at = &attribute
	case "before":
		found.before = &attribute
	case "after":
		found.after = &attribute
	}
	if strings.TrimSpace(attribute.Value) == "" {
		l.problem(attribute, Error, "invalid-override", fmt.Sprintf("x:%s is empty", attribute.Name), "the beginning of the text that is meant")
		return false
	}
	return true
}

// checkMarkers reports markers of an element that do not fit it or each other.
func (l *loader) checkMarkers(e *xmltree.Element, found markers) bool {
	isListed := ruleOf(e).kind == listedPart
	switch {
	case found.at != nil && !isListed:
		l.problem(*found.at, Error, "invalid-override", fmt.Sprintf("x:at is for elements without a name; <%s> has one", e.QualifiedName()), "")
	case found.remove && isListed && found.at == nil:
		l.problemAt(e, Error, "override-without-place", fmt.Sprintf("x:remove does not say which <%s> to remove", e.QualifiedName()), `x:at="the beginning of its text"`)
	case found.remove && (found.before != nil || found.after != nil || found.replace):
		l.problemAt(e, Error, "invalid-override", "what x:remove takes away can have no other marker but x:at", "")
	case found.before != nil && found.after != nil:
		l.problem(*found.after, Error, "invalid-override", "x:before and x:after exclude each other", "")
	default:
		return true
	}
	return false
}

// isTrue returns the value of a marker that is a boolean.
func (l *loader) isTrue(marker xmltree.Attribute) bool {
	switch strings.TrimSpace(marker.Value) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	l.problem(marker, Error, "invalid-override", fmt.Sprintf("x:%s must be true or false, not %q", marker.Name, marker.Value), "true")
	return false
}

// reportMarkers reports markers without a meaning in an element and below, and removes them,
// so that the schema does not report them as well.
func (l *loader) reportMarkers(e *xmltree.Element, code, reason string) {
	for _, attribute := range e.Attributes {
		if isMarker(attribute) {
			l.report(attribute.Position(), Error, code, fmt.Sprintf("x:%s changes nothing here: %s", attribute.Name, reason), "")
		}
	}
	e.Attributes = slices.DeleteFunc(e.Attributes, isMarker)
	for _, child := range e.Children {
		l.reportMarkers(child, code, reason)
	}
}

// problem reports a problem of an attribute of the extending definition.
func (l *loader) problem(a xmltree.Attribute, severity Severity, code, message, suggestion string) {
	l.report(a.ValuePosition(), severity, code, message, suggestion)
}

func (l *loader) problemAt(e *xmltree.Element, severity Severity, code, message, suggestion string) {
	l.report(e.Position(), severity, code, message, suggestion)
}
