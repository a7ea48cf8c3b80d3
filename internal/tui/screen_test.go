package tui

import (
	"context"
	"strconv"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A hasty is a view whose terminal gets 40 columns while it starts. It ends when it knows that.
type hasty struct {
	t      *testing.T
	resize func() error
	widths []string
}

// Init implements [tea.Model].
func (h *hasty) Init() tea.Cmd {
	require.NoError(h.t, h.resize())
	return nil
}

// Update implements [tea.Model].
func (h *hasty) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	if size, isSize := message.(tea.WindowSizeMsg); isSize {
		h.widths = append(h.widths, strconv.Itoa(size.Width))
		if size.Width == 40 {
			return h, tea.Quit
		}
	}
	return h, nil
}

// View implements [tea.Model].
func (h *hasty) View() tea.View { return tea.NewView("") }

func TestASizeThatChangesDuringTheStartIsNotMissed(t *testing.T) {
	user := newAnswerer(t)
	set := func(columns uint16) error { return pty.Setsize(user.screen, &pty.Winsize{Rows: 10, Cols: columns}) }
	require.NoError(t, set(80))
	view := &hasty{t: t, resize: func() error {
		require.NoError(t, set(40))
		return syscall.Kill(syscall.Getpid(), syscall.SIGWINCH) // it is not the terminal of this process
	}}
	require.NoError(t, Show(t.Context(), user.screen, user.screen, func(context.Context, Work) tea.Model { return view }))
	require.Contains(t, view.widths, "40")
}
