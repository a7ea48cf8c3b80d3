package javaregex

// group reads a construct in round brackets. The result is nil for one that
// only sets flags, which then hold up to the end of the enclosing group.
func (p *parser) group() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	saved := p.flags
	if p.next() != '?' {
		p.groups++
		return p.groupBody(group{capture: p.groups}, saved)
	}
	p.position++
	kind := p.runeAt(p.position)
	p.position++
	switch kind {
	case ':':
		return p.groupBody(group{}, saved)
	case '>':
		return p.groupBody(group{atomic: true}, saved)
	case '=':
		return p.groupBody(look{}, saved)
	case '!':
		return p.groupBody(look{negative: true}, saved)
	case '<':
		switch first := p.read(); first {
		case '=':
			return p.groupBody(look{behind: true}, saved)
		case '!':
			return p.groupBody(look{behind: true, negative: true}, saved)
		default:
			return p.namedGroup(first, saved)
		}
	}
	p.position--
	return p.flagGroup(saved)
}

func (p *parser) namedGroup(first rune, saved Flags) (node, error) {
	name, err := p.groupName(first)
	if err != nil {
		return nil, err
	}
	if _, taken := p.names[name]; taken {
		return nil, p.fail("there are two groups of the name %q", name)
	}
	p.groups++
	p.names[name] = p.groups
	return p.groupBody(group{capture: p.groups}, saved)
}

// groupName reads the rest of a group's name and the '>' after it.
func (p *parser) groupName(first rune) (string, error) {
	if !isASCIILetter(first) {
		p.position--
		return "", p.fail("the name of a group must begin with a letter")
	}
	name := []rune{first}
	for {
		r := p.read()
		if r == '>' {
			return string(name), nil
		}
		if !isASCIILetter(r) && !isASCIIDigit(r) {
			p.position--
			return "", p.fail("the name of a group must hold letters and digits only and end in '>'")
		}
		name = append(name, r)
	}
}

// groupBody reads up to the closing bracket into the given kind of group.
func (p *parser) groupBody(kind node, saved Flags) (node, error) {
	body, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.peek() != ')' {
		return nil, p.fail("the group is not closed")
	}
	if around, isLook := kind.(look); isLook {
		around.body = body
		if around.behind {
			if construct := unsupportedBehind(body); construct != "" {
				return nil, p.fail("%s in a lookbehind is not supported", construct)
			}
		}
		kind = around
	} else {
		plain := kind.(group)
		plain.body = body
		kind = plain
	}
	p.position++
	p.flags = saved
	return kind, nil
}

var flagLetters = map[rune]Flags{
	'i': caseInsensitive,
	'm': multiline,
	's': dotAll,
	'd': unixLines,
	'u': unicodeCase,
	'x': comments,
	'U': unicodeClasses | unicodeCase,
}

// flagGroup reads (?i-m) and (?i-m:…).
func (p *parser) flagGroup(saved Flags) (node, error) {
	negated := false
	for {
		r := p.peek()
		if r == 'c' {
			return nil, p.fail("CANON_EQ is not supported; list the ways to write the character instead")
		}
		if r == '-' && !negated {
			negated = true
			p.next()
			continue
		}
		flag, known := flagLetters[r]
		if !known {
			break
		}
		if negated {
			p.flags &^= flag
		} else {
			p.flags |= flag
		}
		p.next()
	}
	switch p.read() {
	case ')':
		return nil, nil
	case ':':
		return p.groupBody(group{}, saved)
	}
	p.position--
	return nil, p.fail("unknown kind of group: (? must be followed by one of : = ! > < or by flags")
}
