package peer

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyThisUserIsAtTheOtherEnd(t *testing.T) {
	folder, err := os.MkdirTemp("", "peer")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	dialed, err := Dial(t.Context(), filepath.Join(folder, "s"))
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, Check(dialed))
	require.NoError(t, Check(accepted))
	require.NoError(t, errors.Join(dialed.Close(), accepted.Close(), listener.Close()))

	require.Error(t, checkUser(os.Geteuid()+1))
	a, b := net.Pipe()
	require.Error(t, Check(a), "a pipe does not show its peer")
	require.NoError(t, errors.Join(a.Close(), b.Close()))
}
