package main

import (
	"context"
	"errors"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestASignalBeforeTheJobHasTheTerminalCancels(t *testing.T) {
	device, terminal, err := pty.Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(terminal.Close(), device.Close())) }()
	ctx, end := context.WithCancel(t.Context())
	a := &app{stdin: terminal}
	late, stop := a.attached(ctx)
	defer stop()
	end()
	require.NoError(t, late.Err(), "what is typed to interrupt is for the job to decide on")
	early, stop := a.attached(ctx)
	defer stop()
	require.ErrorIs(t, early.Err(), context.Canceled)
}
