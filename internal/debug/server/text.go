package server

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	rankVariable = "$rank"
	// mostExpressions bounds the expressions in the text of a log point.
	mostExpressions = 32
)

// withRank replaces $rank by the rank in an expression, but not in longer names, strings and characters.
func withRank(expression string, rank int) string {
	if !strings.Contains(expression, rankVariable) {
		return expression
	}
	var result strings.Builder
	for i := 0; i < len(expression); {
		switch {
		case expression[i] == '"' || expression[i] == '\'':
			end := i + lengthOfString(expression[i:])
			result.WriteString(expression[i:end])
			i = end
		case isRankAt(expression, i):
			result.WriteString(strconv.Itoa(rank))
			i += len(rankVariable)
		default:
			result.WriteByte(expression[i])
			i++
		}
	}
	return result.String()
}

// isRankAt reports whether the name $rank begins at a place.
func isRankAt(text string, at int) bool {
	rest, isFound := strings.CutPrefix(text[at:], rankVariable)
	return isFound && (rest == "" || !isInName(rest[0])) && (at == 0 || !isInName(text[at-1]))
}

func isInName(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// lengthOfString returns the length of the string or character that a text begins with, with its quotes.
// A quote without another one is one byte: Fortran and C++ have digits separated by them.
func lengthOfString(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 1
}

// A logPart is a part of the text of a log point: a text, or an expression whose value is printed.
type logPart struct {
	text         string
	isExpression bool
}

// parseLog takes the text of a log point apart. A brace without the other one is text, as is \{.
func parseLog(text string, rank int) []logPart {
	var parts []logPart
	var plain strings.Builder
	count := 0
	for i := 0; i < len(text); {
		length := 0
		if text[i] == '{' && count < mostExpressions {
			length = lengthOfBraces(text[i:])
		}
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '}'):
			plain.WriteByte(text[i+1])
			i += 2
		case length > len("{}"):
			parts = append(parts, logPart{text: plain.String()}, logPart{withRank(strings.TrimSpace(text[i+1:i+length-1]), rank), true})
			plain.Reset()
			count++
			i += length
		case isRankAt(text, i):
			plain.WriteString(strconv.Itoa(rank))
			i += len(rankVariable)
		default:
			plain.WriteByte(text[i])
			i++
		}
	}
	return append(parts, logPart{text: plain.String()})
}

// lengthOfBraces returns the length of the expression in braces that a text begins with, or 0.
func lengthOfBraces(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			i += lengthOfString(text[i:]) - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// completeCharacters returns how many bytes a text has before a character whose end is missing.
func completeCharacters(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
