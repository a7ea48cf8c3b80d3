package server_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/ranges"
)

func writePass(t testing.TB, pass server.Pass) string {
	t.Helper()
	encoded, err := pass.Encode()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "debug.json")
	require.NoError(t, os.WriteFile(path, encoded, 0o600))
	return path
}

func TestAPassIsReadAsItWasWritten(t *testing.T) {
	path := writePass(t, server.Pass{Arguments: []string{"prog", "x"}, Debugger: server.DLV, Ranks: ranges.Set{{First: 1, Last: 2}, {First: 5, Last: 5}}})
	pass, err := server.ReadPass(path)
	require.NoError(t, err)
	require.Equal(t, []string{"prog", "x"}, pass.Arguments)
	require.Equal(t, filepath.Dir(path), pass.Connection)
	require.Equal(t, 30*time.Second, pass.Linger)
	for rank, isDebugged := range map[int]bool{0: false, 1: true, 2: true, 3: false, 5: true, 6: false} {
		require.Equal(t, isDebugged, pass.Debugs(rank), rank)
	}
	require.True(t, (&server.Pass{Debugger: server.GDB}).Debugs(7))
}

func TestPassesThatAreRefused(t *testing.T) {
	for text, problem := range map[string]string{
		"":                               "unexpected end",
		`{"version":2,"debugger":"gdb"}`: "version 2",
		`{"version":1,"debugger":"sh"}`:  "unknown debugger",
		`{"version":1,"debugger":"gdb","linger":-1}`:                    "negative",
		`{"version":1,"debugger":"gdb","whenLeft":"stop"}`:              "unknown end",
		`{"version":1,"debugger":"gdb","arguments":["a\u0000"]}`:        "NUL",
		`{"version":1,"debugger":"gdb","environment":["x"]}`:            "invalid variable",
		`{"version":1,"debugger":"gdb","ranks":[{"First":3,"Last":1}]}`: "invalid ranks",
	} {
		_, err := server.ParsePass([]byte(text))
		require.ErrorContains(t, err, problem, text)
	}
	path := writePass(t, server.Pass{Debugger: server.LLDB})
	require.NoError(t, os.Chmod(path, 0o640))
	_, err := server.ReadPass(path)
	require.ErrorContains(t, err, "accessible to other users")
	link := path + ".link"
	require.NoError(t, os.Symlink(path, link))
	_, err = server.ReadPass(link)
	require.Error(t, err)
	_, err = server.ReadPass(filepath.Dir(path))
	require.ErrorContains(t, err, "is not a file")
}

func FuzzPass(f *testing.F) {
	f.Add([]byte(`{"version":1,"debugger":"gdb","arguments":["a"],"environment":["a=b"],"ranks":[{"First":1,"Last":2}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		pass, err := server.ParsePass(text)
		if err == nil {
			again, err := pass.Encode()
			require.NoError(t, err)
			_, err = server.ParsePass(again)
			require.NoError(t, err)
		}
	})
}
