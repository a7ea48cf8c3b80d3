package track

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyARestrictedKernelNeedsAPermission(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ptrace_scope")
	words := []string{"program", "argument"}
	for scope, isRestricted := range map[string]bool{"": false, "0\n": false, "1\n": true, "2\n": false, "3\n": false} {
		require.NoError(t, os.WriteFile(file, []byte(scope), 0o600))
		path, start := traceable(file, "/bin/program", words)
		if !isRestricted {
			require.Equal(t, "/bin/program", path, scope)
			require.Equal(t, words, start, scope)
			continue
		}
		require.NotEqual(t, "/bin/program", path)
		require.Equal(t, []string{path, "traceable", "/bin/program", "program", "argument"}, start)
	}
	path, _ := traceable(filepath.Join(t.TempDir(), "absent"), "/bin/program", words)
	require.Equal(t, "/bin/program", path)
}
