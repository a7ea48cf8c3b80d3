package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A site describes how to call the commands of a scheduler. Its variables go into the target;
// the rest becomes a definition that extends the shipped one.
type site struct {
	*importing
	name       string
	scheduler  string
	model      *shipped          // the definition that it extends, nil where none is shipped
	folder     string            // of the programs; empty for those in the PATH
	variables  map[string]string // for all commands, of the target
	programs   map[string]string // replacements, by the program's name
	places     map[string][2]int // of these in the file
	attributes map[string]string // of the target
}

func (i *importing) newSite(name, scheduler string) *site {
	return &site{importing: i, name: name, scheduler: scheduler, model: i.shippedFor(scheduler), variables: map[string]string{}, programs: map[string]string{}, places: map[string][2]int{}, attributes: map[string]string{}}
}

// usualPath is the path for programs outside the scheduler's directory.
const usualPath = "/usr/local/bin:/usr/bin:/bin"

// definition writes the definition if the site needs one, and returns its name:
// that of the shipped one where the site changes nothing.
func (s *site) definition(line int) string {
	model := s.model
	if model == nil {
		s.fail(line, 0, "no shipped definition for scheduler %q", s.scheduler)
		return ""
	}
	if s.folder != "" {
		s.variables["PATH"] = s.folder + ":" + usualPath
	}
	if len(s.programs) == 0 {
		return model.name
	}
	d := &document{
		comment:    fmt.Sprintf("%s: what differs at this site from %s.", s.name, model.name),
		attributes: fmt.Sprintf(` name="%s" x:extends="%s"`, xmltree.Escape(s.name), xmltree.Escape(model.name)),
	}
	replaced := map[string]int{}
	inShell := map[string]bool{}
	for _, command := range model.definition.Commands {
		text := s.command(command, replaced, inShell)
		switch command.Element {
		case config.ListJobs, config.ListEnded, config.ListNodes, config.ListQueues:
			d.monitor.WriteString(text)
		default:
			d.control.WriteString(text)
		}
	}
	for _, probe := range model.definition.Probes {
		d.control.WriteString(s.command(probe.Command, replaced, inShell))
	}
	for _, name := range sortedKeys(s.programs) {
		place := s.places[name]
		switch {
		case inShell[name]:
			s.remark(changed, place[0], place[1], name, "replaced in %d commands of %s; commands that a shell runs still use PATH", replaced[name], model.name)
		case replaced[name] == 0:
			s.remark(Lost, place[0], place[1], name, "no command of %s calls it", model.name)
		default:
			s.remark(carried, place[0], place[1], name, "replaced in %d commands", replaced[name])
		}
	}
	file := s.name + ".xml"
	s.result.Files = append(s.result.Files, File{file, d.text()})
	return file
}

// fill gives a target what the site has for all its commands and submissions.
func (s *site) fill(target *Target) {
	if len(s.variables) > 0 {
		target.Environment = s.variables
	}
	if len(s.attributes) > 0 {
		target.Attributes = s.attributes
	}
}

// command writes what the site changes of a command, empty for nothing.
func (s *site) command(c *config.Command, replaced map[string]int, inShell map[string]bool) string {
	tag, indent := string(c.Element), "    "
	if isExtension(c.Element) {
		tag = "x:" + tag
	}
	var inner strings.Builder
	for n, argument := range c.Arguments {
		words := strings.Fields(argument.Text)
		called := ""
		if n == 0 && len(words) > 0 {
			called = words[0]
		}
		if !argument.Resolve {
			s.noteShellCalls(words, called, inShell)
		}
		if program, isReplaced := s.programs[called]; isReplaced && called != "" {
			replaced[called]++
			rest := strings.TrimPrefix(strings.TrimLeft(argument.Text, " \t\n"), called)
			fmt.Fprintf(&inner, "%s  <arg x:at=\"%s\">%s%s</arg>\n", indent, xmltree.Escape(strings.Join(words, " ")), xmltree.Escape(program), xmltree.Escape(rest))
		}
	}
	for _, needed := range c.Needed() {
		if called := program(needed); s.programs[called] != "" {
			inShell[called] = true // it belongs to a join, which has no name for changes
		}
	}
	for _, fallback := range c.Fallbacks {
		inner.WriteString(s.command(fallback, replaced, inShell))
	}
	if inner.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%s<%s name=\"%s\">\n%s%s</%s>\n", indent, tag, xmltree.Escape(c.Name), inner.String(), indent, tag)
}

// isExtension reports whether an element of a command is one that rmctl adds to PTP's.
func isExtension(element config.CommandElement) bool {
	switch element {
	case config.FindJob, config.OnNodes, config.ProbeCommand, config.Fallback, config.ListJobs, config.ListEnded, config.ListNodes, config.ListQueues:
		return true
	}
	return false
}

// noteShellCalls notes the programs that a shell calls among words, other than the one
// that is called directly.
func (s *site) noteShellCalls(words []string, called string, inShell map[string]bool) {
	for name := range s.programs {
		if name != called && slices.ContainsFunc(words, func(word string) bool { return strings.Trim(word, `;()$'"&|`) == name }) {
			inShell[name] = true
		}
	}
}

func sortedKeys(of map[string]string) []string { return slices.Sorted(maps.Keys(of)) }

// isPath reports whether a text is a path from the root that fits into a
// command line and a variable as it is.
func isPath(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'\$:;&|<>()*?`+"`", r)
	})
}
