package rendering

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/command"
)

// Text returns files and command lines, quoted for a shell, to be tried by hand.
func (rendering *Rendering) Text() string {
	r := rendering.Document()
	var text strings.Builder
	for _, file := range r.Files {
		fmt.Fprintf(&text, "# %s: %s (mode %s)\n%s", file.Name, file.Path, file.Mode, file.Content)
		if !strings.HasSuffix(file.Content, "\n") {
			text.WriteByte('\n')
		}
		text.WriteByte('\n')
	}
	for _, c := range r.Commands {
		c.write(&text)
	}
	if !slices.ContainsFunc(rendering.Commands, func(i *command.Invocation) bool { return i.Command.Element.IsSubmit() }) {
		text.WriteString("# the definition has no submit command\n")
	}
	return strings.TrimSuffix(text.String(), "\n\n") + "\n"
}

func (c commandDocument) write(text *strings.Builder) {
	fmt.Fprintf(text, "# %s %q\n", c.Element, c.Name)
	for _, simple := range c.PreLaunch {
		fmt.Fprintf(text, "before: %s\n", shellescape.QuoteCommand(simple))
	}
	if c.Directory != "" {
		fmt.Fprintf(text, "directory: %s\n", c.Directory)
	}
	if c.ReplaceEnvironment {
		fmt.Fprintf(text, "environment: only what follows; kept: %s\n", strings.Join(c.Keep, " "))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		fmt.Fprintf(text, "environment: %s=%s\n", name, shellescape.Quote(c.Environment[name]))
	}
	if len(c.Arguments) == 0 {
		text.WriteString("# nothing to run: all arguments are empty\n")
	} else {
		fmt.Fprintf(text, "%s\n", shellescape.QuoteCommand(c.Arguments))
	}
	if c.Input != nil {
		fmt.Fprintf(text, "input: %s\n", *c.Input)
	}
	if c.InputFile != "" {
		fmt.Fprintf(text, "input from: %s\n", c.InputFile)
	}
	for _, simple := range c.PostLaunch {
		fmt.Fprintf(text, "after: %s\n", shellescape.QuoteCommand(simple))
	}
	text.WriteByte('\n')
}
