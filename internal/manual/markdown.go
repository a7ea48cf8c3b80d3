package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// markdownOf returns a page for the site of the documentation.
func markdownOf(command *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n%s.\n\n```text\n%s\n```\n\n%s\n", command.CommandPath(), prose(command.Short), synopsis(command), paragraphs(command.Long))
	tableOfFlags(&page, "Flags", command.NonInheritedFlags())
	tableOfFlags(&page, "Flags of all commands", command.InheritedFlags())
	if command.Example != "" {
		fmt.Fprintf(&page, "\n## Examples\n\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(command.Example, "  "), "\n  ", "\n"))
	}
	if command.HasAvailableSubCommands() {
		page.WriteString("\n## Commands\n\n")
	}
	for _, below := range command.Commands() {
		if below.IsAvailableCommand() {
			fmt.Fprintf(&page, "- [%s](%s.md): %s\n", below.CommandPath(), nameOf(below), prose(below.Short))
		}
	}
	return page.String()
}

// paragraphs returns prose. Paragraphs with an indented line keep their lines.
func paragraphs(text string) string {
	parts := strings.Split(text, "\n\n")
	for i, part := range parts {
		if strings.Contains("\n"+part, "\n ") {
			parts[i] = "```text\n" + part + "\n```"
		} else {
			parts[i] = prose(part)
		}
	}
	return strings.Join(parts, "\n\n")
}

func tableOfFlags(page *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(page, "\n## %s\n\n| Flag | Meaning |\n| --- | --- |\n", title)
	visitFlags(flags, func(names, value, usage string) {
		fmt.Fprintf(page, "| `%s` | %s |\n", strings.TrimSpace(names+" "+value), prose(usage))
	})
}

// prose escapes what Markdown takes for markup.
func prose(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "|", `\|`, "#", `\#`, "$", `\$`, "~", `\~`).Replace(text)
}
