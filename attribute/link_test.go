package attribute_test

import (
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

func linked(t *testing.T, env *attribute.Environment, name, to string, fields map[attribute.Field]attribute.Value) {
	a := attribute.New(name)
	require.NoError(t, a.Set(attribute.FieldLinkValueTo, to))
	for field, value := range fields {
		require.NoError(t, a.Set(field, value))
	}
	env.Define(name, a)
}

func TestLinksAreFollowedThroughChains(t *testing.T) {
	env := attribute.NewEnvironment()
	linked(t, env, "a", "b", nil)
	linked(t, env, "b", "c", nil)
	env.SetVariable("c", "queue1")
	require.NoError(t, env.ResolveLinks(nil, nil))
	require.Equal(t, "queue1", env.Text("a"))
	require.Equal(t, "queue1", env.Text("b"))
}

func TestALinkWithoutValueFallsBackToTheDefaultAndThenToEmpty(t *testing.T) {
	env := attribute.NewEnvironment()
	fields := map[attribute.Field]attribute.Value{attribute.FieldDefault: "d", attribute.FieldValue: "old"}
	env.SetVariable("empty", "")
	linked(t, env, "to-empty", "empty", fields)
	linked(t, env, "to-nothing", "nowhere", fields)
	linked(t, env, "no-default", "nowhere", map[attribute.Field]attribute.Value{attribute.FieldValue: "old"})
	require.NoError(t, env.ResolveLinks(nil, nil))
	require.Equal(t, "d", env.Text("to-empty"))
	require.Equal(t, "d", env.Text("to-nothing"))
	require.Equal(t, "", env.Variable("no-default").Value())
}

func TestAUsersValueWinsOverALinkOfVisibleAttributesOnly(t *testing.T) {
	env := attribute.NewEnvironment()
	env.SetVariable("source", "linked")
	linked(t, env, "shown", "source", map[attribute.Field]attribute.Value{attribute.FieldValue: "mine"})
	linked(t, env, "hidden", "source", map[attribute.Field]attribute.Value{attribute.FieldValue: "mine", attribute.FieldVisible: false})
	linked(t, env, "untouched", "source", map[attribute.Field]attribute.Value{attribute.FieldValue: "default"})
	require.NoError(t, env.ResolveLinks(map[string]bool{"shown": true, "hidden": true}, nil))
	require.Equal(t, "mine", env.Text("shown"))
	require.Equal(t, "linked", env.Text("hidden"))
	require.Equal(t, "linked", env.Text("untouched"))
}

func TestLinksInACircleAreReportedAndTakeDefaults(t *testing.T) {
	env := attribute.NewEnvironment()
	linked(t, env, "a", "b", nil)
	linked(t, env, "b", "c", map[attribute.Field]attribute.Value{attribute.FieldDefault: "db"})
	linked(t, env, "c", "b", map[attribute.Field]attribute.Value{attribute.FieldDefault: "dc"})
	linked(t, env, "self", "self", map[attribute.Field]attribute.Value{attribute.FieldDefault: "ds"})
	err := env.ResolveLinks(nil, nil)
	require.ErrorContains(t, err, "b → c → b")
	require.Equal(t, "dc", env.Text("a"))
	require.Equal(t, "ds", env.Text("self"))
}

func TestALinkCopiesAListInsteadOfSharingIt(t *testing.T) {
	env := attribute.NewEnvironment()
	env.SetVariable("list", []string{"x"})
	linked(t, env, "copy", "list", nil)
	require.NoError(t, env.ResolveLinks(nil, nil))
	env.Variable("list").Value().([]string)[0] = "changed"
	require.Equal(t, []string{"x"}, env.Variable("copy").Value())
}
