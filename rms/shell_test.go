package rms_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
)

const (
	tag      = "9e053800-5f8d-4c5b-9102-0b2c4581d4f0"
	otherTag = "11b7536a-b565-471a-a35b-e1d26c892f19"
)

// runAtHome runs the shell of a command on a job for real, on programs in place of the scheduler's, with a folder as
// home; the last arguments of the command are replaced.
func runAtHome(t *testing.T, definition, selector, job, home string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	folder := t.TempDir()
	for name, script := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	words := argumentsOf(t, definition, selector, job)
	kept := len(words) - len(arguments)
	command := exec.CommandContext(t.Context(), words[0], append(words[1:kept:kept], arguments...)...)
	command.Env = append(os.Environ(), "LC_ALL=C", "HOME="+home, "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	var printed, complained strings.Builder
	command.Stdout, command.Stderr = &printed, &complained
	if err := command.Run(); err != nil {
		var failed *exec.ExitError
		require.ErrorAs(t, err, &failed)
	}
	return printed.String(), complained.String(), command.ProcessState.ExitCode()
}

// runReplacing is runAtHome for the many commands that do not look there.
func runReplacing(t *testing.T, definition, selector string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	t.Helper()
	return runAtHome(t, definition, selector, "1", "/home/user", programs, arguments...)
}

// eachAnswered runs the shell of each case that has answers of a scheduler's programs, in the folder $ANSWERS: it makes
// the lines of them that the definition reads in that case.
func eachAnswered(t *testing.T, folder string, run func(t *testing.T, recorded *cases.Case, name string) (stdout, stderr string, exit int)) {
	folders, err := filepath.Glob(filepath.Join(folder, "*", "answers"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		name := filepath.Base(filepath.Dir(folder))
		t.Run(name, func(t *testing.T) {
			recorded, err := cases.Read(filepath.Dir(folder))
			require.NoError(t, err)
			absolute, err := filepath.Abs(folder)
			require.NoError(t, err)
			t.Setenv("ANSWERS", absolute)
			stdout, stderr, exit := run(t, recorded, name)
			require.Equal(t, recorded.Exit, exit, "%s", stderr)
			require.Equal(t, string(recorded.Stdout), stdout)
			require.Equal(t, string(recorded.Stderr), stderr)
		})
	}
}

// argumentsOf returns the words that a definition runs for a job.
func argumentsOf(t *testing.T, name, selector, job string) []string {
	return argumentsWith(t, name, selector, job, nil)
}

// argumentsWith is argumentsOf where attributes have values.
func argumentsWith(t *testing.T, name, selector, job string, values map[string]string) []string {
	definition := shippedDefinition(t, name)
	selected, _, err := definition.Select(selector)
	require.NoError(t, err)
	env := definedEnvironment(definition)
	env.SetVariable(job, nil)
	require.NoError(t, env.Variable(job).Set(attribute.FieldName, job))
	for attributeName, value := range values {
		env.SetVariable(attributeName, value)
	}
	var words []string
	request := command.Request{Command: selected, Scope: config.Scope{Environment: env, Job: job}}
	invocation, err := request.Resolve()
	require.NoError(t, err)
	_, err = command.Run(t.Context(), listening{words: &words}, request, invocation)
	var failed *command.Error
	if err != nil { // a look-up that prints nothing has not answered
		require.ErrorAs(t, err, &failed)
		require.Equal(t, command.ParserFailed, failed.Failure)
	}
	return words
}

// listening is a connection on which every command succeeds and is written down.
type listening struct {
	remote.Connection
	words *[]string
}

func (l listening) Start(_ context.Context, start remote.Command) (remote.Handle, error) {
	*l.words = start.Arguments
	return endedProcess(0), nil
}
