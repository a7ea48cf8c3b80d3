package main

import (
	"math/rand/v2"
	"slices"
	"strings"
)

const wordsOfSentence = 4

// isSentence distinguishes sentences from commands, formats and lines of tables: most of their words are plain.
func isSentence(words string) bool {
	plain := 0
	all := strings.Fields(words)
	for _, word := range all {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:;'()") == "" {
			plain++
		}
	}
	return plain >= wordsOfSentence && plain*3 >= len(all)*2
}

// draw returns count texts that users or developers read as sentences, as many of each kind.
func draw(texts []text, count int, random *rand.Rand) []text {
	byKind := map[kind][]text{}
	for _, candidate := range texts {
		if isSentence(candidate.words) {
			byKind[candidate.kind] = append(byKind[candidate.kind], candidate)
		}
	}
	var drawn []text
	for _, kind := range []kind{message, paragraph, markup, comment, testName} {
		candidates := byKind[kind]
		random.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
		drawn = append(drawn, candidates[:min(share(kind, count), len(candidates))]...)
	}
	slices.SortStableFunc(drawn, func(a, b text) int { return strings.Compare(a.path, b.path) })
	return drawn
}

// share is how many texts of a kind a draw has: what users read counts most.
func share(of kind, count int) int {
	switch of {
	case message:
		return count - share(paragraph, count) - share(markup, count) - share(comment, count) - share(testName, count)
	case paragraph:
		return count * 30 / 100
	case markup, comment:
		return count * 14 / 100
	default:
		return count * 6 / 100
	}
}
