package javaregex

import (
	"unicode"
	"unicode/utf16"
)

// escaped reads a construct that begins with a backslash, outside a class.
func (p *parser) escaped() (node, error) {
	start := p.position
	p.position++
	r := p.runeAt(p.position)
	p.position++
	if kind, found := escapedAssertions[r]; found {
		return assertion{p.adjusted(kind)}, nil
	}
	switch r {
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.numberedReference(int(r - '0')), nil
	case 'k':
		return p.namedReference()
	case 'R':
		return lineBreak{}, nil
	case 'X':
		return nil, p.failAt(p.offset(start), `\X is not supported; try (?:\P{M}\p{M}*)`)
	case 'b':
		if p.peek() == '{' && p.runeAt(p.position+1) == 'g' {
			return nil, p.failAt(p.offset(start), `\b{g} is not supported; try \b`)
		}
		if p.has(unicodeClasses) {
			return assertion{unicodeWordEdge}, nil
		}
		return assertion{wordEdge}, nil
	case 'p', 'P':
		p.position--
		set, err := p.property(r == 'P')
		return one{set}, err
	}
	p.position = start
	if set, found := p.escapedClass(); found {
		return one{set}, nil
	}
	r, err := p.escapedRune()
	if err != nil {
		return nil, err
	}
	return p.literal(r), nil
}

var escapedAssertions = map[rune]assertionKind{
	'A': textStart,
	'B': noWordEdge,
	'G': previousMatchEnd,
	'Z': lastLineEnd,
	'z': textEnd,
}

// adjusted applies the flags to an assertion that is written as an escape.
func (p *parser) adjusted(kind assertionKind) assertionKind {
	switch {
	case kind == lastLineEnd && p.has(unixLines):
		return lastUnixLineEnd
	case kind == noWordEdge && p.has(unicodeClasses):
		return noUnicodeWordEdge
	}
	return kind
}

// numberedReference reads the further digits of \n: as many as make the
// number of a group that has been opened already.
func (p *parser) numberedReference(number int) node {
	for isASCIIDigit(p.peek()) {
		longer := number*10 + int(p.peek()-'0')
		if longer > p.groups {
			break
		}
		number = longer
		p.position++
	}
	return p.reference(number)
}

func (p *parser) namedReference() (node, error) {
	if p.read() != '<' {
		p.position--
		return nil, p.fail(`\k must be followed by the name of a group in <>`)
	}
	name, err := p.groupName(p.read())
	if err != nil {
		return nil, err
	}
	number, known := p.names[name]
	if !known {
		p.position--
		return nil, p.fail("no group before this is named %q", name)
	}
	return p.reference(number), nil
}

func (p *parser) reference(number int) node {
	return backreference{
		group:              number,
		ignoreCase:         p.has(caseInsensitive),
		ignoreNonASCIICase: p.has(unicodeCase),
	}
}

// escapedClass reads one of \d \h \s \v \w and their negations.
func (p *parser) escapedClass() (runeSet, bool) {
	letter := p.runeAt(p.position + 1)
	var set runeSet
	switch letter {
	case 'd', 'D':
		set = p.either(asciiDigits, decimalDigits)
	case 's', 'S':
		set = p.either(asciiSpace, whiteSpace)
	case 'w', 'W':
		set = p.either(asciiWord, word)
	case 'h', 'H':
		set = horizontalSpace
	case 'v', 'V':
		set = verticalSpace
	default:
		return nil, false
	}
	p.position += 2
	if 'A' <= letter && letter <= 'Z' {
		set = set.complement()
	}
	return set, true
}

func (p *parser) either(plain runeSet, wide *namedSet) runeSet {
	if p.has(unicodeClasses) {
		return wide.runes()
	}
	return plain
}

var controlEscapes = map[rune]rune{
	'a': '\a', 'e': 0x1B, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escapedRune reads an escape that stands for a single rune.
func (p *parser) escapedRune() (rune, error) {
	start := p.position
	p.position++
	if p.ended() {
		return 0, p.failAt(p.offset(start), "a backslash ends the expression")
	}
	r := p.runeAt(p.position)
	p.position++
	if control, found := controlEscapes[r]; found {
		return control, nil
	}
	switch r {
	case '0':
		return p.octal()
	case 'c':
		if p.ended() {
			return 0, p.fail(`\c must be followed by a character`)
		}
		return p.read() ^ 64, nil
	case 'u':
		return p.unicodeEscape()
	case 'x':
		return p.hexadecimal()
	case 'N':
		return 0, p.failAt(p.offset(start), `\N{…} is not supported; try \x{…} with the number of the character`)
	}
	if isASCIILetter(r) || isASCIIDigit(r) {
		return 0, p.failAt(p.offset(start), `there is no escape \%c here`, r)
	}
	return r, nil
}

// octal reads one to three digits, at most 0377.
func (p *parser) octal() (rune, error) {
	first := p.read()
	if !isOctalDigit(first) {
		p.position--
		return 0, p.fail(`\0 must be followed by an octal digit`)
	}
	value := first - '0'
	for range 2 {
		next := p.read()
		if value > 0o37 || !isOctalDigit(next) {
			p.position--
			break
		}
		value = value*8 + next - '0'
	}
	return value, nil
}

func (p *parser) hexadecimal() (rune, error) {
	first := p.read()
	if high, isHex := hexValue(first); isHex {
		if low, isHex := hexValue(p.read()); isHex {
			return high*16 + low, nil
		}
		p.position--
	} else if _, isHex := hexValue(p.peek()); first == '{' && isHex {
		value := rune(0)
		r := p.read()
		for digit, isHex := hexValue(r); isHex; digit, isHex = hexValue(r) {
			value = value*16 + digit
			if value > unicode.MaxRune {
				p.position--
				return 0, p.fail(`\x{…} is beyond the last character`)
			}
			r = p.read()
		}
		if r != '}' {
			p.position--
			return 0, p.fail(`\x{ is not closed by '}'`)
		}
		return value, nil
	}
	return 0, p.fail(`\x must be followed by two hexadecimal digits or by {…}`)
}

// unicodeEscape reads \uhhhh; two of them may make up a pair of surrogates.
func (p *parser) unicodeEscape() (rune, error) {
	high, valid := p.fourDigits()
	if !valid {
		return 0, p.fail(`\u must be followed by four hexadecimal digits`)
	}
	before := p.position
	if p.read() == '\\' && p.read() == 'u' {
		if low, valid := p.fourDigits(); valid {
			if joined := utf16.DecodeRune(high, low); joined != unicode.ReplacementChar {
				return joined, nil
			}
		}
	}
	p.position = before
	return high, nil
}

func (p *parser) fourDigits() (rune, bool) {
	value := rune(0)
	for range 4 {
		digit, isHex := hexValue(p.read())
		if !isHex {
			p.position--
			return 0, false
		}
		value = value*16 + digit
	}
	return value, true
}

// property reads \p{…} or \pL from its letter on.
func (p *parser) property(negated bool) (runeSet, error) {
	var name string
	if p.next() == '{' {
		// White space within the name counts, under COMMENTS too.
		p.next()
		start := p.position
		for p.runeAt(p.position) != '}' {
			if p.ended() {
				return nil, p.fail("the name of the property is not closed by '}'")
			}
			p.position++
		}
		name = string(p.runes[start:p.position])
		if name == "" {
			return nil, p.fail("the name of the property is empty")
		}
	} else {
		if p.ended() {
			return nil, p.fail(`\p must be followed by the name of a property`)
		}
		name = string(p.runeAt(p.position))
	}
	set, err := property(name, p.flags)
	if err != nil {
		return nil, p.fail("%s", err)
	}
	p.position++
	if negated {
		set = set.complement()
	}
	return set, nil
}
