package xpath

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A function can be called in expressions.
type function struct {
	fewest, most int // arguments
	result       kind
	call         func(at *place, c *call) any
	onPlace      bool // the default argument is the context node
	takesNodes   bool // the first argument must select nodes
	hasPattern   bool // the second argument is a regular expression
}

// functions are those of XPath 1.0 without id, lang and namespace-uri, and five for texts.
var functions = map[string]function{
	"boolean":   {fewest: 1, most: 1, result: truthKind, call: func(at *place, c *call) any { return truth(at, c.arguments[0]) }},
	"false":     {result: truthKind, call: func(*place, *call) any { return false }},
	"not":       {fewest: 1, most: 1, result: truthKind, call: func(at *place, c *call) any { return !truth(at, c.arguments[0]) }},
	"true":      {result: truthKind, call: func(*place, *call) any { return true }},
	"ceiling":   rounding(math.Ceil),
	"floor":     rounding(math.Floor),
	"round":     rounding(roundHalfUp),
	"number":    {most: 1, result: numberKind, onPlace: true, call: func(at *place, c *call) any { return c.number(at, 0) }},
	"count":     {fewest: 1, most: 1, result: numberKind, takesNodes: true, call: func(at *place, c *call) any { return float64(len(c.selected(at))) }},
	"sum":       {fewest: 1, most: 1, result: numberKind, takesNodes: true, call: sum},
	"last":      {result: numberKind, call: func(at *place, _ *call) any { return float64(at.size) }},
	"position":  {result: numberKind, call: func(at *place, _ *call) any { return float64(at.position) }},
	"name":      {most: 1, result: textKind, onPlace: true, takesNodes: true, call: nameOfFirst},
	"string":    {most: 1, result: textKind, onPlace: true, call: func(at *place, c *call) any { return c.text(at, 0) }},
	"concat":    {fewest: 2, most: math.MaxInt, result: textKind, call: concat},
	"substring": {fewest: 2, most: 3, result: textKind, call: substring},
	"translate": {fewest: 3, most: 3, result: textKind, call: translate},

	"contains":    comparing(strings.Contains),
	"ends-with":   comparing(strings.HasSuffix),
	"starts-with": comparing(strings.HasPrefix),

	"local-name":    {most: 1, result: textKind, onPlace: true, takesNodes: true, call: nameOfFirst},
	"lower-case":    {fewest: 1, most: 1, result: textKind, call: func(at *place, c *call) any { return strings.ToLower(c.text(at, 0)) }},
	"matches":       {fewest: 2, most: 2, result: truthKind, hasPattern: true, call: func(at *place, c *call) any { return c.pattern.MatchString(c.text(at, 0)) }},
	"replace":       {fewest: 3, most: 3, result: textKind, hasPattern: true, call: replace},
	"string-join":   {fewest: 2, most: 2, result: textKind, takesNodes: true, call: func(at *place, c *call) any { return strings.Join(texts(at, c.arguments[0]), c.text(at, 1)) }},
	"string-length": {most: 1, result: numberKind, onPlace: true, call: func(at *place, c *call) any { return float64(utf8.RuneCountInString(c.text(at, 0))) }},

	"normalize-space":  {most: 1, result: textKind, onPlace: true, call: normalizeSpace},
	"substring-after":  cutting(func(_, after string) string { return after }),
	"substring-before": cutting(func(before, _ string) string { return before }),
}

// rounding returns a function that rounds a number.
func rounding(round func(float64) float64) function {
	return function{fewest: 1, most: 1, result: numberKind, call: func(at *place, c *call) any { return round(c.number(at, 0)) }}
}

// comparing returns a function that compares two texts.
func comparing(compare func(text, other string) bool) function {
	return function{fewest: 2, most: 2, result: truthKind, call: func(at *place, c *call) any { return compare(c.text(at, 0), c.text(at, 1)) }}
}

// cutting returns a function that returns the part of a text before or after another.
func cutting(part func(before, after string) string) function {
	return function{fewest: 2, most: 2, result: textKind, call: func(at *place, c *call) any {
		if before, after, isFound := strings.Cut(c.text(at, 0), c.text(at, 1)); isFound {
			return part(before, after)
		}
		return ""
	}}
}

// A call calls a function.
type call struct {
	function  function
	arguments []operand
	pattern   *regexp.Regexp // of a function that has one
}

// newCall returns a call, or an error if the function does not take the arguments.
func newCall(name string, arguments []operand) (*call, error) {
	called, exists := functions[name]
	if called.onPlace && len(arguments) == 0 {
		arguments = []operand{newPath(false, nil, []step{selfStep()})}
	}
	c := &call{function: called, arguments: arguments}
	switch {
	case !exists:
		return nil, fmt.Errorf("unknown function %q", name)
	case len(arguments) < called.fewest || len(arguments) > called.most:
		return nil, fmt.Errorf("%s takes %s", name, called.arity())
	case called.takesNodes && arguments[0].kind() != nodesKind:
		return nil, fmt.Errorf("the first argument of %s must select nodes", name)
	case !called.hasPattern:
		return c, nil
	}
	pattern, _ := arguments[1].(literal)
	text, isText := pattern.value.(string)
	if !isText { // a record must not supply patterns
		return nil, fmt.Errorf("the pattern of %s must be a text in quotes", name)
	}
	var err error
	if c.pattern, err = regexp.Compile(text); err != nil {
		return nil, fmt.Errorf("the pattern of %s: %w", name, err)
	}
	return c, nil
}

// arity describes the number of arguments of a function.
func (f function) arity() string {
	switch {
	case f.most == math.MaxInt:
		return fmt.Sprintf("%d or more arguments", f.fewest)
	case f.fewest != f.most:
		return fmt.Sprintf("%d to %d arguments", f.fewest, f.most)
	case f.most == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", f.most)
}

func (c *call) kind() kind { return c.function.result }

func (c *call) evaluate(at *place) any { return c.function.call(at, c) }

func (c *call) text(at *place, argument int) string { return text(at, c.arguments[argument]) }

func (c *call) number(at *place, argument int) float64 { return number(at, c.arguments[argument]) }

func (c *call) selected(at *place) []item { return c.arguments[0].(nodeSet).items(at) }

func sum(at *place, c *call) any {
	total := 0.0
	for _, each := range texts(at, c.arguments[0]) {
		total += parseNumber(each)
	}
	return total
}

func nameOfFirst(at *place, c *call) any {
	if items := c.selected(at); len(items) > 0 {
		return at.name(items[0])
	}
	return ""
}

func concat(at *place, c *call) any {
	var all strings.Builder
	for i := range c.arguments {
		all.WriteString(c.text(at, i))
	}
	return all.String()
}

// substring returns the characters whose positions are not before the second argument, and
// if there is a third one, before the sum of both. No position compares with NaN.
func substring(at *place, c *call) any {
	first, end := roundHalfUp(c.number(at, 1)), math.Inf(1)
	if len(c.arguments) > 2 {
		end = first + roundHalfUp(c.number(at, 2))
	}
	var part strings.Builder
	position := 0.0
	for _, r := range c.text(at, 0) {
		if position++; position >= first && position < end {
			part.WriteRune(r)
		}
	}
	return part.String()
}

// roundHalfUp rounds a number; halves go up.
func roundHalfUp(number float64) float64 {
	below := math.Floor(number)
	if number-below >= 0.5 {
		return below + 1
	}
	return below
}

// translate replaces the characters of the second argument by those of the third.
func translate(at *place, c *call) any {
	from, to := []rune(c.text(at, 1)), []rune(c.text(at, 2))
	replacements := map[rune]rune{}
	for i, r := range from {
		if _, isKnown := replacements[r]; isKnown {
			continue
		}
		replacements[r] = -1 // removes it
		if i < len(to) {
			replacements[r] = to[i]
		}
	}
	return strings.Map(func(r rune) rune {
		if replacement, isKnown := replacements[r]; isKnown {
			return replacement
		}
		return r
	}, c.text(at, 0))
}

func normalizeSpace(at *place, c *call) any {
	return strings.Join(strings.FieldsFunc(c.text(at, 0), func(r rune) bool { return strings.ContainsRune(blanks, r) }), " ")
}

// groupInText matches a group in the replacement of replace, and any other dollar.
var groupInText = lazyregexp.New(`\$(\d?)`)

// replace replaces what a pattern matches. $1 is the first group; other dollars are texts.
func replace(at *place, c *call) any {
	replacement := groupInText.ReplaceAllStringFunc(c.text(at, 2), func(found string) string {
		if found == "$" {
			return "$$"
		}
		return "${" + found[1:] + "}"
	})
	return c.pattern.ReplaceAllString(c.text(at, 0), replacement)
}
