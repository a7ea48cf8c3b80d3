package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsAreNamedLikeTheirConstructors(t *testing.T) {
	t.Parallel()
	for _, known := range constructors() {
		require.Equal(t, known.name, known.create(&app{}).Name())
	}
}

func TestOnlyTheRequestedCommandIsBuilt(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"status"}, {"status", "--help"}, {"-t", "status", "status"}, {"--target", "wait", "--json", "status", "submit"}, {"-vv", "--config-dir=help", "status"},
	} {
		commands := newRootFor(&app{}, arguments).Commands()
		require.Len(t, commands, 1, "%q", arguments)
		require.Equal(t, "status", commands[0].Name(), "%q", arguments)
	}
}

func TestHelpCompletionAndTyposBuildAllCommands(t *testing.T) {
	t.Parallel()
	all := len(newRoot(&app{}).Commands())
	for _, arguments := range [][]string{
		nil, {"--help"}, {"help", "status"}, {"completion", "bash"}, {"__complete", "status", ""}, {"man", "folder"}, {"statsu"}, {"statsu", "status"}, {"--", "status"}, {"-t"},
	} {
		require.Len(t, newRootFor(&app{}, arguments).Commands(), all, "%q", arguments)
	}
}
