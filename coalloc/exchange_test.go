package coalloc_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
)

// One part has the result of an exchange, and the answer to the other one is lost with the process that ran the
// ensemble. The next one answers.
func TestAnExchangeWithANameHasItsResultAfterARestart(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	const (
		exchanges = `exchange() { echo $COALLOC_LABEL | "$COALLOC_RMCTL_NODE" exchange --name port >"$HOME/$1.new" && mv "$HOME/$1.new" "$HOME/$1"; }; `
		waits     = `until [ -e "$HOME/restarted" ]; do sleep 0.1; done; `
	)
	e := s.starts(part("a", exchanges+"exchange first; "+waits+"exchange again"), part("b", exchanges+"exchange other; "+waits))
	e.commits()
	for _, name := range []string{"first", "other"} {
		require.Eventually(t, func() bool { return exists(filepath.Join(s.home, name)) }, patience, 10*time.Millisecond, name)
	}
	require.NoError(t, e.Close())
	e = s.resumes(e.ID())
	require.NoError(t, os.WriteFile(filepath.Join(s.home, "restarted"), nil, 0o600))
	e.ends(coalloc.Done)
	var results []string
	for _, name := range []string{"first", "other", "again"} {
		result, err := os.ReadFile(filepath.Join(s.home, name))
		require.NoError(t, err)
		results = append(results, string(result))
	}
	require.Contains(t, results[0], `"label"`)
	require.Equal(t, []string{results[0], results[0], results[0]}, results)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
