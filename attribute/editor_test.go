package attribute_test

import (
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

// with returns an attribute with fields set.
func with(t *testing.T, fields map[attribute.Field]attribute.Value) *attribute.Attribute {
	t.Helper()
	a := attribute.New("x")
	for field, value := range fields {
		require.NoError(t, a.Set(field, value))
	}
	return a
}

func TestTheTypeAndTheItemsOfAnAttributeTellHowItIsEdited(t *testing.T) {
	for name, c := range map[string]struct {
		fields map[attribute.Field]attribute.Value
		want   attribute.Editor
	}{
		"nothing":                   {nil, attribute.TextEditor},
		"a string":                  {map[attribute.Field]attribute.Value{attribute.FieldType: "string"}, attribute.TextEditor},
		"a class of strings":        {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.String"}, attribute.TextEditor},
		"a number that is no int":   {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.Double"}, attribute.TextEditor},
		"integer":                   {map[attribute.Field]attribute.Value{attribute.FieldType: "integer"}, attribute.NumberEditor},
		"int":                       {map[attribute.Field]attribute.Value{attribute.FieldType: "int"}, attribute.NumberEditor},
		"a class of integers":       {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.Integer"}, attribute.NumberEditor},
		"boolean":                   {map[attribute.Field]attribute.Value{attribute.FieldType: "boolean"}, attribute.SwitchEditor},
		"a class of booleans":       {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.Boolean"}, attribute.SwitchEditor},
		"a translation of booleans": {map[attribute.Field]attribute.Value{attribute.FieldTranslateBooleanAs: "1,0", attribute.FieldChoice: "a"}, attribute.SwitchEditor},
		"a choice":                  {map[attribute.Field]attribute.Value{attribute.FieldChoice: "1,2", attribute.FieldType: "integer"}, attribute.ChoiceEditor},
		"a choice of booleans":      {map[attribute.Field]attribute.Value{attribute.FieldChoice: "yes,no", attribute.FieldType: "boolean"}, attribute.ChoiceEditor},
		"the type choice alone":     {map[attribute.Field]attribute.Value{attribute.FieldType: "choice"}, attribute.TextEditor},
		"items of another":          {map[attribute.Field]attribute.Value{attribute.FieldItemsFrom: "queues"}, attribute.ChoiceEditor},
		"a class of lists":          {map[attribute.Field]attribute.Value{attribute.FieldType: "java.util.List"}, attribute.ListEditor},
		"a list":                    {map[attribute.Field]attribute.Value{attribute.FieldValue: []string{"a"}}, attribute.ListEditor},
		"a class of maps":           {map[attribute.Field]attribute.Value{attribute.FieldType: "java.util.Map"}, attribute.MapEditor},
		"a map":                     {map[attribute.Field]attribute.Value{attribute.FieldValue: map[string]string{}, attribute.FieldType: "string"}, attribute.MapEditor},
	} {
		require.Equal(t, c.want, with(t, c.fields).Editor(), name)
	}
}

func TestItemsAreTranslatedInBothDirections(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldChoice: ",small, large,,huge", attribute.FieldTranslateChoiceAs: "-s,,-l"})
	require.Equal(t, []attribute.Item{{Shown: "small", Stored: "-s"}, {Shown: " large", Stored: "-l"}, {Shown: "huge", Stored: "huge"}}, a.Items(),
		"blank parts do not count, and what has no translation stays")
	for _, item := range a.Items() {
		for _, text := range []string{item.Shown, item.Stored} {
			value, err := a.Accept(text, attribute.ChoiceEditor)
			require.NoError(t, err)
			require.Equal(t, item.Stored, value, text)
		}
		require.Equal(t, item.Shown, a.Shown(item.Stored))
	}
	require.Equal(t, "else", a.Shown("else"))
	_, err := a.Accept("medium", attribute.ChoiceEditor)
	require.ErrorContains(t, err, "it is none of small, large, huge")
	value, err := a.Accept("medium", attribute.ComboEditor)
	require.NoError(t, err)
	require.Equal(t, "medium", value, "a combo takes other texts, too")
}

func TestItemsOfAnotherAttributeAreTranslatedAndDoNotLimitTheChoice(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldItemsFrom: "queues", attribute.FieldChoice: "short", attribute.FieldTranslateChoiceAs: "q1"})
	for text, stored := range map[string]string{"short": "q1", "q1": "q1", "q2": "q2"} {
		value, err := a.Accept(text, attribute.ChoiceEditor)
		require.NoError(t, err)
		require.Equal(t, stored, value)
	}
}

func TestASwitchStoresItsTranslation(t *testing.T) {
	for translation, values := range map[string][2]attribute.Value{"1,0": {"1", "0"}, "-V, ": {"-V", " "}, "--no-rotate": {true, false}, "a,b,c": {true, false}} {
		a := with(t, map[attribute.Field]attribute.Value{attribute.FieldTranslateBooleanAs: translation})
		for i, texts := range [][]string{{"true", "YES", " on ", "1"}, {"false", "No", "off", "0"}} {
			for _, text := range texts {
				value, err := a.Accept(text, attribute.SwitchEditor)
				require.NoError(t, err)
				require.Equal(t, values[i], value, "%s of %s", text, translation)
			}
		}
	}
	opposite := with(t, map[attribute.Field]attribute.Value{attribute.FieldTranslateBooleanAs: "0,1"})
	value, err := opposite.Accept("1", attribute.SwitchEditor)
	require.NoError(t, err)
	require.Equal(t, "1", value, "what is stored counts before what is usual")
	_, err = opposite.Accept("maybe", attribute.SwitchEditor)
	require.ErrorContains(t, err, "true or false")
}

func TestAnIntegerHas32BitsAndKeepsToItsBounds(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldMin: -2, attribute.FieldMax: 10})
	for text, want := range map[string]int{"-2": -2, " 10 ": 10, "+007": 7} {
		value, err := a.Accept(text, attribute.NumberEditor)
		require.NoError(t, err)
		require.Equal(t, want, value)
	}
	for text, reason := range map[string]string{"-3": "smallest value is -2", "11": "largest value is 10", "1.5": "not an integer", "1e3": "not an integer", "0x1": "not an integer", " ": "not an integer"} {
		_, err := a.Accept(text, attribute.NumberEditor)
		require.ErrorContains(t, err, reason, text)
	}
	_, err := attribute.New("x").Accept("2147483648", attribute.NumberEditor)
	require.ErrorContains(t, err, "more than 32 bits")
}

func TestTheEmptyTextIsNoValue(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldChoice: "a", attribute.FieldMin: 1})
	for _, editor := range []attribute.Editor{attribute.SwitchEditor, attribute.ChoiceEditor, attribute.ComboEditor, attribute.NumberEditor,
		attribute.TextEditor, attribute.ListEditor, attribute.MapEditor} {
		value, err := a.Accept("", editor)
		require.NoError(t, err)
		require.Nil(t, value)
	}
}

func TestAnEntryOfAMapHasAKey(t *testing.T) {
	a := attribute.New("x")
	value, err := a.Accept("k=v=w", attribute.MapEditor)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "v=w"}, value)
	for _, text := range []string{"k", "=v"} {
		_, err := a.Accept(text, attribute.MapEditor)
		require.ErrorContains(t, err, "key=value")
	}
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"", "true", " on ", "1", "-2147483649", "small", " large", "k=v", "=", "\x00", "٣"} {
		f.Add(seed, "small, large", "-s,-l", "1,0")
	}
	f.Fuzz(func(t *testing.T, text, choice, translated, pair string) {
		a := with(t, map[attribute.Field]attribute.Value{attribute.FieldChoice: choice, attribute.FieldTranslateChoiceAs: translated,
			attribute.FieldTranslateBooleanAs: pair, attribute.FieldMin: -5, attribute.FieldMax: 5})
		for _, editor := range []attribute.Editor{attribute.SwitchEditor, attribute.ChoiceEditor, attribute.ComboEditor, attribute.NumberEditor,
			attribute.TextEditor, attribute.ListEditor, attribute.MapEditor} {
			value, err := a.Accept(text, editor)
			var invalid *attribute.InvalidError
			if err != nil {
				require.ErrorAs(t, err, &invalid)
				require.Nil(t, value)
			}
			if number, isNumber := value.(int); isNumber {
				require.LessOrEqual(t, -5, number)
				require.LessOrEqual(t, number, 5)
			}
		}
	})
}
