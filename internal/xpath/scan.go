package xpath

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a part of an expression.
type token struct {
	kind tokenKind
	text string // of a literal without its quotes
}

type tokenKind uint8

const (
	nameToken      tokenKind = iota
	attributeToken           // a name after @
	wildcardToken            // a * that matches any name
	literalToken
	numberToken
	operatorToken // also the brackets, and names that are operators where they stand
	endToken
)

// longOperators are those of two characters.
var longOperators = []string{"//", "::", "..", "!=", "<=", ">="}

// scan splits an expression into tokens.
func scan(text string) ([]token, error) {
	var tokens []token
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			rest = rest[size:]
		case r == '"' || r == '\'':
			literal, after, isClosed := strings.Cut(rest[1:], string(r))
			if !isClosed {
				return nil, fmt.Errorf("the text %.40q has no end", rest)
			}
			tokens, rest = append(tokens, token{literalToken, literal}), after
		case isDigit(r), r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
			length := endOf(rest, func(r rune) bool { return isDigit(r) || r == '.' })
			tokens, rest = append(tokens, token{numberToken, rest[:length]}), rest[length:]
		case isNameStart(r):
			length := endOf(rest, isNamePart)
			tokens, rest = append(tokens, named(tokens, rest[:length])), rest[length:]
		case r == '*' && !followsOperand(tokens):
			tokens, rest = append(tokens, token{wildcardToken, "*"}), rest[size:]
		default:
			if len(rest) > 1 && slices.Contains(longOperators, rest[:2]) {
				size = 2
			}
			tokens, rest = append(tokens, token{operatorToken, rest[:size]}), rest[size:]
		}
	}
	return tokens, nil
}

// named returns the token of a name, which is an operator behind an operand.
func named(before []token, name string) token {
	switch {
	case isAttribute(before):
		return token{attributeToken, name}
	case followsOperand(before) && slices.Contains([]string{"and", "or", "div", "mod"}, name):
		return token{operatorToken, name}
	}
	return token{nameToken, name}
}

// followsOperand reports whether the last token is the end of an operand, which only an
// operator can follow.
func followsOperand(tokens []token) bool {
	if len(tokens) == 0 {
		return false
	}
	last := tokens[len(tokens)-1]
	return last.kind != operatorToken || slices.Contains([]string{")", "]", ".", ".."}, last.text)
}

// isAttribute reports whether the name of an attribute follows.
func isAttribute(before []token) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	isAxis := len(before) > 1 && last.text == "::" && before[len(before)-2].text == attributeAxis
	return last.kind == operatorToken && (last.text == "@" || isAxis)
}

// endOf returns how many bytes at the beginning of a text have a property.
func endOf(text string, has func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !has(r) }); end >= 0 {
		return end
	}
	return len(text)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || r == '-' || r == '.'
}

// FieldName returns a text as the name of a field: any character that names cannot have,
// and a digit in front, gets an underscore.
func FieldName(text string) string {
	if text != "" && isNameStart(rune(text[0])) && endOf(text, isNamePart) == len(text) {
		return text
	}
	var name strings.Builder
	for i, r := range text {
		if i == 0 && !isNameStart(r) && isNamePart(r) {
			name.WriteByte('_')
		}
		if !isNamePart(r) || r == utf8.RuneError {
			r = '_'
		}
		name.WriteRune(r)
	}
	return name.String()
}

// isCall reports whether a token is the name of a function.
func isCall(tokens []token, at int) bool {
	return at+1 < len(tokens) && tokens[at].kind == nameToken && tokens[at+1] == token{operatorToken, "("}
}

// isAxis reports whether a token is the name of an axis.
func isAxis(tokens []token, at int) bool {
	return at+1 < len(tokens) && tokens[at+1] == token{operatorToken, "::"}
}
