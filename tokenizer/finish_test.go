package tokenizer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// merged returns the result of merging two constructed attributes of one name with these fields.
func merged(t *testing.T, overwrite bool, first, later string) (*attribute.Attribute, error) {
	env := variables()
	parser := fmt.Sprintf(`<stdout-parser delim="\n"><target allowOverwrites="%t">
<match><expression>1</expression><set field="name"><entry value="n"/></set>%s</match>
<match><expression>2</expression><set field="name" forceNewObject="true"><entry value="n"/></set>%s</match>
</target></stdout-parser>`, overwrite, first, later)
	run, err := tokenizer.Options{}.Compile(parserOf(t, parser), env, "")
	require.NoError(t, err)
	err = run.Run(strings.NewReader("1\n2"))
	return env.DiscoveredAttribute("n"), err
}

func setting(field attribute.Field, value string) string {
	return fmt.Sprintf(`<set field="%s"><entry value="%s"/></set>`, field, value)
}

func TestMergedFields(t *testing.T) {
	for _, field := range []attribute.Field{
		attribute.FieldType, attribute.FieldStatus, attribute.FieldMin, attribute.FieldMax, attribute.FieldDescription, attribute.FieldTooltip,
		attribute.FieldChoice, attribute.FieldTranslateChoiceAs, attribute.FieldDefault, attribute.FieldValue,
	} {
		t.Run(field.String(), func(t *testing.T) {
			result, err := merged(t, false, setting(field, "1"), "")
			require.NoError(t, err)
			require.Equal(t, "1", result.Text(field), "only the first has it")
			result, err = merged(t, false, "", setting(field, "1"))
			require.NoError(t, err)
			require.Equal(t, "1", result.Text(field), "only the later has it")
			result, err = merged(t, false, setting(field, "1"), setting(field, "1"))
			require.NoError(t, err)
			require.Equal(t, "1", result.Text(field), "both have the same")
			_, err = merged(t, false, setting(field, "1"), setting(field, "2"))
			require.ErrorContains(t, err, fmt.Sprintf(`their %s differs: "1" and "2"`, field))
			result, err = merged(t, true, setting(field, "1"), setting(field, "2"))
			require.NoError(t, err)
			require.Equal(t, "2", result.Text(field), "the later overwrites")
		})
	}
	for _, field := range []attribute.Field{attribute.FieldItemsFrom, attribute.FieldLinkValueTo, attribute.FieldTranslateBooleanAs} {
		result, err := merged(t, false, setting(field, "1"), setting(field, "2"))
		require.NoError(t, err)
		require.Equal(t, "1", result.Text(field), "of %s the first counts", field)
	}
}

func TestMergedBooleansAreTrueIfEitherIs(t *testing.T) {
	for _, field := range []attribute.Field{attribute.FieldVisible, attribute.FieldReadOnly} {
		for _, c := range []struct {
			first, later      string
			kept, overwritten bool
		}{{"false", "false", false, false}, {"false", "true", true, true}, {"true", "false", true, false}, {"true", "true", true, true}} {
			result, err := merged(t, false, setting(field, c.first), setting(field, c.later))
			require.NoError(t, err)
			require.Equal(t, c.kept, result.Field(field), "%s: %s and %s", field, c.first, c.later)
			result, err = merged(t, true, setting(field, c.first), setting(field, c.later))
			require.NoError(t, err)
			require.Equal(t, c.overwritten, result.Field(field), "%s: %s overwritten by %s", field, c.first, c.later)
		}
	}
}

func TestMergedListsAndMapsAreUnited(t *testing.T) {
	result, err := merged(t, false, `<add field="value"><entry value="a"/></add>`, `<add field="value"><entry value="b"/></add>`)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, result.Value())
	put := func(key, value string) string {
		return fmt.Sprintf(`<put field="value"><entry key="%s" value="%s"/></put>`, key, value)
	}
	result, err = merged(t, false, put("k", "1")+put("l", "2"), put("k", "3")+put("m", "4"))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "3", "l": "2", "m": "4"}, result.Value())
}

func TestComparisons(t *testing.T) {
	texts := []string{"a", "a", "b"} // in order, as are the integers and the booleans
	numbers := []string{"7", "007", "10"}
	booleans := []string{"false", "FALSE", "true"}
	for _, values := range [][]string{texts, numbers, booleans} {
		for operator, holds := range map[config.Operator][3]bool{ // for less, equal and greater
			config.Less: {true, false, false}, config.LessOrEqual: {true, true, false}, config.Equal: {false, true, false},
			config.GreaterOrEqual: {false, true, true}, config.Greater: {false, false, true},
		} {
			require.Equal(t, holds[0], compares(t, operator, values[0], values[2]), "%s %s %s", values[0], operator, values[2])
			require.Equal(t, holds[1], compares(t, operator, values[0], values[1]), "%s %s %s", values[0], operator, values[1])
			require.Equal(t, holds[2], compares(t, operator, values[2], values[0]), "%s %s %s", values[2], operator, values[0])
		}
	}
	for _, operator := range []config.Operator{config.Less, config.LessOrEqual, config.Equal, config.GreaterOrEqual, config.Greater} {
		for _, values := range [][2]string{{"1", "x"}, {"true", "1"}, {"x", "true"}, {"#status", "x"}, {"x", "#status"}} {
			require.False(t, compares(t, operator, values[0], values[1]), "values of two types have no order: %s %s %s", values[0], operator, values[1])
		}
	}
	require.True(t, compares(t, config.Equal, "#status", "#status"), "two values that are not there are equal")
	require.False(t, compares(t, config.LessOrEqual, "#status", "#status"), "but have no order")
}

// compares reports whether a test is true.
func compares(t *testing.T, operator config.Operator, left, right string) bool {
	env := variables("r")
	parser := fmt.Sprintf(`<stdout-parser><target ref="r"><match><set field="value"><entry value="acted"/></set></match>
<test op="%s"><value>%s</value><value>%s</value><set field="value"><entry value="holds"/></set></test></target></stdout-parser>`, operator, left, right)
	run, err := tokenizer.Options{}.Compile(parserOf(t, parser), env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("")))
	return env.Text("r") == "holds"
}

func TestValuesWithReferencesAreResolvedTwice(t *testing.T) {
	env := variables("r", "source")
	env.Variable("source").SetValue("<@jobId>")
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser><target ref="r"><match><set field="value"><entry value="of ${ptp_rm:source#value}"/></set></match></target></stdout-parser>`), env, "7")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("")))
	require.Equal(t, "of <7>", env.Text("r"))
}
