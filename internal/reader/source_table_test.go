package reader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func TestTablesSplitAtTheSeparator(t *testing.T) {
	require.Equal(t, []string{
		`1: id="51" state=" RUNNING" name=""`,
		`3: id="52" name="a" without state`,
		`4: id="" state="" name=""`,
		`5: id="53" state="R" ! the record has 2 columns instead of 3`,
		`6: id="54" state="R" name="a" ! the record has more than 3 columns`,
		`7: id="55" ! the output ends within the record`,
	}, shown(t, "51| RUNNING|\r\n \t \n52|N/A|a\n||\n53|R\n54|R|a|b\n55|R", jobTable("|")))
}

func TestARowMayConsistOfBlankSeparators(t *testing.T) {
	require.Equal(t, []string{`2: id="" state="" name=""`}, shown(t, " \n\t\t\n", jobTable("\t")))
}

func TestTheLastBlankSeparatedColumnHasTheRest(t *testing.T) {
	require.Equal(t, []string{
		`1: id="51" state="R" name="a  b \x1b[0m"`,
		`2: id="52" state="R" ! the record has 2 columns instead of 3`,
		`3: id="53" state="R" ! the output ends within the record`,
	}, shown(t, " 51\tR   a  b \x1b[0m  \r\n52 R\n53 R a", jobTable("")))
}

func TestTablesTakeColumnsFromTheHeader(t *testing.T) {
	definition := &config.Source{Kind: config.Table, Header: true}
	output := "\nHOST_NAME   STATUS  JL/U 15m\nhosta  ok  -  0.1\nhostb  closed\n"
	require.Equal(t, []string{
		`3: HOST_NAME="hosta" STATUS="ok" JL_U="-" _15m="0.1"`,
		`4: HOST_NAME="hostb" STATUS="closed" ! the record has 2 columns instead of 4`,
	}, shown(t, output, definition))

	definition.Separator = "|"
	require.Equal(t, []string{`2: id="1" the_name="a b"`}, shown(t, "id| the name\n1|a b\n", definition))

	definition.Columns = []string{"job", "name"}
	require.Equal(t, []string{`2: job="1" name="a b"`}, shown(t, "id| the name\n1|a b\n", definition))

	definition.Separator, definition.Columns, definition.Widths = "", nil, []int{4}
	require.Equal(t, []string{`2: ID="1" NAME="a b"`}, shown(t, "ID  NAME\n1   a b\n", definition))
}

func TestALineOfDashesBelowTheHeaderIsSkipped(t *testing.T) {
	definition := &config.Source{Kind: config.Table, Header: true}
	for _, rule := range []string{"========", "---- ---", "----+---\r", "\t--"} {
		require.Equal(t, []string{`3: JOB="-" NAME="-"`, `4: JOB="12" NAME="sim"`}, shown(t, "JOB NAME\n"+rule+"\n- -\n12 sim\n", definition))
	}
	require.Equal(t, []string{`2: JOB="12" NAME="sim"`, `3: JOB="====" ! the record has 1 columns instead of 2`}, shown(t, "JOB NAME\n12 sim\n====\n", definition))
	require.Equal(t, []string{`1: id="--" state="-" name=""`}, shown(t, "--|-|\n", jobTable("|")))
}

func TestAHeaderWithoutANeededColumnDamagesTheOutput(t *testing.T) {
	definition := &config.Reader{Sources: []*config.Source{{Kind: config.Table, Header: true}}, Needs: []string{"Host|Name", "State"}}
	for output, damage := range map[string]string{
		"Name State\n":               "",
		"":                           "",
		"Node State\nn1 idle\n":      "the header has no column Host|Name",
		"Host Status\nn1 idle\n":     "the header has no column State",
		"failed to say anything\n\n": "the header has no column Host|Name",
	} {
		source, err := newSource(definition, "", func(*Record) error { return nil })
		require.NoError(t, err)
		_, err = source.Write([]byte(output))
		require.NoError(t, err)
		if err = source.Close(); damage == "" {
			require.NoError(t, err, output)
			continue
		}
		require.EqualError(t, err, damage, output)
	}
}

func TestATruncatedHeaderDamagesTheOutput(t *testing.T) {
	for output, damage := range map[string]string{
		"HOST STA":                        "the output ends within the header",
		strings.Repeat("x ", 1001) + "\n": "the header has more than 1000 columns",
	} {
		records, err := textTest{definitions: []*config.Source{{Kind: config.Table, Header: true}}}.read(t, output, 5)
		require.Empty(t, records)
		var found *DamageError
		require.ErrorAs(t, err, &found)
		require.Equal(t, DamageError{Line: 1, What: damage}, *found)
	}
}

func TestTablesSplitAtWidths(t *testing.T) {
	definition := &config.Source{Kind: config.Table, Columns: []string{"id", "state", "name"}, Widths: []int{4, 3}}
	require.Equal(t, []string{
		`1: id="51" state="R" name="a b"`,
		`2: id="äöü" state="\xff\xfe" name="x"`,
		`3: id="52" state="R" name=""`,
		`4: id="53" state="R" ! the record has 2 columns instead of 3`,
		`5: id="54" state="R" ! the output ends within the record`,
	}, shown(t, "51  R   a b \näöü \xff\xfe x\n52  R  \n53  R\n54  R  a", definition))
}

func TestATableRowThatIsTooLongIsDamaged(t *testing.T) {
	test := textTest{definitions: []*config.Source{jobTable("|")}, longest: 100}
	for _, size := range []int{1, 30, 100_000} {
		records, err := test.read(t, "51|R|"+strings.Repeat("x", 96)+"\n52|R|"+strings.Repeat("x", 95)+"\n53|R|y\n", size)
		require.NoError(t, err)
		require.Equal(t, []string{
			`1: id="51" state="R" ! the record is longer than 16 MiB`,
			`2: id="52" state="R" name="` + strings.Repeat("x", 95) + `"`,
			`3: id="53" state="R" name="y"`,
		}, show(records))
	}
}

func TestColumnsMayBeQuoted(t *testing.T) {
	definition := jobTable(",")
	definition.Quote = `"`
	require.Equal(t, []string{
		`1: id="51" state="R" name="a, b"`,
		`2: id="52" state="R" name="a"`,
		`3: id="53" state="R" name="\"a"`,
		`4: id="54" state="R" name="a \"b\" c"`,
		`5: id="55" state="R" name="a" ! the record has more than 3 columns`,
		`6: id="56" state="\"R" ! the record has 2 columns instead of 3`,
		`7: id="57" name="" without state`,
		`8: id="58" state="R" ! the output ends within the record`,
	}, shown(t, strings.Join([]string{
		`"51","R","a, b"` + "\r", ` "52 " , R ,  a  `, `53,R,"a`, `54,R,"a "b" c"`, `55,R,"a","b"`, `"56","R`, `57,"N/A",""`, `58,R,a`,
	}, "\n"), definition))
}

func TestTheLastColumnMayTakeTheRest(t *testing.T) {
	definition := jobTable(",")
	definition.Rest = []string{"name"}
	require.Equal(t, []string{
		`1: id="51" state="R" name="a, b,"`,
		`2: id="52" state="R" name=""`,
		`3: id="53" state="R" ! the record has 2 columns instead of 3`,
	}, shown(t, "51,R,a, b,\n52,R,\n53,R\n", definition))
	definition.Quote = `"`
	require.Equal(t, []string{`1: id="51" state="R" name="a\", \"b"`, `2: id="52" state="R" name="a\", b"`}, shown(t, "51,\"R\",\"a\", \"b\"\n52,R,a\", b\n", definition))
}

func TestTheHeaderMayFollowOtherLines(t *testing.T) {
	const output = "Welcome,R,a\nJOB,ST,NAME\n51,R,a\n"
	definition := jobTable(",")
	definition.Heading = pattern("JOB,.*")
	require.Equal(t, []string{`3: id="51" state="R" name="a"`}, shown(t, output, definition))
	require.Empty(t, shown(t, " \n", definition))
	definition.Columns = nil
	require.Equal(t, []string{`3: JOB="51" ST="R" NAME="a"`}, shown(t, output, definition))
	for output, damage := range map[string]string{
		"\n51,R,a\n":       "the output has no header",
		"JOB,ST,NAME":      "the output has no header",
		"JOB,ST\n51,R,a\n": "the header has 2 columns instead of 3",
	} {
		_, err := textTest{definitions: []*config.Source{{
			Kind: config.Table, Separator: ",", Columns: []string{"id", "state", "name"}, Heading: definition.Heading,
		}}}.read(t, output, len(output))
		require.EqualError(t, err, damage, output)
	}
}
