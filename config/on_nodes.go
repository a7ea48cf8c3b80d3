package config

import (
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// onNodes reads what an x:on-nodes has beyond other commands.
func (c *Command) onNodes(e *xmltree.Element) {
	c.Processes = e.Value("processes")
	c.Over = strings.TrimSpace(e.Value("over"))
	c.JobIDs = patternOf(e, "ids")
	c.FromNodes = e.Boolean("from-nodes", false)
	c.NoSignals = !e.Boolean("signals", true)
}
