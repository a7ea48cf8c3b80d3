package sorting

import "strings"

// CompareNumbered compares names by the numbers in them: node2 comes before node10.
func CompareNumbered(a, b string) int {
	for a != "" && b != "" {
		textA, digitsA, restA := cutNumber(a)
		textB, digitsB, restB := cutNumber(b)
		if textA != textB || digitsA == "" || digitsB == "" {
			return strings.Compare(a, b)
		}
		if order := len(digitsA) - len(digitsB); order != 0 {
			return order
		}
		if order := strings.Compare(digitsA, digitsB); order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return len(a) - len(b)
}

// cutNumber splits a text at its first number: the text before it, the digits without leading
// zeros, and the rest. Without a number, digits is empty.
func cutNumber(text string) (before, digits, rest string) {
	begin := strings.IndexAny(text, "0123456789")
	if begin < 0 {
		return text, "", ""
	}
	end := begin
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	digits = strings.TrimLeft(text[begin:end], "0")
	if digits == "" {
		digits = "0"
	}
	return text[:begin], digits, text[end:]
}
