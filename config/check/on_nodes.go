package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
)

// checkOnNodes reports a command for the nodes of jobs that cannot work.
func (c *checker) checkOnNodes(command *config.Command) {
	c.checkPattern(command.JobIDs)
	if !inspect.StartsProcess(command) {
		if command.FromNodes || command.NoSignals {
			c.reportOnNodes(command, "x:on-nodes without arg starts nothing: from-nodes and signals have no effect", "remove them, or add the command")
		}
		return
	}
	if command.Over != "" {
		c.checkOver(command)
	} else {
		c.checkNodeWords(command)
	}
	if use := usedStream(command); use != "" {
		c.reportOnNodes(command, fmt.Sprintf("x:on-nodes has %s: rmctl needs the standard input and standard output of the process", use), "remove it")
	}
}

func (c *checker) reportOnNodes(command *config.Command, message, help string) {
	c.report(command.Position, config.Error, "invalid-on-nodes", message, help)
}

// checkNodeWords reports references that the arg elements of an x:on-nodes lack.
func (c *checker) checkNodeWords(command *config.Command) {
	words := &config.Command{Arguments: command.Arguments}
	for _, needed := range []string{nodeName, nodeCommand} {
		if needed == nodeName && slices.Contains(words.Attributes(), nodeIndex) {
			continue
		}
		if !slices.Contains(words.Attributes(), needed) {
			c.reportOnNodes(command, fmt.Sprintf("no arg of x:on-nodes refers to %s", needed), "add <arg>${ptp_rm:"+needed+"#value}</arg>")
		}
	}
}

// checkOver reports parts of an x:on-nodes that contradict over.
func (c *checker) checkOver(command *config.Command) {
	over := command.Over
	if len(command.Arguments) > 0 {
		c.reportOnNodes(command, fmt.Sprintf("x:on-nodes with over=%q has an arg: rmctl makes the command", over), "remove one of them")
	}
	for _, variable := range strings.Fields(command.Processes) {
		if !strings.Contains(variable, "=") {
			c.reportOnNodes(command, fmt.Sprintf("%s in processes has no value: a process that rmctl starts over %s has no variables of the job", variable, over),
				"write "+variable+"=VALUE")
		}
	}
}

// usedStream returns the part of a command that uses its standard input or output, or "".
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
