package form

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

func TestTheTypeAndTheItemsOfAnAttributeSayHowItIsEdited(t *testing.T) {
	for name, c := range map[string]struct {
		fields map[attribute.Field]attribute.Value
		want   Editor
	}{
		"nothing":                   {nil, TextEditor},
		"a string":                  {map[attribute.Field]attribute.Value{attribute.FieldType: "string"}, TextEditor},
		"a class of strings":        {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.String"}, TextEditor},
		"a number that is no int":   {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.Double"}, TextEditor},
		"integer":                   {map[attribute.Field]attribute.Value{attribute.FieldType: "integer"}, NumberEditor},
		"int":                       {map[attribute.Field]attribute.Value{attribute.FieldType: "int"}, NumberEditor},
		"a class of integers":       {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.Integer"}, NumberEditor},
		"boolean":                   {map[attribute.Field]attribute.Value{attribute.FieldType: "boolean"}, SwitchEditor},
		"a class of booleans":       {map[attribute.Field]attribute.Value{attribute.FieldType: "java.lang.Boolean"}, SwitchEditor},
		"a translation of booleans": {map[attribute.Field]attribute.Value{attribute.FieldTranslateBooleanAs: "1,0", attribute.FieldChoice: "a"}, SwitchEditor},
		"a choice":                  {map[attribute.Field]attribute.Value{attribute.FieldChoice: "1,2", attribute.FieldType: "integer"}, ChoiceEditor},
		"a choice of booleans":      {map[attribute.Field]attribute.Value{attribute.FieldChoice: "yes,no", attribute.FieldType: "boolean"}, ChoiceEditor},
		"the type choice alone":     {map[attribute.Field]attribute.Value{attribute.FieldType: "choice"}, TextEditor},
		"items of another":          {map[attribute.Field]attribute.Value{attribute.FieldItemsFrom: "queues"}, ChoiceEditor},
		"a class of lists":          {map[attribute.Field]attribute.Value{attribute.FieldType: "java.util.List"}, ListEditor},
		"a list":                    {map[attribute.Field]attribute.Value{attribute.FieldValue: []string{"a"}}, ListEditor},
		"a class of maps":           {map[attribute.Field]attribute.Value{attribute.FieldType: "java.util.Map"}, MapEditor},
		"a map":                     {map[attribute.Field]attribute.Value{attribute.FieldValue: map[string]string{}, attribute.FieldType: "string"}, MapEditor},
	} {
		require.Equal(t, c.want, EditorOf(with(t, c.fields)), name)
	}
}

func TestItemsAreTranslatedInBothDirections(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldChoice: ",small, large,,huge", attribute.FieldTranslateChoiceAs: "-s,,-l"})
	require.Equal(t, []item{{shown: "small", stored: "-s"}, {shown: " large", stored: "-l"}, {shown: "huge", stored: "huge"}}, itemsOf(a),
		"blank parts do not count, and what has no translation stays")
	for _, each := range itemsOf(a) {
		for _, text := range []string{each.shown, each.stored} {
			value, err := Accept(a, text, ChoiceEditor)
			require.NoError(t, err)
			require.Equal(t, each.stored, value, text)
		}
		require.Equal(t, each.shown, shownOf(a, each.stored))
	}
	require.Equal(t, "else", shownOf(a, "else"))
	_, err := Accept(a, "medium", ChoiceEditor)
	require.ErrorContains(t, err, "choose one of small, large, huge")
	value, err := Accept(a, "medium", comboEditor)
	require.NoError(t, err)
	require.Equal(t, "medium", value, "a combo takes other texts, too")
}

func TestItemsOfAnotherAttributeAreTranslatedAndDoNotLimitTheChoice(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldItemsFrom: "queues", attribute.FieldChoice: "short", attribute.FieldTranslateChoiceAs: "q1"})
	for text, stored := range map[string]string{"short": "q1", "q1": "q1", "q2": "q2"} {
		value, err := Accept(a, text, ChoiceEditor)
		require.NoError(t, err)
		require.Equal(t, stored, value)
	}
}

func TestASwitchStoresItsTranslation(t *testing.T) {
	for translation, values := range map[string][2]attribute.Value{"1,0": {"1", "0"}, "-V, ": {"-V", " "}, "--no-rotate": {true, false}, "a,b,c": {true, false}} {
		a := with(t, map[attribute.Field]attribute.Value{attribute.FieldTranslateBooleanAs: translation})
		for i, texts := range [][]string{{"true", "YES", " on ", "1"}, {"false", "No", "off", "0"}} {
			for _, text := range texts {
				value, err := Accept(a, text, SwitchEditor)
				require.NoError(t, err)
				require.Equal(t, values[i], value, "%s of %s", text, translation)
			}
		}
	}
	opposite := with(t, map[attribute.Field]attribute.Value{attribute.FieldTranslateBooleanAs: "0,1"})
	value, err := Accept(opposite, "1", SwitchEditor)
	require.NoError(t, err)
	require.Equal(t, "1", value, "what is stored counts before what is usual")
	_, err = Accept(opposite, "maybe", SwitchEditor)
	require.ErrorContains(t, err, "true or false")
}

func TestAnIntegerHas32BitsAndKeepsToItsBounds(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldMin: -2, attribute.FieldMax: 10})
	for text, want := range map[string]int{"-2": -2, " 10 ": 10, "+007": 7} {
		value, err := Accept(a, text, NumberEditor)
		require.NoError(t, err)
		require.Equal(t, want, value)
	}
	for text, reason := range map[string]string{"-3": "minimum is -2", "11": "maximum is 10", "1.5": "enter a whole number", "1e3": "enter a whole number", "0x1": "enter a whole number", " ": "enter a whole number"} {
		_, err := Accept(a, text, NumberEditor)
		require.ErrorContains(t, err, reason, text)
	}
	_, err := Accept(attribute.New("x"), "2147483648", NumberEditor)
	require.ErrorContains(t, err, "enter a whole number")
}

func TestTheEmptyTextIsNoValue(t *testing.T) {
	a := with(t, map[attribute.Field]attribute.Value{attribute.FieldChoice: "a", attribute.FieldMin: 1})
	for _, editor := range []Editor{SwitchEditor, ChoiceEditor, comboEditor, NumberEditor,
		TextEditor, ListEditor, MapEditor} {
		value, err := Accept(a, "", editor)
		require.NoError(t, err)
		require.Nil(t, value)
	}
}

func TestAnEntryOfAMapHasAKey(t *testing.T) {
	a := attribute.New("x")
	value, err := Accept(a, "k=v=w", MapEditor)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "v=w"}, value)
	for _, text := range []string{"k", "=v"} {
		_, err := Accept(a, text, MapEditor)
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
		for _, editor := range []Editor{SwitchEditor, ChoiceEditor, comboEditor, NumberEditor,
			TextEditor, ListEditor, MapEditor} {
			value, err := Accept(a, text, editor)
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
