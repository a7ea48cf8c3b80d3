package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/javaregex"
	"github.com/rmctl/rmctl/schemas"
)

func (l *loader) command(e element, kind CommandElement) *Command {
	c := &Command{
		Position:           e.position(),
		Element:            kind,
		Name:               e.text("name"),
		Directory:          e.text("directory"),
		Arguments:          l.arguments(e, "arg"),
		Input:              l.arguments(e, "input"),
		RedirectStderr:     e.boolean("redirectStderr", false),
		StreamBufferLimit:  e.integer("streamBufferLimit", -1),
		ReplaceEnvironment: e.boolean("replaceEnvironment", false),
		WaitForID:          e.boolean("waitForId", false),
		IgnoreExitStatus:   e.boolean("ignoreExitStatus", false),
		KeepOpen:           e.boolean("keepOpen", false),
	}
	for flag := range strings.SplitSeq(e.text("flags"), "|") {
		switch strings.TrimSpace(flag) {
		case "ALLOCATE_PTY":
			c.AllocatePTY = true
		case "FORWARD_X11":
			c.ForwardX11 = true
		}
	}
	e.children(func(child element) {
		switch child.Name {
		case "environment":
			c.Environment = append(c.Environment, l.environment(child))
		case "stdout-parser":
			c.StdoutParser = l.parser(child)
		case "stderr-parser":
			c.StderrParser = l.parser(child)
		case "redirect-parser":
			c.RedirectParser = l.parser(child)
		case "pre-launch-cmd":
			c.PreLaunch = append(c.PreLaunch, l.simpleCommand(child))
		case "post-launch-cmd":
			c.PostLaunch = append(c.PostLaunch, l.simpleCommand(child))
		}
	})
	l.commandExtensions(e, c)
	return c
}

func (l *loader) commandExtensions(e element, c *Command) {
	c.Timeout = e.duration(schemas.ExtensionNamespace, "timeout")
	c.Interval = e.duration(schemas.ExtensionNamespace, "interval")
	if c.Element == FindJob {
		c.Remembers = e.duration("", "remembers")
	}
	for _, child := range e.Children {
		fallback := element{child, l}
		if fallback.isExtension("process-mark") {
			c.ProcessMarks = append(c.ProcessMarks, l.processMark(fallback))
		}
		if !fallback.isExtension("fallback") {
			continue
		}
		command := l.command(fallback, Fallback)
		for kind := range strings.FieldsSeq(fallback.text("on")) {
			command.On = append(command.On, OutcomeKind(kind))
		}
		c.Fallbacks = append(c.Fallbacks, command)
	}
}

// duration returns a length of time, 0 for an attribute that is absent, or that
// is none, which the schema reports.
func (e element) duration(space, name string) time.Duration {
	text, found := e.lookup(space, name)
	if !found {
		return 0
	}
	duration, err := time.ParseDuration(strings.TrimSpace(text.Value))
	if err != nil || duration < 0 {
		return 0
	}
	return duration
}

func (l *loader) environment(e element) *EnvironmentEntry {
	return &EnvironmentEntry{
		Position:  e.position(),
		Name:      e.text("name"),
		Value:     e.optional("value"),
		Preserve:  e.boolean("preserve", false),
		Arguments: l.arguments(e, "arg"),
	}
}

func (l *loader) simpleCommand(e element) *SimpleCommand {
	return &SimpleCommand{
		Position:         e.position(),
		Name:             e.text("name"),
		Exec:             e.text("exec"),
		Directory:        e.text("directory"),
		RedirectStderr:   e.boolean("redirectStderr", false),
		IgnoreExitStatus: e.boolean("ignoreExitStatus", false),
		Wait:             e.boolean("wait", true),
	}
}

// outcome reads an x:outcome; the schema reports kinds and exit codes that are none.
func (l *loader) outcome(e element) *Outcome {
	o := &Outcome{Position: e.position(), Kind: OutcomeKind(e.text("kind"))}
	for code := range strings.FieldsSeq(e.text("exit")) {
		if number, err := strconv.Atoi(code); err == nil {
			o.ExitCodes = append(o.ExitCodes, number)
		}
	}
	if text := e.optional("expression"); text.Set {
		flags, _ := javaregex.ParseFlags(e.text("flags"))
		o.Expression = &Expression{Position: e.valuePosition("expression"), Text: text.Text, Flags: flags}
		l.checkExpression(o.Expression, func(offset int) Position { return e.valueWithin("expression", offset) })
	}
	return o
}
