package config

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/javaregex"
	"github.com/rmctl/rmctl/schemas"
)

var argumentCodes = []Code{
	{"no-shell", Warning, "A command line holds what only a shell would understand."},
	{"never-undefined", Warning, "An argument cannot match the expression by which it is to vanish."},
	{"invalid-environment-name", Error, "A variable has a name that no environment can hold."},
	{"duplicate-command", Warning, "Two commands of one kind have one name."},
}

func (c *checker) checkArguments(e element) {
	switch {
	case e.Name == "environment":
		c.checkEnvironment(e)
	case isArgument(e.Name):
		c.checkVanishing(e)
	case e.Name == "pre-launch-cmd" || e.Name == "post-launch-cmd":
		c.checkWords([]argumentText{{e.text("exec"), func(index int) Position { return e.valueWithin("exec", index) }}})
	}
	if isCommandElement(e.Name) || e.isExtension(string(Fallback)) || e.isExtension(string(ProbeCommand)) {
		var texts []argumentText
		for _, argument := range e.named("arg") {
			texts = append(texts, argumentText{argument.Text, argument.textWithin})
		}
		c.checkWords(texts)
	}
	for _, child := range e.Children {
		c.checkArguments(element{child, c.loader})
	}
}

var environmentName = lazyregexp.New(`^[^=\x00]+$`)
var shellName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *checker) checkEnvironment(e element) {
	name := e.text("name")
	switch {
	case !environmentName.MatchString(name):
		c.report(e.valuePosition("name"), Error, "invalid-environment-name", fmt.Sprintf("no variable can be called %s", schemas.Quote(name)), "")
	case !shellName.MatchString(name) && !strings.Contains(name, referenceStart):
		c.report(e.valuePosition("name"), Warning, "invalid-environment-name",
			fmt.Sprintf("shells cannot use a variable that is called %s", schemas.Quote(name)), "use letters, digits and _ only")
	}
	if e.optional("value").Set && len(e.named("arg")) > 0 {
		c.report(e.valuePosition("value"), Warning, "without-effect", "the variable has a value; its arguments are ignored", "leave out one of the two")
	}
}

// checkVanishing checks how an argument is to vanish.
func (c *checker) checkVanishing(e element) {
	name := "isUndefinedIfMatches"
	pattern := e.optional(name)
	if !pattern.Set {
		name = "isUndefIfMatches"
		pattern = e.optional(name)
	}
	decider := e.optional("attribute")
	if decider.Set {
		c.checkDecider(e, decider.Text)
	}
	switch {
	case !e.boolean("resolve", true):
		if pattern.Set {
			c.report(e.valuePosition(name), Warning, "without-effect", `with resolve="false" an argument never vanishes`, "leave out one of the two")
		}
		return
	case decider.Set && !pattern.Set:
		c.report(e.valuePosition("attribute"), Warning, "without-effect", "the attribute decides nothing without isUndefinedIfMatches", "")
		return
	case !pattern.Set || strings.Contains(pattern.Text, referenceStart):
		return
	}
	trimmed := strings.TrimSpace(pattern.Text)
	if _, literal := literalOf(trimmed); !literal {
		if _, err := javaregex.Compile(trimmed, 0); err != nil {
			c.reportExpression(err, func(index int) Position { return e.valueWithin(name, index+strings.Index(pattern.Text, trimmed)) })
			return
		}
	}
	if !decider.Set && !canMatch(trimmed, e.Text) {
		c.reportNeverVanishing(e, name, pattern.Text)
	}
}

// checkDecider checks the attribute that decides whether an argument vanishes.
func (c *checker) checkDecider(e element, name string) {
	c.use(name, useIn(c.partOf(e)))
	if name != "" && !c.names.has(name) {
		c.undefined(e.valuePosition("attribute"), name, "the argument always vanishes")
	}
}

// reportNeverVanishing reports a pattern that the text of an argument never matches,
// with what would match it if the references have no values.
func (c *checker) reportNeverVanishing(e element, name, pattern string) {
	at := e.valuePosition(name)
	message := fmt.Sprintf("whatever the values are, the text never matches %s, so that it never vanishes", schemas.Quote(strings.TrimSpace(pattern)))
	if rest := strings.TrimSpace(withoutReferences(e.Text)); strings.TrimSpace(e.Text) != rest && !strings.ContainsAny(rest, "\n\t") {
		if pattern != "" {
			c.reportReplacement(at, Warning, "never-undefined", message, pattern, escaped(rest))
			return
		}
		message += ": without values it is " + schemas.Quote(rest)
	}
	c.report(at, Warning, "never-undefined", message, "")
}

// partOf returns the name of the element of control-data that an element is in.
func (c *checker) partOf(e element) string {
	for inner := e.Element; inner.Parent != nil; inner = inner.Parent {
		if inner.Parent.Name == "control-data" {
			return inner.Name
		}
	}
	return ""
}

// checkCommandNames reports commands that cannot be named: buttons and selectors
// look them up by their names.
func (c *checker) checkCommandNames() {
	type name struct {
		element CommandElement
		name    string
	}
	earlier := map[name]Position{}
	for _, command := range c.definition.Commands {
		key := name{command.Element, command.Name}
		if first, twice := earlier[key]; twice && command.Name != "" {
			c.report(command.Position, Warning, "duplicate-command",
				fmt.Sprintf("a second %s is called %s; by its name the one on line %d is meant", command.Element, schemas.Quote(command.Name), first.Line), "")
			continue
		}
		earlier[key] = command.Position
	}
}
