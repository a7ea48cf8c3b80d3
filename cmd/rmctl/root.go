package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/suggestion"
)

// The groups of commands, by who uses them.
const (
	groupUsing     = "using"
	groupSessions  = "sessions"
	groupAuthoring = "authoring"
	groupOther     = "other"
)

// newRoot returns the command line with all commands.
func newRoot(a *app) *cobra.Command {
	root := newBareRoot(a)
	addAll(root, a)
	return root
}

// newRootFor returns the command line with the one command that the arguments name: creating
// all commands takes longer than many of them run. Commands that look at others, such as
// help, get all.
func newRootFor(a *app, arguments []string) *cobra.Command {
	word := commandWord(arguments)
	for _, known := range constructors() {
		if (known.name == word || slices.Contains(known.aliases, word)) && !known.looksAtOthers {
			root := newBareRoot(a)
			root.CompletionOptions.DisableDefaultCmd = true
			addCommand(root, a, known)
			return root
		}
	}
	return newRoot(a)
}

// commandWord returns the first word that is neither a flag of all commands nor its value.
func commandWord(arguments []string) string {
	for i := 0; i < len(arguments); i++ {
		switch argument := arguments[i]; {
		case slices.Contains([]string{"-t", "--target", "--config-dir", "--state-dir", "--trace"}, argument):
			i++
		case argument == "--":
			return ""
		case !strings.HasPrefix(argument, "-"):
			return argument
		}
	}
	return ""
}

// newBareRoot returns the command line without commands.
func newBareRoot(a *app) *cobra.Command {
	wantsVersion := false
	root := &cobra.Command{
		Use:   "rmctl",
		Short: "Submit, watch and control jobs of any batch system",
		Long: `Submit, watch and control jobs of any batch system that an XML definition describes.

Each shipped definition is a target of the same name; "local" runs batch jobs on this
machine. rmctl targets lists the targets.

Exit codes: 0 success; 1 failure; 2 wrong usage or an invalid definition; 3 failed
scheduler command; 4 unknown job; 5 no connection or failed authentication; 124 timeout.
run, wait and submit --wait exit with the job's exit code.`,
		Example: `  rmctl submit -- sh -c 'echo hello'
  rmctl submit -t slurm --queue debug --time 5m -- ./simulate input.dat
  rmctl status
  rmctl validate mysite.xml`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, arguments []string) error {
			if wantsVersion && len(arguments) == 0 {
				return a.printVersion()
			}
			return noArguments(c, arguments)
		},
		PersistentPreRun: func(*cobra.Command, []string) {
			if a.catchSignals != nil {
				a.catchSignals()
			}
			if a.traceFile != "" {
				a.tracer = &bridge.Tracer{File: a.traceFile, Warn: func(err error) { a.say("%v", err) }}
			}
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &usageError{suggestion.WrongFlag(c, err)} })
	root.Flags().BoolVar(&wantsVersion, "version", false, "print the version")
	flags := root.PersistentFlags()
	flags.StringVarP(&a.target, "target", "t", "", "target `NAME` (default from targets.toml, otherwise \"local\")")
	flags.BoolVar(&a.json, "json", false, "print JSON, one object per line")
	flags.CountVarP(&a.verbose, "verbose", "v", "``print details; -vv also prints each command that rmctl runs")
	flags.StringVar(&a.configFolder, "config-dir", "", "configuration directory `DIR` (default $XDG_CONFIG_HOME/rmctl)")
	flags.StringVar(&a.stateFolder, "state-dir", "", "state directory `DIR` (default $XDG_STATE_HOME/rmctl)")

	flags.StringVar(&a.traceFile, "trace", "", "trace `FILE` for messages of proxy agents")

	completeFlag(root, "target", a.completeTargets)
	completeFlag(root, "config-dir", completeDirectories)
	completeFlag(root, "state-dir", completeDirectories)

	root.AddGroup(
		&cobra.Group{ID: groupUsing, Title: "Jobs:"},
		&cobra.Group{ID: groupSessions, Title: "Targets and sessions:"},
		&cobra.Group{ID: groupAuthoring, Title: "Definitions:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	return root
}

// addCommand adds one of the commands.
func addCommand(root *cobra.Command, a *app, c constructor) {
	command := c.create(a)
	command.GroupID, command.Aliases = c.group, c.aliases
	expectNoArguments(command)
	root.AddCommand(command)
}

// addAll adds all commands, and those of Cobra.
func addAll(root *cobra.Command, a *app) {
	for _, known := range constructors() {
		addCommand(root, a, known)
	}
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		switch command.Name() {
		case "help":
			command.Args = commandNames
		case "completion":
			command.Args, command.RunE = cobra.ArbitraryArgs, noArguments
		}
	}
}

// commandNames refuses words that are not the names of a command.
func commandNames(command *cobra.Command, words []string) error {
	found, rest, err := command.Root().Find(words)
	switch {
	case err != nil || len(rest) == 0:
		return err
	case found.HasSubCommands():
		return noArguments(found, rest)
	}
	return usage("%s has no command %q\nsee %s --help", found.CommandPath(), rest[0], found.CommandPath())
}

// noArguments refuses arguments, with an error of usage.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		if command.HasSubCommands() {
			return &usageError{suggestion.WrongCommand(command, arguments)}
		}
		return usage("unexpected argument %q\nsee %s --help", arguments[0], command.CommandPath())
	}
	if command.HasSubCommands() {
		return command.Help()
	}
	return nil
}

// excludes refuses flags together with another one.
func excludes(command *cobra.Command, flag string, others ...string) error {
	for _, other := range others {
		if command.Flags().Changed(flag) && command.Flags().Changed(other) {
			return usage("--%s cannot be used together with --%s", flag, other)
		}
	}
	return nil
}

// expectNoArguments lets commands without arguments, and such commands below a command, refuse
// arguments, and lets shells offer no files for them.
func expectNoArguments(command *cobra.Command) {
	takesNone := !strings.Contains(command.Use, " ")
	if takesNone && command.Args == nil && !command.HasSubCommands() {
		command.Args = exactly(0, "")
	}
	if takesNone && command.ValidArgsFunction == nil {
		command.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, below := range command.Commands() {
		expectNoArguments(below)
	}
}

// atLeast refuses fewer arguments.
func atLeast(count int, what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) < count {
			return usage("%s is missing\nsee %s --help", what, command.CommandPath())
		}
		return nil
	}
}

// exactly refuses any other number of arguments.
func exactly(count int, what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) > count {
			return usage("unexpected argument %q\nsee %s --help", arguments[count], command.CommandPath())
		}
		return atLeast(count, what)(command, arguments)
	}
}
