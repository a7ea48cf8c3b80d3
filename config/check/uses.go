package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// checkUses reports attributes that nothing uses, and those that a job uses but no
// control of the form can set. References, controls and expressions of readers
// have been noted before.
func (c *checker) checkUses() {
	jobParsers := c.useByParsers()
	for name, e := range c.names.defined {
		if isReadByEngine(name) || c.names.discovered[name] {
			continue
		}
		if c.uses[name] == 0 && !c.dynamicUses && !optionalElement(e, "link-value-to") {
			c.report(e.ValuePosition("name"), config.Warning, "unused-attribute", fmt.Sprintf("nothing uses the attribute %s", wording.Quote(name)), "")
			continue
		}
		if c.isUnreachable(e, name) && !jobParsers[name] {
			c.report(e.ValuePosition("name"), config.Warning, "unreachable-attribute",
				fmt.Sprintf("no control of the form sets %s, so it is empty in jobs submitted by the form", wording.Quote(name)),
				`bind a control to it, list it in a viewer, or make it visible="false"`)
		}
	}
}

func isReadByEngine(name string) bool {
	return strings.HasPrefix(name, factPrefix) || strings.HasPrefix(name, "control.") || isExternal(name) ||
		slices.Contains(readAttributes, name) || slices.Contains(suppliedAttributes, name)
}

func optionalElement(e *xmltree.Element, name string) bool {
	_, present := e.First(name)
	return present
}

// isUnreachable reports whether the form takes the value from an attribute that
// jobs use: it does so with visible ones that none of its controls is bound to.
func (c *checker) isUnreachable(e *xmltree.Element, name string) bool {
	form := c.definition.LaunchTab
	return form != nil && len(form.Tabs) > 0 && e.Boolean("visible", true) &&
		c.uses[name]&usedByJobs != 0 && c.uses[name]&bound == 0 && !optionalElement(e, "link-value-to")
}

// useByParsers notes which attributes parsers name, and returns those that are
// set after the form has taken the values away: by parsers of a job's commands.
func (c *checker) useByParsers() map[string]bool {
	ofJobs := map[string]bool{}
	for _, command := range c.definition.Commands {
		for _, parser := range parsers(command) {
			for _, target := range parser.Targets {
				c.use(target.Ref.Text, usedElsewhere)
				if !isSessionPart(string(command.Element)) {
					ofJobs[target.Ref.Text] = true
				}
			}
		}
	}
	return ofJobs
}
