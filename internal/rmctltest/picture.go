package rmctltest

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A Picture is what a terminal shows, cell by cell.
type Picture struct {
	terminal *Terminal
	emulator *vt.Emulator
	drawn    int // bytes of the screen that the emulator has drawn
	rows     int
}

// Picture draws all that is written to the terminal, and answers what programs query.
func (s *Terminal) Picture(t *testing.T) *Picture {
	t.Helper()
	rows, columns, err := pty.Getsize(s.Device)
	require.NoError(t, err)
	p := &Picture{terminal: s, emulator: vt.NewEmulator(columns, rows), rows: rows}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(s.Device, p.emulator) // until it is closed
	}()
	t.Cleanup(func() {
		// Not Close of the emulator, which changes what Read is just looking at.
		require.NoError(t, p.emulator.InputPipe().(io.Closer).Close())
		<-answered
	})
	return p
}

// Resize gives the terminal a width. Like terminals that move what they show then, it
// leaves no cell and not even the cursor where the program has put it.
func (p *Picture) Resize(t *testing.T, columns int) {
	t.Helper()
	p.draw()
	p.emulator.Resize(columns, p.rows)
	_, err := p.emulator.WriteString("\x1b[H" + strings.Repeat("#", columns*(p.rows-1)) + "\x1b[5;7H")
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(p.terminal.Device, &pty.Winsize{Rows: uint16(p.rows), Cols: uint16(columns)}))
}

// WaitFor waits until the lines of the picture are as they should.
func (p *Picture) WaitFor(t *testing.T, areRight func(lines []string) bool) {
	t.Helper()
	for {
		p.draw()
		if areRight(strings.Split(p.emulator.String(), "\n")) {
			return
		}
		chunk, more := <-p.terminal.chunks
		require.True(t, more, "the screen did not become right:\n%s", p.emulator)
		p.terminal.Screen += chunk
	}
}

// draw draws what was written since the last time.
func (p *Picture) draw() {
	text := p.terminal.Screen[p.drawn:]
	p.drawn += len(text)
	_, _ = p.emulator.WriteString(text) // never fails
}
