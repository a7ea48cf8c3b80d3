package watch

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/remote"
)

// clicks clicks where a text is drawn first.
func (u *user) clicks(text string) {
	u.t.Helper()
	for y, line := range strings.Split(ansi.Strip(u.View().Content), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			u.Update(tea.MouseClickMsg{X: ansi.StringWidth(before), Y: y, Button: tea.MouseLeft})
			u.settle()
			return
		}
	}
	require.Fail(u.t, "nothing to click at", text)
}

func (u *user) turnsWheel(button tea.MouseButton) {
	u.Update(tea.MouseWheelMsg{Button: button})
	u.settle()
}

func TestTheMouseGoesToTabsRowsAndNodes(t *testing.T) {
	u := sit(t, cluster(t))
	require.Equal(t, tea.MouseModeCellMotion, u.View().MouseMode)
	u.clicks("4712")
	u.shows("> 4712")
	u.clicks("JOB") // the header is no row
	u.shows("> 4712")
	u.clicks("4712")
	u.shows("Job 4712")
	u.clicks("4712") // what lies over the list takes no clicks
	u.shows("Job 4712")
	u.press("esc")
	u.clicks("3 Nodes")
	u.shows("[3 Nodes]")
	u.press("v")
	u.clicks("n003")
	u.shows("> n003")
	u.press("v")
	u.clicks("n001")
	u.shows("n003  UP") // a label is no node
	u.clicks("MMMM")
	u.shows("n001  UP")
	u.clicks("-d!")
	u.shows("n071  DOWN")
	u.clicks("slurm, login") // nor is a heading
	u.shows("n071  DOWN")
	u.clicks("-d!")
	u.shows("Node n071")
}

func TestTheWheelMovesThreeLines(t *testing.T) {
	u := sit(t, cluster(t))
	u.turnsWheel(tea.MouseWheelDown)
	u.shows("> 4712")
	u.turnsWheel(tea.MouseWheelUp)
	u.shows("> 10001")
	u.press("c")
	u.turnsWheel(tea.MouseWheelDown)
	u.shows("[y/N]")
	u.press("n")
	u.shows("> 10001")
	u.Update(tui.Prompt{Context: t.Context(), Question: remote.Question{Host: "login", Text: "Password:"}, Reply: func(string, error) {}})
	require.Equal(t, tea.MouseModeNone, u.View().MouseMode, "a fingerprint can be selected")
}
