package model_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// elementsOfTheRuntimeModel is the table of the runtime model's description: each
// element's predefined attributes and their types.
var elementsOfTheRuntimeModel = map[model.Kind]map[string]model.Type{
	model.ResourceManager: {"rmState": model.Enumerated, "rmDescription": model.String, "rmType": model.String, "rmID": model.String},
	model.Machine:         {"machineState": model.Enumerated, "numNodes": model.Integer},
	model.Queue:           {"queueState": model.Enumerated},
	model.Node:            {"nodeState": model.Enumerated, "nodeExtraState": model.Enumerated, "nodeNumber": model.Integer},
	model.Job: {
		"jobState": model.Enumerated, "jobSubId": model.String, "jobId": model.String, "queueId": model.String,
		"jobNumProcs": model.Integer, "execName": model.String, "execPath": model.String, "workingDir": model.String,
		"progArgs": model.Array, "env": model.Array, "debugExecName": model.String, "debugExecPath": model.String,
		"debugArgs": model.Array, "debug": model.Boolean,
	},
	model.Process: {
		"processState": model.Enumerated, "processPID": model.Integer, "processExitCode": model.Integer, "processSignalName": model.String,
		"processIndex": model.Integer, "processStdout": model.String, "processStderr": model.String, "processNodeId": model.String,
	},
}

func TestEveryElementHasItsPredefinedAttributes(t *testing.T) {
	for kind, attributes := range elementsOfTheRuntimeModel {
		found := map[string]model.Type{}
		for _, definition := range model.Predefined(kind) {
			found[definition.ID] = definition.Type
			require.NotEmpty(t, definition.Name, definition.ID)
			require.NotEmpty(t, definition.Description, definition.ID)
			_, err := definition.Check(definition.Default...)
			require.NoError(t, err, "the default of %s", definition.ID)
		}
		require.Equal(t, model.String, found["id"])
		require.Equal(t, model.String, found["name"])
		for id, wanted := range attributes {
			require.Equal(t, wanted, found[id], "%s of a %s", id, kind)
		}
	}
}

func TestAttributesAreShownUnderNamesThatSaySomething(t *testing.T) {
	for label, definition := range map[string]model.Definition{
		"State":         {ID: model.AttributeRMState, Name: "state"},
		"Status":        {ID: model.AttributeJobStatus, Name: "Status"},
		"Queue":         {ID: "queueId", Name: "queueId"},
		"Through rmctl": {ID: "launchedByPTP", Name: "Launched By PTP"},
		"gres":          {ID: "gres", Name: "gres"},
		"ännlich":       {ID: "ännlich"},
	} {
		require.Equal(t, label, definition.Label())
	}
}

func TestStateAttributesTakeTheStatesOfTheirKind(t *testing.T) {
	for kind := model.ResourceManager; kind <= model.Process; kind++ {
		id := kind.StateAttribute()
		at := slices.IndexFunc(model.Predefined(kind), func(each *model.Definition) bool { return each.ID == id })
		require.GreaterOrEqual(t, at, 0, "%s of a %s", id, kind)
		for _, state := range model.States(kind) {
			value, err := model.Predefined(kind)[at].Check(string(state))
			require.NoError(t, err)
			require.Equal(t, string(state), value.Text())
		}
		_, err := model.Predefined(kind)[at].Check("SLEEPING")
		require.ErrorIs(t, err, model.ErrValue)
	}
}

func TestValuesAreCheckedForTheirType(t *testing.T) {
	integer := &model.Definition{ID: "n", Type: model.Integer, Limited: true, Min: 0, Max: 64}
	double := &model.Definition{ID: "d", Type: model.Double}
	boolean := &model.Definition{ID: "b", Type: model.Boolean}
	date := &model.Definition{ID: "t", Type: model.Date}
	array := &model.Definition{ID: "a", Type: model.Array}
	words := &model.Definition{ID: "e", Type: model.Enumerated, Values: []string{"batch", "debug"}}
	text := &model.Definition{ID: "s", Type: model.String}
	taken := []struct {
		definition *model.Definition
		texts      []string
		want       string
	}{
		{integer, []string{"007"}, "7"}, {integer, []string{"64"}, "64"}, {double, []string{"1.50"}, "1.5"}, {boolean, []string{"True"}, "true"},
		{date, []string{"2026-01-31T12:00:00+01:00"}, "2026-01-31T12:00:00+01:00"}, {array, []string{"-a", "2 3"}, "-a 2 3"}, {array, nil, ""},
		{words, []string{"debug"}, "debug"}, {text, []string{"<b>\x1b[31m"}, "<b>\x1b[31m"}, {text, []string{"caf\xe9"}, "caf�"},
	}
	for _, c := range taken {
		value, err := c.definition.Check(c.texts...)
		require.NoError(t, err, c.texts)
		require.Equal(t, c.want, value.Text())
		require.Equal(t, c.definition.Type, value.Type())
	}
	refused := []struct {
		definition *model.Definition
		texts      []string
	}{
		{integer, []string{"65"}}, {integer, []string{"-1"}}, {integer, []string{"1e1"}}, {integer, []string{""}}, {integer, nil}, {integer, []string{"1", "2"}},
		{integer, []string{"99999999999999999999"}}, {double, []string{"NaN"}}, {double, []string{"Inf"}}, {boolean, []string{"yes"}},
		{date, []string{"yesterday"}}, {array, []string{"a\x00b"}}, {array, []string{strings.Repeat("a", model.MaxValueBytes)}},
		{words, []string{"Debug"}}, {text, []string{strings.Repeat("a", model.MaxValueBytes+1)}},
	}
	for _, c := range refused {
		_, err := c.definition.Check(c.texts...)
		require.ErrorIs(t, err, model.ErrValue, "%s %q", c.definition.ID, c.texts)
		require.Less(t, len(err.Error()), 300)
	}
}

func TestValuesAreReadAsTheirType(t *testing.T) {
	check := func(valueType model.Type, texts ...string) model.Value {
		value, err := (&model.Definition{ID: "x", Type: valueType}).Check(texts...)
		require.NoError(t, err)
		return value
	}
	require.Equal(t, int64(-5), check(model.Integer, "-5").Integer())
	require.Equal(t, 2.5, check(model.Double, "2.5").Double())
	require.True(t, check(model.Boolean, "TRUE").Boolean())
	require.Equal(t, []string{"", "a b", ""}, check(model.Array, "", "a b", "").Array())
	require.Empty(t, check(model.Array).Array())
	require.Equal(t, time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC), check(model.Date, "2026-01-31T12:00:00+01:00").Time().UTC())
	require.Zero(t, check(model.String, "7").Integer())
}

func TestMessagesQuoteHostileValues(t *testing.T) {
	_, err := (&model.Definition{ID: "n", Type: model.Integer}).Check("\x1b[31m" + strings.Repeat("a", 500))
	require.NotContains(t, err.Error(), "\x1b")
	require.Less(t, len(err.Error()), 200)
}
