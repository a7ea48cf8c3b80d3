package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/javaregex"
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
	if limit, ok := e.lookup(ExtensionNamespace, "timeout"); ok {
		duration, err := time.ParseDuration(strings.TrimSpace(limit.Value))
		if err != nil || duration <= 0 {
			l.report(Position{l.file, limit.Line, limit.Column}, Error, "invalid-value",
				fmt.Sprintf("%q is not a length of time", limit.Value), "write it like 30s or 2m")
		}
		c.Timeout = duration
	}
	for _, child := range e.Children {
		fallback := element{child, l}
		if !fallback.isExtension("fallback") {
			continue
		}
		command := l.command(fallback, Fallback)
		for kind := range strings.FieldsSeq(fallback.text("on")) {
			command.On = append(command.On, l.outcomeKind(fallback, kind, true))
		}
		c.Fallbacks = append(c.Fallbacks, command)
	}
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

func (l *loader) outcome(e element) *Outcome {
	o := &Outcome{Position: e.position(), Kind: l.outcomeKind(e, e.text("kind"), false)}
	for code := range strings.FieldsSeq(e.text("exit")) {
		number, err := strconv.Atoi(code)
		if err != nil || number < 0 || number > 255 {
			l.report(e.valuePosition("exit"), Error, "invalid-value",
				fmt.Sprintf("%q is not an exit code", code), "exit codes are 0 to 255, separated by blanks")
			continue
		}
		o.ExitCodes = append(o.ExitCodes, number)
	}
	if text := e.optional("expression"); text.Set {
		flags, _ := javaregex.ParseFlags(e.text("flags"))
		o.Expression = &Expression{Position: e.valuePosition("expression"), Text: text.Text, Flags: flags}
		l.checkExpression(o.Expression)
	}
	return o
}

func (l *loader) outcomeKind(e element, text string, allowOK bool) OutcomeKind {
	switch kind := OutcomeKind(text); kind {
	case Transient, NotFound, Denied, Finished:
		return kind
	case Succeeded:
		if allowOK {
			return kind
		}
	}
	l.report(e.position(), Error, "invalid-value", fmt.Sprintf("%q is not an outcome", text),
		"outcomes are transient, not-found, denied and finished")
	return Transient
}
