package suggestion

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// WrongFlag returns an error for a flag, with the command that lists the flags.
func WrongFlag(command *cobra.Command, err error) error {
	const see = "see %s --help"
	if unknown, isUnknown := errors.AsType[*pflag.NotExistError](err); isUnknown {
		return unknownFlag(command, unknown)
	}
	invalid, isInvalid := errors.AsType[*pflag.InvalidValueError](err)
	if !isInvalid {
		return fmt.Errorf("%w\n"+see, err, command.CommandPath())
	}
	write := invalid.Unwrap().Error()
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		write = "enter a whole number"
	case "float64":
		write = "enter a number"
	case "duration":
		write = "enter a duration such as 90s or 2h"
	case "bool":
		write = "enter true or false"
	}
	return fmt.Errorf("--%s %q: %s\n"+see, invalid.GetFlag().Name, invalid.GetValue(), write, command.CommandPath())
}

// unknownFlag names the flag that was probably meant.
func unknownFlag(command *cobra.Command, unknown *pflag.NotExistError) error {
	written := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		written = letters[:1]
	}
	var known []string
	command.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, flag.Name) })
	hint := "see " + command.CommandPath() + " --help"
	if meant := Flag(written, known); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return fmt.Errorf("%w\n%s", unknown, hint)
}

// WrongCommand returns an error for words that begin with no command, and suggests one.
func WrongCommand(command *cobra.Command, words []string) error {
	var known []string
	for _, below := range command.Commands() {
		known = append(known, below.Name())
	}
	hint := "see " + command.CommandPath() + " --help"
	if meant := Command(words, known); meant != "" {
		hint = fmt.Sprintf("did you mean %s %s?", command.CommandPath(), meant)
	}
	return fmt.Errorf("unknown command %q of %s\n%s", words[0], command.CommandPath(), hint)
}
