package main

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/tui"
)

// A writerFunc is an io.Writer that calls the function with the text.
type writerFunc func(text []byte) (int, error)

func (w writerFunc) Write(text []byte) (int, error) { return w(text) }

func TestCtrlCEndsThePauseAfterAnInteractiveJob(t *testing.T) {
	keyboard, fingers, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keyboard.Close()) })
	ctx, interrupt := context.WithCancel(t.Context())
	a := &app{stdin: keyboard, stdout: writerFunc(func(text []byte) (int, error) {
		interrupt()
		return len(text), nil
	})}
	reported, err := a.runAside(ctx, nil, func() error { return nil })
	require.NoError(t, err)
	require.Equal(t, "the job has ended", reported)

	require.NoError(t, tui.WaitForEnter(ctx, keyboard))
	_, err = fingers.WriteString("\nnext")
	require.NoError(t, err)
	require.NoError(t, tui.WaitForEnter(t.Context(), keyboard))
	next := make([]byte, 8)
	count, err := keyboard.Read(next)
	require.NoError(t, err)
	require.Equal(t, "next", string(next[:count]), "what is typed behind Enter is for the screen")
	require.NoError(t, fingers.Close())
	require.NoError(t, tui.WaitForEnter(t.Context(), keyboard), "the keyboard is gone")
}
