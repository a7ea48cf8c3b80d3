package attribute_test

import (
	"encoding/json"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

func TestAttributesAreWrittenWithTheFieldsThatAreSet(t *testing.T) {
	a := attribute.New("q<1>")
	require.NoError(t, a.Set(attribute.FieldReadOnly, false))
	require.NoError(t, a.Set(attribute.FieldMin, 3))
	require.NoError(t, a.Set(attribute.FieldTooltip, "broken \xff\xfe end"))
	require.NoError(t, a.Add(attribute.FieldValue, "a", "\xc3"))
	text, err := a.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"name":"q<1>","min":3,"tooltip":"broken \ufffd\ufffd end","value":["a","\ufffd"],"readOnly":false}`, string(text))
}

func TestAnEnvironmentComesBackFromItsJSON(t *testing.T) {
	source := `{"attributes":{"J1":{"name":"17","visible":false},"m":{"name":"m","value":{"k":"v","n":null}},"none":{}},` +
		`"discovered":{"d":{"name":"d","type":"t","value":[]},"n":{"name":"n","value":-7},"t":{"name":"t","value":true}}}`
	env := attribute.NewEnvironment()
	require.NoError(t, json.Unmarshal([]byte(source), env))
	require.Equal(t, "17", env.Variable("J1").Name())
	require.False(t, env.Variable("J1").Visible())
	require.Equal(t, map[string]string{"k": "v", "n": ""}, env.Variable("m").Value())
	require.Equal(t, []string{}, env.DiscoveredAttribute("d").Value())
	require.Equal(t, -7, env.DiscoveredAttribute("n").Value())
	text, err := json.Marshal(env)
	require.NoError(t, err)
	require.Equal(t, source, string(text))
}

func TestInvalidJSONOfAnAttributeIsRefused(t *testing.T) {
	for source, reason := range map[string]string{
		`{"name":"x","nosuch":1}`:            `no field "nosuch"`,
		`{"Name":"x"}`:                       `no field "Name"`,
		`{"name":["x"]}`:                     "text field",
		`{"value":1.5}`:                      "not an integer",
		`{"value":2147483648}`:               "not an integer",
		`{"value":[1]}`:                      "must be strings",
		`{"value":{"k":1}}`:                  "must be strings",
		`{"min":"x"}`:                        "not an integer",
		`{"validator":"x"}`:                  "cannot be set",
		`[]`:                                 "reading an attribute",
		`{"name":"x","value":{"k":{"l":1}}}`: "must be strings",
	} {
		var a attribute.Attribute
		require.ErrorContains(t, json.Unmarshal([]byte(source), &a), reason, source)
	}
	require.Error(t, json.Unmarshal([]byte(`{"attributes":{"x":null}}`), attribute.NewEnvironment()))
}

func FuzzAttributeJSON(f *testing.F) {
	for _, seed := range []string{`{"name":"x","value":{"k":null}}`, `{"min":1,"visible":true}`, `{"value":["a"]}`, `{"value":-0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		var a, b attribute.Attribute
		if json.Unmarshal(source, &a) != nil {
			return
		}
		text, err := json.Marshal(&a)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &b))
		require.Equal(t, a, b)
	})
}
