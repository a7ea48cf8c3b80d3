package reader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func TestMarkedRowsHoldAnyText(t *testing.T) {
	require.Equal(t, []string{
		`1: id="51" state="RUNNING" name="a|b\t\x1b[31m\x00\xff"`,
		`2: id="52" state="PENDING" name="x\n53"`,
		`4: id="53" state="" name="\ny\r\n"`,
		`7: id="54" state="RUNNING" name="@a1b2c3d4"`,
	}, shown(t, marked("51", "RUNNING", "a|b\t\x1b[31m\x00\xff")+marked("52", "PENDING", "x\n53")+
		marked("53", "", "\ny\r\n")+marked("54", "RUNNING", "@a1b2c3d4"), jobTable(config.MarkSeparator)))
}

func TestMarkedRowsMayEndWithACarriageReturn(t *testing.T) {
	row := "51" + testMark + "R" + testMark + "a" + testMark + "\r\n"
	for _, size := range []int{1, 1000} {
		records, err := textTest{definitions: []*config.Source{jobTable(config.MarkSeparator)}}.read(t, row+row, size)
		require.NoError(t, err)
		require.Equal(t, []string{`1: id="51" state="R" name="a"`, `2: id="51" state="R" name="a"`}, show(records))
	}
}

func TestLinesAroundMarkedRowsAreIgnored(t *testing.T) {
	require.Equal(t, []string{
		`3: id="51" state="RUNNING" name="a"`,
		`5: id="52" state="PENDING" name="b"`,
	}, shown(t, "Welcome\nto the cluster\n"+marked("51", "RUNNING", "a")+"CLUSTER: b\n"+marked("52", "PENDING", "b")+"\nbye\n", jobTable(config.MarkSeparator)))
}

func TestReadingContinuesAfterADamagedMarkedRow(t *testing.T) {
	whole := marked("52", "PENDING", "b")
	for _, damaged := range []struct{ row, shown string }{
		{marked("51"), `1: id="51" ! the record has 1 columns instead of 3`},
		{marked("51", "RUNNING"), `1: id="51" state="RUNNING" ! the record has 2 columns instead of 3`},
		{marked("51", "RUNNING", "a", "b"), `1: id="51" state="RUNNING" name="a" ! the record has more than 3 columns`},
		{marked("51", "RUNNING", "a", "b", "c", "d", "e"), `1: id="51" state="RUNNING" name="a" ! the record has more than 3 columns`},
	} {
		require.Equal(t, []string{damaged.shown, `2: id="52" state="PENDING" name="b"`, `3: id="52" state="PENDING" name="b"`},
			shown(t, damaged.row+whole+whole, jobTable(config.MarkSeparator)))
	}
}

// The line break at the beginning of a name may look like the end of a damaged row.
func TestTheSecondOfTwoDamagedMarkedRowsHasNoID(t *testing.T) {
	require.Equal(t, []string{
		`1: id="51" state="x" name="y" ! the record has more than 3 columns`,
		`2: id="66" state="RUNNING" name="\n99"`,
		`4: id="66" state="RUNNING" ! the record has 2 columns instead of 3`,
		`5: ! the record has 2 columns instead of 3`,
		`6: id="52" state="PENDING" name="\n"`,
		`8: id="53" state="R" ! the record has 2 columns instead of 3`,
	}, shown(t, marked("51", "x", "y", "z")+marked("66", "RUNNING", "\n99")+marked("66", "RUNNING")+marked("99", "x")+
		marked("52", "PENDING", "\n")+marked("53", "R"), jobTable(config.MarkSeparator)))
}

func TestAnIncompleteLastMarkedRowIsTruncated(t *testing.T) {
	row := marked("51", "RUNNING", "a")
	for length := 1; length < len(row); length++ {
		lines := shown(t, row+row[:length], jobTable(config.MarkSeparator))
		require.Len(t, lines, 2, "%q", row[:length])
		require.Contains(t, lines[1], "the output ends within the record")
		require.NotContains(t, lines[1], `id="5"`)
	}
}

func TestAMarkedRowThatIsTooLongHasItsID(t *testing.T) {
	test := textTest{definitions: []*config.Source{jobTable(config.MarkSeparator)}, longest: 200}
	output := marked("51", "RUNNING", strings.Repeat("x\n", 500)) + marked("52", "PENDING", "b") + marked("53", "PENDING", "c")
	records, err := test.read(t, output, 7)
	require.NoError(t, err)
	require.Equal(t, []string{
		`1: id="51" state="RUNNING" ! the record is longer than 16 MiB`,
		`502: id="52" state="PENDING" name="b"`,
		`503: id="53" state="PENDING" name="c"`,
	}, show(records))
	require.LessOrEqual(t, len(records[0].Raw), 200)
}
