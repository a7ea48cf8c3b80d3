package breaks

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// exclude reports whether two rows provably never take the same record, so that their
// order does not matter.
func exclude(a, b *config.StateRow) bool {
	if len(a.Words) > 0 && len(b.Words) > 0 && !slices.ContainsFunc(a.Words, func(word string) bool { return slices.Contains(b.Words, word) }) {
		return true
	}
	if a.Matches.IsSet() && b.Matches.IsSet() && areDisjoint(a.Matches.Text, b.Matches.Text) {
		return true
	}
	for name, demanded := range demandsOf(a.Test.Text) {
		if other, both := demandsOf(b.Test.Text)[name]; both && contradict(demanded, other) {
			return true
		}
	}
	return false
}

// A demand is what a condition wants a field to be: a text or a number, a pattern, or absent.
type demand struct {
	text, pattern string
	isAbsent      bool
}

var (
	equation = lazyregexp.New(`^([\w.-]+)=('[^']*'|[\d.]+)$`)
	matching = lazyregexp.New(`^matches\(([\w.-]+),'([^']*)'\)$`)
	absence  = lazyregexp.New(`^not\(([\w.-]+(?: or [\w.-]+)*)\)$`)
)

// demandsOf returns the demands in a conjunction, by field, and ignores its other parts.
func demandsOf(test string) map[string]demand {
	demands := map[string]demand{}
	for part := range strings.SplitSeq(test, " and ") {
		if found := equation.FindStringSubmatch(part); found != nil {
			demands[found[1]] = demand{text: strings.Trim(found[2], "'")}
		} else if found := matching.FindStringSubmatch(part); found != nil {
			demands[found[1]] = demand{pattern: found[2]}
		} else if found := absence.FindStringSubmatch(part); found != nil {
			for name := range strings.SplitSeq(found[1], " or ") {
				demands[name] = demand{isAbsent: true}
			}
		}
	}
	return demands
}

func contradict(a, b demand) bool {
	switch {
	case a.isAbsent || b.isAbsent:
		return a.isAbsent != b.isAbsent
	case a.pattern == "" && b.pattern == "":
		return a.text != b.text
	case a.pattern != "" && b.pattern != "":
		return false
	case a.pattern != "":
		a, b = b, a
	}
	expression, err := regexp.Compile(b.pattern)
	return err == nil && !expression.MatchString(a.text)
}
