package xpath

import (
	"fmt"
	"regexp"
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
	literalToken
	numberToken
	operatorToken // also the brackets, and names that are operators where they stand
)

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
		case unicode.IsDigit(r):
			length := endOf(rest, func(r rune) bool { return unicode.IsDigit(r) || r == '.' })
			tokens, rest = append(tokens, token{numberToken, rest[:length]}), rest[length:]
		case isNameStart(r):
			length := endOf(rest, isNamePart)
			tokens, rest = append(tokens, named(tokens, rest[:length])), rest[length:]
		default:
			tokens, rest = append(tokens, token{operatorToken, rest[:size]}), rest[size:]
		}
	}
	return tokens, nil
}

// named returns the token of a name, which is an operator behind an operand.
func named(before []token, name string) token {
	if len(before) == 0 {
		return token{nameToken, name}
	}
	last := before[len(before)-1]
	isOperand := last.kind != operatorToken || slices.Contains([]string{")", "]", "."}, last.text)
	switch {
	case last.kind == operatorToken && last.text == "@":
		return token{attributeToken, name}
	case isOperand && slices.Contains([]string{"and", "or", "div", "mod"}, name):
		return token{operatorToken, name}
	}
	return token{nameToken, name}
}

// endOf returns how many bytes at the beginning of a text have a property.
func endOf(text string, has func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !has(r) }); end >= 0 {
		return end
	}
	return len(text)
}

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
	return tokens[at].kind == nameToken && at+1 < len(tokens) && tokens[at+1] == token{operatorToken, "("}
}

// isAxis reports whether a token is the name of an axis.
func isAxis(tokens []token, at int) bool {
	return at+2 < len(tokens) && tokens[at+1] == token{operatorToken, ":"} && tokens[at+2] == token{operatorToken, ":"}
}

// checkPatterns reports patterns of matches and replace that are not literal, as they
// would run a scheduler's text as an expression, and those that do not compile, which the
// library finds out when it evaluates them.
func checkPatterns(tokens []token) error {
	for at, each := range tokens {
		if !isCall(tokens, at) || each.text != "matches" && each.text != "replace" {
			continue
		}
		pattern, isLiteral := secondArgument(tokens[at+2:])
		if !isLiteral {
			return fmt.Errorf("the pattern of %s must be a text in quotes", each.text)
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return fmt.Errorf("the pattern of %s: %w", each.text, err)
		}
	}
	return nil
}

// secondArgument returns the second argument of a call, if it is a literal.
func secondArgument(tokens []token) (string, bool) {
	depth := 0
	for at, each := range tokens {
		if each.kind != operatorToken {
			continue
		}
		switch each.text {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		case ",":
			if depth == 0 && at+2 < len(tokens) && tokens[at+1].kind == literalToken && tokens[at+2].kind == operatorToken {
				return tokens[at+1].text, strings.Contains(",)", tokens[at+2].text)
			}
		}
		if depth < 0 || depth == 0 && each.text == "," {
			return "", false
		}
	}
	return "", false
}
