package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
)

// Programs with wide, accented and long names, which are also the names of their jobs.
const longName = "漢字漢字-e\u0301tude-with-a-name-of-fifty-columns-or-so"

func TestTheScreenFitsEachWidth(t *testing.T) {
	t.Parallel()
	d := desk(t)
	program := filepath.Join(d.Home, longName)
	require.NoError(t, os.Symlink("/bin/sleep", program))
	id := d.Does("submit", "--", program, "1000")
	s := d.Sits("watch", "-t", "local")
	picture := s.Picture(t)
	for _, columns := range []int{40, 80, 160, 40, 160, 80, 40} {
		picture.Resize(t, columns)
		picture.WaitFor(t, func(lines []string) bool { return isWhole(lines, columns, id) })
	}
	s.Type("q")
	s.Ends(exitDone)
	d.Does("cancel", id)
}

// isWhole reports whether a screen shows a list with one running job in all of its
// width, and nothing else.
func isWhole(lines []string, columns int, id string) bool {
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	last := len(lines) - 1
	row := strings.Join(strings.Fields(lines[2]), " ")
	wanted, title := "> "+id+" RUNNING", "JOBv STATE"
	switch columns {
	case 40:
		wanted += " 漢字漢字-e\u0301"
	case 80:
		title += " QUEUE USER NAME"
	case 160:
		title += " DETAIL QUEUE USER NAME"
		row, wanted = lines[2], longName+"  "
	}
	return ansi.StringWidth(lines[0]) == columns && strings.HasSuffix(lines[0], "1/1 started") &&
		strings.HasPrefix(strings.Join(strings.Fields(lines[1]), " "), title) &&
		strings.Contains(row, wanted) && ansi.StringWidth(lines[2]) <= columns &&
		strings.Join(lines[3:last-2], "") == "" && lines[last-1] == "" &&
		lines[last-2] == "-- 1 job "+strings.Repeat("-", columns-9) && strings.HasSuffix(lines[last], "q quit")
}

func TestAFormFitsEachWidth(t *testing.T) {
	t.Parallel()
	s := atTerminal(t, nil, "form", "demo", "--", "./a.out")
	picture := s.Picture(t)
	for _, columns := range []int{40, 80, 160, 40} {
		picture.Resize(t, columns)
		picture.WaitFor(t, func(lines []string) bool {
			last := len(lines) - 1
			return ansi.StringWidth(strings.TrimRight(lines[0], " ")) == columns && strings.HasSuffix(strings.TrimRight(lines[0], " "), "demo") &&
				lines[2] == strings.Repeat("-", columns) && lines[last-3] == lines[2] && strings.Contains(lines[last], "Esc leave") &&
				!strings.Contains(strings.Join(lines, ""), "#")
		})
	}
	s.Type("\x03")
	s.Ends(exitFailed)
}
