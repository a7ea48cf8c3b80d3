// Package manual writes the pages of the manual: one for each command, in the language
// of man(7). Cobra's own generator makes Markdown of the texts first, and its parser
// costs each start of rmctl most of a millisecond.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// section is the section of the manual for the commands of users.
const section = "1"

// Write writes the pages of a command and of those below it.
func Write(command *cobra.Command, folder string) error {
	file := filepath.Join(folder, nameOf(command)+"."+section)
	if err := os.WriteFile(file, []byte(pageOf(command)), 0o644); err != nil {
		return fmt.Errorf("writing a page of the manual: %w", err)
	}
	for _, below := range commandsBelow(command) {
		if err := Write(below, folder); err != nil {
			return err
		}
	}
	return nil
}

func nameOf(command *cobra.Command) string {
	return strings.ReplaceAll(command.CommandPath(), " ", "-")
}

// commandsBelow returns the commands below one that have a page.
func commandsBelow(command *cobra.Command) []*cobra.Command {
	var shown []*cobra.Command
	for _, below := range command.Commands() {
		if below.IsAvailableCommand() {
			shown = append(shown, below)
		}
	}
	return shown
}

// pageOf returns a page in the language of man(7).
func pageOf(command *cobra.Command) string {
	command.InitDefaultHelpFlag()
	var page strings.Builder
	name := nameOf(command)
	fmt.Fprintf(&page, ".TH %s %s \"\" rmctl \"Manual of rmctl\"\n", quoted(strings.ToUpper(name)), section)
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", escaped(name), escaped(command.Short))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", escaped(synopsis(command)))
	page.WriteString(".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(command.Long, "\n\n") {
		if i > 0 {
			page.WriteString(".PP\n")
		}
		fmt.Fprintln(&page, escaped(paragraph))
	}
	writeOptions(&page, "OPTIONS", command.NonInheritedFlags())
	writeOptions(&page, "OPTIONS OF ALL COMMANDS", command.InheritedFlags())
	if command.Example != "" {
		fmt.Fprintf(&page, ".SH EXAMPLES\n.nf\n%s\n.fi\n", escaped(command.Example))
	}
	writeReferences(&page, command)
	return page.String()
}

// synopsis is how a command is written, of one with others below it one in general.
func synopsis(command *cobra.Command) string {
	if command.HasAvailableSubCommands() {
		return command.CommandPath() + " COMMAND [flags]"
	}
	return command.UseLine()
}

func writeOptions(page *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(page, ".SH %s\n", title)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(flag)
		names := "--" + flag.Name
		if flag.Shorthand != "" {
			names = "-" + flag.Shorthand + ", " + names
		}
		fmt.Fprintf(page, ".TP\n\\fB%s\\fR", escaped(names))
		if value != "" {
			fmt.Fprintf(page, " \\fI%s\\fR", escaped(value))
		}
		if isNumber := flag.Value.Type() == "int"; flag.Value.Type() == "string" && flag.DefValue != "" || isNumber && flag.DefValue != "0" {
			usage += " (default: " + flag.DefValue + ")"
		}
		fmt.Fprintf(page, "\n%s\n", escaped(usage))
	})
}

// writeReferences names the commands above and below one.
func writeReferences(page *strings.Builder, command *cobra.Command) {
	var names []string
	if command.HasParent() {
		names = append(names, nameOf(command.Parent()))
	}
	for _, below := range commandsBelow(command) {
		names = append(names, nameOf(below))
	}
	if len(names) == 0 {
		return
	}
	page.WriteString(".SH SEE ALSO\n")
	for i, name := range names {
		separator := ","
		if i == len(names)-1 {
			separator = ""
		}
		fmt.Fprintf(page, ".BR %s (%s)%s\n", escaped(name), section, separator)
	}
}

// escaped spells out what man(7) acts upon.
func escaped(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "…", "...").Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func quoted(text string) string { return `"` + escaped(text) + `"` }
