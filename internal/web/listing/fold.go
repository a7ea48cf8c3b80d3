package listing

import (
	"encoding/json"
	"strconv"
	"strings"
)

// FoldNames writes names as JSON in which a run such as n001 to n128 is one entry:
// what comes before the number, how many digits that has (0 for as many as it
// needs), its first value, and how many there are. A name without such a number is
// an entry of its own text.
func FoldNames(names []string) string {
	entries := []any{}
	for i := 0; i < len(names); {
		stem, digits := splitNumber(names[i])
		first, err := strconv.Atoi(digits)
		if digits == "" || err != nil {
			entries = append(entries, names[i])
			i++
			continue
		}
		width := 0
		if digits[0] == '0' {
			width = len(digits)
		}
		length := 1
		for i+length < len(names) && names[i+length] == Numbered(stem, width, first+length) {
			length++
		}
		entries = append(entries, []any{stem, width, first, length})
		i += length
	}
	text, err := json.Marshal(entries)
	if err != nil { // of texts and numbers, which there is JSON for
		return "[]"
	}
	return string(text)
}

// splitNumber cuts the number off the end of a name, which has at most nine digits.
func splitNumber(name string) (stem, digits string) {
	at := len(name)
	for at > 0 && len(name)-at < 9 && name[at-1] >= '0' && name[at-1] <= '9' {
		at--
	}
	return name[:at], name[at:]
}

// Numbered returns a name of a run: the width is that of FoldNames.
func Numbered(stem string, width, number int) string {
	digits := strconv.Itoa(number)
	return stem + strings.Repeat("0", max(0, width-len(digits))) + digits
}
