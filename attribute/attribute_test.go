package attribute_test

import (
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

func TestFieldsConvertStoredValues(t *testing.T) {
	for _, c := range []struct {
		field  attribute.Field
		value  attribute.Value
		stored attribute.Value
	}{
		{attribute.FieldName, 123, "123"},
		{attribute.FieldTooltip, true, "true"},
		{attribute.FieldTooltip, "", ""},
		{attribute.FieldTooltip, nil, nil},
		{attribute.FieldVisible, "TRUE", true},
		{attribute.FieldVisible, "yes", false},
		{attribute.FieldReadOnly, false, false},
		{attribute.FieldMin, "+0012", 12},
		{attribute.FieldMin, "-2147483648", -2147483648},
		{attribute.FieldMax, "\u0661\u0662", 12},
		{attribute.FieldMax, 5, 5},
		{attribute.FieldValue, "12", "12"},
		{attribute.FieldValue, []string{"a"}, []string{"a"}},
	} {
		a := attribute.New("x")
		require.NoError(t, a.Set(c.field, c.value), "%s of %v", c.field, c.value)
		require.Equal(t, c.stored, a.Field(c.field), "%s of %v", c.field, c.value)
	}
}

func TestInvalidValuesOfAFieldAreRefused(t *testing.T) {
	for _, c := range []struct {
		field attribute.Field
		value attribute.Value
	}{
		{attribute.FieldName, []string{"a"}},
		{attribute.FieldDefault, map[string]string{}},
		{attribute.FieldVisible, 1},
		{attribute.FieldMin, "abc"},
		{attribute.FieldMin, ""},
		{attribute.FieldMin, "-"},
		{attribute.FieldMin, "+-1"},
		{attribute.FieldMin, "2147483648"},
		{attribute.FieldMin, "-2147483649"},
		{attribute.FieldMin, strings.Repeat("9", 100)},
		{attribute.FieldMin, true},
		{attribute.FieldValidator, "x"},
	} {
		a := attribute.New("x")
		err := a.Set(c.field, c.value)
		require.ErrorContains(t, err, c.field.String(), "%v", c.value)
		require.ErrorContains(t, err, `attribute "x"`)
	}
}

func TestLiteralsThatLookLikeBooleansAndIntegersAreConverted(t *testing.T) {
	for text, value := range map[string]attribute.Value{
		"TrUe": true, "false": false, "007": 7, "-12": -12, "+3": 3, "\u0665": 5,
		" 5": " 5", "1.5": "1.5", "": "", "99999999999": "99999999999", "1_0": "1_0", "0x1": "0x1", "yes": "yes",
		strings.Repeat("0", 500) + "1": 1,
	} {
		require.Equal(t, value, attribute.Literal(text), "%q", text)
	}
}

func TestListsAndMapsGrowInPlaceAndReplaceOtherValues(t *testing.T) {
	a := attribute.New("x")
	a.SetValue("text")
	require.NoError(t, a.Add(attribute.FieldValue))
	require.Equal(t, []string{}, a.Value())
	require.NoError(t, a.Add(attribute.FieldValue, "1", "2"))
	require.NoError(t, a.Add(attribute.FieldValue, "3"))
	require.Equal(t, []string{"1", "2", "3"}, a.Value())

	require.NoError(t, a.Put(attribute.FieldValue, "k", "v", true))
	require.NoError(t, a.Put(attribute.FieldValue, "n", "", false))
	require.Equal(t, map[string]string{"k": "v", "n": ""}, a.Value())
	require.Equal(t, "{k=v, n=null}", a.Text(attribute.FieldValue))
	require.True(t, a.EntryUnset("n"))
	require.NoError(t, a.Put(attribute.FieldValue, "n", "set", true))
	require.False(t, a.EntryUnset("n"))

	require.Error(t, a.Add(attribute.FieldName, "x"))
	require.Error(t, a.Put(attribute.FieldMin, "k", "v", true))
}

func TestACloneSharesNothingWithItsOriginal(t *testing.T) {
	env := attribute.NewEnvironment()
	a := attribute.New("x")
	require.NoError(t, a.Put(attribute.FieldValue, "k", "", false))
	env.Define("x", a)
	copied := env.Clone()
	require.NoError(t, a.Put(attribute.FieldValue, "k", "changed", true))
	require.Equal(t, map[string]string{"k": ""}, copied.Variable("x").Value())
	require.True(t, copied.Variable("x").EntryUnset("k"))
}

func TestADiscoveredAttributeNeverHidesAVariable(t *testing.T) {
	env := attribute.NewEnvironment()
	env.SetVariable("x", "variable")
	discovered := attribute.New("x")
	discovered.SetValue("discovered")
	env.Discover(discovered)
	require.Equal(t, "variable", env.Text("x"))
	env.Remove("x")
	require.Equal(t, "discovered", env.Text("x"))
	env.Remove("x")
	require.Nil(t, env.Lookup("x"))
}
