package check

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/config"
)

// checkOnNodes reports a command for the nodes of jobs that cannot work.
func (c *checker) checkOnNodes(command *config.Command) {
	report := func(message, help string) {
		c.report(command.Position, config.Error, "invalid-on-nodes", message, help)
	}
	if len(command.Arguments) == 0 {
		if command.FromNodes || command.InJob {
			report("x:on-nodes without arg starts nothing: from-nodes and at have no meaning", "leave them out, or add the command")
		}
		return
	}
	if command.FromNodes && command.InJob {
		report(`x:on-nodes with at="job" runs on nodes only: from-nodes has no meaning`, "leave it out")
	}
	words := &config.Command{Arguments: command.Arguments}
	for _, needed := range []string{nodeName, nodeCommand} {
		if !slices.Contains(words.Attributes(), needed) {
			report(fmt.Sprintf("no arg of x:on-nodes refers to %s", needed), "add <arg>${ptp_rm:"+needed+"#value}</arg>")
		}
	}
	if use := usedStream(command); use != "" {
		report(fmt.Sprintf("x:on-nodes has %s: rmctl needs the standard input and standard output of the process", use), "leave it out")
	}
}

// usedStream returns what of a command uses its standard input or output, empty for nothing.
func usedStream(command *config.Command) string {
	switch {
	case len(command.Input) > 0:
		return "an input"
	case len(command.Parsers()) > 0:
		return "a parser"
	case len(command.PreLaunch)+len(command.PostLaunch) > 0:
		return "a command before or after it"
	case command.RedirectStderr:
		return "redirectStderr"
	case command.AllocatePTY:
		return "the flag ALLOCATE_PTY"
	}
	return ""
}
