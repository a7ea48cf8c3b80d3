package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An editor does not wait for its turn.
func TestAChangeOfTheTargetsFileIsRepeatedIfTheFileChangedMeanwhile(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, TargetsFile)
	require.NoError(t, os.WriteFile(file, []byte("# mine\n"), 0o600))
	calls := 0
	add := func(edits int) error {
		calls = 0
		return changeTargets(t.Context(), Folders{User: folder}, func(_ string, text []byte, _ *Targets) ([]byte, error) {
			calls++
			if calls <= edits {
				edited := append(text[:len(text):len(text)], "# edited\n"...)
				require.NoError(t, os.WriteFile(file, edited, 0o600))
			}
			return append(text[:len(text):len(text)], "[targets.big]\ndefinition = \"slurm\"\n"...), nil
		})
	}
	require.NoError(t, add(1))
	require.Equal(t, 2, calls)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "# mine\n# edited\n[targets.big]\ndefinition = \"slurm\"\n", string(text))

	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorIs(t, add(1000), errChanged)
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), "targets.big")
	require.Contains(t, string(text), "# edited")
}
