package xpath

import "regexp"

// A condition is one about a single field, such as state='R' or matches(node,'^n'). They are
// what most rows and facts have, and the library takes a hundred times as long for them.
type condition struct {
	field   string
	equals  string
	pattern *regexp.Regexp // in place of equals
}

// conditionOf returns the condition that an expression consists of; nil for any other.
func conditionOf(tokens []token) *condition {
	are := func(kinds ...tokenKind) bool {
		if len(tokens) != len(kinds) {
			return false
		}
		for at, kind := range kinds {
			if tokens[at].kind != kind {
				return false
			}
		}
		return true
	}
	switch {
	case are(nameToken, operatorToken, literalToken) && tokens[1].text == "=":
		return &condition{field: tokens[0].text, equals: tokens[2].text}
	case are(nameToken, operatorToken, nameToken, operatorToken, literalToken, operatorToken) && tokens[0].text == "matches" &&
		tokens[1].text == "(" && tokens[3].text == "," && tokens[5].text == ")":
		return &condition{field: tokens[2].text, pattern: regexp.MustCompile(tokens[4].text)}
	}
	return nil
}

// holds reports whether the condition holds for a record: of several fields of the name any
// may be equal, and the first may match.
func (c *condition) holds(record *Node) bool {
	for _, child := range record.Children {
		if child.Name != c.field {
			continue
		}
		value := child.Value()
		if c.pattern != nil {
			return c.pattern.MatchString(value)
		}
		if value == c.equals {
			return true
		}
	}
	return false
}
