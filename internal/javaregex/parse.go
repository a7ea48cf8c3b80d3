package javaregex

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"
)

// Limits for expressions, which may be untrusted.
const (
	maxExpressionLength = 64 << 10 // bytes
	maxNesting          = 200      // groups and classes within one another
)

// A parser reads an expression from left to right. Reading follows Java's own
// habits with white space and comments under COMMENTS, down to where they are
// not skipped, because what an expression means there is known only from what
// Java does.
type parser struct {
	source
	expression string
	position   int // index of the rune to be read next
	flags      Flags
	groups     int
	names      map[string]int
	depth      int
	parts      []node // of the sequences that are being read, the innermost last
}

// parse reads an expression in Java's syntax. Errors are *SyntaxError.
func parse(expression string, flags Flags) (program, error) {
	p := &parser{expression: expression, flags: flags, names: map[string]int{}, parts: make([]node, 0, 32)}
	if len(expression) > maxExpressionLength {
		return program{}, p.failAt(maxExpressionLength, "the expression is longer than %d bytes", maxExpressionLength)
	}
	if flags&canonEq != 0 {
		return program{}, p.failAt(0, "CANON_EQ is not supported; list the ways to write the character instead")
	}
	if flags&literalText != 0 {
		var parts []node
		for _, r := range expression {
			parts = append(parts, p.literal(r))
		}
		return program{root: sequence{parts}}, nil
	}
	p.source = readSource(expression)
	root, err := p.alternatives()
	if err != nil {
		return program{}, err
	}
	if p.position < len(p.runes) {
		return program{}, p.fail("unmatched closing ')'")
	}
	return program{root: root, groups: p.groups}, nil
}

func (p *parser) failAt(offset int, reason string, arguments ...any) error {
	return &SyntaxError{Expression: p.expression, Offset: offset, Reason: fmt.Sprintf(reason, arguments...)}
}

// fail reports an error at the rune to be read next.
func (p *parser) fail(reason string, arguments ...any) error {
	return p.failAt(p.offset(p.position), reason, arguments...)
}

func (p *parser) has(flag Flags) bool { return p.flags&flag != 0 }

func (p *parser) ended() bool { return p.position >= len(p.runes) }

// skipBlanks moves over white space and comments where COMMENTS is set.
func (p *parser) skipBlanks() {
	if !p.has(comments) {
		return
	}
	for !p.ended() {
		switch r := p.runes[p.position]; {
		case asciiSpace.contains(r):
			p.position++
		case r == '#':
			for !p.ended() && !p.endsComment(p.runes[p.position]) {
				p.position++
			}
		default:
			return
		}
	}
}

func (p *parser) endsComment(r rune) bool {
	if r == 0 || p.has(unixLines) {
		return r == 0 || r == '\n'
	}
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// peek returns the next rune that counts without reading it, 0 at the end.
func (p *parser) peek() rune {
	p.skipBlanks()
	return p.runeAt(p.position)
}

// next skips one rune and returns the next one, like peek.
func (p *parser) next() rune {
	p.position++
	return p.peek()
}

// read returns the next rune that counts and moves over it.
func (p *parser) read() rune {
	r := p.peek()
	p.position++
	return r
}

// enter counts a level of nesting.
func (p *parser) enter() error {
	p.depth++
	if p.depth > maxNesting {
		return p.fail("groups or classes are nested more than %d deep", maxNesting)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// alternatives reads up to the end or to a ')' that it leaves unread.
func (p *parser) alternatives() (node, error) {
	first, err := p.sequence()
	if err != nil || p.peek() != '|' {
		return first, err
	}
	branches := []node{first}
	for p.peek() == '|' {
		p.next()
		branch, err := p.sequence()
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch)
	}
	return alternation{branches}, nil
}

func (p *parser) sequence() (node, error) {
	begin := len(p.parts)
	for {
		r := p.peek()
		if p.ended() || r == '|' || r == ')' {
			break
		}
		part, err := p.part(r)
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue // a group of flags alone
		}
		part, err = p.quantified(part)
		if err != nil {
			return nil, err
		}
		p.parts = append(p.parts, part)
	}
	parts := p.parts[begin:]
	p.parts = p.parts[:begin]
	if len(parts) == 1 {
		return parts[0], nil
	}
	return sequence{slices.Clone(parts)}, nil
}

// part reads one construct that begins with r, without its quantifier. The
// result is nil for one that only sets flags.
func (p *parser) part(r rune) (node, error) {
	switch r {
	case '(':
		return p.group()
	case '[':
		set, err := p.class(true)
		if err != nil {
			return nil, err
		}
		return one{set}, nil
	case '\\':
		return p.escaped()
	case '^':
		p.next()
		return assertion{p.startKind()}, nil
	case '$':
		p.next()
		return assertion{p.endKind()}, nil
	case '.':
		p.next()
		return one{p.dot()}, nil
	case '*', '+', '?':
		return nil, p.fail("dangling quantifier %q", r)
	case '{':
		// A count where nothing can be counted applies to the empty text: in
		// Java a{2}{3} is "aa". Without digits it is an error of quantified.
		return sequence{}, nil
	}
	p.next()
	return p.literal(r), nil
}

func (p *parser) startKind() assertionKind {
	switch {
	case !p.has(multiline):
		return textStart
	case p.has(unixLines):
		return unixLineStart
	}
	return lineStart
}

func (p *parser) endKind() assertionKind {
	switch {
	case p.has(multiline) && p.has(unixLines):
		return unixLineEnd
	case p.has(multiline):
		return lineEnd
	case p.has(unixLines):
		return lastUnixLineEnd
	}
	return lastLineEnd
}

func (p *parser) dot() runeSet {
	switch {
	case p.has(dotAll):
		return everyRune
	case p.has(unixLines):
		return noNewline
	}
	return noLineTerminator
}

// literal returns a rune as such, or the letters that it stands for where
// case is ignored.
func (p *parser) literal(r rune) node {
	if r < utf8.RuneSelf && !p.has(caseInsensitive) {
		return asciiLiterals()[r]
	}
	return one{p.letter(r)}
}

// asciiLiterals are the nodes of single ASCII characters, the most frequent ones
// in expressions. They are shared.
var asciiLiterals = sync.OnceValue(func() *[utf8.RuneSelf]node {
	nodes := new([utf8.RuneSelf]node)
	for r := range nodes {
		nodes[r] = one{singleRune(rune(r))}
	}
	return nodes
})

func (p *parser) letter(r rune) runeSet {
	switch {
	case !p.has(caseInsensitive):
		return singleRune(r)
	case p.has(unicodeCase):
		return equivalentLetter(r)
	}
	return singleRune(r).foldedASCII()
}

// quantified reads the quantifier of a part, if one follows.
func (p *parser) quantified(part node) (node, error) {
	loop := repeat{body: part}
	switch p.peek() {
	case '?':
		loop.max = 1
	case '*':
		loop.max = unlimited
	case '+':
		loop.min, loop.max = 1, unlimited
	case '{':
		loop.counted = true
		if err := p.count(&loop); err != nil {
			return nil, err
		}
		return p.withMode(loop, p.peek()), nil
	default:
		return part, nil
	}
	return p.withMode(loop, p.next()), nil
}

// withMode reads the '?' or '+' that makes a quantifier lazy or possessive.
func (p *parser) withMode(loop repeat, r rune) node {
	switch r {
	case '?':
		loop.mode = lazy
		p.next()
	case '+':
		loop.mode = possessive
		p.next()
	}
	return loop
}

// count reads {n}, {n,} or {n,m}.
func (p *parser) count(loop *repeat) error {
	if !isASCIIDigit(p.runeAt(p.position + 1)) {
		return p.fail("illegal repetition: '{' must be followed by a number, or written as \\{")
	}
	p.position++
	r := p.read()
	number := func() (int, error) {
		value := 0
		for ; isASCIIDigit(r); r = p.read() {
			value = value*10 + int(r-'0')
			if value > unlimited {
				p.position--
				return 0, p.fail("the repetition count is too large")
			}
		}
		return value, nil
	}
	var err error
	if loop.min, err = number(); err != nil {
		return err
	}
	loop.max = loop.min
	if r == ',' {
		r = p.read()
		loop.max = unlimited
		if r != '}' {
			if loop.max, err = number(); err != nil {
				return err
			}
		}
	}
	p.position--
	if r != '}' {
		return p.fail("the repetition count is not closed by '}'")
	}
	if loop.max < loop.min {
		return p.fail("illegal repetition range: %d is more than %d", loop.min, loop.max)
	}
	p.position++
	return nil
}
