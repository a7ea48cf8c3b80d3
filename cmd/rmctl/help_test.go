package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestEachCommandShowsItsUsage(t *testing.T) {
	t.Parallel()
	var look func(*cobra.Command)
	look = func(command *cobra.Command) {
		path := command.CommandPath()
		require.NotEmpty(t, command.Short, path)
		require.NotEmpty(t, command.Long, path)
		require.Contains(t, command.Example, "rmctl", path)
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(flag)
			require.NotContains(t, []string{"string", "stringArray", "int", "float", "duration", "count"}, value, "what %s --%s takes has no name of its own", path, flag.Name)
		})
		for _, below := range command.Commands() {
			if !below.Hidden && below.Name() != "help" && below.Name() != "completion" { // which are Cobra's
				look(below)
			}
		}
	}
	look(newRoot(&app{}))
}

func TestReferenceListsCommands(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile("../../docs/reference/cli.md")
	require.NoError(t, err)
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	listed := 0
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() || command.Name() == "help" {
			listed++
			require.Contains(t, string(reference), fmt.Sprintf("\n- `%s`: %s\n", command.Name(), command.Short))
		}
	}
	require.Equal(t, listed, strings.Count(string(reference), "\n- `"), "commands in the reference")
}
