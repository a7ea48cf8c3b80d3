package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// drawing is a bar on a screen of some columns, with a clock.
type drawing struct {
	*stagingBar
	screen bytes.Buffer
	clock  time.Time
}

func newDrawing(columns int) *drawing {
	d := &drawing{clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	d.stagingBar = &stagingBar{screen: &d.screen, columns: func() int { return columns }, now: func() time.Time { return d.clock }}
	return d
}

// sends reports a transfer of 10 MiB and returns what the screen shows.
func (d *drawing) sends(path string, mebibytes int64, done bool) string {
	d.screen.Reset()
	d.show(remote.Transfer{Path: path, Sent: mebibytes << 20, Size: 10 << 20, Done: done})
	return d.screen.String()
}

func TestTheBarGrowsAndGoes(t *testing.T) {
	d := newDrawing(60)
	require.Equal(t, "\rplate.in 1.0 of 10.0 MiB [==                         ]  10%\x1b[K", d.sends("/far/plate.in", 1, false))
	require.Empty(t, d.sends("/far/plate.in", 2, false), "not more often than one can see")
	d.clock = d.clock.Add(stagingPace)
	require.Equal(t, "\rplate.in 5.0 of 10.0 MiB [=============              ]  50%\x1b[K", d.sends("/far/plate.in", 5, false))
	d.clock = d.clock.Add(stagingPace)
	require.Contains(t, d.sends("/far/other", 0, false), "\r2 files 5.0 of 20.0 MiB [")
	require.Empty(t, d.sends("/far/plate.in", 10, true))
	require.Equal(t, "\r\x1b[K", d.sends("/far/other", 10, true))
	require.Empty(t, d.sends("/far/late", 10, true), "what was not shown is not removed")
}

func TestTheBarFitsTheScreen(t *testing.T) {
	for _, columns := range []int{0, 1, 3, 5, 39, 40, 41, 44, 80, 300} {
		for _, name := range []string{"x", strings.Repeat("ä", 500), "\x1b[2Jevil\r\n"} {
			for _, sent := range []int64{0, 3, 10} {
				line := newDrawing(columns).sends("/far/"+name, sent, false)
				line = strings.TrimSuffix(strings.TrimPrefix(line, "\r"), "\x1b[K")
				require.LessOrEqual(t, utf8.RuneCountInString(line), max(columns-1, 0), "%d columns, %q", columns, line)
				require.NotRegexp(t, `[\x00-\x1f]`, line)
			}
		}
	}
}

func TestSmallFilesHaveNoBar(t *testing.T) {
	d := newDrawing(80)
	d.show(remote.Transfer{Path: "x", Sent: 1, Size: shownStaging - 1})
	d.show(remote.Transfer{Path: "x", Sent: 1, Size: shownStaging - 1, Done: true})
	require.Empty(t, d.screen.String())
}
