package rms_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
)

const tag = "9e053800-5f8d-4c5b-9102-0b2c4581d4f0"

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
