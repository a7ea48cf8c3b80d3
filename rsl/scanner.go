package rsl

import (
	"strings"
	"unicode/utf8"
)

type kind int

const (
	end        kind = iota
	word            // a literal without quotes
	quoted          // a literal in quotes
	prefix          // & | +
	relational      // = != < <= > >=
	hash
	dollar
	opening
	closing
	invalid // a character that begins no token
)

// A token is a piece of a text; that of literals is without quotes.
type token struct {
	Position
	kind kind
	text string
	end  int
}

// A scanner splits a text into tokens.
type scanner struct {
	text   string
	offset int
	last   Position                          // of the last token, from which the next one is counted
	fail   func(at Position, message string) // reports a token that does not end
}

// next returns the next token. A quote or comment that does not end is the last one.
func (s *scanner) next() token {
	if !s.skipBlanks() || s.offset == len(s.text) {
		s.offset = len(s.text)
		return token{Position: s.locate(s.offset), kind: end, end: s.offset}
	}
	t := token{Position: s.locate(s.offset)}
	rest := s.text[s.offset:]
	switch rest[0] {
	case '"', '\'', '^':
		return s.quoted(t, rest)
	case '(':
		t.kind, t.text = opening, "("
	case ')':
		t.kind, t.text = closing, ")"
	case '#':
		t.kind, t.text = hash, "#"
	case '$':
		t.kind, t.text = dollar, "$"
	case '&', '|', '+':
		t.kind, t.text = prefix, rest[:1]
	case '=', '!', '<', '>':
		t.kind, t.text = operatorOf(rest)
	default:
		t.kind, t.text = word, rest[:lengthOfWord(rest)]
	}
	s.offset += len(t.text)
	t.end = s.offset
	return t
}

func operatorOf(rest string) (kind, string) {
	switch {
	case rest[0] == '=':
		return relational, "="
	case len(rest) > 1 && rest[1] == '=':
		return relational, rest[:2]
	case rest[0] == '!':
		return invalid, "!"
	default:
		return relational, rest[:1]
	}
}

// lengthOfWord returns where a word ends that the text begins with.
func lengthOfWord(text string) int {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\n', '\r', '\v', '\f', '=', '!', '<', '>', '(', ')', '"', '\'', '^', '$', '#':
			return i
		}
	}
	return len(text)
}

// skipBlanks skips blanks and comments, and reports whether all comments end.
func (s *scanner) skipBlanks() bool {
	for s.offset < len(s.text) {
		switch rest := s.text[s.offset:]; {
		case strings.IndexByte(" \t\n\r\v\f", rest[0]) >= 0:
			s.offset++
		case strings.HasPrefix(rest, "(*"):
			length := strings.Index(rest[2:], "*)")
			if length < 0 {
				s.fail(s.locate(s.offset), `the comment is not closed: "*)" is missing`)
				return false
			}
			s.offset += 2 + length + 2
		default:
			return true
		}
	}
	return true
}

// quoted reads a literal between two delimiters; a doubled one inside means itself.
func (s *scanner) quoted(t token, rest string) token {
	delimiter, body := rest[:1], rest[1:]
	if delimiter == "^" {
		_, size := utf8.DecodeRuneInString(body)
		delimiter, body = body[:size], body[size:]
	}
	t.kind = quoted
	var pieces []string
	for delimiter != "" {
		i := strings.Index(body, delimiter)
		if i < 0 {
			break
		}
		piece, after := body[:i], body[i+len(delimiter):]
		if !strings.HasPrefix(after, delimiter) {
			s.offset = len(s.text) - len(after)
			t.end = s.offset
			t.text = strings.Join(append(pieces, piece), "")
			return t
		}
		pieces = append(pieces, body[:i+len(delimiter)])
		body = after[len(delimiter):]
	}
	s.fail(t.Position, unclosedQuote(rest[0], delimiter))
	s.offset = len(s.text)
	return token{Position: s.locate(s.offset), kind: end, end: s.offset}
}

func unclosedQuote(first byte, delimiter string) string {
	switch {
	case first != '^':
		return "the quote is not closed"
	case delimiter == "":
		return "no delimiter after ^"
	default:
		return "the quote is not closed: its delimiter is " + quote(delimiter)
	}
}

// locate returns the position of an offset that is not before the one it located last.
func (s *scanner) locate(offset int) Position {
	between := s.text[s.last.Offset:offset]
	if lines := strings.Count(between, "\n"); lines > 0 {
		s.last.Line += lines
		s.last.Column = 1
		between = between[strings.LastIndexByte(between, '\n')+1:]
	}
	s.last.Column += utf8.RuneCountInString(between)
	s.last.Offset = offset
	return s.last
}
