package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/schemas"
)

// Command returns the first command of that element, or nil.
func (d *Definition) Command(kind CommandElement) *Command {
	for _, command := range d.Commands {
		if command.Element == kind {
			return command
		}
	}
	return nil
}

// CommandsOf returns all commands of that element, in document order.
func (d *Definition) CommandsOf(kind CommandElement) []*Command {
	var found []*Command
	for _, command := range d.Commands {
		if command.Element == kind {
			found = append(found, command)
		}
	}
	return found
}

// Submit returns the submit command: the batch one or, where the definition
// has none, the interactive one; of the two the debug variant if debug is set.
func (d *Definition) Submit(debug bool) *Command {
	kinds := []CommandElement{SubmitBatch, SubmitInteractive}
	if debug {
		kinds = []CommandElement{SubmitBatchDebug, SubmitInteractiveDebug}
	}
	for _, kind := range kinds {
		if command := d.Command(kind); command != nil {
			return command
		}
	}
	return nil
}

// A Selector names a command of a definition, and one of its parsers.
type Selector struct {
	Element CommandElement
	Index   int    // from 1; 0 where the name decides
	Name    string // empty where the index decides
	Parser  string // stdout-parser, stderr-parser or redirect-parser; empty for the first there is
}

// ParseSelector reads element, element[index] or element:name, each optionally
// followed by /parser.
func ParseSelector(text string) (Selector, error) {
	s := Selector{Index: 1}
	command, parser, hasParser := strings.Cut(text, "/")
	if hasParser {
		switch parser {
		case "stdout-parser", "stderr-parser", "redirect-parser":
			s.Parser = parser
		default:
			return s, fmt.Errorf("selector %q: %q is not a parser (stdout-parser, stderr-parser, redirect-parser)", text, parser)
		}
	}
	if element, name, named := strings.Cut(command, ":"); named {
		s.Element, s.Name, s.Index = CommandElement(element), name, 0
	} else if element, index, indexed := strings.Cut(command, "["); indexed {
		number, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil || number < 1 || !strings.HasSuffix(index, "]") {
			return s, fmt.Errorf("selector %q: write the index as [1], [2], …", text)
		}
		s.Element, s.Index = CommandElement(element), number
	} else {
		s.Element = CommandElement(command)
	}
	switch s.Element {
	case Fallback, FindJob, ListJobs, ListNodes, ListQueues, ProbeCommand:
		return s, nil
	}
	if !s.Element.IsCore() {
		return s, fmt.Errorf("selector %q: %q is not a command element such as get-job-status", text, s.Element)
	}
	return s, nil
}

// Select returns the command that a selector names.
func (d *Definition) Select(s Selector) (*Command, error) {
	var all []*Command
	for _, command := range d.Commands {
		if command.Element == s.Element {
			all = append(all, command)
		}
		if s.Element == Fallback {
			all = append(all, command.Fallbacks...)
		}
	}
	if s.Element == ProbeCommand {
		for _, probe := range d.Probes {
			all = append(all, probe.Command)
		}
	}
	if s.Name != "" {
		for _, command := range all {
			if command.Name == s.Name {
				return command, nil
			}
		}
		return nil, fmt.Errorf("definition %q has no %s named %q", d.Name, s.Element, s.Name)
	}
	if s.Index > len(all) {
		return nil, fmt.Errorf("definition %q has no %s[%d], only %d", d.Name, s.Element, s.Index, len(all))
	}
	return all[s.Index-1], nil
}

// Parser returns the parser of that element name or, for an empty name, the
// first that the command has; nil if there is none.
func (c *Command) Parser(name string) *Parser {
	for _, parser := range c.Parsers() {
		if name == "" || parser.Element == name {
			return parser
		}
	}
	return nil
}

// Attribute returns the attribute of that name as the definition has it, or
// nil. Of several with one name the last counts.
func (d *Definition) Attribute(name string) *Attribute {
	for i := len(d.Attributes) - 1; i >= 0; i-- {
		if d.Attributes[i].Name() == name {
			return d.Attributes[i]
		}
	}
	return nil
}

// Similar returns the candidate that name is most likely a misspelling of, empty
// if none looks like it.
func Similar(name string, candidates []string) string { return schemas.Nearest(name, candidates) }
