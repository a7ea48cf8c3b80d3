package javaregex

// A classReader gathers the members of one class. Single runes of Latin-1 are kept apart from the other
// terms: an intersection takes them in, and a rune that follows it brings them all back. Java does so,
// and the meaning of a class must be the same.
type classReader struct {
	singles    runeSet
	anySingles bool // since the last intersection
	terms      runeSet
	anyTerms   bool
	last       runeSet // the term read last
	hasLast    bool
}

func (c *classReader) isEmpty() bool { return !c.anySingles && !c.anyTerms }

func (c *classReader) addTerm(set runeSet) {
	c.last, c.hasLast = set, true
	c.terms, c.anyTerms = c.terms.union(set), true
}

func (c *classReader) addSingle(set runeSet) {
	c.singles, c.anySingles = c.singles.union(set), true
	c.hasLast = false
}

// foldSingles moves the single runes to the terms, as an intersection does.
func (c *classReader) foldSingles() {
	if !c.anySingles {
		return
	}
	if !c.anyTerms {
		c.last, c.hasLast = c.singles, true
	}
	c.terms, c.anyTerms = c.terms.union(c.singles), true
	c.anySingles = false
}

func (c *classReader) result() runeSet {
	if c.anySingles {
		return c.terms.union(c.singles)
	}
	return c.terms
}

// class reads a class in square brackets, from the bracket on, or the right
// side of an intersection, from the rune before it on. The closing bracket is
// left unread on demand, for the class around a right side.
func (p *parser) class(consumeEnd bool) (runeSet, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	r := p.next()
	negated := r == '^' && p.runeAt(p.position-1) == '['
	if negated {
		r = p.next()
	}
	var members classReader
	for r != ']' || members.isEmpty() {
		if err := p.classMember(r, &members); err != nil {
			return nil, err
		}
		r = p.peek()
	}
	if consumeEnd {
		p.next()
	}
	if negated {
		return members.result().complement(), nil
	}
	return members.result(), nil
}

// classMember reads a class within a class, an intersection or a term that begins with r.
func (p *parser) classMember(r rune, members *classReader) error {
	switch {
	case r == '[':
		nested, err := p.class(true)
		if err != nil {
			return err
		}
		members.addTerm(nested)
		return nil
	case r == '&' && p.intersects():
		return p.intersection(members)
	case p.ended():
		return p.fail("the character class is not closed")
	}
	return p.classTerm(members)
}

// intersects reports whether "&&" follows and moves to the second '&' if so.
func (p *parser) intersects() bool {
	before := p.position
	if p.next() == '&' {
		return true
	}
	p.position = before
	return false
}

// intersection reads the right side of "&&" from the second '&' on.
func (p *parser) intersection(members *classReader) error {
	var right runeSet
	hasRight := false
	r := p.next()
	for r != ']' && r != '&' {
		if r == '[' {
			nested, err := p.class(true)
			if err != nil {
				return err
			}
			right, hasRight = right.union(nested), true
		} else {
			// What stands here without brackets replaces what stood before it.
			p.position--
			rest, err := p.class(false)
			if err != nil {
				return err
			}
			right, hasRight = rest, true
		}
		r = p.peek()
	}
	members.foldSingles()
	if hasRight {
		members.last, members.hasLast = right, true
	}
	switch {
	case members.anyTerms && members.hasLast:
		members.terms = members.terms.intersection(members.last)
	case members.anyTerms:
		return p.fail("bad class syntax: nothing to intersect with")
	case !hasRight:
		return p.fail("bad class syntax: nothing stands on either side of &&")
	default:
		members.terms, members.anyTerms = right, true
	}
	return nil
}

// classTerm reads a rune, a range or an escape.
func (p *parser) classTerm(members *classReader) error {
	low := p.peek()
	if low == '\\' {
		if letter := p.runeAt(p.position + 1); letter == 'p' || letter == 'P' {
			p.position++
			set, err := p.property(letter == 'P')
			if err != nil {
				return err
			}
			members.addTerm(set)
			return nil
		}
		var err error
		set, isSet := runeSet(nil), false
		if p.runeAt(p.position+1) == 'v' && p.runeAt(p.position+2) == '-' {
			low = '\v' // as an end of a range it is the vertical tab alone
			p.position += 2
		} else if set, isSet = p.escapedClass(); isSet {
			members.addTerm(set)
			return nil
		} else if low, err = p.escapedRune(); err != nil {
			return err
		}
	} else {
		p.next()
	}
	if p.peek() == '-' {
		if after := p.runeAt(p.position + 1); after != '[' && after != ']' {
			return p.classRange(members, low)
		}
	}
	set := p.letter(low)
	if low < 0x100 {
		members.addSingle(set)
	} else {
		members.addTerm(set)
	}
	return nil
}

// classRange reads the rest of a range from its hyphen on.
func (p *parser) classRange(members *classReader, low rune) error {
	start := p.position
	high := p.next()
	switch {
	case p.ended():
		return p.fail("the character class is not closed")
	case high != '\\':
		p.next()
	case p.runeAt(p.position+1) == 'v':
		high = '\v'
		p.position += 2
	default:
		var err error
		if high, err = p.escapedRune(); err != nil {
			return err
		}
	}
	if high < low {
		return p.failAt(p.offset(start), "illegal character range: it ends before it begins")
	}
	set := rangeOf(low, high)
	if p.has(caseInsensitive) && p.has(unicodeCase) {
		set = set.foldedUnicode()
	} else if p.has(caseInsensitive) {
		set = set.foldedASCII()
	}
	members.addTerm(set)
	return nil
}
