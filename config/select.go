package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Select returns the command that a selector names: element, element[index] or
// element:name. Each may be followed by /parser, which is returned, too; it is empty
// without one.
func (d *Definition) Select(selector string) (command *Command, parser string, err error) {
	path, parser, hasParser := strings.Cut(selector, "/")
	if hasParser && parser != "stdout-parser" && parser != "stderr-parser" && parser != "redirect-parser" {
		return nil, "", fmt.Errorf("selector %q: %q is not a parser (stdout-parser, stderr-parser, redirect-parser)", selector, parser)
	}
	number := 1
	element, name, hasName := strings.Cut(path, ":")
	if !hasName {
		var index string
		var hasIndex bool
		if element, index, hasIndex = strings.Cut(path, "["); hasIndex {
			number, err = strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || number < 1 || !strings.HasSuffix(index, "]") {
				return nil, "", fmt.Errorf("selector %q: write the index as [1], [2], …", selector)
			}
		}
	}
	all, isElement := d.selectable(CommandElement(element))
	if !isElement {
		return nil, "", fmt.Errorf("selector %q: %q is not a command element such as get-job-status", selector, element)
	}
	if hasName {
		number = 1 + slices.IndexFunc(all, func(one *Command) bool { return one.Name == name })
		if number == 0 {
			return nil, "", fmt.Errorf("definition %q has no %s named %q", d.Name, element, name)
		}
	}
	if number > len(all) {
		return nil, "", fmt.Errorf("definition %q has no %s[%d], only %d", d.Name, element, number, len(all))
	}
	return all[number-1], parser, nil
}

// selectable returns the commands of an element, and whether selectors can name it.
func (d *Definition) selectable(element CommandElement) ([]*Command, bool) {
	var all []*Command
	switch element {
	case FindJob, ListJobs, ListNodes, ListQueues:
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
