package check

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

var argumentCodes = []Code{
	{"no-shell", config.Warning, "A command line uses syntax that only a shell understands."},
	{"unclosed-quote", config.Warning, "A quote in a command line is not closed."},
	{"never-undefined", config.Warning, "An argument never matches the expression that omits it."},
	{"invalid-environment-name", config.Error, "An environment variable has an invalid name."},
	{"duplicate-command", config.Warning, "Two commands of one kind have the same name."},
}

func (c *checker) checkArguments(e *xmltree.Element) {
	switch {
	case e.Name == "environment":
		c.checkEnvironment(e)
	case isArgument(e.Name):
		c.checkVanishing(e)
	case e.Name == "pre-launch-cmd" || e.Name == "post-launch-cmd":
		exec := argumentText{e.Value("exec"), func(index int) config.Position { return e.ValueWithin("exec", index) }}
		c.checkQuotes(exec)
		c.checkWords([]argumentText{exec})
	}
	if isCommand(e) && e.Name != "environment" { // whose arguments are one text
		var texts []argumentText
		for _, argument := range e.Named("arg") {
			text := argumentText{argument.Text, argument.TextWithin}
			if word, _ := argument.Lookup(xmltree.ExtensionNamespace, "word"); word.Value != "true" {
				c.checkQuotes(text)
			}
			texts = append(texts, text)
		}
		c.checkWords(texts)
	}
}

var environmentName = lazyregexp.New(`^[^=\x00]+$`)
var shellName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *checker) checkEnvironment(e *xmltree.Element) {
	name := e.Value("name")
	switch {
	case !environmentName.MatchString(name):
		c.report(e.ValuePosition("name"), config.Error, "invalid-environment-name", fmt.Sprintf("invalid variable name %s", wording.Quote(name)), "")
	case !shellName.MatchString(name) && !strings.Contains(name, reference.Start):
		c.report(e.ValuePosition("name"), config.Warning, "invalid-environment-name",
			fmt.Sprintf("shells cannot use the variable name %s", wording.Quote(name)), "use letters, digits and _ only")
	}
	if e.Optional("value").Set && len(e.Named("arg")) > 0 {
		c.report(e.ValuePosition("value"), config.Warning, "without-effect", "the variable has a value; its arguments are ignored", "remove one of them")
	}
}

// checkVanishing checks when an argument is omitted.
func (c *checker) checkVanishing(e *xmltree.Element) {
	name := "isUndefinedIfMatches"
	pattern := e.Optional(name)
	if !pattern.Set {
		name = "isUndefIfMatches"
		pattern = e.Optional(name)
	}
	decider := e.Optional("attribute")
	if decider.Set {
		c.checkDecider(e, decider.Text)
	}
	switch {
	case !e.Boolean("resolve", true):
		if pattern.Set {
			c.report(e.ValuePosition(name), config.Warning, "without-effect", `an argument with resolve="false" is never omitted`, "remove one of them")
		}
		return
	case decider.Set && !pattern.Set:
		c.report(e.ValuePosition("attribute"), config.Warning, "without-effect", "attribute has no effect without isUndefinedIfMatches", "")
		return
	case !pattern.Set || strings.Contains(pattern.Text, reference.Start):
		return
	}
	trimmed := strings.TrimSpace(pattern.Text)
	if !literalExpression.MatchString(trimmed) {
		if _, err := javaregex.Compile(trimmed, 0); err != nil {
			c.reportExpression(err, func(index int) config.Position {
				return e.ValueWithin(name, index+strings.Index(pattern.Text, trimmed))
			})
			return
		}
	}
	if !decider.Set && !c.canMatch(trimmed, e.Text) {
		c.reportNeverVanishing(e, name, pattern.Text)
	}
}

// checkDecider checks the attribute that decides whether an argument is omitted.
func (c *checker) checkDecider(e *xmltree.Element, name string) {
	c.use(name, useIn(partOf(e)))
	if name != "" && !c.names.has(name) {
		c.undefined(e.ValuePosition("attribute"), name, "the argument is always omitted")
	}
}

// reportNeverVanishing reports a pattern that the text of an argument never matches,
// and suggests one that matches if the references have no values.
func (c *checker) reportNeverVanishing(e *xmltree.Element, name, pattern string) {
	at := e.ValuePosition(name)
	message := fmt.Sprintf("the text never matches %s, so the argument is never omitted", wording.Quote(strings.TrimSpace(pattern)))
	if rest := strings.TrimSpace(reference.Replace(e.Text, "")); strings.TrimSpace(e.Text) != rest && !strings.ContainsAny(rest, "\n\t") {
		if pattern != "" {
			c.reportReplacement(at, config.Warning, "never-undefined", message, pattern, escaped(rest))
			return
		}
		message += ": without values the text is " + wording.Quote(rest)
	}
	c.report(at, config.Warning, "never-undefined", message, "")
}

// partOf returns the name of the element of control-data or monitor-data that an
// element is in.
func partOf(e *xmltree.Element) string {
	for inner := e; inner.Parent != nil; inner = inner.Parent {
		if inner.Parent.Name == "control-data" || inner.Parent.Name == "monitor-data" {
			return inner.Name
		}
	}
	return ""
}

// checkCommandNames reports commands that cannot be named: buttons and selectors
// look them up by their names.
func (c *checker) checkCommandNames() {
	type name struct {
		element config.CommandElement
		name    string
	}
	earlier := map[name]config.Position{}
	for _, command := range c.definition.Commands {
		key := name{command.Element, command.Name}
		if first, twice := earlier[key]; twice && command.Name != "" {
			c.report(command.Position, config.Warning, "duplicate-command",
				fmt.Sprintf("a second %s is called %s; the name refers to the one on line %d", command.Element, wording.Quote(command.Name), first.Line), "")
			continue
		}
		earlier[key] = command.Position
	}
}

var (
	// literalExpression matches expressions that match texts of one length: dots, and
	// characters that stand for themselves.
	literalExpression = lazyregexp.New(`^(?:\\[^\pL\p{Nd}]|[^\\\[\](){}*+?|^$])*$`)
	blanks            = lazyregexp.New(`(\\[^\s\x{85}\pZ])|\\?[\s\x{85}\pZ]`) // or an escaped character that is no blank
	special           = lazyregexp.New(`[\\.*+?()\[\]{}|^$]`)
)

// escaped returns an expression that matches a text.
func escaped(text string) string { return special.ReplaceAllString(text, `\$0`) }

// canMatch reports whether a text can match an expression whatever its
// references stand for. It returns false only for expressions that match a single
// text. White space does not count, since the engine trims
// the text that remains where values are empty.
func (c *checker) canMatch(expression, text string) bool {
	if !literalExpression.MatchString(expression) {
		return true
	}
	pattern, err := c.expressions.compile(blanks.ReplaceAllString(expression, "$1"), 0)
	possible, otherErr := c.expressions.compile(textsOf(text), 0)
	return err != nil || otherErr != nil || c.inspector.Overlap(pattern, possible)
}

// textsOf returns an expression for the possible values of a text, without white space.
func textsOf(text string) string {
	fixed := strings.Split(reference.Replace(strings.Join(strings.Fields(text), ""), "\x00"), "\x00")
	for i, part := range fixed {
		fixed[i] = escaped(part)
	}
	return strings.Join(fixed, "(?s:.*)")
}
