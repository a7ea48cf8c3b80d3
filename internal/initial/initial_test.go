package initial_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/initial"
)

func TestAnInitialEnvironmentOmitsDefaultKeys(t *testing.T) {
	source := `{"selector":"get-job-status[1]/stdout-parser","uuid":"u-1","useXmlAttributes":true,` +
		`"attributes":[{"key":"u-1"},{"key":"k","name":"n","value":1},{"name":"x","default":"d"}]}`
	var before initial.Environment
	require.NoError(t, json.Unmarshal([]byte(source), &before))
	require.Equal(t, "u-1", before.Job)
	require.True(t, before.UseDefinition)
	require.Equal(t, []string{"u-1", "k", "x"}, []string{before.Attributes[0].Key, before.Attributes[1].Key, before.Attributes[2].Key})
	text, err := json.Marshal(before)
	require.NoError(t, err)
	require.JSONEq(t, source, string(text))

	env := attribute.NewEnvironment()
	before.Define(env)
	require.Equal(t, []string{"k", "u-1", "x"}, env.Variables())
	require.Equal(t, "n", env.Variable("k").Name())
	env.SetVariable("x", "changed")
	require.Nil(t, before.Attributes[2].Value(), "defining copies")
}

func TestInvalidJSONOfAnEnvironmentIsRefused(t *testing.T) {
	for source, reason := range map[string]string{
		`{"uuid":null,"attributes":[],"more":1}`:                 `unknown field "more"`,
		`{"uuid":null,"attributes":[{"key":1}]}`:                 "reading the key",
		`{"uuid":null,"attributes":[{"key":"k","nosuch":true}]}`: `no field "nosuch"`,
		`{"uuid":null,"attributes":[[]]}`:                        "reading an attribute",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(source), &initial.Environment{}), reason, source)
	}
}
