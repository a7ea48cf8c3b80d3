package terminal_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/terminal"
)

func TestColumnsAreAsWideAsTheirWidestCells(t *testing.T) {
	var printed bytes.Buffer
	require.NoError(t, terminal.Table(&printed, []string{"JOB", "NAME", ""}, [][]string{{"1", "größe 流", "x"}, {"4711", "a", ""}}))
	require.Equal(t, "JOB   NAME\n1     größe 流  x\n4711  a\n", printed.String())
	printed.Reset()
	require.NoError(t, terminal.Table(&printed, []string{"JOB"}, nil))
	require.Equal(t, "JOB\n", printed.String())
}

func TestATableThatIsKnownSetsItsWidthsByAllRows(t *testing.T) {
	rows := make([][]string, 2000)
	for i := range rows {
		rows[i] = []string{strings.Repeat("x", i/1000*9+1), "y"}
	}
	var printed bytes.Buffer
	require.NoError(t, terminal.Table(&printed, []string{"A", "B"}, rows))
	require.True(t, strings.HasPrefix(printed.String(), "A           B\nx           y\n"), printed.String()[:60])
}

func TestALongTableBeginsBeforeItsEndIsKnown(t *testing.T) {
	var printed bytes.Buffer
	table := terminal.NewTable(&printed, []string{"JOB", "NAME"})
	require.NoError(t, table.Flush())
	require.Empty(t, printed.String(), "without a row it has no header")
	for i := range 300 {
		require.NoError(t, table.Add([]string{fmt.Sprint(i), "name"}))
	}
	require.True(t, strings.HasPrefix(printed.String(), "JOB  NAME\n0    name\n"))
	require.NoError(t, table.Add([]string{"123456", "name"}))
	require.NoError(t, table.Add([]string{"7", "name"}))
	require.NoError(t, table.Flush())
	require.True(t, strings.HasSuffix(printed.String(), "\n299  name\n123456  name\n7       name\n"), "a wider cell widens the column from there on")
	require.Equal(t, 303, strings.Count(printed.String(), "\n"))
}
