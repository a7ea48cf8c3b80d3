package proxy

import (
	"strconv"

	"github.com/rmctl/rmctl/model"
)

// An updateParser walks the arguments of one update. The first error sticks.
type updateParser struct {
	frame  Frame
	next   int // index of the argument to read
	budget int // how many elements the ids may still stand for
	broken *FrameError
}

// fail records an error about an argument.
func (p *updateParser) fail(index int, reason string) {
	if p.broken == nil {
		p.broken = p.frame.argumentError(index, reason)
	}
}

// text reads one argument.
func (p *updateParser) text(what string) string {
	if p.next >= len(p.frame.Arguments) {
		p.fail(p.next, what+" is missing")
		return ""
	}
	p.next++
	return p.frame.Arguments[p.next-1]
}

// count reads a decimal count of things that take at least a number of arguments each.
func (p *updateParser) count(what string, each int) int {
	text := p.text("the number of " + what)
	if p.broken != nil {
		return 0
	}
	number, isNumber := parseCount(text)
	if !isNumber {
		p.fail(p.next-1, "the number of "+what+" is not a number")
		return 0
	}
	if number > (len(p.frame.Arguments)-p.next)/each {
		p.fail(p.next-1, "more "+what+" announced than the frame holds")
		return 0
	}
	return number
}

// parseCount parses a small decimal number.
func parseCount(text string) (int, bool) {
	number, isNumber := parseNumber(text)
	return int(number), isNumber && number <= mostArguments
}

// ids reads ids of elements.
func (p *updateParser) ids() IDs {
	text := p.text("an id")
	if p.broken != nil {
		return IDs{}
	}
	ids, broken := parseIDs(text, &p.budget)
	if broken != nil {
		p.fail(p.next-1, broken.Reason)
		p.broken.Ends = broken.Ends
	}
	return ids
}

// elements reads New and Changed: the parent, where there is one, and groups.
func (p *updateParser) elements(update *Update) {
	if update.Change == New || update.Kind == model.Process && p.hasLeadingJob() {
		update.Parent = p.text("the parent")
	}
	groups := p.count("groups", 2)
	if groups == 0 || p.broken != nil {
		return
	}
	found := make([]Group, 0, groups)
	attributes := make(Attributes, 0, len(p.frame.Arguments)-p.next-2*groups)
	for range groups {
		ids := p.ids()
		number := p.count("attributes", 1)
		if p.broken != nil {
			return
		}
		before := len(attributes)
		attributes = parseAttributes(attributes, p.frame.Arguments[p.next:p.next+number])
		p.next += number
		group := Group{IDs: ids}
		if len(attributes) > before {
			group.Attributes = attributes[before:len(attributes):len(attributes)]
		}
		if ids.Len() > 0 {
			found = append(found, group)
		}
	}
	if len(found) > 0 {
		update.Groups = found
	}
}

// hasLeadingJob reports whether the change of processes begins with their job's id. Agents
// before 2010-05 omit it, which only the number of arguments shows.
func (p *updateParser) hasLeadingJob() bool {
	end, fits := p.groupsEnd(1)
	if fits && end == len(p.frame.Arguments) {
		return true
	}
	plain, plainFits := p.groupsEnd(0)
	return !plainFits || plain != len(p.frame.Arguments) && fits
}

// groupsEnd returns the index after groups whose number is the argument with an index.
func (p *updateParser) groupsEnd(index int) (int, bool) {
	arguments := p.frame.Arguments
	if index >= len(arguments) {
		return 0, false
	}
	groups, isNumber := parseCount(arguments[index])
	index++
	for ; isNumber && groups > 0; groups-- {
		if index+1 >= len(arguments) {
			return 0, false
		}
		var attributes int
		attributes, isNumber = parseCount(arguments[index+1])
		index += 2 + attributes
	}
	return index, isNumber && index <= len(arguments)
}

// removed reads Removed.
func (p *updateParser) removed(update *Update) {
	if update.Kind == model.Process && len(p.frame.Arguments) > 1 {
		update.Parent = p.text("the job")
	}
	if ids := p.ids(); ids.Len() > 0 {
		update.Groups = []Group{{IDs: ids}}
	}
}

// countedAttributes returns attributes after their number, as C agents write them.
func (u Update) countedAttributes() []string {
	if len(u.Attributes) == 0 {
		return nil
	}
	list := newArgumentList(len(u.Attributes)+1, u.Attributes.size())
	list.add(strconv.Itoa(len(u.Attributes)))
	list.addAttributes(u.Attributes)
	return list.arguments
}

// elements returns the arguments of New and Changed.
func (u Update) elements() []string {
	arguments, bytes, groups := 2, 0, 0
	for _, group := range u.Groups {
		arguments += 2 + len(group.Attributes)
		bytes += group.Attributes.size()
		if group.IDs.Len() > 0 {
			groups++
		}
	}
	list := newArgumentList(arguments, bytes)
	if u.Change == New || u.Kind == model.Process && u.Parent != "" {
		list.add(u.Parent)
	}
	list.add(strconv.Itoa(groups))
	for _, group := range u.Groups {
		if group.IDs.Len() > 0 {
			list.add(group.IDs.String())
			list.add(strconv.Itoa(len(group.Attributes)))
			list.addAttributes(group.Attributes)
		}
	}
	return list.arguments
}
