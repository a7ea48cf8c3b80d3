package schemas

import (
	"strings"
	"unicode/utf8"
)

// longestCompared bounds what edit distances are computed of; no name of the
// format is longer.
const longestCompared = 40

// nearest returns the candidate that a word is most likely a misspelling of,
// empty if none looks like it. Of several as near it is the first by the
// alphabet, so that the order of the candidates does not matter.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", longestCompared
	for _, candidate := range candidates {
		distance, similar := distanceIfSimilar(word, candidate)
		if similar && (distance < bestDistance || distance == bestDistance && candidate < best) {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// distanceIfSimilar counts the letters to change, add, leave out or swap with
// their neighbour; a third of the letters at most may differ. Case, and whether
// words are joined by dashes, does not matter.
func distanceIfSimilar(word, candidate string) (distance int, similar bool) {
	if len(word) > longestCompared || len(candidate) > longestCompared {
		return 0, false
	}
	a, b := folded(word), folded(candidate)
	distance = editDistance(a, b)
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

func editDistance(a, b string) int {
	var rows [3][longestCompared*2 + 1]int
	twoAbove, above, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoAbove[j-2]+1)
			}
		}
		twoAbove, above, row = above, row, twoAbove
	}
	return above[len(b)]
}

// quote quotes what stands in a document for a message, cut to a length that
// can be read.
func quote(text string) string {
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
