package reader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func TestLinesThatNoExpressionMatchesAreIgnored(t *testing.T) {
	require.Equal(t, []string{`2: id="51"`, `4: id="52"`},
		shown(t, "Welcome\nSubmitted batch job 51 on cluster a\r\nx Submitted batch job 9\n52;cluster\n", submitLines()...))
}

func TestASingleLineNeedsNoMatch(t *testing.T) {
	for output, expected := range map[string][]string{
		"51\n":                               {`1: id="51"`},
		"\n \r\n51 \r\n\n":                   {`3: id="51"`},
		"51\n52\n":                           nil,
		"Welcome\n51\n":                      nil,
		"51\nbye\n":                          nil,
		"51\nSubmitted batch job 52\n":       {`2: id="52"`},
		"51":                                 {`1: ! the output ends within the record`},
		"Submitted batch job 5":              {`1: ! the output ends within the record`},
		"Submitted batch job 51\nno newline": {`1: id="51"`},
	} {
		require.Equal(t, expected, shown(t, output, submitLines()...), "%q", output)
	}
}

func TestTheFirstExpressionThatMatchesCounts(t *testing.T) {
	require.Equal(t, []string{`1: word="51"`, `2: other="x y"`}, shown(t, "51\nx y\n",
		&config.Source{Kind: config.Lines, Expression: pattern(`(\w+)`), Columns: []string{"word"}},
		&config.Source{Kind: config.Lines, Expression: pattern(`(.*)`), Columns: []string{"other"}}))
}

func TestGroupsOfOneNameUseTheOneThatMatched(t *testing.T) {
	definition := &config.Source{Kind: config.Lines, Expression: pattern(`(?:a(.*)|b(.*)|c)(;x)?`), Columns: []string{"value", "value", "end"}}
	require.Equal(t, []string{`1: value="1"`, `2: value=""`, `3:`, `4: end=";x"`, `5: without value`},
		shown(t, "a1\nb\nc\nc;x\nbN/A\n", definition))

	both := &config.Source{Kind: config.Lines, Expression: pattern(`(a)(b)`), Columns: []string{"value", "value"}}
	require.Equal(t, []string{`1: value="a"`}, shown(t, "ab\n", both))
}

func TestALineThatIsTooLongIsDamaged(t *testing.T) {
	test := textTest{definitions: submitLines(), longest: 30}
	records, err := test.read(t, strings.Repeat("1", 31)+"\nSubmitted batch job 51\n", 4)
	require.NoError(t, err)
	require.Equal(t, []string{`1: ! the record is longer than 16 MiB`, `2: id="51"`}, show(records))
}
