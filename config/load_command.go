package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/xmltree"
)

func (l *loader) command(e *xmltree.Element, kind CommandElement) *Command {
	c := &Command{
		Position:           e.Position(),
		Element:            kind,
		Name:               e.Value("name"),
		Directory:          e.Value("directory"),
		Arguments:          l.arguments(e),
		Input:              l.inputs(e),
		RedirectStderr:     e.Boolean("redirectStderr", false),
		StreamBufferLimit:  e.Integer("streamBufferLimit", -1),
		ReplaceEnvironment: e.Boolean("replaceEnvironment", false),
		WaitForID:          e.Boolean("waitForId", false),
		IgnoreExitStatus:   e.Boolean("ignoreExitStatus", false),
		KeepOpen:           e.Boolean("keepOpen", false),
	}
	for flag := range strings.SplitSeq(e.Value("flags"), "|") {
		switch strings.TrimSpace(flag) {
		case "ALLOCATE_PTY":
			c.AllocatePTY = true
		case "FORWARD_X11":
			c.ForwardX11 = true
		}
	}
	e.Core(func(child *xmltree.Element) {
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

func (l *loader) commandExtensions(e *xmltree.Element, c *Command) {
	c.Timeout = duration(e, xmltree.ExtensionNamespace, "timeout")
	c.Interval = duration(e, xmltree.ExtensionNamespace, "interval")
	c.Busy = share(e, "busy")
	if only, found := e.Lookup(xmltree.ExtensionNamespace, "only"); found {
		for word := range strings.FieldsSeq(only.Value) {
			c.Only = append(c.Only, Stage(word))
		}
	}
	if file, found := e.Lookup(xmltree.ExtensionNamespace, "stdin"); found {
		c.InputFile = file.Value
	}
	if way, found := e.Lookup(xmltree.ExtensionNamespace, "without-terminal"); found {
		c.NeedsTerminal, c.SpeaksOnErrors = way.Value == "refuse", way.Value == "stderr"
	}
	if c.Element == FindJob {
		c.Remembers = duration(e, "", "remembers")
	}
	if c.Element == OnNodes {
		c.onNodes(e)
	}
	if codes, found := e.Lookup(xmltree.ExtensionNamespace, "exits"); found {
		c.Exits = exitCodes(codes.Value)
	}
	for _, child := range e.Children {
		if child.Space != xmltree.ExtensionNamespace {
			continue
		}
		switch child.Name {
		case "process-mark":
			c.ProcessMarks = append(c.ProcessMarks, l.processMark(child))
		case "fallback":
			c.Fallbacks = append(c.Fallbacks, l.fallback(child))
		case "read":
			c.Read = l.commandReader(child)
			c.Read.Joins = joinsOf(c)
		case "for":
			c.Batch = l.batch(child)
			c.Batch.Environment = slices.Concat(c.Environment, c.Batch.Environment)
		}
	}
}

func (l *loader) fallback(e *xmltree.Element) *Command {
	command := l.command(e, Fallback)
	command.FallbackOf = CommandElement(e.Parent.Name)
	for kind := range strings.FieldsSeq(e.Value("on")) {
		command.On = append(command.On, OutcomeKind(kind))
	}
	return command
}

// exitCodes reads exit codes separated by blanks; the schema reports other values.
func exitCodes(text string) []int {
	var codes []int
	for code := range strings.FieldsSeq(text) {
		if number, err := strconv.Atoi(code); err == nil {
			codes = append(codes, number)
		}
	}
	return codes
}

// share returns a percentage as a number up to 1, 0 for an attribute that is absent, or
// that is invalid, which the schema reports.
func share(e *xmltree.Element, name string) float64 {
	text, found := e.Lookup(xmltree.ExtensionNamespace, name)
	if !found {
		return 0
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text.Value), "%"))
	if err != nil || percent < 0 || percent > 100 {
		return 0
	}
	return float64(percent) / 100
}

// duration returns a length of time, 0 for an attribute that is absent, or that
// is invalid, which the schema reports.
func duration(e *xmltree.Element, space, name string) time.Duration {
	text, found := e.Lookup(space, name)
	if !found {
		return 0
	}
	duration, err := time.ParseDuration(strings.TrimSpace(text.Value))
	if err != nil || duration < 0 {
		return 0
	}
	return duration
}

func (l *loader) environment(e *xmltree.Element) *EnvironmentEntry {
	return &EnvironmentEntry{
		Position:  e.Position(),
		Name:      e.Value("name"),
		Value:     e.Optional("value"),
		Preserve:  e.Boolean("preserve", false),
		Arguments: e.Arguments("arg"),
	}
}

func (l *loader) simpleCommand(e *xmltree.Element) *SimpleCommand {
	return &SimpleCommand{
		Position:         e.Position(),
		Name:             e.Value("name"),
		Exec:             e.Value("exec"),
		Directory:        e.Value("directory"),
		RedirectStderr:   e.Boolean("redirectStderr", false),
		IgnoreExitStatus: e.Boolean("ignoreExitStatus", false),
		Wait:             e.Boolean("wait", true),
	}
}

// outcome reads an x:outcome; the schema reports invalid kinds and exit codes.
func (l *loader) outcome(e *xmltree.Element) *Outcome {
	o := &Outcome{Position: e.Position(), Kind: OutcomeKind(e.Value("kind")), ExitCodes: exitCodes(e.Value("exit"))}
	if text := e.Optional("expression"); text.Set {
		flags, _ := javaregex.ParseFlags(e.Value("flags"))
		o.Expression = &Expression{Position: e.ValuePosition("expression"), Text: text.Text, Flags: flags}
	}
	return o
}

// probe reads an x:probe; the schema reports invalid versions.
func (l *loader) probe(e *xmltree.Element) *Probe {
	p := &Probe{
		Command:  l.command(e, ProbeCommand),
		AtLeast:  strings.TrimSpace(e.Value("at-least")),
		Required: e.Boolean("required", true),
		Impact:   e.Value("impact"),
		Fix:      e.Value("fix"),
	}
	if text := e.Optional("version"); text.Set {
		p.Version = &Expression{Position: e.ValuePosition("version"), Text: text.Text}
	}
	return p
}

// A ProcessMark (x:process-mark) is a text with which the output of an interactive job
// describes one of its processes.
type ProcessMark struct {
	Position
	Text   string // with fields in braces, references unresolved
	Output bool   // the following text, to the end of the line or the next such mark, was printed by the process
	Shown  string // "true", once resolved, where the mark is shown
	IsJob  bool   // the process is the job: its exit code is that of the job
}

// processMark reads an x:process-mark.
func (l *loader) processMark(e *xmltree.Element) *ProcessMark {
	return &ProcessMark{Position: e.Position(), Text: e.Value("text"), Output: e.Boolean("output", false), Shown: e.Value("shown"), IsJob: e.Boolean("job", false)}
}
