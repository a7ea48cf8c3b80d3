// Package wording quotes what users wrote in messages, and finds what a misspelled name meant.
package wording

import (
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// longestCompared bounds what edit distances are computed of; no name of the
// format is longer.
const longestCompared = 40

// Nearest returns the candidate that a word is most likely a misspelling of,
// empty if none looks like it. Of several as near it is the first by the
// alphabet, so that the order of the candidates does not matter.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", longestCompared
	for _, candidate := range candidates {
		distance, similar := Distance(word, candidate)
		if similar && (distance < bestDistance || distance == bestDistance && candidate < best) {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// Distance counts the letters to change, add or leave out; a third of
// the letters at most may differ. Two letters that have changed places, the most
// common slip, count as one. Case, and whether words are joined by dashes, does
// not matter.
func Distance(word, candidate string) (distance int, similar bool) {
	if len(word) > longestCompared || len(candidate) > longestCompared {
		return 0, false
	}
	a, b := folded(word), folded(candidate)
	distance = levenshtein.ComputeDistance(a, b)
	if areSwapped(a, b) {
		distance = 1
	}
	return distance, distance <= max(1, min(len(a), len(b))/3) && distance < max(len(a), len(b))
}

func folded(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(word))
}

// areSwapped reports whether words differ only by two neighbouring letters that
// have changed places.
func areSwapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// Quote quotes text of a document for a message. It shortens long text and replaces control
// characters with blanks.
func Quote(text string) string {
	const longest = 60
	if len(text) > longest {
		cut := longest
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return `"` + strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text) + `"`
}
