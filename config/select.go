package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Command returns the first command of that element, or nil.
func (d *Definition) Command(kind CommandElement) *Command {
	for _, command := range d.CommandsOf(kind) {
		return command
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
	if debug {
		return cmp.Or(d.Command(SubmitBatchDebug), d.Command(SubmitInteractiveDebug))
	}
	return cmp.Or(d.Command(SubmitBatch), d.Command(SubmitInteractive))
}

// Select returns the command that a selector names: element, element[index] or
// element:name, each optionally followed by /parser. It returns that parser, too, or the
// first that the command has, or nil.
func (d *Definition) Select(selector string) (*Command, *Parser, error) {
	path, parser, hasParser := strings.Cut(selector, "/")
	if hasParser && !slices.Contains(parserElements, parser) {
		return nil, nil, fmt.Errorf("selector %q: %q is not a parser (%s)", selector, parser, strings.Join(parserElements, ", "))
	}
	number := 1
	element, name, hasName := strings.Cut(path, ":")
	if !hasName {
		var index string
		var hasIndex bool
		if element, index, hasIndex = strings.Cut(path, "["); hasIndex {
			var err error
			number, err = strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || number < 1 || !strings.HasSuffix(index, "]") {
				return nil, nil, fmt.Errorf("selector %q: write the index as [1], [2], …", selector)
			}
		}
	}
	all, isElement := d.selectable(CommandElement(element))
	if !isElement {
		return nil, nil, fmt.Errorf("selector %q: %q is not a command element such as get-job-status", selector, element)
	}
	if hasName {
		number = 1 + slices.IndexFunc(all, func(one *Command) bool { return one.Name == name })
		if number == 0 {
			return nil, nil, fmt.Errorf("definition %q has no %s named %q", d.Name, element, name)
		}
	}
	if number > len(all) {
		return nil, nil, fmt.Errorf("definition %q has no %s[%d], only %d", d.Name, element, number, len(all))
	}
	command := all[number-1]
	for _, one := range command.Parsers() {
		if parser == "" || one.Element == parser {
			return command, one, nil
		}
	}
	return command, nil, nil
}

var parserElements = []string{"stdout-parser", "stderr-parser", "redirect-parser"}

// selectable returns the commands of an element, and whether selectors can name it.
func (d *Definition) selectable(element CommandElement) ([]*Command, bool) {
	var all []*Command
	switch element {
	case FindJob, OnNodes, ListJobs, ListEnded, ListNodes, ListQueues:
	case Fallback:
		for _, command := range d.Commands {
			all = append(all, command.Fallbacks...)
		}
		return all, true
	case ProbeCommand:
		for _, probe := range d.Probes {
			all = append(all, probe.Command)
		}
		return all, true
	default:
		if !element.IsCore() {
			return nil, false
		}
	}
	return d.CommandsOf(element), true
}

// Parsers returns the command's parsers, that of standard output first.
func (c *Command) Parsers() []*Parser {
	return slices.DeleteFunc([]*Parser{c.StdoutParser, c.StderrParser, c.RedirectParser}, func(parser *Parser) bool { return parser == nil })
}

// Attribute returns the attribute of that name as the definition has it, or
// nil. Of several with one name the last counts.
func (d *Definition) Attribute(name string) *Attribute {
	for _, a := range slices.Backward(d.Attributes) {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// Purpose returns the element that the command works for: for a fallback, the element
// around it.
func (c *Command) Purpose() CommandElement {
	if c.Element == Fallback && c.FallbackOf != "" {
		return c.FallbackOf
	}
	return c.Element
}
