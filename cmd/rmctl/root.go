package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of commands, by who uses them.
const (
	groupUsing     = "using"
	groupSessions  = "sessions"
	groupAuthoring = "authoring"
	groupOther     = "other"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "rmctl",
		Short: "Submit, watch and control jobs of any batch system",
		Long: `rmctl submits, watches and controls jobs of any batch system that an XML
definition describes. Without configuration each shipped definition is a target
of its own name; "local" runs batch jobs on this machine.

Exit codes: 0 done; 1 the operation failed; 2 wrong usage or an invalid
definition; 3 a scheduler command failed; 4 no such job; 5 no connection or
authentication; 124 timed out. run and wait pass the job's own code through.`,
		Example: `  rmctl submit -- sh -c 'echo hello'
  rmctl submit -t slurm -s partition=debug -s time=5 -- ./simulate input.dat
  rmctl status
  rmctl validate mysite.xml`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          noArguments,
	}
	root.SetFlagErrorFunc(wrongFlag)
	flags := root.PersistentFlags()
	flags.StringVarP(&a.target, "target", "t", "", "the target `NAME` to use (default: what targets.toml says, else local)")
	flags.BoolVar(&a.json, "json", false, "print JSON, one object on a line")
	flags.CountVarP(&a.verbose, "verbose", "v", "``say more; twice: every command that is run")
	flags.StringVar(&a.configFolder, "config", "", "the folder `DIR` of targets.toml (default: $XDG_CONFIG_HOME/rmctl)")
	flags.StringVar(&a.stateFolder, "state", "", "the folder `DIR` of what rmctl remembers (default: $XDG_STATE_HOME/rmctl)")

	completeFlag(root, "target", a.completeTargets)
	completeFlag(root, "config", completeDirectories)
	completeFlag(root, "state", completeDirectories)

	root.AddGroup(
		&cobra.Group{ID: groupUsing, Title: "Using:"},
		&cobra.Group{ID: groupSessions, Title: "Sessions:"},
		&cobra.Group{ID: groupAuthoring, Title: "Authoring:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	add(groupUsing, newSubmit(a), newRun(a), newAttach(a), newSend(a), newForm(a), newStatus(a), newJobs(a), newProcesses(a), newExplain(a), newWait(a), newWatch(a), newOutput(a))
	add(groupUsing, newOperations(a)...)
	add(groupUsing, newAction(a), newConfig(a))
	add(groupSessions, newStart(a), newStop(a), newTargets(a), newQueues(a), newNodes(a), newServe(a), newPolls(a), newRecover(a), newConn(a), newDoctor(a))
	add(groupAuthoring, newValidate(a), newDescribe(a), newRender(a), newReplay(a), newRecord(a), newTest(a), newImport(a))
	add(groupOther, newVersion(a), newMan(a), newBackground(a))
	completeNothing(root.Commands())
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		switch command.Name() {
		case "help":
			command.Args = ofCommands
		case "completion":
			command.Args, command.RunE = cobra.ArbitraryArgs, noArguments
		}
	}
	return root
}

// ofCommands refuses the words that are no command.
func ofCommands(command *cobra.Command, words []string) error {
	found, rest, err := command.Root().Find(words)
	switch {
	case err != nil || len(rest) == 0:
		return err
	case found.HasSubCommands():
		return noArguments(found, rest)
	}
	return usage("%s has no command %q; see %s --help", found.CommandPath(), rest[0], found.CommandPath())
}

// wrongFlag tells what is wrong with a flag, and where the flags are told.
func wrongFlag(command *cobra.Command, err error) error {
	const see = "see %s --help"
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return usage("%w; "+see, err, command.CommandPath())
	}
	write := invalid.Unwrap().Error()
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		write = "write a whole number"
	case "float64":
		write = "write a number"
	case "duration":
		write = "write a length of time, such as 90s or 2h"
	case "bool":
		write = "write true or false"
	}
	return usage("--%s %q: %s; "+see, invalid.GetFlag().Name, invalid.GetValue(), write, command.CommandPath())
}

// noArguments refuses arguments, with an error of usage.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		if command.HasSubCommands() {
			return usage("there is no command %q; %s --help lists the commands%s", arguments[0], command.CommandPath(), suggestion(command, arguments[0]))
		}
		return usage("%s takes no argument, but got %q", command.CommandPath(), arguments[0])
	}
	if command.HasSubCommands() {
		return command.Help()
	}
	return nil
}

func suggestion(command *cobra.Command, word string) string {
	command.SuggestionsMinimumDistance = 2
	if near := command.SuggestionsFor(word); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}

// excludes refuses flags that make no sense beside another one.
func excludes(command *cobra.Command, flag string, others ...string) error {
	for _, other := range others {
		if command.Flags().Changed(flag) && command.Flags().Changed(other) {
			return usage("--%s cannot be used together with --%s", flag, other)
		}
	}
	return nil
}

// atLeast refuses fewer arguments than that.
func atLeast(count int, what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) < count {
			return usage("%s is missing; see %s --help", what, command.CommandPath())
		}
		return nil
	}
}

// exactly refuses any other number of arguments.
func exactly(count int, what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) > count {
			return usage("%q is one argument too many; see %s --help", arguments[count], command.CommandPath())
		}
		return atLeast(count, what)(command, arguments)
	}
}
