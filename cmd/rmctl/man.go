package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manSection is the section of the manual for the commands of users.
const manSection = "1"

func newMan(*app) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the pages of the manual",
		Long: `man writes a page of the manual for each command into DIR, which it makes where it is
not there: rmctl.1, rmctl-submit.1 and so on. What --help says is on them. Installed into
the folder man1 of a folder of manuals, man rmctl-submit shows them.`,
		Example: `  rmctl man ~/.local/share/man/man1
  man rmctl-submit`,
		Args:              exactly(1, "a folder"),
		ValidArgsFunction: completeDirectories,
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := os.MkdirAll(arguments[0], 0o755); err != nil {
				return fmt.Errorf("making the folder of the manual: %w", err)
			}
			return writeManual(c.Root(), arguments[0])
		},
	}
}

// writeManual writes the pages of a command and of those below it.
func writeManual(command *cobra.Command, folder string) error {
	page := filepath.Join(folder, manName(command)+"."+manSection)
	if err := os.WriteFile(page, []byte(manPage(command)), 0o644); err != nil {
		return fmt.Errorf("writing a page of the manual: %w", err)
	}
	for _, below := range manCommands(command) {
		if err := writeManual(below, folder); err != nil {
			return err
		}
	}
	return nil
}

func manName(command *cobra.Command) string {
	return strings.ReplaceAll(command.CommandPath(), " ", "-")
}

// manCommands returns the commands below one that have a page.
func manCommands(command *cobra.Command) []*cobra.Command {
	var shown []*cobra.Command
	for _, below := range command.Commands() {
		if below.IsAvailableCommand() {
			shown = append(shown, below)
		}
	}
	return shown
}

// manPage returns a page in the language of man(7).
func manPage(command *cobra.Command) string {
	command.InitDefaultHelpFlag()
	var page strings.Builder
	name := manName(command)
	fmt.Fprintf(&page, ".TH %s %s \"\" rmctl \"Manual of rmctl\"\n", quotedForMan(strings.ToUpper(name)), manSection)
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", escapedForMan(name), escapedForMan(command.Short))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", escapedForMan(manSynopsis(command)))
	page.WriteString(".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(command.Long, "\n\n") {
		if i > 0 {
			page.WriteString(".PP\n")
		}
		fmt.Fprintln(&page, escapedForMan(paragraph))
	}
	writeManOptions(&page, "OPTIONS", command.NonInheritedFlags())
	writeManOptions(&page, "OPTIONS OF ALL COMMANDS", command.InheritedFlags())
	if command.Example != "" {
		fmt.Fprintf(&page, ".SH EXAMPLES\n.nf\n%s\n.fi\n", escapedForMan(command.Example))
	}
	writeManReferences(&page, command)
	return page.String()
}

// manSynopsis is how a command is written, of one with others below it one in general.
func manSynopsis(command *cobra.Command) string {
	if command.HasAvailableSubCommands() {
		return command.CommandPath() + " COMMAND [flags]"
	}
	return command.UseLine()
}

func writeManOptions(page *strings.Builder, title string, flags *pflag.FlagSet) {
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
		fmt.Fprintf(page, ".TP\n\\fB%s\\fR", escapedForMan(names))
		if value != "" {
			fmt.Fprintf(page, " \\fI%s\\fR", escapedForMan(value))
		}
		if isNumber := flag.Value.Type() == "int"; flag.Value.Type() == "string" && flag.DefValue != "" || isNumber && flag.DefValue != "0" {
			usage += " (default: " + flag.DefValue + ")"
		}
		fmt.Fprintf(page, "\n%s\n", escapedForMan(usage))
	})
}

// writeManReferences names the commands above and below one.
func writeManReferences(page *strings.Builder, command *cobra.Command) {
	var names []string
	if command.HasParent() {
		names = append(names, manName(command.Parent()))
	}
	for _, below := range manCommands(command) {
		names = append(names, manName(below))
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
		fmt.Fprintf(page, ".BR %s (%s)%s\n", escapedForMan(name), manSection, separator)
	}
}

// escapedForMan spells out what man(7) acts upon.
func escapedForMan(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "…", "...").Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func quotedForMan(text string) string { return `"` + escapedForMan(text) + `"` }
