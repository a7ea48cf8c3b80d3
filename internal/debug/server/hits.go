package server

import (
	"fmt"
	"strconv"
	"strings"
)

// A hitRule selects the hits of a breakpoint that count. The zero value means all.
type hitRule struct {
	relation string // >=, = or %
	number   int
}

// parseHits reads a rule: 5 or >=5 from the fifth hit on, =5 only that, %5 each fifth.
func parseHits(text string) (hitRule, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return hitRule{}, nil
	}
	rule := hitRule{relation: ">="}
	digits := text
	for _, relation := range []string{">=", "==", "=", "%"} {
		if rest, isFound := strings.CutPrefix(text, relation); isFound {
			rule.relation, digits = relation, strings.TrimSpace(rest)
			break
		}
	}
	number, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || number == 0 {
		return hitRule{}, fmt.Errorf("invalid hit count %.40q: use 5, >=5, =5 or %%5", text)
	}
	rule.number = int(number)
	return rule, nil
}

// counts reports whether a hit counts; the first one is 1.
func (r hitRule) counts(hit int) bool {
	switch r.relation {
	case ">=":
		return hit >= r.number
	case "=", "==":
		return hit == r.number
	case "%":
		return hit%r.number == 0
	}
	return true
}
