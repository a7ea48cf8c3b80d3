package tui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyChangedLinesAreDrawnAgain(t *testing.T) {
	columns, rows := 20, 6
	var written strings.Builder
	place := &area{terminal: &written, size: func() (int, int) { return columns, rows }}
	draw := func(text string) string {
		written.Reset()
		require.NoError(t, place.draw(text))
		return written.String()
	}
	require.Equal(t, "time\x1b[K\na\x1b[K\nb\x1b[K\n\x1b[J", draw("time\na\nb\n"))
	require.Equal(t, "\r\x1b[3A\n\nc\x1b[K\n\x1b[J", draw("time\na\nc\n"))
	require.Equal(t, "\r\x1b[3A\n\x1b[J", draw("time\n"), "what stands below goes away")
	require.Equal(t, "\r\x1b[1A\n1\x1b[K\n2\x1b[K\n3\x1b[K\n… 2 more lines\x1b[K\n\x1b[J", draw("time\n1\n2\n3\n4\n5\n"), "no more than there is room for")
	rows = 10
	require.Contains(t, draw("time\n1\n"), "\x1b[H\x1b[2Jtime", "all of it, since a terminal moves lines when its size changes")
	columns = 4
	require.Contains(t, draw("漢字漢字\n"), "\x1b[H\x1b[2J漢…\x1b[K")
	require.Equal(t, "\r\x1b[1Aabcd\n\x1b[J", draw("abcd\n"), "the last column stays")
}
