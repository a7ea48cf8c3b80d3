package reader

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// testMark is the mark of the captures.
const testMark = "@a1b2c3d4e5f6g7h8"

// testNone are the words without a value of the tests.
var testNone = []string{"N/A", "(null)"}

// A textTest reads a text with a small limit for records.
type textTest struct {
	definitions []*config.Source
	longest     int    // 0 for the default
	mark        string // empty for testMark
}

// read returns the records of an output written in parts of a size.
func (x textTest) read(t testing.TB, output string, size int) ([]*Record, error) {
	t.Helper()
	var records []*Record
	source, err := newSourceFor(recordWriter{none: testNone, longest: cmp.Or(x.longest, longestRecord), hand: func(record *Record) error {
		records = append(records, record)
		return nil
	}}, x.definitions, cmp.Or(x.mark, testMark))
	require.NoError(t, err)
	for rest := []byte(output); len(rest) > 0; {
		part := rest[:min(size, len(rest))]
		rest = rest[len(part):]
		written, err := source.Write(part)
		require.NoError(t, err)
		require.Equal(t, len(part), written)
	}
	return records, source.Close()
}

// shown reads an output and returns each record as one line: where it begins, its fields
// and its damage.
func shown(t testing.TB, output string, definitions ...*config.Source) []string {
	t.Helper()
	records, err := textTest{definitions: definitions}.read(t, output, len(output)+1)
	require.NoError(t, err)
	return show(records)
}

func show(records []*Record) []string {
	var lines []string
	for _, record := range records {
		line := fmt.Sprintf("%d:", record.Line)
		for _, field := range record.Root.Children {
			line += fmt.Sprintf(" %s=%q", field.Name, field.Text)
		}
		if len(record.WithoutValue) > 0 {
			line += " without " + strings.Join(record.WithoutValue, " ")
		}
		if record.Damage != "" {
			line += " ! " + record.Damage
		}
		lines = append(lines, line)
	}
	return lines
}

func pattern(text string) config.Pattern { return config.Pattern{Text: text} }

// marked returns a row with the test's mark after each column.
func marked(columns ...string) string { return strings.Join(columns, testMark) + testMark + "\n" }

func TestAnErrorForARecordEndsWriting(t *testing.T) {
	refused := errors.New("refused")
	for _, definitions := range everySource() {
		source, err := newTextSource(definitions, nil, testMark, func(*Record) error { return refused })
		require.NoError(t, err)
		_, err = source.Write([]byte(sampleOutput(definitions[0])))
		if err == nil {
			err = source.Close()
		}
		require.ErrorIs(t, err, refused, "%s", definitions[0].Kind)
	}
}

func TestASourceNamesTheProblemOfItsDefinition(t *testing.T) {
	for problem, definition := range map[string]*config.Source{
		"the query has no mark":        {Kind: config.Table, Separator: "mark", Columns: []string{"id"}},
		"no columns and no header":     {Kind: config.Table},
		"2 columns and 2 widths":       {Kind: config.Table, Columns: []string{"a", "b"}, Widths: []int{1, 2}},
		"the expression is missing":    {Kind: config.Lines},
		"0 groups for 1 columns":       {Kind: config.Lines, Expression: pattern("x"), Columns: []string{"id"}},
		"missing closing )":            {Kind: config.Lines, Expression: pattern("(x")},
		"unexpected ): `a)|(b`":        {Kind: config.Lines, Expression: pattern("a)|(b")},
		"a field needs two groups":     {Kind: config.Stanzas, Begin: pattern("x"), Field: pattern("(a)=b")},
		"x:json does not read text":    {Kind: config.JSON},
		"1 groups for 2 columns":       {Kind: config.Log, Begin: pattern("(x)"), Columns: []string{"a", "b"}},
		"missing argument to repetiti": {Kind: config.Log, Begin: pattern("x"), Time: pattern("*")},
	} {
		_, err := newTextSource([]*config.Source{definition}, nil, "", nil)
		require.ErrorContains(t, err, problem)
	}
	_, err := newTextSource([]*config.Source{
		{Kind: config.Lines, Expression: pattern("x")}, {Kind: config.Table, Columns: []string{"id"}},
	}, nil, "", nil)
	require.ErrorContains(t, err, "x:table cannot follow x:lines")
}

func TestARecordKnowsItsFieldsWithoutAValue(t *testing.T) {
	records, err := textTest{definitions: []*config.Source{jobTable(config.MarkSeparator)}}.read(t, marked("51", "(null)", "x"), 100)
	require.NoError(t, err)
	require.Equal(t, []string{`1: id="51" name="x" without state`}, show(records))
	require.True(t, records[0].Has("id") && records[0].Has("state"))
	require.False(t, records[0].Has("partition"))
}
