package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A family is the children of one element while those of the extending definition are merged
// into those of the base.
type family struct {
	parent *xmltree.Element
	// standFor has the children of the extending definition that are in their
	// places, with the one of the base that each stands for, nil for new ones.
	standFor map[*xmltree.Element]*xmltree.Element
}

// isOwn reports whether a child is one of the extending definition.
func (f family) isOwn(child *xmltree.Element) bool {
	_, own := f.standFor[child]
	return own
}

// isNew reports whether a child is one that the base has no counterpart of.
func (f family) isNew(child *xmltree.Element) bool { return f.isOwn(child) && f.standFor[child] == nil }

// addressInBase returns the text with which the extending definition identifies a child.
func (f family) addressInBase(child *xmltree.Element) string {
	if base := f.standFor[child]; base != nil {
		return addressOf(base)
	}
	return addressOf(child)
}

// merge adds the base's content to an element. Children with the same name are merged or
// replaced, by their rules. Elements keep the positions in their files; one that changes one
// of the base has its own position.
func (l *loader) merge(base, e *xmltree.Element) {
	l.printer.override(changes, e, base)
	e.Attributes = mergedAttributes(base, e)
	own := e.Children
	e.Children = slices.Clone(base.Children)
	l.startLists(e, own)
	siblings := family{e, map[*xmltree.Element]*xmltree.Element{}}
	for _, child := range own {
		l.child(siblings, child)
	}
	if e.QualifiedName() == "script" {
		siblings.keepEnvironmentPlace(base)
	}
	for _, child := range e.Children {
		child.Parent = e
	}
}

// mergedAttributes returns the attributes of the base. Those of the element replace attributes
// of the same name; new ones follow.
func mergedAttributes(base, e *xmltree.Element) []xmltree.Attribute {
	merged := slices.Clone(base.Attributes)
	for _, attribute := range e.Attributes {
		if attribute.Space == xmltree.ExtensionNamespace && attribute.Name == extendsAttribute {
			continue
		}
		same := slices.IndexFunc(merged, func(other xmltree.Attribute) bool {
			return other.Name == attribute.Name && other.Space == attribute.Space
		})
		if same >= 0 {
			merged[same] = attribute
		} else {
			merged = append(merged, attribute)
		}
	}
	return merged
}

// startLists empties the lists of words that are replaced: those where no
// element says where in the list of the base it belongs.
func (l *loader) startLists(e *xmltree.Element, own []*xmltree.Element) {
	replaced, placed := map[string]bool{}, map[string]bool{}
	for _, child := range own {
		name := child.QualifiedName()
		switch {
		case ruleOf(child).kind != listedPart || name == "line" || name == "x:outcome" || name == "x:state":
		case slices.ContainsFunc(child.Attributes, isMarker):
			placed[name] = true
		default:
			replaced[name] = true
		}
	}
	linked := replacedLinks(e.Children, own)
	e.Children = slices.DeleteFunc(e.Children, func(child *xmltree.Element) bool {
		name := child.QualifiedName()
		// A changed definition is no longer proven.
		goes := replaced[name] && !placed[name] || linked[child] || name == "x:proven"
		if goes {
			l.printer.lose(replaces, e, child)
		}
		return goes
	})
}

// replacedLinks returns the links of the base that are removed because their portable name is
// linked again: all of a name but the last, which the first new one replaces.
func replacedLinks(base, own []*xmltree.Element) map[*xmltree.Element]bool {
	going, last := map[*xmltree.Element]bool{}, map[string]*xmltree.Element{}
	for _, child := range base {
		if child.QualifiedName() != "x:portable" {
			continue
		}
		name := addressOf(child)
		if !slices.ContainsFunc(own, func(given *xmltree.Element) bool {
			return given.QualifiedName() == "x:portable" && addressOf(given) == name
		}) {
			continue
		}
		if before := last[name]; before != nil {
			going[before] = true
		}
		last[name] = child
	}
	return going
}

// removeLinks removes the base's links that need a removed attribute, and its name from the
// others.
func (f family) removeLinks(name string) {
	f.parent.Children = slices.DeleteFunc(f.parent.Children, func(child *xmltree.Element) bool {
		if child.QualifiedName() != "x:portable" || f.isOwn(child) {
			return false
		}
		return child.Value("attribute") == name || slices.Contains(strings.Fields(child.Value("with")), name)
	})
	for _, child := range f.parent.Children {
		if child.QualifiedName() != "x:portable" || f.isOwn(child) {
			continue
		}
		for i, listed := range child.Attributes {
			names := strings.Fields(listed.Value)
			if (listed.Name == "excludes" || listed.Name == "unless") && slices.Contains(names, name) {
				child.Attributes[i].Value = strings.Join(slices.DeleteFunc(names, func(other string) bool { return other == name }), " ")
			}
		}
		child.Attributes = slices.DeleteFunc(child.Attributes, func(listed xmltree.Attribute) bool {
			return (listed.Name == "excludes" || listed.Name == "unless") && listed.Value == ""
		})
	}
}

// isMerged reports whether an element is merged with that of the base. With an expression a
// table of states replaces it, as in a reader that extends another.
func isMerged(child *xmltree.Element, marked markers) bool {
	isTable := child.IsExtension("states") && child.Optional("of").Set
	return ruleOf(child).merged && !marked.replace && !isTable
}

// child merges one child of an extending element into those of the base.
func (l *loader) child(siblings family, child *xmltree.Element) {
	marked, ok := l.takeMarkers(child)
	if !ok {
		return
	}
	present, ok := l.find(siblings, child, marked)
	switch {
	case !ok:
		return
	case marked.remove:
		l.remove(siblings, child, present)
		return
	case present < 0:
		l.whole(child, fmt.Sprintf("the base has no <%s> like this, which is taken as a whole", child.QualifiedName()))
		if at, ok := l.placeFor(siblings, child, marked); ok {
			siblings.insert(at, child, nil)
		}
		return
	}
	base := siblings.parent.Children[present]
	// Hidden attributes also disappear from the form.
	if child.QualifiedName() == "attribute" && child.Value("visible") == "false" && base.Value("visible") != "false" {
		siblings.removeControls(addressOf(child))
	}
	if isMerged(child, marked) {
		l.merge(base, child)
	} else {
		l.whole(child, fmt.Sprintf("this <%s> is taken as a whole", child.QualifiedName()))
		l.printer.override(replaces, child, base)
	}
	siblings.remove(present)
	if marked.before != nil || marked.after != nil {
		if present, ok = l.placeFor(siblings, child, marked); !ok {
			return
		}
	}
	siblings.insert(present, child, base)
}

func (f family) insert(at int, child, base *xmltree.Element) {
	f.parent.Children = slices.Insert(f.parent.Children, at, child)
	f.standFor[child] = base
}

func (f family) remove(at int) { f.parent.Children = slices.Delete(f.parent.Children, at, at+1) }

// whole ends the merging at an element that is copied unchanged, and reports an error if
// something in it is marked.
func (l *loader) whole(e *xmltree.Element, because string) {
	for _, child := range e.Children {
		l.reportMarkers(child, "invalid-override", because)
	}
}

// find returns the index of the base's element that a child stands for, -1 if
// it is a new one, and false if it should stand for one and does not.
func (l *loader) find(siblings family, child *xmltree.Element, marked markers) (int, bool) {
	if ruleOf(child).kind == listedPart {
		if marked.at == nil {
			return -1, true
		}
		return l.address(siblings, child, *marked.at, marked.remove)
	}
	// If several attributes have the same name, the last one counts. A definition may change
	// one reader in several places.
	for i, other := range slices.Backward(siblings.parent.Children) {
		mayStand := !siblings.isOwn(other) || child.IsExtension("reader")
		if other.QualifiedName() == child.QualifiedName() && mayStand && (ruleOf(child).kind == singlePart || hasSameName(other, child)) {
			return i, true
		}
	}
	return -1, true
}

// hasSameName compares names. A group of managed files has none: it is known by
// the files in it.
func hasSameName(a, b *xmltree.Element) bool {
	if a.QualifiedName() != "managed-files" {
		name := addressOf(b)
		return name != "" && addressOf(a) == name
	}
	for _, file := range a.Children {
		for _, other := range b.Children {
			if file.Name == "file" && other.Name == "file" && hasSameName(file, other) {
				return true
			}
		}
	}
	return false
}

// remove takes a child away. Without that child it only warns: the definition
// is then as its author wants it.
func (l *loader) remove(siblings family, child *xmltree.Element, present int) {
	if present >= 0 {
		l.printer.lose(removes, child, siblings.parent.Children[present])
		siblings.remove(present)
		if child.QualifiedName() == "attribute" {
			siblings.removeLinks(addressOf(child))
			siblings.removeControls(addressOf(child))
		}
	} else if ruleOf(child).kind != listedPart { // address has reported those
		l.problemAt(child, Warning, "override-matches-nothing", fmt.Sprintf("the base has no %s to remove", called(child)),
			wording.Nearest(addressOf(child), siblings.addresses(child)))
	}
}

// addresses returns the addresses of the base's elements of the same element name.
func (f family) addresses(like *xmltree.Element) []string {
	var all []string
	for _, other := range f.parent.Children {
		if other.QualifiedName() == like.QualifiedName() && !f.isNew(other) {
			all = append(all, f.addressInBase(other))
		}
	}
	return all
}

// placeFor returns the position of a new child among those of the base.
func (l *loader) placeFor(siblings family, child *xmltree.Element, marked markers) (int, bool) {
	children := siblings.parent.Children
	switch {
	case marked.before != nil:
		return l.address(siblings, child, *marked.before, false)
	case marked.after != nil:
		at, ok := l.address(siblings, child, *marked.after, false)
		// several that follow the same one keep their order
		for at++; ok && at < len(children) && siblings.isNew(children[at]); at++ {
		}
		return at, ok
	}
	ofBase := func(other *xmltree.Element) bool {
		return other.QualifiedName() == child.QualifiedName() && !siblings.isOwn(other)
	}
	if first := slices.IndexFunc(children, ofBase); first >= 0 && ruleOf(child).kind == listedPart {
		switch child.QualifiedName() {
		case "x:outcome", "x:state": // the first match counts, so the site's come before those of the base
			return first, true
		}
		l.problemAt(child, Error, "override-without-place", fmt.Sprintf("the <%s> does not say where among those of the base it belongs", child.QualifiedName()),
			fmt.Sprintf(`x:before or x:after with the beginning of another, or x:replace="true" on the whole <%s>`, siblings.parent.QualifiedName()))
		return 0, false
	}
	own := rank(siblings.parent, child)
	for i, other := range slices.Backward(children) {
		if rank(siblings.parent, other) <= own {
			return i + 1, true
		}
	}
	return 0, true
}

// address returns the index of the element that a marker names: by its name or, for elements
// without names, by the beginning of its text. If an element to be removed is missing, that is
// only a warning: the definition is then as its author wants it.
func (l *loader) address(siblings family, child *xmltree.Element, marker xmltree.Attribute, removed bool) (int, bool) {
	text := onOneLine(marker.Value)
	isListed := ruleOf(child).kind == listedPart
	var equal, beginning []int
	for i, other := range siblings.parent.Children {
		if other.QualifiedName() != child.QualifiedName() || siblings.isNew(other) {
			continue
		}
		switch address := siblings.addressInBase(other); {
		case address == text:
			equal = append(equal, i)
		case isListed && strings.HasPrefix(address, text):
			beginning = append(beginning, i)
		}
	}
	fitting := equal
	if len(fitting) == 0 {
		fitting = beginning
	}
	switch {
	case len(fitting) == 1:
		return fitting[0], true
	case len(fitting) > 1 && isListed:
		l.problem(marker, Error, "override-ambiguous", fmt.Sprintf("%d <%s> of the base begin with %q", len(fitting), child.QualifiedName(), text),
			siblings.choices(fitting))
	case len(fitting) > 1:
		l.problem(marker, Error, "override-ambiguous", fmt.Sprintf("the base has %d <%s> %q", len(fitting), child.QualifiedName(), text), "")
	case removed:
		l.problem(marker, Warning, "override-matches-nothing", fmt.Sprintf("no <%s> of the base begins with %q", child.QualifiedName(), text), "")
		return -1, true
	case isListed:
		l.problem(marker, Error, "override-matches-nothing", fmt.Sprintf("no <%s> of the base begins with %q", child.QualifiedName(), text), "")
	default:
		l.problem(marker, Error, "override-matches-nothing", fmt.Sprintf("the base has no <%s> %q", child.QualifiedName(), text),
			wording.Nearest(text, siblings.addresses(child)))
	}
	return -1, false
}

// choices lists the first elements that an address could mean.
func (f family) choices(fitting []int) string {
	const most = 3
	var texts []string
	for _, i := range fitting[:min(len(fitting), most)] {
		texts = append(texts, fmt.Sprintf("%q", f.addressInBase(f.parent.Children[i])))
	}
	return "more of the text, such as " + strings.Join(texts, " or ")
}
