package model

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// elementsOfTheRuntimeModel is the table of the runtime model's description: each
// element's predefined attributes and their types.
var elementsOfTheRuntimeModel = map[Kind]map[string]Type{
	ResourceManager: {"rmState": Enumerated, "rmDescription": String, "rmType": String, "rmID": String},
	Machine:         {"machineState": Enumerated, "numNodes": Integer},
	Queue:           {"queueState": Enumerated},
	Node:            {"nodeState": Enumerated, "nodeExtraState": Enumerated, "nodeNumber": Integer},
	Job: {
		"jobState": Enumerated, "jobSubId": String, "jobId": String, "queueId": String,
		"jobNumProcs": Integer, "execName": String, "execPath": String, "workingDir": String,
		"progArgs": Array, "env": Array, "debugExecName": String, "debugExecPath": String,
		"debugArgs": Array, "debug": Boolean,
	},
	Process: {
		"processState": Enumerated, "processPID": Integer, "processExitCode": Integer, "processSignalName": String,
		"processIndex": Integer, "processStdout": String, "processStderr": String, "processNodeId": String,
	},
}

func predefined(kind Kind) []*Definition { return slices.Concat(common(), predefinedOf()[kind]) }

func TestEveryElementHasItsPredefinedAttributes(t *testing.T) {
	for kind, attributes := range elementsOfTheRuntimeModel {
		found := map[string]Type{}
		for _, definition := range predefined(kind) {
			found[definition.ID] = definition.Type
			require.NotEmpty(t, definition.Name, definition.ID)
			require.NotEmpty(t, definition.Description, definition.ID)
			_, err := definition.check(definition.Default...)
			require.NoError(t, err, "the default of %s", definition.ID)
		}
		require.Equal(t, String, found["id"])
		require.Equal(t, String, found["name"])
		for id, wanted := range attributes {
			require.Equal(t, wanted, found[id], "%s of a %s", id, kind)
		}
	}
}

func TestAttributesHaveMeaningfulLabels(t *testing.T) {
	for label, definition := range map[string]Definition{
		"State":         {ID: vocabulary.AttributeRMState, Name: "state"},
		"Status":        {ID: vocabulary.AttributeJobStatus, Name: "Status"},
		"Queue":         {ID: "queueId", Name: "queueId"},
		"Through rmctl": {ID: "launchedByPTP", Name: "Launched By PTP"},
		"gres":          {ID: "gres", Name: "gres"},
		"ännlich":       {ID: "ännlich"},
	} {
		require.Equal(t, label, definition.Label())
	}
}

func TestStateAttributesTakeTheStatesOfTheirKind(t *testing.T) {
	for kind := ResourceManager; kind <= Process; kind++ {
		id := kind.StateAttribute()
		at := slices.IndexFunc(predefined(kind), func(each *Definition) bool { return each.ID == id })
		require.GreaterOrEqual(t, at, 0, "%s of a %s", id, kind)
		for _, state := range States(kind) {
			value, err := predefined(kind)[at].check(string(state))
			require.NoError(t, err)
			require.Equal(t, string(state), value.Text())
		}
		_, err := predefined(kind)[at].check("SLEEPING")
		require.ErrorIs(t, err, errValue)
	}
}

func TestValuesAreCheckedForTheirType(t *testing.T) {
	integer := &Definition{ID: "n", Type: Integer, Limited: true, Min: 0, Max: 64}
	double := &Definition{ID: "d", Type: Double}
	boolean := &Definition{ID: "b", Type: Boolean}
	date := &Definition{ID: "t", Type: Date}
	array := &Definition{ID: "a", Type: Array}
	words := &Definition{ID: "e", Type: Enumerated, Values: []string{"batch", "debug"}}
	text := &Definition{ID: "s", Type: String}
	taken := []struct {
		definition *Definition
		texts      []string
		want       string
	}{
		{integer, []string{"007"}, "7"}, {integer, []string{"64"}, "64"}, {double, []string{"1.50"}, "1.5"}, {boolean, []string{"True"}, "true"},
		{date, []string{"2026-01-31T12:00:00+01:00"}, "2026-01-31T12:00:00+01:00"}, {array, []string{"-a", "2 3"}, "-a 2 3"}, {array, nil, ""},
		{words, []string{"debug"}, "debug"}, {text, []string{"<b>\x1b[31m"}, "<b>\x1b[31m"}, {text, []string{"caf\xe9"}, "caf�"},
	}
	for _, c := range taken {
		value, err := c.definition.check(c.texts...)
		require.NoError(t, err, c.texts)
		require.Equal(t, c.want, value.Text())
		require.Equal(t, c.definition.Type, value.Type())
	}
	refused := []struct {
		definition *Definition
		texts      []string
	}{
		{integer, []string{"65"}}, {integer, []string{"-1"}}, {integer, []string{"1e1"}}, {integer, []string{""}}, {integer, nil}, {integer, []string{"1", "2"}},
		{integer, []string{"99999999999999999999"}}, {double, []string{"NaN"}}, {double, []string{"Inf"}}, {boolean, []string{"yes"}},
		{date, []string{"yesterday"}}, {array, []string{"a\x00b"}}, {array, []string{strings.Repeat("a", maxValueBytes)}},
		{words, []string{"Debug"}}, {text, []string{strings.Repeat("a", maxValueBytes+1)}},
	}
	for _, c := range refused {
		_, err := c.definition.check(c.texts...)
		require.ErrorIs(t, err, errValue, "%s %q", c.definition.ID, c.texts)
		require.Less(t, len(err.Error()), 300)
	}
}

func TestValuesAreReadAsTheirType(t *testing.T) {
	check := func(valueType Type, texts ...string) Value {
		value, err := (&Definition{ID: "x", Type: valueType}).check(texts...)
		require.NoError(t, err)
		return value
	}
	require.Equal(t, int64(-5), check(Integer, "-5").Integer())
	require.Equal(t, 2.5, check(Double, "2.5").Double())
	require.True(t, check(Boolean, "TRUE").Boolean())
	require.Equal(t, []string{"", "a b", ""}, check(Array, "", "a b", "").Array())
	require.Empty(t, check(Array).Array())
	require.Equal(t, time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC), check(Date, "2026-01-31T12:00:00+01:00").Time().UTC())
	require.Zero(t, check(String, "7").Integer())
}

func TestMessagesQuoteHostileValues(t *testing.T) {
	_, err := (&Definition{ID: "n", Type: Integer}).check("\x1b[31m" + strings.Repeat("a", 500))
	require.NotContains(t, err.Error(), "\x1b")
	require.Less(t, len(err.Error()), 200)
}
