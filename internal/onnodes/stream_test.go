package onnodes

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func start(t *testing.T, ctx context.Context, words ...string) *stream {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	s, err := startStream(ctx, local, words)
	require.NoError(t, err)
	return s
}

func TestAStreamEndsWithTheReasonOfItsProcess(t *testing.T) {
	t.Parallel()
	s := start(t, t.Context(), "sh", "-c", "echo hello; echo broken >&2; exit 3")
	text, err := io.ReadAll(s)
	require.Equal(t, "hello\n", string(text))
	require.EqualError(t, err, `rmctl-node exited with code 3: "broken"`)
	require.NoError(t, s.Close())
}

func TestAStreamEndsItsProcess(t *testing.T) {
	t.Parallel()
	s := start(t, t.Context(), "cat")
	_, err := io.WriteString(s, "hello\n")
	require.NoError(t, err)
	line := make([]byte, 6)
	_, err = io.ReadFull(s, line)
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(line))
	require.NoError(t, s.Close(), "cat ends with its input")

	stubborn := start(t, t.Context(), "sleep", "1000")
	require.NoError(t, stubborn.Close(), "it is ended though it reads no input")
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := start(t, ctx, "sleep", "1000")
	cancel()
	_, err := io.ReadAll(s)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())
}
